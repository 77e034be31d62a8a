"""What a result of data by reference answers without all points at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from pyspec.executor import CompiledExecutor
from pyspec.executor.protocol import Stored
from pyspec.fit.part import FitPart
from pyspec.fit.problem import FitProblem
from pyspec.model.data.source import LOADED, Derived, Source, source_of

Array = npt.NDArray[np.float64]


class ModelRows(Source):
    """The model at the best fit over the window of a fit by reference, evaluated row by row where
    it is asked for."""

    def __init__(
        self, executor: CompiledExecutor, theta: Array, fixed: Mapping[str, float] | None
    ) -> None:
        window = executor.window
        self._plan, self._packed = executor.plan, executor.packed
        self._theta, self._fixed, self._first = np.array(theta), fixed, window.row_begin
        self._columns = window.x_begin, window.x_end
        self._measurement = executor.measurement.without_data()
        self.shape, self.dtype = window.shape, np.dtype(np.float64)
        self.name, self.chunk = f"the fit of {executor.plan.name}", 1

    def read(self, begin: int, end: int) -> npt.NDArray[np.float64]:
        times = self._first + begin, self._first + end
        rows = self._measurement.without_data(times, self._columns)
        executor = CompiledExecutor(self._plan, rows, packed=self._packed)
        return np.asarray(executor.run(self._theta, self._fixed))


class Residual(Derived):
    """data - fit of a fit by reference, row by row."""

    def __init__(self, data: Source, fit: Source) -> None:
        super().__init__(data)
        self._fit, self.dtype, self.readers = fit, np.dtype(np.float64), 1
        self.name = f"the residual of {data.name}"

    def read(self, begin: int, end: int) -> npt.NDArray[np.float64]:
        data = np.asarray(self.given.rows(begin, end), np.float64)
        return np.asarray(data - self._fit.rows(begin, end))


def fit_of(problem: FitProblem | FitPart, theta: Array) -> Array:
    """The model over the window: an array, or by reference where the data are and it would be too
    large for one."""
    if source_of(problem.measurement.data) is None or 8 * problem.n_residuals <= LOADED:
        fit = problem.run(theta)
        fit.setflags(write=False)
        return fit
    executor = problem.executor
    assert isinstance(executor, CompiledExecutor)
    return cast(Array, ModelRows(executor, theta, problem.fixed))


def residual_of(data: Stored, fit: Array) -> npt.NDArray[np.float64]:
    """data - fit: an array, or by reference as the fit is."""
    source, model = source_of(data), source_of(fit)
    if source is not None and model is not None:
        return cast(Array, Residual(source, model))
    return np.subtract(data, fit, dtype=np.float64)
