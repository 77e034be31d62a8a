"""References of the convolution kernels, and of the operator that convolves a law with one.

A kernel is a function g(d) of the time difference d, in any scale: the operator normalises it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from pyspec.errors import DataError, LibraryError, suggest

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array
Mass: TypeAlias = Callable[[Array, float], Array]


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


# ---- what lies outside of the axis -------------------------------------------------------


def _gauss_mass(away: Array, SD: float) -> Array:
    return np.asarray(SD * np.sqrt(np.pi / 2) * special.erfc(away / (np.sqrt(2) * SD)))


def _exponential_mass(away: Array, tau: float) -> Array:
    return np.asarray(tau * np.exp(-away / tau))


def _box_mass(away: Array, width: float) -> Array:
    return np.clip(0.5 * width - away, 0.0, width)


def _no_mass(away: Array, parameter: float) -> Array:
    return np.zeros(np.shape(away))


#: Of each kernel the mass beyond a distance `away` >= 0, on the left and on the right.
_MASSES: dict[str, tuple[Mass, Mass]] = {
    "gaussCONV": (_gauss_mass, _gauss_mass),
    "expSymCONV": (_exponential_mass, _exponential_mass),
    "expDecayCONV": (_exponential_mass, _no_mass),
    "expRiseCONV": (_no_mass, _exponential_mass),
    "boxCONV": (_box_mass, _box_mass),
}


def _masses(name: str) -> tuple[Mass, Mass]:
    try:
        return _MASSES[name]
    except KeyError:
        raise LibraryError(
            f"there is no convolution kernel {name!r}{suggest(name, list(_MASSES))}"
        ) from None


def mass_left(name: str, a: Array, parameter: float) -> Array:
    """Integral of the kernel `name` over d >= a: what lies before the first time.

    `a` (n,) is ``t - t_first`` >= 0; `parameter` is the kernel's only one. Returns (n,), in
    units of a. Raises :class:`LibraryError` if there is no such kernel.
    """
    return _masses(name)[0](np.asarray(a, dtype=np.float64), parameter)


def mass_right(name: str, b: Array, parameter: float) -> Array:
    """Integral of the kernel `name` over d <= b: what lies after the last time.

    `b` (n,) is ``t - t_last`` <= 0; `parameter` is the kernel's only one. Returns (n,), in
    units of b. Raises :class:`LibraryError` if there is no such kernel.
    """
    return _masses(name)[1](-np.asarray(b, dtype=np.float64), parameter)


def convolve(name: str, t: Array, y: Array, parameter: float) -> Array:
    """Convolution of `y` with the kernel `name` on the axis `t`, as plain quadrature.

    With trapezoidal weights w_j and K_ij = g(t_i - t_j) w_j::

        y'_i = (sum_j K_ij y_j + M_L y_first + M_R y_last) / (sum_j K_ij + M_L + M_R)

    The signal goes on with its edge values outside of the axis, and every row is normalised: a
    constant stays what it is, and a kernel far narrower than the steps changes nothing.

    Parameters
    ----------
    name : row of the op table, of kind KERNEL
    t : (n_time,) times, strictly increasing, in any steps, n_time >= 2
    y : (n_time,) signal
    parameter : width of the kernel, in units of t

    Returns
    -------
    (n_time,) the signal convolved

    Raises
    ------
    DataError : the axis is too short, or not finite and strictly increasing
    LibraryError : there is no such kernel
    """
    y = np.asarray(y, dtype=np.float64)
    if y.shape != np.shape(t):
        raise DataError(
            f"{name}: the signal has shape {y.shape}, the time axis {np.shape(t)}; give one value "
            "for each time"
        )
    return np.asarray(convolution_matrix(name, t, parameter) @ y)


def convolution_matrix(name: str, t: Array, parameter: float) -> Array:
    """The operator of :func:`convolve` as a matrix (n_time, n_time)."""
    t = np.asarray(t, dtype=np.float64)
    if t.ndim != 1 or t.size < 2:
        raise DataError(
            f"{name}: needs a time axis of at least 2 points; given was the shape {t.shape}"
        )
    steps = np.diff(t)
    if not (np.all(np.isfinite(t)) and np.all(steps > 0)):
        raise DataError(f"{name}: a convolution needs a finite, strictly increasing time axis")
    weight = np.zeros(t.size)
    weight[:-1] += steps / 2
    weight[1:] += steps / 2
    matrix = np.asarray(globals()[name](t[:, None] - t[None, :], parameter) * weight)
    matrix[:, 0] += mass_left(name, t - t[0], parameter)
    matrix[:, -1] += mass_right(name, t - t[-1], parameter)
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))
