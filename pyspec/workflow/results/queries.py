"""Choosing, comparing and naming the fits of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspec.calls import one_of
from pyspec.errors import FitError, shortened, suggest
from pyspec.fit import MCMCResult, SliceResults
from pyspec.io import write_text
from pyspec.io.parameters import slices_csv
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.samples import samples_of
from pyspec.workflow.results.compare import best_of, comparison, refuse_missing
from pyspec.workflow.results.identity import (
    FIT_TYPES,
    SELECTIONS,
    check_type,
    find_fit,
    find_named,
    kinds_of,
    matching,
    name_list,
    one_fit,
)
from pyspec.workflow.results.tables import correlation_answer, interval_frame, parameter_answer


def select_fits(
    results: Sequence[Fit],
    model: str | Sequence[str] | None = None,
    fit_type: str | Sequence[str] | None = None,
    select: str = "all",
    by: str | None = None,
) -> list[Any]:
    """The fits of these models and types: "all", or of each pair the "latest" or the "best" (of
    the lowest AIC, or metric `by`). Raises :class:`FitError` if there is none, and for the best of
    fits to different data."""
    one_of("select", select, SELECTIONS, FitError)
    models, types = (None if one is None else name_list(one) for one in (model, fit_type))
    for one in types or ():
        check_type(one)
    chosen = matching(results, None, models, types)
    if not chosen:
        raise FitError(f"no such fit to save; fits so far: {kinds_of(results)}; fit first")
    if select == "all":
        return chosen
    groups: dict[tuple[str, str], list[Any]] = {}
    for result in chosen:
        groups.setdefault((result.model_name, result.fit_type), []).append(result)
    if select == "latest":
        return [group[-1] for group in groups.values()]
    return [best_of(group, by or "aic") for group in groups.values()]


def export_slices(slices: SliceResults, path: Path) -> None:
    """Parameters of slices as CSV, one line a slice, or as JSON.

    Raises :class:`FitError` for another suffix.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(path, json.dumps(slices.to_dict(), indent=2, allow_nan=False) + "\n")
        return
    if suffix != ".csv":
        raise FitError(f"{path}: parameters are written as .csv or .json; choose one of them")
    write_text(path, slices_csv(slices))


class FileAnswers:
    """The part of a File that answers from the fits it holds; `results` is its list of them."""

    def __init__(self, results: Sequence[Fit]) -> None:
        self.results = results

    def get_result(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> Any:
        """The last fit, of that model and type if given: a FitResult, or SliceResults for "sbs".

        `fit_type` is "baseline", "spectrum", "2d", "trace" or "sbs" (slice by slice), as in all
        calls that ask for it; `handle` is a label, or the beginning of a fit's handle. Raises
        :class:`FitError` where there is no such fit, or where several handles begin so.
        """
        check_type(fit_type)
        if not isinstance(model, (str, type(None))):
            raise FitError(f"model is {shortened(model)}; give the name of one, or none for any")
        if not self.results:
            raise FitError("no fit yet; call fit_2d, fit_spectrum, fit_baseline or fit_trace first")
        asked = (None if one is None else [one] for one in (model, fit_type))
        found = matching(self.results, None, *asked)
        if found:
            return found[-1] if handle is None else find_fit(found, handle)
        wanted = " ".join(part for part in (fit_type, model) if part)
        hint = suggest(model, [r.model_name for r in self.results]) if model else ""
        if fit_type == "sbs" and not hint:
            hint = "; fit the slices first: file.fit_slice_by_slice('name')"
        raise FitError(
            f"no fit {wanted} yet{hint}; fits so far: {kinds_of(self.results)}".replace("  ", " ")
        )

    def get_parameters(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        table: bool = False,
    ) -> Any:
        """All parameters of the last fit (of that model and type) as a DataFrame. Its columns are
        name, value, stderr, init_value, min, max, vary, expr. Slices have one row a slice and one
        column a parameter.

        With ``table=True``, or without pandas, a :class:`pyspec.ParameterTable`. For slices the
        DataFrame of :meth:`pyspec.SliceResults.to_dataframe`, with standard errors and status.
        """
        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        return parameter_answer(result, table)

    def get_correlations(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        table: bool = False,
    ) -> Any:
        """Correlations of the free parameters of the last fit (of that model and type). The result
        is a DataFrame with their names on both sides. With ``table=True``, or without pandas, it is
        a table of its own: ``table["a", "b"]``."""
        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        return correlation_answer(one_fit(result, "correlations").correlations, table)

    def get_confidence_intervals(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        **options: Any,
    ) -> Any:
        """Computes intervals by profile likelihood for the last fit (of that model and type): a
        DataFrame with a row for each parameter and a column for each probability. `p_names`,
        `sigmas` and `progress` are those of :meth:`pyspec.FitResult.conf_interval`."""
        result = self.get_result(model=model, fit_type=fit_type, handle=handle)
        return interval_frame(one_fit(result, "intervals"), options)

    def get_mcmc(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> MCMCResult:
        """The samples of the last fit (of that model and type) that was made with `mc_settings`, or
        sampled by :meth:`pyspec.FitResult.sample`."""
        return samples_of(self.get_result(model=model, fit_type=fit_type, handle=handle))

    def compare_models(
        self,
        *models: str | Sequence[str],
        fit_type: str | Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        sbs_aggregation: str = "median",
    ) -> Any:
        """Compares the last fits, as a DataFrame: one row for each model and fit type. Rows are
        sorted by AIC within a type only, since fits of different types saw different data.

        `metrics` are some of chi2, chi2_red (weighted), chi2_raw, chi2_red_raw, r2, aic, bic, and
        sigma_eff, the common standard deviation of a point. Default: those that are known. Before
        them stand `n_free`, the number of fitted parameters, and `success`. The metrics of slices
        are aggregated over those that have a result in all fits of slices: "median", "mean", "sum"
        (r2 as for one fit), or "long" for one row a slice, with its `slice_index`. An interrupted
        fit of slices has no metrics if at least two others are whole, and a warning says so.
        ``project.results.compare_models()`` has all fits, not the last ones only.

        Raises :class:`FitError` for a model without such a fit, and if fits of one type saw
        different data. It also raises it if chi2, AIC or BIC are sums of different kinds: squares,
        squares over declared noise, counts.
        """
        given = () if fit_type is None else fit_type
        types = ([given] if isinstance(given, str) else list(given)) or list(FIT_TYPES)
        for one in types:
            check_type(one)
        names = [name for model in models for name in name_list(model)]
        last = {(r.model_name, r.fit_type): r for r in self.results}
        fits = matching(last.values(), None, names or None, types)
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

    def by_reference(self, ref: str | None) -> Any:
        """The fit of that label, else the last of that type or model, else the fit of that handle.
        None is the last fit."""
        return self.get_result() if ref is None else find_named(self.results, ref)
