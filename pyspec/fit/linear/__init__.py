"""Fits whose amplitudes are free at each energy or each time."""

from pyspec.fit.linear.amplitudes import Amplitudes
from pyspec.fit.linear.problem import LinearProblem, problem_of

__all__ = ["Amplitudes", "LinearProblem", "problem_of"]
