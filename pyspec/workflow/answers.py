"""Choosing, comparing and naming fits, for the answers of a File."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import FitError, suggest
from pyspec.fit import SliceResults
from pyspec.io import write_text

FIT_TYPES = ("baseline", "spectrum", "sbs", "2d", "trace")

METRICS = ("chi2", "chi2_red", "chi2_raw", "chi2_red_raw", "r2", "aic", "bic")

SELECTIONS = ("all", "latest", "best")


def check_type(fit_type: str | None) -> None:
    """Raises :class:`FitError` for an unknown type of fit."""
    if fit_type is not None and fit_type not in FIT_TYPES:
        hint = suggest(str(fit_type), list(FIT_TYPES))
        raise FitError(f"fit_type must be one of {', '.join(FIT_TYPES)}, not {fit_type!r}{hint}")


def handle_of(result: Any) -> str:
    """A name of a fit that follows from what came out: the first digits of a sha256."""
    facts = {key: value for key, value in result.to_dict().items() if key != "seconds"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def select_fits(
    results: Sequence[Any],
    model: str | Sequence[str] | None = None,
    fit_type: str | Sequence[str] | None = None,
    select: str = "all",
    by: str | None = None,
) -> list[Any]:
    """The fits of these models and types: "all", or of each pair the "latest" or the "best" (of
    the lowest AIC, or metric `by`). Raises :class:`FitError` if there is none."""
    if select not in SELECTIONS:
        hint = suggest(str(select), list(SELECTIONS))
        raise FitError(f"select must be one of {', '.join(SELECTIONS)}, not {select!r}{hint}")
    models, types = _listed(model), _listed(fit_type)
    for one in types or ():
        check_type(one)
    chosen = [
        result
        for result in results
        if (models is None or result.model_name in models)
        and (types is None or result.fit_type in types)
    ]
    if not chosen:
        done = ", ".join(f"{r.fit_type} of {r.model_name}" for r in results) or "none"
        raise FitError(f"no such fit to save; fits so far: {done}; fit first")
    if select == "all":
        return chosen
    kept: dict[tuple[str, str], Any] = {}
    for result in chosen:
        key = result.model_name, result.fit_type
        if select == "latest" or key not in kept or _metric(result, by) < _metric(kept[key], by):
            kept[key] = result
    return list(kept.values())


def _listed(given: str | Sequence[str] | None) -> list[str] | None:
    return [given] if isinstance(given, str) else None if given is None else list(given)


def check_metrics(metrics: Sequence[str] | None) -> list[str]:
    """Metrics by name, all for None."""
    chosen = list(metrics or METRICS)
    for metric in chosen:
        if metric.lower() not in METRICS:
            hint = suggest(metric.lower(), list(METRICS))
            raise FitError(f"no metric {metric!r}{hint}; there are {', '.join(METRICS)}")
    return chosen


def _metric(result: Any, name: str | None) -> float:
    wanted = check_metrics([name or "aic"])[0].lower()
    sign = -1.0 if wanted == "r2" else 1.0
    if isinstance(result, SliceResults):
        done = [fit.result for fit in result if fit.result is not None]
        return sign * float(np.nansum([one.statistics[wanted] for one in done]))
    return sign * float(result.statistics[wanted])


def compared(result: Any, metrics: Sequence[str], aggregation: str) -> list[dict[str, Any]]:
    """Rows of a table that compares fits; slices are aggregated, or "long"."""
    head = {"model": result.model_name, "fit_type": result.fit_type}
    if not isinstance(result, SliceResults):
        return [{**head, **{name: result.statistics[name.lower()] for name in metrics}}]
    done = [fit for fit in result if fit.result is not None]
    table = [
        [fit.result.statistics[name.lower()] for name in metrics] for fit in done if fit.result
    ]
    if aggregation == "long":
        return [
            {**head, "slice": fit.index, **dict(zip(metrics, row, strict=True))}
            for fit, row in zip(done, table, strict=True)
        ]
    columns = np.array(table, dtype=np.float64).reshape(len(done), len(metrics)).T
    functions: dict[str, Any] = {"median": np.nanmedian, "mean": np.nanmean, "sum": np.nansum}
    function = functions[aggregation]
    values = [
        float(function(column)) if np.isfinite(column).any() else float("nan") for column in columns
    ]
    return [{**head, **dict(zip(metrics, values, strict=True))}]


def interval_table(found: Any) -> dict[str, dict[str, float]]:
    """What lmfit.conf_interval found, as name → level → value."""
    rows = {}
    for name, pairs in found.items():
        middle = len(pairs) // 2
        rows[name] = {
            "best" if k == middle else f"{'-' if k < middle else '+'}{100 * level:.2f}%": float(
                value
            )
            for k, (level, value) in enumerate(pairs)
        }
    return rows


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
    errors, stream = slices.stderr, io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [column for name in slices.names for column in (name, f"{name}_stderr")]
    writer.writerow(["time", *names, "redchi", "status"])
    columns = [c for name, values in slices.values.items() for c in (values, errors[name])]
    for k, time in enumerate(slices.time):
        cells = [float(column[k]) for column in (*columns, slices.redchi)]
        shown = ["" if not np.isfinite(cell) else repr(cell) for cell in cells]
        writer.writerow([repr(float(time)), *shown, slices.status[k]])
    write_text(path, stream.getvalue())
