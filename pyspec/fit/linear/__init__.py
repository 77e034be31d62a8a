"""Fits whose amplitudes are free at each energy or each time."""

from pyspec.fit.linear.amplitudes import Amplitudes
from pyspec.fit.linear.problem import LinearProblem, problem_of
from pyspec.fit.linear.species import Associated

__all__ = ["Amplitudes", "Associated", "LinearProblem", "problem_of"]
