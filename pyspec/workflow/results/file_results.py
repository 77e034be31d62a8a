"""The results of a file: comparing them, and writing them as archives and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspec.calls import answered, one_of, say
from pyspec.errors import CallError, DataError, FitError
from pyspec.fit import SliceResults
from pyspec.io import save_fit, write_parameters, write_text
from pyspec.io.parameters import slices_csv
from pyspec.plot import plot_fit
from pyspec.plot.config import PlotOptions
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.results.compare import best_of, comparison, refuse_missing
from pyspec.workflow.results.export import export_to
from pyspec.workflow.results.identity import (
    FIT_TYPES,
    SELECTIONS,
    find_named,
    kinds_of,
    last_fit,
    matching,
    name_list,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from typing_extensions import Unpack


class FileResults(FileFits):
    """The part of a File that answers from its results, and writes them."""

    @answered
    def get_result(
        self, *, model: str | None = None, fit_type: str | None = None, handle: str | None = None
    ) -> Fit:
        """The last fit, of that model and type if given: a FitResult, or SliceResults for "sbs".

        `fit_type` is "baseline", "spectrum", "2d", "trace" or "sbs" (slice by slice); `handle` is a
        label, or the beginning of a fit's handle. Raises :class:`FitError` where there is no such
        fit, or where several handles begin so.
        """
        return last_fit(self.results, None, model, fit_type, handle)

    @answered
    def plot_fit(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Data, fit and residual of the last fit, or of one named as in :meth:`get_result`; returns
        the Figure. It looks as the project says. Options as of :func:`pyspec.plot.plot_fit`."""
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle)
        drawn: PlotOptions = {"config": self.project.plot_config, **options}
        return plot_fit(fit, **drawn)

    @answered
    def compare_models(
        self,
        *models: str | Sequence[str],
        fit_type: str | Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        sbs_aggregation: str = "median",
    ) -> DataFrame:
        """Compares the last fits, as a DataFrame: one row for each model and fit type. Rows are
        sorted by AIC within a type only, since fits of different types saw different data.

        `metrics` are some of chi2, chi2_red (weighted), chi2_raw, chi2_red_raw, r2, aic, bic, and
        sigma_eff, the common standard deviation of a point. Default: those that are known. Before
        them stand `n_free`, the number of fitted parameters, and `success`. The metrics of slices
        are aggregated over those that have a result in all fits of slices: "median", "mean", "sum"
        (r2 as for one fit), or "long" for one row a slice, with its `slice_index`. A warning says
        where an interrupted fit leaves fewer of them.
        ``project.results.compare_models()`` has all fits, not the last ones only.

        Raises :class:`FitError` for a model without such a fit, and if fits of one type saw
        different data. It also raises it if chi2, AIC or BIC are sums of different kinds: squares,
        squares over declared noise, counts.
        """
        names = [name for model in models for name in name_list(model)]
        last = {(r.model_name, r.fit_type): r for r in self.results}
        fits = matching(last.values(), None, names or None, fit_type)
        refuse_missing(names, fits, list(last.values()))
        frame = comparison(fits, metrics, sbs_aggregation)
        order = next((name for name in frame.columns if name.lower() == "aic"), None)
        if order is None or sbs_aggregation == "long":
            return frame
        turn = {kind: place for place, kind in enumerate(FIT_TYPES)}
        return frame.sort_values(
            ["fit_type", order],
            key=lambda column: column.map(turn) if column.name == "fit_type" else column,
            ignore_index=True,
        )

    @answered
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

        `select` is "all", or the "latest" or the "best" fit of each model and type, by AIC or the
        metric `by` (not `sigma_eff`). Slices are ranked by the number of results, then by the sum
        of the metric. Fits that it does not hold yet are added to an archive that exists;
        `overwrite` replaces it. Raises :class:`FitError` for the best of fits to different data,
        windows or masks.
        """
        chosen = select_fits(self.results, model, fit_type, select, by)
        path = self.project.output(filepath, f"{self.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            say(f"{len(chosen)} fits saved to {path}")
        return path

    @answered
    def export_fit(
        self,
        ref: str | None = None,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        filepath: str | Path | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
        pictures: bool = True,
    ) -> Path:
        """Writes a fit as a folder of CSV tables and pictures, or its parameters alone; returns the
        path.

        Parameters
        ----------
        ref : the label of a fit; else a model or fit type, whose last fit is written; else the
            beginning of a handle; None is the last fit
        model, fit_type : the last fit of this model and type, in place of `ref`
        filepath : a folder, in which ``files/<file>/<model>/<handle>`` is made (default:
            ``fit_results/<project>`` in the project's folder), or a file ending in .csv or .json
            for the parameters alone
        overwrite : whether to replace what is there
        pictures : whether to draw the fit too

        Every folder holds ``params.csv``, ``metrics.csv``, ``correl.csv`` and ``fit_info.csv``. The
        last says what was fitted, whether the fit converged, and what it found. Beside them stand:

        - of one spectrum: ``fit_1d.csv`` with data, fit, residual and components
        - of a time series: ``fit_2d.csv``, ``observed_2d.csv``, ``energy.csv``, ``time.csv``
        - of free spectra or traces: ``amplitudes.csv``, with errors; ``basis.csv``, the populations
          or laws that multiply them, unless these differ along the spectrum
        - of a kinetic scheme: ``das.csv`` and ``eas.csv`` too
        - of slices: ``fit_pars.csv``; ``metrics_per_slice.csv`` with status and findings
        """
        if ref is not None and (model or fit_type):
            raise CallError("export_fit: give ref, or model and fit_type, not both")
        fit = self.get_result(model=model, fit_type=fit_type)
        fit = fit if ref is None else find_named(self.results, ref)
        path = self.project.output(filepath, "")
        if filepath is None or not path.suffix or path.is_dir():
            return export_to(fit, self.project, filepath, overwrite, pictures, show_output)
        if not isinstance(fit, SliceResults):
            write_parameters(fit.table, path, overwrite=overwrite)
        elif path.suffix.lower() not in (".csv", ".json"):
            raise FitError(f"{path}: parameters are written as .csv or .json; choose one of them")
        elif path.exists() and not overwrite:
            raise DataError(f"{path}: exists already; choose another name or overwrite=True")
        elif path.suffix.lower() == ".csv":
            write_text(path, slices_csv(fit))
        else:
            write_text(path, json.dumps(fit.to_dict(), indent=2, allow_nan=False) + "\n")
        if show_output:
            say(f"fit written to {path}")
        return path


def select_fits(
    results: Sequence[Fit],
    model: str | Sequence[str] | None,
    fit_type: str | Sequence[str] | None,
    select: str,
    by: str | None,
) -> list[Fit]:
    """The fits of these models and types: "all", or of each pair the "latest" or the "best" (of
    the lowest AIC, or metric `by`). Raises :class:`FitError` if there is none, and for the best of
    fits to different data."""
    one_of("select", select, SELECTIONS, FitError)
    chosen = matching(results, None, model, fit_type)
    if not chosen:
        raise FitError(f"no such fit to save; fits so far: {kinds_of(results)}; fit first")
    if select == "all":
        return chosen
    groups: dict[tuple[str, str], list[Fit]] = {}
    for result in chosen:
        groups.setdefault((result.model_name, result.fit_type), []).append(result)
    if select == "latest":
        return [group[-1] for group in groups.values()]
    return [best_of(group, by or "aic") for group in groups.values()]
