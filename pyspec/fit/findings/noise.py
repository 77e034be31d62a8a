"""Findings about the noise of counts: data that look like counts without being declared so, and
declared noise that is the root of the data, such as weights 1 / sqrt(counts)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Measurement
from pyspec.model.data.source import source_of

Array = npt.NDArray[np.float64]

#: Whole numbers whose scatter about the fit is that of counts, within this factor, are counts.
LIKE_COUNTS = 2.0

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


def counts(measurement: Measurement, n_free: int, chisqr: Callable[[], float]) -> list[Finding]:
    """The finding for data without declared noise that are whole numbers and scatter about the fit
    like counts. The variance of counts is their expectation: the mean square of the residual is
    near the mean of the data."""
    data = measurement.data
    if measurement.loss == "poisson" or data is None:
        return []
    if isinstance(data, np.ndarray) and data.dtype.kind == "f":
        # The first value, and then the first row, tell most data apart from counts.
        begin = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
        if not float(data.item(begin[-data.ndim :])).is_integer():
            return []
    n_points, mean = _whole_numbers(measurement)
    if not mean > 0.0:
        return []
    scatter = chisqr() / max(n_points - n_free, 1) / mean
    if not 1.0 / LIKE_COUNTS <= scatter <= LIKE_COUNTS:
        return []
    return [Finding(Kind.COUNTS_UNDECLARED, (), {"scatter": scatter})]


def roots(measurement: Measurement, n_free: int, chisqr: Callable[[], float]) -> list[Finding]:
    """The finding that σ² is proportional to the data within a spectrum. Points that are low by
    chance then have too large a weight, and the fit is low by about one count at each point."""
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
    first = float(units[0, 0])
    is_same = bool(np.all(np.abs(units / first - 1.0) < SAME))
    return [Finding(Kind.SIGMA_FROM_DATA, (), {"low": low, "counts": first, "same": is_same})]


def _may_be(measurement: Measurement) -> bool:
    """At a glance: whether the first points of the window stand for as many counts a unit, or
    cannot tell."""
    data, weight = measurement.data, measurement.weight
    if type(data) is not np.ndarray or type(weight) is not np.ndarray:
        return False
    if weight.shape != data.shape or source_of(data) is not None:
        return False
    row, column = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
    first = (row, slice(column, column + 3))[-data.ndim :]
    pairs = zip(weight[first].tolist(), data[first].tolist(), strict=True)
    units = [weight**2 * value for weight, value in pairs]
    return not all(unit > 0.0 for unit in units) or max(units) - min(units) <= ALIKE * max(units)


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


def _whole_numbers(measurement: Measurement) -> tuple[int, float]:
    """How many points count, and their mean, where all are whole numbers and none is negative;
    else zeros."""
    if type(measurement.data) is not np.ndarray and source_of(measurement.data) is not None:
        survey = measurement.survey
        return (survey.n_points, survey.mean) if survey.is_whole and survey.low >= 0.0 else (0, 0.0)
    assert measurement.data is not None
    data = np.asarray(measurement.window(measurement.data))
    if data.dtype.kind == "f" and not _whole(data[0] if data.ndim == 2 else data):
        return 0, 0.0
    data = np.asarray(measurement.kept_of(data), dtype=np.float64)
    if not _whole(data) or data.min(initial=0.0) < 0.0 or not data.any():
        return 0, 0.0
    return data.size, float(data.mean())


def _whole(data: npt.NDArray[np.number]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.isfinite(data)) and np.all(data == np.round(data)))
