"""What is compared with the data: differences, or the Poisson deviance of counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Below this many counts the deviance goes on linearly in the model.
FLOOR = 1e-3

#: Below this |m / d - 1| the logarithm is summed as a series; from this on d counts for nothing.
NEAR, NONE = 0.1, 1e20


def deviance(data: npt.ArrayLike, model: npt.ArrayLike, scale: float) -> npt.NDArray[np.float64]:
    """Signed root of the Poisson deviance,
    ``sign(d - m) sqrt(2 scale (d ln(d / m) - d + m))``.

    Parameters
    ----------
    data : d >= 0, in any unit
    model : m, of the same shape
    scale : counts for each unit of the data, > 0

    For d > 0 and m below ``0.001 / scale`` the value goes on with the slope there, which pulls a
    negative model back. For d = 0 the value is ``-sqrt(2 scale max(m, 0))``.

    Source: deviance of the Poisson distribution (P. McCullagh & J. A. Nelder, Generalized
    Linear Models, 1989); its square sums to the likelihood ratio. Near x = m / d - 1 = 0 it is
    summed by the series of the logarithm: of the difference only half of the digits are left.
    """
    d, m = np.asarray(data, np.float64), np.asarray(model, np.float64)
    floor = FLOOR / scale
    at, shape = _floored(d, m, floor), _shape(d, _floored(d, m, floor))
    with np.errstate(all="ignore"):
        x = (at - d) / d
        root = np.sqrt(2 * scale * ((at - d) + d * np.log(d / at)))
        root = np.where(x < NONE, np.where(d < at, -root, root), -np.sqrt(2 * scale * at))
        value = np.where(np.abs(x) < NEAR, -x * np.sqrt(scale * d * shape), root)
        value = np.where(d == 0, -np.sqrt(2 * scale * at), np.where(d > 0, value, np.nan))
        below = (d > 0) & ~(m > floor)
        value = np.where(below, value + (m - floor) * deviance_slope(d, at, scale), value)
    return np.where(np.isnan(m), m, value)


def deviance_slope(
    data: npt.ArrayLike, model: npt.ArrayLike, scale: float
) -> npt.NDArray[np.float64]:
    """Derivative of :func:`deviance` by the model: ``scale (1 - d / m) / r``.

    With x = m / d - 1 that is ``-sqrt(scale / d) / (m / d sqrt(2 (x - ln(1 + x)) / x^2))``,
    near x = 0 by the series of the logarithm.
    """
    d, m = np.asarray(data, np.float64), np.asarray(model, np.float64)
    at = _floored(d, m, FLOOR / scale)
    with np.errstate(all="ignore"):
        x = (at - d) / d
        slope = -np.sqrt(scale / d) / (at / d * np.sqrt(_shape(d, at)))
        empty = (d == 0) | ((d > 0) & ~(x < NONE))
        slope = np.where(empty, np.where(at > 0, -np.sqrt(scale / 2.0) / np.sqrt(at), 0.0), slope)
    return np.where(np.isnan(m), m, slope)


def _floored(
    d: npt.NDArray[np.float64], m: npt.NDArray[np.float64], floor: float
) -> npt.NDArray[np.float64]:
    """The model where the deviance is taken: at least the floor, or 0 without counts."""
    return np.where(d > 0, np.where(m > floor, m, floor), np.where(m > 0, m, 0.0))


def _shape(d: npt.NDArray[np.float64], m: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``2 (x - ln(1 + x)) / x^2`` with x = m / d - 1."""
    with np.errstate(all="ignore"):
        x = (m - d) / d
        series = np.zeros(x.shape)
        for k in range(15, -1, -1):
            series = 2.0 / (k + 2) - x * series
        return np.where(np.abs(x) < NEAR, series, 2.0 * ((x - np.log(m / d)) / x) / x)
