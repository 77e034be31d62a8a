"""What a result of data by reference answers without all points at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pyspec.errors import FitError
from pyspec.executor import make_executor
from pyspec.fit.problem import FitProblem
from pyspec.model.source import LOADED, source_of


def refuse_whole(problem: FitProblem) -> None:
    """Raises :class:`FitError` where a model of all points is too large for one array."""
    if source_of(problem.measurement.data) is not None and 8 * problem.n_residuals > LOADED:
        raise FitError(
            f"{problem.label}: the fit has {problem.n_residuals} points, too many for one array; "
            "take a part: result.predict(time=...)"
        )


def squares_of(result: Any) -> tuple[float, float]:
    """Of a FitResult, the sums of the squares of data - model and of data - mean over the points
    that count, in the units of the data; of data by reference in one pass over them."""
    problem = result.problem
    if source_of(problem.measurement.data) is None:
        data = np.asarray(result.data, dtype=np.float64)[result.keep]
        residual = result.residual[result.keep]
        return float(residual @ residual), float(((data - data.mean()) ** 2).sum())
    if "_raw" not in result.__dict__:  # a pass over the data
        plain = replace(problem.measurement, weight=None, loss="squares")
        plain.seen.update(problem.measurement.seen)
        executor = make_executor(problem.model, plain)
        result._raw = float(executor.normal(result.theta, problem.fixed, "value")[0])
    return result._raw, problem.measurement.survey.scatter


def range_of(result: Any) -> tuple[float, float]:
    """The smallest and the largest value of the data of a FitResult that count."""
    measurement = result.problem.measurement
    if source_of(measurement.data) is not None:
        return measurement.survey.low, measurement.survey.high
    data = np.asarray(result.data)[result.keep]
    return (float(data.min()), float(data.max())) if data.size else (np.nan, np.nan)


def masked_points(result: Any) -> int:
    """How many points of the window of a result are masked."""
    measurement = result.measurement
    if measurement.keep is None:
        return 0
    if source_of(measurement.keep) is None:
        return int(np.count_nonzero(~result.keep))
    return int(measurement.window(measurement.data).size - measurement.survey.n_points)
