"""References over an auxiliary axis: how a parameter depends on depth, position or fluence.

`x` is the auxiliary axis (n_aux,). Parameters are numbers, or columns that broadcast with it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions.heights import scaled

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def pExpDecay(x: Array, A: Value, tau: Value) -> Array:
    """Exponential decay: ``A exp(-x / tau)``.

    Parameters
    ----------
    x : (n_aux,) auxiliary axis
    A : value at x = 0, in units of the parameter concerned
    tau : decay length, in units of x, tau > 0
    """
    return scaled(A, np.exp(-x / tau))


def pLinear(x: Array, m: Value, b: Value) -> Array:
    """Straight line: ``m x + b``.

    Parameters
    ----------
    x : (n_aux,) auxiliary axis
    m : slope, in units of the parameter concerned per unit of x
    b : value at x = 0, in units of the parameter concerned
    """
    return np.asarray(m * x + b)


def pGauss(x: Array, A: Value, x0: Value, SD: Value) -> Array:
    """Gaussian: ``A exp(-((x - x0) / SD)^2 / 2)``.

    Parameters
    ----------
    x : (n_aux,) auxiliary axis
    A : height, in units of the parameter concerned
    x0 : centre, in units of x
    SD : standard deviation, in units of x, SD > 0
    """
    u = (x - x0) / SD
    return np.asarray(A * np.exp(-(u**2) / 2))
