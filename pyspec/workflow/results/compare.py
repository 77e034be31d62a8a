"""How good fits are, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, suggest
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.findings.finding import warn
from pyspec.fit.results.table import need_pandas
from pyspec.model.data.source import source_of
from pyspec.plot.protocols import Fit
from pyspec.workflow.results.identity import (
    SHORT,
    handle_of,
    is_scaled_by_scatter,
    kinds_of,
    mask_of,
    measured_by,
    noise_of,
    selection_of,
    sigma_of,
)

if TYPE_CHECKING:
    from pandas import DataFrame

Array = npt.NDArray[np.float64]

METRICS = ("chi2", "chi2_red", "chi2_raw", "chi2_red_raw", "r2", "aic", "bic", "sigma_eff")

#: The columns that are shown by default, for unknown and for declared noise.
PLAIN = ("chi2_red_raw", "r2", "aic", "bic")
WEIGHTED = ("chi2_red_raw", "sigma_eff", "chi2_red", "r2", "aic", "bic")

HEAD = ("file", "model", "fit_type", "handle", "selection_json")

#: Columns that belong to every metric: the number of fitted parameters, and whether the fit
#: converged.
READ_WITH = ("n_free", "success")

AGGREGATIONS: dict[str, Callable[[Array], float] | None] = {
    "median": np.nanmedian,
    "mean": np.nanmean,
    "sum": np.nansum,
    "long": None,
}


def _check_metrics(metrics: Sequence[str]) -> list[str]:
    """Metrics by name, all where none is named. Raises :class:`FitError` for an unknown one."""
    chosen = [*metrics] or [*METRICS]
    for metric in chosen:
        if metric.lower() not in METRICS:
            hint = suggest(metric.lower(), list(METRICS))
            raise FitError(f"no metric {metric!r}{hint}; there are {', '.join(METRICS)}")
    return chosen


def best_of(fits: Sequence[Fit], by: str) -> Fit:
    """The fit with the lowest metric, or the highest r2. Slices are compared by sums over slices
    that all candidates have; candidates are the fits with results of most slices, since a sum over
    fewer is lower.

    Raises :class:`FitError` where metrics cannot rank fits: different data, a metric that is not
    known, or `sigma_eff`, which belongs to the data.
    """
    name = _check_metrics([by])[0]
    if name.lower() == "sigma_eff":
        raise FitError(
            f"by={by!r} is the standard deviation that was declared for the data, and no measure "
            "of how good a fit is; name another metric: by='aic'"
        )
    if len(fits) > 1:
        _refuse_what_differs(fits, [name], "select='latest' takes the last one")
    most = max(len(_parts(fit)) for fit in fits)
    whole = [fit for fit in fits if len(_parts(fit)) == most]
    sign, counted = -1.0 if name.lower() == "r2" else 1.0, _in_all(whole)
    scores = [sign * _row(fit, [name], "sum", counted.get(fit.file_name))[name] for fit in whole]
    if len(whole) > 1 and np.isnan(scores).all():
        raise FitError(
            f"{name} is not known of the {whole[0].fit_type} fits of {whole[0].model_name}, so no "
            "one is the best; name another metric: by='aic'"
        )
    return whole[int(np.nanargmin(scores))] if len(whole) > 1 else whole[0]


def _slices_of(fit: SliceResults) -> dict[int, FitResult]:
    """The slices of a fit that gave a result, by their numbers."""
    return {part.index: part.result for part in fit if part.result is not None}


def _parts(fit: Fit) -> list[FitResult]:
    """The fits of which a fit consists: itself, or its slices that gave a result."""
    return list(_slices_of(fit).values()) if isinstance(fit, SliceResults) else [fit]


def comparison(fits: Sequence[Fit], metrics: Sequence[str] | None, aggregation: str) -> DataFrame:
    """A DataFrame with a row for each fit, in their order; with "long" one for each slice, slice
    by slice. Without `metrics` those that are known.

    Raises :class:`FitError` without pandas, for an unknown metric or aggregation, and where fits
    cannot be compared."""
    if metrics is None:
        first = [part.statistics["chi2"] for fit in fits for part in _parts(fit)[:1]]
        metrics = WEIGHTED if not np.isnan(first).all() else PLAIN
    metrics = _check_metrics(metrics)
    _refuse_what_differs(fits, metrics)
    if aggregation not in AGGREGATIONS:
        raise FitError(f"sbs_aggregation is median, mean, sum or long, not {aggregation!r}")
    pandas = need_pandas()
    long = aggregation == "long"
    rows: list[dict[str, object]] = []
    counted = _in_all(fits)
    cut = [
        f"the slices of {fit.model_name} to {fit.file_name} were interrupted, {len(_parts(fit))} "
        f"of {len(fit.status)} have a result: all fits are compared over the "
        f"{len(counted.get(fit.file_name, ()))} that all have; fit them again, or compare slice by "
        "slice, sbs_aggregation='long'"
        for fit in fits
        if isinstance(fit, SliceResults) and {*fit.status} & {"interrupted", "not run"}
    ]
    if not long:
        warn("compare_models", cut)
    for fit in fits:
        head = {
            "file": fit.file_name,
            "model": fit.model_name,
            "fit_type": fit.fit_type,
            "handle": handle_of(fit)[:SHORT],
            "selection_json": json.dumps(selection_of(fit), sort_keys=True),
        }
        if not long:
            own = counted.get(fit.file_name)
            rows.append({**head, **_read_with(fit), **_row(fit, metrics, aggregation, own)})
            continue
        sigma = sigma_of(fit)
        parts = _slices_of(fit) if isinstance(fit, SliceResults) else {None: fit}
        for index, part in parts.items():
            values = {**_read_with(part), **_of(part.statistics, metrics, sigma)}
            rows.append({**head, "slice_index": index, **values})
    columns = [*HEAD, *(["slice_index"] if long else []), *READ_WITH, *metrics]
    frame = pandas.DataFrame(rows, columns=columns)
    if not long:
        return frame
    # Slices first, models beside each other at each of them; fits without slices last.
    frame = frame.astype({"slice_index": "Int64"})
    return frame.sort_values("slice_index", kind="stable", ignore_index=True)


def _read_with(fit: Fit) -> dict[str, int]:
    """Of slices the parameters of one, and whether all of them converged."""
    n_free = [part.n_free for part in _parts(fit)]
    return {"n_free": max(n_free, default=0), "success": bool(np.all(fit.success))}


def _in_all(fits: Sequence[Fit]) -> dict[str, set[int]]:
    """For each file the slices with a result in all of its fits of slices: sums over different
    slices cannot be compared. Fits without any result do not count."""
    common: dict[str, set[int]] = {}
    for fit in fits:
        own = set(_slices_of(fit)) if isinstance(fit, SliceResults) else set()
        if own:
            common[fit.file_name] = common.get(fit.file_name, own) & own
    return common


def _row(
    fit: Fit, metrics: Sequence[str], aggregation: str, counted: set[int] | None
) -> dict[str, float]:
    """The metrics of a fit; of slices over those that are `counted`, None: all with a result."""
    if not isinstance(fit, SliceResults):
        return _of(fit.statistics, metrics, sigma_of(fit))
    slices = _slices_of(fit)
    parts = [part for index, part in slices.items() if counted is None or index in counted]
    table = {key: np.array([part.statistics[key] for part in parts]) for key in METRICS[:-1]}
    if aggregation == "sum" and parts:  # of all slices as one fit
        left = sum(part.n_data - part.n_free for part in parts)
        for key, of in (("chi2_red", "chi2"), ("chi2_red_raw", "chi2_raw")):
            table[key] = np.array([table[of].sum() / max(left, 1)])
        # from the sum of squares and the R² of each slice: about the mean of each
        usable = table["r2"] < 1.0
        squares = table["chi2_raw"][usable]
        total = (squares / (1.0 - table["r2"][usable])).sum()
        table["r2"] = np.array([1.0 - squares.sum() / total if total > 0.0 else np.nan])
    function = AGGREGATIONS[aggregation]
    assert function is not None
    aggregated = {
        key: float(function(column)) if np.isfinite(column).any() else float("nan")
        for key, column in table.items()
    }
    return _of(aggregated, metrics, sigma_of(fit))


def _of(statistics: dict[str, float], metrics: Sequence[str], sigma: float) -> dict[str, float]:
    values = {**statistics, "sigma_eff": sigma}
    return {name: float(values[name.lower()]) for name in metrics}


#: Metrics that mean the same whatever is known of the noise.
_OF_SQUARES = ("chi2_raw", "chi2_red_raw", "r2", "sigma_eff")

#: What to do where sums differ.
_SAME_SUMS = (
    "fit both with the same noise (set_noise) and scale_covar, or ask for what means the same in "
    f"both: metrics={list(_OF_SQUARES[1:3])}"
)


def _noise_of(fit: Fit) -> str:
    """What chi² and AIC of a fit are made of. Where errors are scaled by the scatter, AIC has the
    logarithm of chi²."""
    measured = measured_by(fit)
    is_counts = measured.loss == "poisson"
    if measured.weight is None and not is_counts:
        return "squares of unknown noise"
    kind = "the deviance of counts" if is_counts else "squares over declared noise"
    is_scaled = any(map(is_scaled_by_scatter, _parts(fit)[:1]))
    return f"{kind} (scale_covar=True)" if is_scaled else kind


def refuse_missing(names: Sequence[str], chosen: Sequence[Fit], made: Sequence[Fit]) -> None:
    """Raises :class:`FitError` if no fit was `chosen` among those `made`, or none of a model in
    `names`."""
    missing = [name for name in names if all(fit.model_name != name for fit in chosen)]
    if chosen and not missing:
        return
    models = list(dict.fromkeys(fit.model_name for fit in made))
    wrong = next((name for name in missing if name not in models), "")
    hint = "".join(f" of {name!r}" for name in missing[:1])
    hint = f" of {wrong!r}{suggest(str(wrong), models)}" if wrong else hint
    raise FitError(f"no fits to compare{hint}; fits so far: {kinds_of(made)}")


def _refuse_what_differs(fits: Sequence[Fit], metrics: Sequence[str], remedy: str = "") -> None:
    """Raises :class:`FitError` where fits of one type and file saw different data, or are judged by
    different sums. Their metrics cannot tell which model is better. `remedy` says what to do, in
    place of what suits a comparison of models."""
    seen: dict[tuple[str, str], Fit] = {}
    told = {name.lower() for name in metrics} - {*_OF_SQUARES}
    for fit in fits:
        first = seen.setdefault((fit.file_name, fit.fit_type), fit)
        here, there = _noise_of(first), _noise_of(fit)
        difference, what, usual = "", "metrics", "fit both again to the same data, mask and noise"
        saved = first.measurement.data is None or fit.measurement.data is None
        mine, theirs = (_measurement_facts(side, digests=saved) for side in (first, fit))
        if told and here != there:
            difference = f"have other sums, {here} and {there}"
            what, usual = "chi2, AIC and BIC", _SAME_SUMS
        elif mine["window"] != theirs["window"]:
            windows = f"{selection_of(first)} and {selection_of(fit)}"
            difference = f"saw different windows, {windows}"
        elif "" in (mine["data"], theirs["data"]) and first is not fit:
            difference = "saw data of which one is not known"
        elif mine["data"] != theirs["data"]:
            difference = "saw different values of the data (other rows or corrections)"
        elif mine["mask"] != theirs["mask"]:
            difference = "saw different points (other masks)"
        elif told and mine["noise"] != theirs["noise"]:
            difference = "saw different sigma"
        if difference:
            raise FitError(
                f"the {fit.fit_type} fits of {first.model_name} and {fit.model_name} to "
                f"{fit.file_name} {difference}, so their {what} cannot be compared; "
                + (remedy or usual)
            )


def _measurement_facts(fit: Fit, *, digests: bool) -> dict[str, object]:
    """What a fit saw: the window as ranges of rows and columns, and the checksum of the data. With
    `digests`, which archives have, it is their digest. Masks and weights by reference are not read
    for it."""
    measured = measured_by(fit)
    assert measured.data is not None
    shape = measured.data.shape
    windows = (measured.rows, measured.columns)[-len(shape) :]
    of = fit if isinstance(fit, SliceResults) else fit.problem
    is_read = source_of(measured.keep) is None and source_of(measured.weight) is None
    return {
        "window": [tuple(window or (0, n)) for window, n in zip(windows, shape, strict=True)],
        "data": fit.data_sha256 if digests else of.data_checksum,
        "mask": mask_of(measured) if is_read else "",
        "noise": noise_of(measured) if is_read else "",
    }
