"""Fits whose amplitudes are free at each energy or each time."""

from pyspec.fit.amplitudes.amplitudes import Amplitudes
from pyspec.fit.amplitudes.species import Associated

__all__ = ["Amplitudes", "Associated"]
