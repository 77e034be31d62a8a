"""Declared noise that is the root of the data themselves, as weights 1 / sqrt(counts) are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pyspec.model import Measurement
from pyspec.model.source import source_of

Array = npt.NDArray[np.float64]

#: Weights that are roots of the data follow them so much closer than those that know nothing of
#: their noise: counts scatter by 1 / sqrt(counts) of themselves.
CLOSE = 0.3

#: A constant that is too low by less of its standard error is right enough.
ENOUGH = 1.0

#: Data without noise are not too low: below this share of the expected χ² nothing is said.
SCATTER = 0.1

#: At a glance at three points, counts for a unit of the data that differ more are no such roots.
ALIKE = 0.05

#: Numbers of counts for a unit of the data that are the same.
SAME = 1e-3


def roots(measurement: Measurement, n_free: int, chisqr: Callable[[], float]) -> list[str]:
    """A sentence where σ² of the points of a spectrum is proportional to their data: those that are
    low by chance count more, and what is fitted comes out low by about a count at each point."""
    if measurement.loss != "squares" or not _may_be(measurement):
        return []
    data, weight, kept = _window(measurement)
    n_seen = kept.sum(axis=1)
    data, weight, kept = data[n_seen > 2], weight[n_seen > 2], kept[n_seen > 2]
    scatter = 1.0 / (weight * data)[kept] ** 2
    low = float(np.sqrt(scatter.sum()))
    if low < ENOUGH:
        return []
    each = np.where(kept, weight**2 * data, 0.0)  # counts for a unit of the data
    units = _means(each, kept)
    chance = min(float(np.sqrt(scatter.mean())), 1.0)  # no point of less than a count decides
    follow = _rms((each / units - 1.0)[kept])
    varied = _rms((weight / _means(np.where(kept, weight, 0.0), kept) - 1.0)[kept])
    if follow > CLOSE * chance or varied < CLOSE / 2.0 * chance:
        return []
    if chisqr() < SCATTER * max(int(kept.sum()) - n_free, 1):
        return []
    return [
        "the declared σ is the root of the data themselves, so that points that are low by chance "
        "count more: heights and backgrounds come out too low, a constant by up to "
        f"{low:.2g} standard errors; {_remedy(units)}"
    ]


def _remedy(units: Array) -> str:
    first = float(units[0, 0])
    if np.all(np.abs(units / first - 1.0) < SAME):
        scale = "" if abs(first - 1.0) < SAME else f", scale={first:.6g}"
        return f'declare counts, file.set_noise("poisson"{scale})'
    return (
        "take the root of the fit in place of that of the data, np.sqrt(result.fit / k) where a "
        "unit of the data stands for k counts, and fit again"
    )


def _may_be(measurement: Measurement) -> bool:
    """At a glance: whether the first points of the window stand for as many counts a unit, or
    cannot tell."""
    data, weight = measurement.data, measurement.weight
    if type(data) is not np.ndarray or type(weight) is not np.ndarray:
        return False
    if weight.shape != data.shape or source_of(data) is not None:
        return False
    row, column = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
    least, most = np.inf, 0.0
    for k in range(column, min(column + 3, data.shape[-1])):
        place = (row, k)[-data.ndim :]
        unit = float(weight.item(place)) ** 2 * float(data.item(place))
        if not unit > 0.0:
            return True
        least, most = min(least, unit), max(most, unit)
    return most - least <= ALIKE * most


def _window(measurement: Measurement) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Data and weights of the window, (n_rows, n), and where points count and are above 0."""
    assert measurement.data is not None
    assert measurement.weight is not None
    data = np.atleast_2d(np.asarray(measurement.window(measurement.data), np.float64))
    weight = np.atleast_2d(measurement.window(measurement.weight))
    with np.errstate(invalid="ignore"):
        kept = (data > 0.0) & (weight > 0.0)
    if measurement.keep is not None:
        kept &= np.atleast_2d(measurement.window(measurement.keep))
    return np.where(kept, data, 1.0), np.where(kept, weight, 1.0), kept


def _means(values: Array, kept: npt.NDArray[np.bool_]) -> Array:
    """(n_rows, 1) means of each row over its points that count; the others are 0."""
    return np.asarray(values.sum(axis=1) / kept.sum(axis=1))[:, np.newaxis]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
