"""What a slice-by-slice fit returns: parameters as arrays over time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.batch.fits import Fits, Status, Table
from pyspec.fit.findings.counted import Counted, Told, gathered, of_following_errors
from pyspec.fit.findings.finding import plain
from pyspec.fit.results.components import sum_of
from pyspec.fit.results.measured import Measured
from pyspec.fit.results.result import FitResult
from pyspec.fit.results.same_data import need_checksum
from pyspec.fit.results.table import (
    columns_of,
    dataset,
    format_value,
    json_row,
    labelled,
    need_pandas,
    text_table,
)
from pyspec.fit.single import fit_trace
from pyspec.model import Measurement, Model
from pyspec.model.data.windows import slice_of
from pyspec.model.late_import import late_import
from pyspec.model.show import html_table
from pyspec.model.units import parameter_units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: Slices that a table shows: the first and the last of more.
MOST_ROWS = 20


@dataclass(frozen=True)
class SliceFit(Status):
    """One slice: its place in the window and in the data, how it ended, its result.

    `status` is "converged"; "undetermined" (at an optimum, but the data leave parameters open);
    "stopped" (not at an optimum: max_nfev, no way on); "interrupted" (Ctrl-C); "failed" (an error,
    in `message`); or "not run". `result` is None for the last two.
    """

    index: int
    row: int
    status: str
    message: str
    result: FitResult | None

    plural, fit_type = "slices", "slice"

    @classmethod
    def of(
        cls, index: int, row: int, status: str, message: str, result: FitResult | None
    ) -> SliceFit:
        return cls(index, row, status, message, result)

    @property
    def facts(self) -> FitResult | None:
        return self.result

    def __str__(self) -> str:
        if self.result is None:
            return f"slice {self.index} (row {self.row}): {self.status}: {self.message}"
        return str(self.result)


class SliceResults(Fits[SliceFit], Told, Measured):
    """The fits of all slices. ``slices[3]`` is one of them, ``slices[3].result`` its FitResult.

    Attributes
    ----------
    time : (n,) times of the slices; rows : (n,) their rows in the data
    names : all parameters, in the order of the model
    values, stderr : name → (n,); NaN where a slice has no value, or the value no standard error
    redchi, chisqr, nfev : (n,)
    status, message : one of :data:`pyspec.fit.batch.fits.STATUS` and a sentence for each slice
    data, fit, residual : (n, n_energy) over the window, on demand
    backend, seconds, interrupted : how it ran
    model_name, file_name, fit_type : where it belongs; fit_type is "sbs"
    """

    _called = "slices"

    #: Where relative paths of model files begin, the project's; None: where Python runs.
    folder: Path | None = None

    def __init__(
        self,
        fits: Table[SliceFit],
        series: Measurement | Callable[[Any], Measurement],
        time: Array,
        data_checksum: int = 0,
    ) -> None:
        super().__init__(fits)
        self._series, self.time = series, time
        #: Of the data when the fits began.
        self.data_checksum = data_checksum
        self.file_name = ""
        #: Where the start values come from; "" where not known.
        self.started_from = ""
        self.fit_type = "sbs"

    @cached_property
    def model(self) -> Model:
        """The model of one spectrum as it was given, a copy: changing it changes no number of the
        fits. ``slices[3].result.model`` is at the best values of a slice."""
        return self._model.copy()

    @property
    def series(self) -> Measurement:
        """Data, window, noise and mask; of an archive they are looked up when they are needed."""
        return self._measured()

    def _measured(self, data: Any = None) -> Measurement:
        """These, or with other data in place of their own."""
        if callable(self._series):
            return self._series(data)
        return self._series if data is None else replace(self._series, data=data)

    def refit(self, data: Any = None, *, start: str = "initial", **options: Any) -> SliceResults:
        """Fits all slices again, with the settings of then unless `options` (of
        :func:`fit_slices`) say otherwise; from the start values of then, or with
        ``start="best"`` from the best. `data` take the place of those of then."""
        refit_slices = late_import("pyspec.fit.again", "refit_slices")
        fitted: SliceResults = refit_slices(self, data, start, options)
        return fitted

    # arrays over time

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """(n,) rows of the data."""
        return np.arange(*(self.series.rows or (0, len(self))), dtype=np.int64)

    @property
    def start(self) -> dict[str, Array]:
        """Name → (n,) values that the fits started from."""
        return self._columns("start")

    @property
    def nfev(self) -> Array:
        """(n,) residual evaluations."""
        return self.fits.numbers("nfev")

    @property
    def findings(self) -> tuple[Counted, ...]:
        """The findings of all slices, each kind once, with the number of slices that have it;
        ``slices[3].result.findings`` are those of one."""
        fitted = ((self.time[fit.index], fit.result) for fit in self if fit.result is not None)
        return gathered(((time, result.findings) for time, result in fitted), len(self))

    @property
    def level(self) -> int:
        """How far findings were looked for, as of :attr:`FitResult.level`."""
        return min((fit.result.level for fit in self if fit.result is not None), default=0)

    def diagnose(self, deep: bool = False) -> SliceResults:
        """A copy with what the residual of each slice says, as of :meth:`FitResult.diagnose`."""
        return self.changed(lambda result: result.diagnose(deep))

    def changed(self, change: Callable[[FitResult], FitResult]) -> SliceResults:
        """A copy with another result of each slice, which C has made no sooner than it is asked
        for."""
        copied, before = copy.copy(self), self._change

        def other(fit: SliceFit) -> SliceFit:
            fit = fit if before is None else before(fit)
            return fit if fit.result is None else replace(fit, result=change(fit.result))

        copied._change, copied._objects = other, {}
        return copied

    @property
    def energy(self) -> Array:
        """(n_energy,) energies of the window."""
        assert self._model.energy is not None
        return self._model.energy[slice_of(self.series.columns)]

    @property
    def data(self) -> npt.NDArray[Any]:
        """(n, n_energy) the data of the window. Raises :class:`DataError` where the array was
        changed since it was fitted."""
        need_checksum(self.series.data, self.data_checksum, f"slices of {self.model_name}")
        assert self.series.data is not None
        return self.series.window(self.series.data)

    @property
    def fit(self) -> Array:
        """(n, n_energy) the fitted spectra, NaN for slices without a fit."""
        from pyspec.executor import make_executor

        executor = make_executor(self._model, Measurement(columns=self.series.columns))
        fit, values = np.full((len(self), self.energy.size), np.nan), self.values
        fitted = np.flatnonzero(~np.isnan(self.chisqr)).tolist()
        if fitted and (first := self.fits.fit_at(fitted[0]).result) is not None:
            _ = first.problem  # of an archive: it raises where the model has become another one
        for k in fitted:
            at = {name: float(column[k]) for name, column in values.items()}
            fit[k] = sum_of([(1.0, executor)], at)
        return fit

    @property
    def residual(self) -> Array:
        """(n, n_energy) data - fit, in the units of the data."""
        return np.asarray(self.data - self.fit, dtype=np.float64)

    # what was fitted

    @property
    def measurement(self) -> Measurement:
        """Data, window, noise, mask, labels and units."""
        return self.series

    @property
    def axis(self) -> Array:
        """The last axis of the data: energies."""
        return self.energy

    def trace(self, name: str) -> tuple[Array, Array, Array]:
        """(time, values, standard errors) of one parameter, of the slices that converged.

        Raises :class:`FitError` for an unknown name.
        """
        good, name = self.success, self._checked_name(name)
        return self.time[good], self.values[name][good], self.stderr[name][good]

    def plot(self, params: Sequence[str] | None = None, **options: Any) -> Figure:
        """The free parameters over time, or those named, with error bars; returns the Figure.
        Options as of :func:`pyspec.plot.plot_evolution`. :func:`pyspec.plot.plot_fit` draws the
        data, the fits and the residuals as maps, :func:`pyspec.plot.plot_stack` the spectra."""
        plot_evolution = late_import("pyspec.plot", "plot_evolution")
        chosen = list(self.free_names if params is None else params)
        figure: Figure = plot_evolution(
            self.time, self.values, self.stderr, params=chosen, source=self, **options
        )
        return figure

    def fit_parameter(
        self, name: str, model_yaml: str | Path, model: str | Sequence[str], **options: Any
    ) -> FitResult:
        """Fits time laws to one parameter against time, weighted with its standard errors.

        `model` names a model of time laws in the file `model_yaml`. It describes the whole
        parameter: a law that is 0 before its onset needs a ``constFun`` above it. A relative path
        begins in the folder of the project that the file belongs to. Without a project, or without
        such a file there, it begins in the current folder. Slices that did not converge or have no
        standard error do not count. Options as of :func:`pyspec.fit.fit_trace`. Pictures and tables
        have the units of the times and of the parameter.
        """
        time, values, stderr = self.trace(name)
        good = np.isfinite(values) & np.isfinite(stderr) & (stderr > 0)
        if not good.any():
            raise FitError(
                f"{name} has no slice with a standard error; only a free parameter that was "
                "fitted can be followed"
            )
        own = options.pop("measurement", None) or Measurement()
        labels = {**self.labels, "data": name, **own.labels}
        units = {**self.units, "data": parameter_units(self._model, self.units).get(name, "")}
        measured = replace(own, labels=labels, units={**units, **own.units})
        options_of_fit = {"target": name, "measurement": measured, **options}
        source = self._model_file(model_yaml)
        result = fit_trace(source, model, time[good], values[good], stderr[good], **options_of_fit)
        result.file_name = self.file_name
        used = np.flatnonzero(good & np.isin(time, np.asarray(result.time)))
        following = of_following_errors(name, values[used], stderr[used])
        if following:
            result._tell((*following, *result.findings))
        return result

    def _model_file(self, source: str | Path) -> str | Path:
        """A model file in the project's folder, or from here; a text or a Model as it is."""
        is_path = isinstance(source, Path) or (isinstance(source, str) and "\n" not in source)
        if self.folder is None or not is_path:
            return source
        own = self.folder / source
        return source if not own.is_file() and Path(source).is_file() else own

    # tables

    def to_dict(self) -> dict[str, Any]:
        """Plain lists that JSON can hold: time, status, values, stderr, redchi."""
        return {
            "model": self.model_name,
            "fit_type": self.fit_type,
            "file": self.file_name,
            "backend": self.backend,
            "seconds": plain(self.seconds),
            "interrupted": self.interrupted,
            "time": self.time.tolist(),
            "rows": self.rows.tolist(),
            "status": list(self.status),
            "message": list(self.message),
            "level": self.level,
            "findings": self._plain_findings(),
            "redchi": plain(self.redchi),
            "nfev": plain(self.nfev),
            "values": json_row(self.values),
            "stderr": json_row(self.stderr),
        }

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one row a slice: time, each parameter and its ``_stderr``, redchi,
        nfev, status. Raises :class:`FitError` without pandas."""
        columns = columns_of(self, ("redchi", "nfev", "status"))
        return need_pandas().DataFrame({"time": self.time, **columns})

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset`` over time (and energy). It has each parameter and its ``_stderr``;
        chisqr, redchi, nfev, status and message; data, fit and residual. Labels and units are
        included if they are known."""
        columns = columns_of(self, ("chisqr", "redchi", "nfev", "status", "message"))
        arrays: dict[str, Any] = {name: (("time",), column) for name, column in columns.items()}
        data, fit = np.array(self.data), self.fit
        maps = {"data": data, "fit": fit, "residual": np.asarray(data - fit, dtype=np.float64)}
        arrays |= {name: (("time", "energy"), values) for name, values in maps.items()}
        facts = {"model": self.model_name, "file": self.file_name, "fit_type": "sbs"}
        facts["findings"] = "\n".join(map(str, self.findings))
        coords = {"time": self.time, "energy": self.energy}
        units = {**parameter_units(self._model, self.units), **self.units}
        return labelled(dataset(arrays, coords, **facts), self.labels, units)

    def _head(self) -> str:
        where = f" to {self.file_name}" if self.file_name else ""
        return self._head_of(f"slices of {self.model_name}{where}")

    def _cells(self) -> list[list[str]]:
        head = ["time", *self.free_names, "redchi", "status"]
        shown, is_long = range(len(self)), len(self) > MOST_ROWS
        values, errors, redchi, status = self.values, self.stderr, self.redchi, self.status
        rows = []
        for k in (*shown[: MOST_ROWS // 2], *shown[-MOST_ROWS // 2 :]) if is_long else shown:
            cells = []
            for name in self.free_names:
                error = errors[name][k]
                text, shown_error = format_value(values[name][k], None if error != error else error)
                cells.append(f"{text} ± {shown_error}" if shown_error else text)
            rows.append([f"{self.time[k]:.6g}", *cells, f"{redchi[k]:.5g}", status[k]])
        if is_long:
            rows.insert(MOST_ROWS // 2, ["…"] * len(head))
        return [head, *rows]

    def __str__(self) -> str:
        table = text_table(self._cells(), ">" * (len(self.free_names) + 2) + "<")
        return "\n".join([self._head(), *self.finding_lines(), table])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.finding_lines())
        return f"<b>{escape(self._head())}</b>{notes}{html_table(self._cells())}"
