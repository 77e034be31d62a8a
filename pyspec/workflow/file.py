"""File: one measurement with its axes, its models, its window and its fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError, FitError
from pyspec.fit import CorrelationTable, ParameterTable
from pyspec.fit.table import need_pandas
from pyspec.io import Dataset, from_xarray, save_fit, write_parameters
from pyspec.workflow.answers import (
    FIT_TYPES,
    check_metrics,
    check_type,
    compared,
    export_slices,
    handle_of,
    interval_table,
    select_fits,
)
from pyspec.workflow.fitted import Fitted
from pyspec.workflow.project import Project

#: Options of File that from_xarray takes beside its own.
_OWN = ("mask", "nan_policy", "name", "path", "aux_axis", "aux_weights")


class File(Fitted):
    """One data set and what is done with it.

    Parameters
    ----------
    parent_project : the project it belongs to; a new one if None
    path : a label of where the data come from
    name : how results call it; `path` if None
    data : (n_energy,) or (n_time, n_energy); used where it lies, not copied, where its type
        is float64, float32 or uint16; never written to. With a time axis alone: (n_time,)
    energy, time : the axes; energy rises or falls all the way, time rises
    aux_axis, aux_weights : the auxiliary axis of profiles and the weights of its average, equal
        ones by default
    mask : True where a point is left out: of the shape of the data, or (n_energy,) for columns
    nan_policy : "raise" refuses NaN and infinities, "omit" leaves them out

    Raises
    ------
    DataError
        data that are not finite real numbers, or do not match their axes
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.project.files.append(self)

    @classmethod
    def from_dataset(
        cls, dataset: Dataset, parent_project: Project | None = None, **options: Any
    ) -> File:
        """A file of what :func:`pyspec.read` returned; NaN are left out unless
        ``nan_policy="raise"``."""
        given = {"nan_policy": "omit", **dataset.for_file(), **options}
        return cls(parent_project, **given)

    @classmethod
    def from_xarray(cls, array: Any, parent_project: Project | None = None, **options: Any) -> File:
        """A file of an ``xarray.DataArray`` or Dataset with named axes, energy last.

        Options `mask`, `nan_policy`, `name`, `aux_axis` are those of File, others those of
        :func:`pyspec.io.from_xarray`.
        """
        own = {key: options.pop(key) for key in _OWN if key in options}
        return cls.from_dataset(from_xarray(array, **options), parent_project, **own)

    # answers

    def get_result(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> Any:
        """The last fit, of that model and type if given: a FitResult, or SliceResults for "sbs".

        `handle` is the beginning of a fit's handle.
        """
        check_type(fit_type)
        if not self.results:
            raise FitError("no fit yet; call fit_baseline, fit_spectrum or fit_2d first")
        for result in reversed(self.results):
            if handle is not None and not handle_of(result).startswith(handle):
                continue
            if model in (None, result.model_name) and fit_type in (None, result.fit_type):
                return result
        done = ", ".join(f"{r.fit_type} of {r.model_name}" for r in self.results) or "none"
        wanted = " ".join(str(part) for part in (fit_type, model, handle) if part)
        raise FitError(f"no fit {wanted} yet; fits so far: {done}".replace("  ", " "))

    def get_parameters(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> Any:
        """All parameters of the last fit (of that model and type): a :class:`ParameterTable`,
        or for slices a DataFrame with one row a slice."""
        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        table: ParameterTable | None = getattr(result, "table", None)
        return result.to_dataframe() if table is None else table

    def get_correlations(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> CorrelationTable:
        """Correlations of the free parameters of the last fit (of that model and type)."""
        result = self._one(model, fit_type, handle, "correlations")
        table: CorrelationTable = result.correlations
        return table

    def get_confidence_intervals(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        **options: Any,
    ) -> Any:
        """Intervals by profile likelihood of the last fit (of that model and type), found now: a
        DataFrame with one row a parameter. Options as of ``lmfit.conf_interval``."""
        found = self._one(model, fit_type, handle, "intervals").conf_interval(**options)
        return need_pandas().DataFrame.from_dict(interval_table(found), orient="index")

    def _one(self, model: str | None, fit_type: str | None, handle: str | None, what: str) -> Any:
        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        if result.fit_type == "sbs":
            raise FitError(f"slices have no {what} in common; ask one: slices[0].result")
        return result

    def compare_models(
        self,
        *models: str,
        fit_type: str | Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        sbs_aggregation: str = "median",
    ) -> Any:
        """How good the last fits are, as a DataFrame: one row a model and type, by AIC.

        `metrics` are some of chi2, chi2_red (weighted), chi2_raw, chi2_red_raw, r2, aic, bic. The
        metrics of slices are aggregated: "median", "mean", "sum", or "long" for one row a slice.
        """
        types = [fit_type] if isinstance(fit_type, str) else list(fit_type or FIT_TYPES)
        for one in types:
            check_type(one)
        chosen = check_metrics(metrics)
        if sbs_aggregation not in ("median", "mean", "sum", "long"):
            raise FitError(f"sbs_aggregation is median, mean, sum or long, not {sbs_aggregation!r}")
        last = {(r.model_name, r.fit_type): r for r in self.results}
        rows: list[dict[str, Any]] = []
        for (name, kind), result in last.items():
            if (not models or name in models) and kind in types:
                rows += compared(result, chosen, sbs_aggregation)
        if not rows:
            done = ", ".join(f"{kind} of {name}" for name, kind in last) or "none"
            raise FitError(f"no such fits to compare; fits so far: {done}")
        frame = need_pandas().DataFrame(rows)
        order = next((metric for metric in chosen if metric.lower() == "aic"), None)
        return frame if order is None else frame.sort_values(order, ignore_index=True)

    # pictures

    def plot_fit(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """Data, fit and residual of the last fit; returns the Figure. `show` (or `show_plot`)
        opens a window. Options as of :func:`pyspec.plot.plot_fit`."""
        from pyspec.plot import plot_fit

        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        options = {key: value for key, value in options.items() if value is not None}
        options.setdefault("config", self.project.plot_config)
        return plot_fit(result, show=show or show_plot, **options)

    def plot_param_evolution(
        self,
        *,
        model: str | None = None,
        handle: str | None = None,
        params: Sequence[str] | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """Parameters of the last slice-by-slice fit against time; returns the Figure. Options as
        of :func:`pyspec.plot.plot_evolution`."""
        from pyspec.plot import plot_evolution

        slices = self.get_result(model=model, fit_type="sbs", handle=handle)
        options = {key: value for key, value in options.items() if value is not None}
        options.setdefault("config", self.project.plot_config)
        chosen = list(params) if params is not None else list(slices.free_names)
        return plot_evolution(
            slices.time,
            slices.values,
            slices.stderr,
            params=chosen,
            show=show or show_plot,
            **options,
        )

    def plot_sbs_slices(
        self,
        *,
        model: str | None = None,
        handle: str | None = None,
        slices: Sequence[int] | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """Spectra of the last slice-by-slice fit (those numbers of its window, or some) with
        their fits, above each other; returns the Figure. Options as of
        :func:`pyspec.plot.plot_waterfall`."""
        from pyspec.plot import plot_waterfall

        found = self.get_result(model=model, fit_type="sbs", handle=handle)
        options = {key: value for key, value in options.items() if value is not None}
        options.setdefault("config", self.project.plot_config)
        chosen = slice(None) if slices is None else list(slices)
        if slices is not None:
            options.setdefault("n", len(slices))
        parts = found.data[chosen], found.energy, found.time[chosen]
        return plot_waterfall(*parts, fit=found.fit[chosen], show=show or show_plot, **options)

    # to disk

    def save_fit(
        self,
        filepath: str | Path | None = None,
        *,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        select: str = "all",
        overwrite: bool = False,
        show_output: bool | int = False,
        by: str | None = None,
    ) -> Path:
        """Saves fits to an archive (HDF5), from which they can be looked at and fitted again:
        :func:`pyspec.io.load_fits`. Returns its path.

        `select` is "all", "latest" or "best" of each model and type (by AIC, or the metric `by`).
        An archive that is there is added to; `overwrite` replaces it.
        """
        chosen = select_fits(self.results, model, fit_type, select, by)
        path = self.project.output(filepath, f"{self.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            print(f"{len(chosen)} fits saved to {path}")
        return path

    def export_fit(
        self,
        ref: str | None = None,
        *,
        filepath: str | Path | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
    ) -> Path:
        """Writes the parameters of a fit as CSV or JSON, as the suffix of `filepath` says.

        `ref` is a fit type, a model name, or the beginning of a handle; None is the last fit.
        """
        result = self._by_reference(ref)
        path = self.project.output(filepath, f"{self.name}_{result.model_name}.csv")
        if result.fit_type == "sbs":
            if path.exists() and not overwrite:
                raise DataError(f"{path}: exists already; choose another name or overwrite=True")
            export_slices(result, path)
        else:
            write_parameters(result.table, path, overwrite=overwrite)
        if show_output:
            print(f"parameters written to {path}")
        return path

    def _by_reference(self, ref: str | None) -> Any:
        if ref in FIT_TYPES:
            return self.get_result(fit_type=ref)
        if ref is None or any(result.model_name == ref for result in self.results):
            return self.get_result(model=ref)
        return self.get_result(handle=ref)

    # for people

    def describe(self, *, waterfall: float | None = None) -> str:
        """Prints and returns what the file holds; with `waterfall`, a distance in units of the
        data, shows the spectra above each other too."""
        lines = [repr(self).strip("<>")]
        for name, axis in (("energy", self.energy), ("time", self.time), ("aux", self.aux_axis)):
            if axis is not None:
                lines.append(f"  {name}: {axis.size} points, {axis[0]:g} to {axis[-1]:g}")
        if self.data is not None:
            seen = self.data if self.keep is None else self.data[self.keep]
            lines.append(f"  data: {self.data.dtype}, {seen.min():g} to {seen.max():g}")
        if self.keep is not None:
            lines.append(f"  masked: {int(np.count_nonzero(~self.keep))} points")
        if self.noise.is_known:
            lines.append(f"  noise: {self.noise.kind}")
        for what, window in (
            ("fit rows", self.rows),
            ("fit columns", self.columns),
            ("baseline rows", self.baseline_rows),
        ):
            if window is not None:
                lines.append(f"  {what}: {window[0]} to {window[1] - 1}")
        lines += [
            f"  model {name}: {len(m.parameters)} parameters" for name, m in self.models.items()
        ]
        lines += [f"  {result!r}".replace("<", "").replace(">", "") for result in self.results]
        text = "\n".join(lines)
        print(text)
        if waterfall is not None:
            self.plot_data(show=True, waterfall=waterfall)
        return text

    def __repr__(self) -> str:
        shape = "no data" if self.data is None else "data " + " × ".join(map(str, self.data.shape))
        return f"<File {self.name}: {shape}, {len(self.models)} models, {len(self.results)} fits>"
