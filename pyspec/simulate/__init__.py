"""Data with a known truth."""

from pyspec.simulate import sensitivity
from pyspec.simulate.problems import PROBLEMS, Problem, problem
from pyspec.simulate.simulator import Simulator
from pyspec.simulate.sweep import ParameterSweep
from pyspec.simulate.sweep_data import SweepDataset

__all__ = [
    "PROBLEMS",
    "ParameterSweep",
    "Problem",
    "Simulator",
    "SweepDataset",
    "problem",
    "sensitivity",
]


def __dir__() -> list[str]:
    return sorted(__all__)
