"""Convolution on the given time axis, and what lies of a kernel outside of the axis.

The kernels themselves are rows of the op table, which :mod:`pyspec.functions.convolution` holds, or
formulas.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.errors import DataError, LibraryError, suggest
from pyspec.functions import reference
from pyspec.functions.masses import MASSES, MEANS, Mass

Array: TypeAlias = npt.NDArray[np.float64]


class OwnKernel(Protocol):
    """A kernel by formula, see :mod:`pyspec.formula.definitions.kernel`."""

    def mass(self, side: int, away: Array, *params: float) -> Array: ...

    def reaches(self, *params: float) -> tuple[float, float]: ...


def _masses(name: str) -> tuple[Mass, Mass]:
    reference(name)  # whose module gives the masses
    try:
        return MASSES[name]
    except KeyError:
        raise LibraryError(
            f"{name} is no convolution kernel, or its reference has no @masses"
            f"{suggest(name, list(MASSES))}"
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


def convolve(kernel: str | OpDef, t: Array, y: Array, *params: float) -> Array:
    """Convolution of `y` with a kernel on the axis `t`.

    With trapezoidal weights w_j and K_ij = g(t_i - t_j) w_j::

        y'_i = (sum_j K_ij y_j + M_L y_first + M_R y_last) / (sum_j K_ij + M_L + M_R)

    Outside of the axis the signal has its edge values, and every row is normalised. So a constant
    stays as it is. A kernel far narrower than the steps changes nothing, and neither does any
    kernel on a single point.

    A kernel with an edge (expDecayCONV, expRiseCONV, boxCONV) is no quadrature: a sum over samples
    is of first order there. It integrates the straight lines between the samples exactly.

    Parameters
    ----------
    kernel : row of the op table, of kind KERNEL, by name; or a kernel by formula
    t : (n_time,) times, strictly increasing, in any steps
    y : (n_time,) signal
    params : of the kernel; those of the op table have one, the width in units of t

    Returns
    -------
    (n_time,) the signal convolved

    Raises
    ------
    DataError : the axis is empty, or not finite and strictly increasing
    LibraryError : there is no such kernel
    """
    y = np.asarray(y, dtype=np.float64)
    if y.shape != np.shape(t):
        raise DataError(
            f"{_name(kernel)}: needs a time axis and a signal of the same shape; "
            f"given were the shapes {np.shape(t)} and {y.shape}"
        )
    return np.asarray(convolution_matrix(kernel, t, *params) @ y)


def _name(kernel: str | OpDef) -> str:
    return kernel if isinstance(kernel, str) else kernel.name


def convolution_matrix(kernel: str | OpDef, t: Array, *params: float) -> Array:
    """The operator of :func:`convolve` as a matrix (n_time, n_time).

    Raises :class:`DataError` and :class:`LibraryError` as :func:`convolve` does.
    """
    name = _name(kernel)
    t = np.asarray(t, dtype=np.float64)
    if t.ndim != 1 or t.size == 0:
        raise DataError(f"{name}: needs a time axis; given was the shape {t.shape}")
    steps = np.diff(t)
    if not (np.all(np.isfinite(t)) and np.all(steps > 0)):
        raise DataError(f"{name}: a convolution needs a finite, strictly increasing time axis")
    kernel_shape = reference(kernel)  # whose module gives masses and means
    if name in MEANS:
        with np.errstate(all="ignore"):
            return _of_lines(name, t, *params)
    weight = np.zeros(t.size)
    weight[:-1] += steps / 2
    weight[1:] += steps / 2
    lag = t[:, None] - t[None, :]
    with np.errstate(all="ignore"):
        shape = kernel_shape(lag, *params)
    if isinstance(kernel, OpDef) and kernel.own is not None:
        own = cast(OwnKernel, kernel.own)
        left, right = own.mass(0, t - t[0], *params), own.mass(1, t[-1] - t, *params)
        before, after = own.reaches(*params)
        shape = np.where((lag > before) | (-lag > after), 0.0, shape)
    else:
        left, right = mass_left(name, t - t[0], *params), mass_right(name, t - t[-1], *params)
    matrix = np.asarray(shape * weight)
    matrix[:, 0] += left
    matrix[:, -1] += right
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def _of_lines(name: str, t: Array, parameter: float) -> Array:
    """The operator of a kernel with an edge. By parts, y' - y is a sum over the steps between
    samples: the change of y, times the mean over the step of the share of the kernel beyond. Steps
    before the sample count with a minus."""
    before, after = _masses(name)
    total = before(np.zeros(1), parameter) + after(np.zeros(1), parameter)
    step, lag = np.diff(t), t[:, None] - t[None, :]
    lies_before = lag[:, 1:] >= 0  # (n_time, n_steps): the step ends at the sample, or before it
    left, right = MEANS[name]
    share = np.where(
        lies_before,
        -left(np.maximum(lag[:, 1:], 0), step, parameter),
        right(np.maximum(-lag[:, :-1], 0), step, parameter),
    )
    changes = np.diff(np.eye(t.size), axis=0)
    return np.asarray(np.eye(t.size) + share / total @ changes)
