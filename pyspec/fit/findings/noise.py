"""Findings about the noise of counts. Data may look like counts without being declared so; declared
noise may be the root of the data, such as weights 1 / sqrt(counts)."""

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


def counts(measurement: Measurement, n_free: int, chisqr: Callable[[], float]) -> list[Finding]:
    """The finding for data without declared noise that are whole numbers and scatter about the fit
    like counts. The variance of counts is their expectation: the mean square of the residual is
    near the mean of the data."""
    data = measurement.data
    if measurement.loss == "poisson" or data is None:
        return []
    if isinstance(data, np.ndarray) and data.dtype.kind == "f":
        # The first value tells most data apart from counts.
        begin = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
        if not float(data.item(begin[-data.ndim :])).is_integer():
            return []
    if source_of(data) is not None:
        survey = measurement.survey
        if not survey.is_whole or survey.low < 0.0:
            return []
        n_points, mean = survey.n_points, survey.mean
    else:
        values = np.asarray(measurement.kept_of(measurement.window(data)), dtype=np.float64)
        with np.errstate(invalid="ignore"):
            if not (values == np.round(values)).all() or values.min(initial=0.0) < 0.0:
                return []
        n_points, mean = values.size, float(values.mean()) if values.size else 0.0
    if not mean > 0.0:
        return []
    scatter = chisqr() / max(n_points - n_free, 1) / mean
    if not 1.0 / LIKE_COUNTS <= scatter <= LIKE_COUNTS:
        return []
    return [Finding(Kind.COUNTS_UNDECLARED, (), {"scatter": scatter})]


def roots(measurement: Measurement, n_free: int, chisqr: Callable[[], float]) -> list[Finding]:
    """The finding that σ² is proportional to the data. Points that are low by chance then have too
    large a weight, and the fit is low by about one count at each point."""
    data, weight = measurement.data, measurement.weight
    if type(data) is not np.ndarray or type(weight) is not np.ndarray:
        return []
    if measurement.loss != "squares" or weight.shape != data.shape:
        return []
    # A glance at the first points, which tells most weights apart from roots.
    row, column = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
    first = (row, slice(column, column + 3))[-data.ndim :]
    glimpse = (weight[first] ** 2 * data[first]).tolist()
    if min(glimpse) > 0.0 and max(glimpse) - min(glimpse) > ALIKE * max(glimpse):
        return []
    values = measurement.kept_of(measurement.window(data)).astype(np.float64)
    weights = measurement.kept_of(measurement.of_points(weight))
    seen = (values > 0.0) & (weights > 0.0)
    values, weights = values[seen], weights[seen]
    scatter = 1.0 / (weights * values) ** 2
    low = float(np.sqrt(scatter.sum()))
    if low < ENOUGH:
        return []
    units = weights**2 * values  # counts for a unit of the data
    chance = min(float(np.sqrt(scatter.mean())), 1.0)  # no point of less than a count decides
    follow, varied = (float(np.std(own) / np.mean(own)) for own in (units, weights))
    if follow > CLOSE * chance or varied < CLOSE / 2.0 * chance:
        return []
    if chisqr() < SCATTER * max(values.size - n_free, 1):
        return []
    return [Finding(Kind.SIGMA_FROM_DATA, (), {"low": low, "counts": float(units.mean())})]
