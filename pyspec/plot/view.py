"""What of a fit is drawn: the window, or all of the data with the window marked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import BackendError, PlanError
from pyspec.executor import make_executor
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import PlotError

Array = npt.NDArray[np.float64]

#: Beyond this many points only the window is drawn.
MAX_POINTS = 30_000_000


@dataclass(frozen=True)
class View:
    """Arrays of one picture. `rows` and `columns` are the fit window within them, half-open;
    `begin` is the place of their first column on the model's energy axis."""

    energy: Array
    time: Array | None
    data: Any
    fit: Array
    start: Array | None
    rows: tuple[int, int]
    columns: tuple[int, int]
    begin: int

    @property
    def residual(self) -> Array:
        """data - fit."""
        return np.asarray(self.data - self.fit, dtype=np.float64)

    @property
    def inside(self) -> tuple[slice, ...]:
        """The fit window as an index."""
        columns = slice(*self.columns)
        return (columns,) if self.time is None else (slice(*self.rows), columns)

    @property
    def cropped(self) -> bool:
        """Whether something lies outside of the fit window."""
        rows = (0, 1 if self.time is None else self.time.size)
        return self.columns != (0, self.energy.size) or self.rows != rows


def view_of(result: Any, config: PlotConfig) -> View:
    """The arrays of a fit that `config` wants to see; of slices and traces their window."""
    if not hasattr(result, "problem"):
        window = (0, len(result.time)), (0, result.energy.size)
        slices = View(result.energy, result.time, result.data, result.fit, None, *window, 0)
        return _sliced(slices, config)
    measurement, model = result.problem.measurement, result.problem.model
    whole = config.full_range and measurement.data.size <= MAX_POINTS and not result.is_trace
    rows, columns = measurement.rows, measurement.columns
    if whole and (rows is not None or columns is not None):
        try:
            seen = _whole(result)
        except (PlanError, BackendError):
            seen = _window(result)
    else:
        seen = _window(result)
    if config.show_init and seen.time is None:
        seen = replace(seen, start=_start(result, seen, model))
    return _sliced(seen, config)


def _window(result: Any) -> View:
    measurement = result.problem.measurement
    data = _masked(result.data, measurement.keep, measurement.window)
    time = None if result.is_trace else result.time
    n_rows = 1 if time is None else time.size
    begin = (measurement.columns or (0, 0))[0]
    axis = result.axis
    return View(axis, time, data, result.fit, None, (0, n_rows), (0, axis.size), begin)


def _whole(result: Any) -> View:
    measurement, model = result.problem.measurement, result.problem.model
    fit = np.asarray(
        make_executor(model, None, result.backend).run(result.theta, result.problem.fixed)
    )
    data = _masked(measurement.data, measurement.keep, lambda array: array)
    n_rows = 1 if model.time is None else model.time.size
    rows = (0, n_rows) if measurement.rows is None else measurement.rows
    columns = measurement.columns or (0, model.energy.size)
    rows = (rows[0], min(rows[1], n_rows))
    columns = (columns[0], min(columns[1], model.energy.size))
    return View(model.energy, model.time, data, fit, None, rows, columns, 0)


def _masked(data: Any, keep: Any, window: Any) -> Any:
    if keep is None:
        return np.asarray(data)
    return np.where(window(keep), data, np.nan)


def _start(result: Any, seen: View, model: Any) -> Array | None:
    """The model at the start values, on the energies of the view."""
    names = result.problem.names
    if any(name not in result.start for name in names):
        return None
    theta = np.array([result.start[name] for name in names])
    executor = make_executor(model, None, result.backend)
    with np.errstate(all="ignore"):
        curve = np.asarray(executor.run(theta, result.problem.fixed))
    return curve[seen.begin : seen.begin + seen.energy.size]


def _sliced(seen: View, config: PlotConfig) -> View:
    """Only what `data_slice` names."""
    if config.data_slice is None:
        return seen
    ranges = config.data_slice
    if len(ranges) != seen.data.ndim:
        wanted = "[[row, end], [column, end]]" if seen.data.ndim == 2 else "[[first, end]]"
        raise PlotError(f"data_slice is {ranges!r}; give {wanted}")
    limits = [
        slice(int(r[0]), int(r[1])).indices(n) for r, n in zip(ranges, seen.data.shape, strict=True)
    ]
    if any(end <= begin for begin, end, _ in limits):
        raise PlotError(f"data_slice {ranges!r} is empty; the data have {seen.data.shape}")
    index = tuple(slice(begin, end) for begin, end, _ in limits)
    c0, c1 = limits[-1][0], limits[-1][1]
    r0, r1 = (limits[0][0], limits[0][1]) if seen.data.ndim == 2 else (0, 1)
    return View(
        seen.energy[index[-1]],
        None if seen.time is None else seen.time[index[0]],
        seen.data[index],
        seen.fit[index],
        None if seen.start is None else seen.start[index[-1]],
        _within(seen.rows, r0, r1),
        _within(seen.columns, c0, c1),
        seen.begin + c0,
    )


def _within(window: tuple[int, int], begin: int, end: int) -> tuple[int, int]:
    first = min(max(window[0], begin), end) - begin
    return first, max(min(window[1], end) - begin, first)
