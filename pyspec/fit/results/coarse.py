"""What pictures and reports ask of a fit of many points: means over neighbouring rows and columns,
the range of the data, and how many points are masked."""

from __future__ import annotations

from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from pyspec.executor import CompiledExecutor
from pyspec.executor.protocol import Stored
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.by_reference import ModelRows
from pyspec.fit.results.moving import Moving, moving_parameters
from pyspec.fit.results.result import FitResult
from pyspec.fit.slices.results import SliceResults
from pyspec.model import Measurement
from pyspec.model.data.source import source_of

Array = npt.NDArray[np.float64]

#: Data by reference with more points than this are drawn as means.
DRAWN = 2_000_000

#: Rows and columns that are drawn at most.
CELLS = 500

#: Points that the model is evaluated at together.
TOGETHER = 1_000_000

#: Those of fits that are still in use: each took a pass over the data.
_MADE: WeakKeyDictionary[FitResult, FitResult] = WeakKeyDictionary()


class CoarseFit(FitResult):
    """A finished fit whose arrays are means over cells of its window: data and model over the
    points of a cell that count, times and energies over all of it. A cell without any is masked.
    Its numbers are those of the fit.

    `points` says how many rows and columns a cell has. Made in one pass over the data.
    """

    def __init__(self, result: FitResult) -> None:
        self.__dict__.update(result.__dict__)
        time, energy = result.time, result.energy
        assert time is not None, "a spectrum has no rows to average"
        self.points = tuple(-(-axis.size // CELLS) for axis in (time, energy))
        self._time, self._energy = (
            _sums(axis, step, 0) / _sums(np.ones(axis.size), step, 0)
            for axis, step in zip((time, energy), self.points, strict=True)
        )
        shape = time.size, energy.size
        count, data, fit, variance, everywhere, size = _summed(
            self.problem, self.theta, shape, self.points
        )
        n, kept = np.maximum(count, 1.0), count > 0
        self._fit = np.where(kept, fit / n, everywhere / size)
        self._fit.setflags(write=False)
        has_noise = self.problem.is_weighted
        spread = np.sqrt(np.where(kept, variance, 1.0)) / n
        self._means = Measurement(
            data=np.where(kept, data / n, 0.0),
            weight=1.0 / spread if has_noise else None,
            keep=kept,
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
        return self._means

    @property
    def data(self) -> Stored:
        assert self._means.data is not None
        return self._means.data

    def moving(self) -> Moving | None:
        """The parameters that move, at one time of each cell."""
        return moving_parameters(self.problem, self.ending, every=self.points[0])


def drawn(result: FitResult) -> FitResult:
    """The fit as pictures show it: itself, or of many points by reference their means."""
    is_large = source_of(result.problem.measurement.data) is not None
    if not is_large or result.problem.n_residuals <= DRAWN or isinstance(result, CoarseFit):
        return result
    if result not in _MADE:
        _MADE[result] = CoarseFit(result)
    return _MADE[result]


def _summed(
    problem: FitProblem, theta: Array, shape: tuple[int, int], points: tuple[int, ...]
) -> Array:
    """(6, n_row_cells, n_column_cells) sums over the cells of a window, a few rows at a time. The
    sums are: number of points that count; their data, fit and variance; the model at all points;
    the number of all points."""
    executor = problem.executor
    assert isinstance(executor, CompiledExecutor)
    first = executor.window.row_begin
    columns = slice(executor.window.x_begin, executor.window.x_end)
    model = ModelRows(executor, theta, problem.fixed)
    grid = tuple(-(-n // step) for n, step in zip(shape, points, strict=True))
    total = np.zeros((6, *grid))
    for begin, end in pairwise(_cuts(shape, points[0])):
        cells = slice(begin // points[0], -(-end // points[0]))
        place = slice(first + begin, first + end), columns
        total[:, cells] += _of_rows(problem, model.read(begin, end), place, points)
    return total


def _cuts(shape: tuple[int, int], step: int) -> list[int]:
    """Where rows are cut: whole cells, or pieces of one, of so many points."""
    most = max(TOGETHER // shape[1], 1)
    if most >= step:
        return [*range(0, shape[0], most // step * step), shape[0]]
    return sorted({*range(0, shape[0], step), *range(0, shape[0], most), shape[0]})


def _of_rows(
    problem: FitProblem, fit: Array, place: tuple[slice, slice], points: tuple[int, ...]
) -> list[Array]:
    """The sums of cells over the rows and columns at a `place`, as of :func:`_summed`."""
    measurement, executor = problem.measurement, problem.executor
    assert isinstance(executor, CompiledExecutor)
    assert measurement.data is not None
    data = np.asarray(measurement.data[place], np.float64)
    keep = np.ones(fit.shape, np.bool_) if executor.keep is None else executor.keep[place]
    variance = np.ones(fit.shape)
    if measurement.loss == "poisson":
        variance = np.maximum(fit, 0.0) / measurement.loss_scale
    if executor.weight is not None:
        weight = executor.weight[place]
        keep = keep & (weight > 0)
        variance = variance / np.where(weight > 0, weight, 1.0) ** 2
    kept = (np.where(keep, values, 0.0) for values in (1.0, data, fit, variance))
    arrays = [*kept, fit, np.ones(fit.shape)]
    return [_sums(_sums(values, points[1], 1), points[0], 0) for values in arrays]


def _sums(array: Array, step: int, axis: int) -> Array:
    """Sums over `step` neighbours along an axis, of those left over at its end."""
    return np.asarray(np.add.reduceat(array, range(0, array.shape[axis], step), axis=axis))


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
