"""Data with a known truth."""

from pyspec.simulate.problems import PROBLEMS, Problem, problem
from pyspec.simulate.simulator import Simulator
from pyspec.simulate.sweep import ParameterSweep, SweepDataset

__all__ = ["PROBLEMS", "ParameterSweep", "Problem", "Simulator", "SweepDataset", "problem"]
