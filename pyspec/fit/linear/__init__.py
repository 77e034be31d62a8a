"""Fits whose amplitudes are free at each energy or each time."""

from pyspec.fit.linear.amplitudes import Amplitudes
from pyspec.fit.linear.species import Associated

__all__ = ["Amplitudes", "Associated"]
