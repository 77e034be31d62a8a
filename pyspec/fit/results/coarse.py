"""What pictures and reports ask of a fit of many points: some rows and columns, the range of the
data, and how many points are masked."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from pyspec.executor import CompiledExecutor
from pyspec.executor.protocol import Stored
from pyspec.fit.results.by_reference import ModelRows
from pyspec.fit.results.moving import Moving, moving_parameters
from pyspec.fit.results.result import FitResult
from pyspec.fit.slices.results import SliceResults
from pyspec.model import Measurement
from pyspec.model.data.source import source_of

Array = npt.NDArray[np.float64]

#: Of data by reference with more points than this only some are drawn.
DRAWN = 2_000_000

#: Rows and columns that are drawn at most.
CELLS = 500

#: Those of fits that are still in use.
_MADE: WeakKeyDictionary[FitResult, FitResult] = WeakKeyDictionary()


class CoarseFit(FitResult):
    """A finished fit whose arrays are those of some rows and columns of its window, one of `points`
    each. Its numbers are those of the fit."""

    def __init__(self, result: FitResult) -> None:
        self.__dict__.update(result.__dict__)
        executor, measurement = self.problem.executor, self.problem.measurement
        assert isinstance(executor, CompiledExecutor)
        assert result.time is not None, "a spectrum has no rows to leave out"
        window = executor.window
        self.points = tuple(-(-n // CELLS) for n in window.shape)
        every, own = self.points[0], slice(None, None, self.points[1])
        self._time, self._energy = result.time[::every], result.energy[own]
        rows = range(0, window.shape[0], every)
        model = ModelRows(executor, self.theta, self.problem.fixed)
        fit = np.concatenate([model.read(row, row + 1) for row in rows])[:, own]
        fit.setflags(write=False)
        self._fit = fit

        def seen(array: Any) -> Any:
            if array is None:
                return None
            places = (window.row_begin + row for row in rows)
            columns = slice(window.x_begin, window.x_end)
            read = [np.asarray(array[at : at + 1, columns])[:, own] for at in places]
            return np.concatenate(read)

        self._seen = Measurement(
            data=seen(measurement.data),
            weight=seen(executor.weight),
            keep=seen(executor.keep),
            loss=measurement.loss,
            loss_scale=measurement.loss_scale,
            labels=result.labels,
            units=result.units,
        )

    @property
    def energy(self) -> Array:
        return self._energy

    @property
    def time(self) -> Array:
        return self._time

    @property
    def measurement(self) -> Measurement:
        return self._seen

    @property
    def data(self) -> Stored:
        assert self._seen.data is not None
        return self._seen.data

    def moving(self) -> Moving | None:
        """The parameters that move, at the times that are drawn."""
        return moving_parameters(self.problem, self.ending, every=self.points[0])


def drawn(result: FitResult) -> FitResult:
    """The fit as pictures show it: itself, or of many points by reference some."""
    is_large = source_of(result.problem.measurement.data) is not None
    if not is_large or result.problem.n_residuals <= DRAWN or isinstance(result, CoarseFit):
        return result
    if result not in _MADE:
        _MADE[result] = CoarseFit(result)
    return _MADE[result]


def range_of(result: FitResult) -> tuple[float, float]:
    """The smallest and the largest value of the data of a FitResult that count."""
    measurement = result.problem.measurement
    if source_of(measurement.data) is not None:
        return measurement.survey.low, measurement.survey.high
    data = np.asarray(result.data)[result.keep]
    return (float(data.min()), float(data.max())) if data.size else (np.nan, np.nan)


def masked_points(result: FitResult | SliceResults) -> int:
    """How many points of the window of a result are masked."""
    measurement = result.measurement
    if measurement.keep is None:
        return 0
    if source_of(measurement.keep) is None:
        return int(np.count_nonzero(~result.keep))
    assert measurement.data is not None
    return int(measurement.window(measurement.data).size - measurement.survey.n_points)
