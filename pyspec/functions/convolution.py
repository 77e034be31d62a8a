"""References of the convolution kernels: functions g(d) of the time difference d.

Their scale does not count: :func:`pyspec.functions.quadrature.convolve` normalises them. Each has
its masses: the integral of g over |d| >= away on the side of earlier samples (d > 0) and on that
of later ones (d < 0); one with an edge has their means over a step, too.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special
from pyspec.functions.masses import masses, means

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def _gauss(away: Array, SD: float) -> Array:
    return np.asarray(SD * np.sqrt(np.pi / 2) * special.erfc(away / (np.sqrt(2) * SD)))


def _exponential(away: Array, tau: float) -> Array:
    return np.asarray(tau * np.exp(-away / tau))


def _box(away: Array, width: float) -> Array:
    return np.clip(0.5 * width - away, 0.0, width)


def _nothing(away: Array, parameter: float) -> Array:
    return np.zeros(np.shape(away))


def _exponential_mean(away: Array, step: Array, tau: float) -> Array:
    return np.asarray(-_exponential(away, tau) * np.expm1(-step / tau) * tau / step)


def _box_mean(away: Array, step: Array, width: float) -> Array:
    inside = np.minimum(step, _box(away, width))  # the part of the step that the box covers
    return np.asarray(inside / step * (_box(away, width) + _box(away + step, width)) / 2)


def _no_mean(away: Array, step: Array, parameter: float) -> Array:
    return np.zeros(np.shape(away))


@masses(_gauss, _gauss)
def gaussCONV(d: Array, SD: Value) -> Array:
    """Gaussian: ``exp(-(d / SD)^2 / 2)``.

    Parameters
    ----------
    d : (n,) time differences
    SD : standard deviation, in units of the time axis, SD > 0
    """
    return np.asarray(np.exp(-((d / SD) ** 2) / 2))


@masses(_exponential, _exponential)
def expSymCONV(d: Array, tau: Value) -> Array:
    """Exponential to both sides: ``exp(-|d| / tau)``.

    Parameters
    ----------
    d : (n,) time differences
    tau : decay time, in units of the time axis, tau > 0
    """
    return np.asarray(np.exp(-np.abs(d) / tau))


@masses(_exponential, _nothing)
@means(_exponential_mean, _no_mean)
def expDecayCONV(d: Array, tau: Value) -> Array:
    """Exponential decay: ``exp(-d / tau)`` for d >= 0, else 0.

    It smears a signal to later times: nothing is seen before it happens. The straight lines between
    the samples are integrated exactly.

    Parameters
    ----------
    d : (n,) time differences
    tau : decay time, in units of the time axis, tau > 0
    """
    return np.where(d < 0, 0.0, np.exp(-np.where(d < 0, 0.0, d) / tau))


@masses(_nothing, _exponential)
@means(_no_mean, _exponential_mean)
def expRiseCONV(d: Array, tau: Value) -> Array:
    """Exponential rise: ``exp(d / tau)`` for d <= 0, else 0.

    It smears a signal to earlier times: a step begins to rise before it happens. The straight lines
    between the samples are integrated exactly.

    Parameters
    ----------
    d : (n,) time differences
    tau : rise time, in units of the time axis, tau > 0
    """
    return np.where(d > 0, 0.0, np.exp(np.where(d > 0, 0.0, d) / tau))


@masses(_box, _box)
@means(_box_mean, _box_mean)
def boxCONV(d: Array, width: Value) -> Array:
    """Box: 1 for ``|d| <= width / 2``, else 0.

    The straight lines between the samples are integrated exactly, so that the width need not be a
    number of steps.

    Parameters
    ----------
    d : (n,) time differences
    width : full width, in units of the time axis, width > 0
    """
    return np.where(np.abs(d) <= 0.5 * width, 1.0, 0.0)
