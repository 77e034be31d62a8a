"""The window of a file: the energies and times that are fitted, the baseline, and what a fit
sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import DataError
from pyspec.model import Measurement
from pyspec.model.data.windows import excluded, forward_range, index_range, row_range, slice_of
from pyspec.plot import plot_data
from pyspec.plot.config import PlotOptions
from pyspec.plot.elements.labels import labels_with
from pyspec.workflow.data.data import FileData
from pyspec.workflow.data.noise import Names, mean_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


class FileWindow(FileData):
    """The part of a File that says what fits see of its data."""

    @answered
    def set_fit_limits(
        self,
        energy_limits: Sequence[float | None] | None = None,
        *,
        time_limits: Sequence[float | None] | None = None,
        exclude: Sequence[Sequence[float | None]] = (),
        exclude_times: Sequence[Sequence[float | None]] = (),
        show_plot: bool = False,
    ) -> None:
        """Fits see only these energies and times: both ends included, in either order.

        None means the whole axis; in a pair it leaves that side open: ``[82, None]``. `exclude` is
        a list of energy ranges (for a trace, of time ranges) that are left out, like masked points:
        ``exclude=[(83.2, 83.6)]``; `exclude_times` are times of a series, as those of an artifact:
        ``exclude_times=[(-0.1, 0.2)]``. Each call replaces the one before. `show_plot` opens a
        picture of the data with the window.
        """
        last = "time" if self.energy is None else "energy"
        of_series = last == "energy" and self.time is not None
        out = excluded(self._need_axis(last), exclude, last, of_series) if len(exclude) else None
        out_rows = None
        if len(exclude_times):
            self._need_data(2)
            out_rows = excluded(self._need_axis("time"), exclude_times, "time")
        columns = rows = None
        if energy_limits is not None or self.energy is not None:
            columns = index_range(self._need_axis("energy"), energy_limits, "energy")
        if time_limits is not None:
            rows = index_range(self._need_axis("time"), time_limits, "time")
        seen = slice_of(rows if last == "time" else columns)
        if out is not None and out[seen].all():
            raise DataError("exclude= leaves no point of the window; narrow its ranges")
        if out_rows is not None and out_rows[slice_of(rows)].all():
            raise DataError("exclude_times= leaves no point of the window; narrow its ranges")
        self._columns, self._rows = columns, rows
        self._excluded, self._excluded_rows = out, out_rows
        self._excluded_ranges = tuple([_ends(pair) for pair in exclude])
        self._excluded_times = tuple([_ends(pair) for pair in exclude_times])
        if show_plot:
            self.plot_data(show=True)

    @answered
    def define_baseline(
        self,
        time_start: float | None,
        time_stop: float | None,
        *,
        time_type: str = "abs",
        show_plot: bool = False,
    ) -> None:
        """The baseline is the mean of the spectra from `time_start` to `time_stop`, inclusive;
        None means from the first, or to the last. `time_type` is "abs" for times or "ind" for row
        numbers. Raises :class:`DataError` where `time_stop` is before `time_start`."""
        self._need_data(2)
        limits = forward_range((time_start, time_stop), time_type, "the baseline")
        self._baseline_rows = row_range(self._need_axis("time"), *limits, time_type)
        if show_plot:
            self.plot_data(show=True)

    @answered
    def plot_data(self, /, **options: Unpack[PlotOptions]) -> Figure:
        """The data with fit window and baseline marked; returns the Figure. Options as of
        :func:`pyspec.plot.plot_data`."""
        data = self._need_data()
        if self.keep is not None:
            data = np.where(self.keep, data, np.nan)
        settings: PlotOptions = {"config": self.project.plot_config, **options}
        return plot_data(
            data, self.energy, self.time, source=self, rows=self.rows, columns=self.columns,
            baseline=self.baseline_rows, **settings,
        )  # fmt: skip

    # what is fitted

    @property
    def baseline(self) -> Array:
        """(n_energy,) the mean spectrum that define_baseline chose; masked points do not count."""
        return np.asarray(self._mean(self._need_baseline()).data)

    def _need_baseline(self) -> tuple[int, int]:
        """The rows of the baseline. Raises :class:`DataError` before define_baseline."""
        if self.baseline_rows is None:
            raise DataError("no baseline yet: call define_baseline(time_start, time_stop) first")
        return self.baseline_rows

    def _mean(self, rows: tuple[int, int]) -> Measurement:
        """The mean spectrum over rows, with its noise."""
        kept = self._kept_times()
        arguments = self._need_data(2), rows, kept, self._excluded, self.noise, self.columns
        return mean_of(*arguments, **self._names)

    def _row(self, row: int) -> Measurement:
        """One spectrum, with its noise."""
        data = self._need_data(2)
        keep = None if self.keep is None else self.keep[row]
        noise = self.noise.of_row(row, data.shape)
        return Measurement(data[row], None, self.columns, keep=keep, **self._names, **noise)

    def _whole(self) -> Measurement:
        """The data as they are, with their noise and the window."""
        data = self._need_data()
        rows = self.rows if data.ndim == 2 else None
        columns = self.columns
        if self.energy is None:  # a trace: its one axis is time
            columns = self.rows
        noise = self.noise.of_series()
        return Measurement(data, rows, columns, keep=self.keep, **self._names, **noise)

    @property
    def _names(self) -> Names:
        """Labels and units of axes and data; a label that the project gives goes first, as it does
        in pictures."""
        return {"labels": labels_with(self, self.project.plot_config), "units": self.units}


def _ends(pair: Sequence[float | None]) -> tuple[float, float]:
    """A range with its lower end first; None is no end."""
    first, last = pair
    low = -np.inf if first is None else float(first)
    high = np.inf if last is None else float(last)
    return min(low, high), max(low, high)
