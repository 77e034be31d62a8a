"""References of the convolution kernels: functions g(d) of the time difference d.

Their scale does not count: the operator, :func:`convolve`, normalises them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions.quadrature import convolve, mass_left, mass_right

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

__all__ = [
    "boxCONV",
    "convolve",
    "expDecayCONV",
    "expRiseCONV",
    "expSymCONV",
    "gaussCONV",
    "mass_left",
    "mass_right",
]


def gaussCONV(d: Array, SD: Value) -> Array:
    """Gaussian: ``exp(-(d / SD)^2 / 2)``.

    Parameters
    ----------
    d : (n,) time differences
    SD : standard deviation, in units of d, SD > 0
    """
    return np.asarray(np.exp(-((d / SD) ** 2) / 2))


def expSymCONV(d: Array, tau: Value) -> Array:
    """Exponential to both sides: ``exp(-|d| / tau)``.

    Parameters
    ----------
    d : (n,) time differences
    tau : decay time, in units of d, tau > 0
    """
    return np.asarray(np.exp(-np.abs(d) / tau))


def expDecayCONV(d: Array, tau: Value) -> Array:
    """Exponential decay: ``exp(-d / tau)`` for d >= 0, else 0.

    Parameters
    ----------
    d : (n,) time differences
    tau : decay time, in units of d, tau > 0
    """
    return np.where(d < 0, 0.0, np.exp(-np.where(d < 0, 0.0, d) / tau))


def expRiseCONV(d: Array, tau: Value) -> Array:
    """Exponential rise: ``exp(d / tau)`` for d <= 0, else 0.

    Parameters
    ----------
    d : (n,) time differences
    tau : rise time, in units of d, tau > 0
    """
    return np.where(d > 0, 0.0, np.exp(np.where(d > 0, 0.0, d) / tau))


def boxCONV(d: Array, width: Value) -> Array:
    """Box: 1 for ``|d| <= width / 2``, else 0.

    Parameters
    ----------
    d : (n,) time differences
    width : full width, in units of d, width > 0
    """
    return np.where(np.abs(d) <= 0.5 * width, 1.0, 0.0)
