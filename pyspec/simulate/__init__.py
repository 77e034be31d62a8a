"""Data with a known truth."""

from pyspec.simulate.problems import PROBLEMS, Problem, problem
from pyspec.simulate.simulator import Simulator

__all__ = ["PROBLEMS", "Problem", "Simulator", "problem"]
