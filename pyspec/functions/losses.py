"""What is compared with the data: differences, or the Poisson deviance of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Below this many counts the deviance goes on linearly in the model.
FLOOR = 1e-3


def deviance(data: Any, model: Any, scale: float) -> npt.NDArray[np.float64]:
    """Signed root of the Poisson deviance,
    ``sign(d - m) sqrt(2 scale (d ln(d / m) - d + m))``.

    Parameters
    ----------
    data : d >= 0, in any unit
    model : m, of the same shape
    scale : counts for each unit of the data, > 0

    Where d > 0, m below ``0.001 / scale`` is continued with the slope there, so that a model
    that turns negative is pulled back. For d = 0 the value is ``-sqrt(2 scale max(m, 0))``.

    Source: deviance of the Poisson distribution (P. McCullagh & J. A. Nelder, Generalized
    Linear Models, 1989); its square sums to the likelihood ratio.
    """
    d, m = np.asarray(data, np.float64), np.asarray(model, np.float64)
    floor = FLOOR / scale
    at = np.where(d > 0, np.where(m > floor, m, floor), np.where(m > 0, m, 0.0))
    with np.errstate(all="ignore"):
        term = np.where(d > 0, d * np.log(d / at) - d + at, at)
        root = np.sqrt(2 * scale * np.maximum(term, 0.0))
        value = np.where(d < at, -root, root)
        slope = np.where(value != 0, scale * (1 - d / at) / value, -np.sqrt(scale / at))
        value = np.where((d > 0) & ~(m > floor), value + (m - floor) * slope, value)
    return np.where(np.isnan(m), m, value)


def deviance_slope(data: Any, model: Any, scale: float) -> npt.NDArray[np.float64]:
    """Derivative of :func:`deviance` by the model: ``scale (1 - d / m) / r``.

    With x = m / d - 1 that is ``-sqrt(scale / d) / ((1 + x) sqrt(2 (x - ln(1 + x)) / x^2))``,
    near x = 0 by the series of the logarithm: the root r has lost its digits there.
    """
    d, m = np.asarray(data, np.float64), np.asarray(model, np.float64)
    floor = FLOOR / scale
    at = np.where(d > 0, np.where(m > floor, m, floor), np.where(m > 0, m, 0.0))
    with np.errstate(all="ignore"):
        x = (at - d) / d
        series = np.zeros(x.shape)
        for k in range(15, -1, -1):
            series = 2.0 / (k + 2) - x * series
        shape = np.where(np.abs(x) < 0.1, series, 2.0 * ((x - np.log1p(x)) / x) / x)
        slope = -np.sqrt(scale / d) / ((1.0 + x) * np.sqrt(shape))
        slope = np.where(d > 0, slope, np.where(m > 0, -np.sqrt(scale / (2.0 * at)), 0.0))
    return np.where(np.isnan(m), m, slope)
