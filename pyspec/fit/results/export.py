"""Fits as xarray Datasets."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.found import plain_findings
from pyspec.fit.results.table import need_xarray

if TYPE_CHECKING:
    from pyspec.fit.results.result import FitResult

Array = npt.NDArray[np.float64]


def _facts(result: FitResult) -> dict[str, Any]:
    """What was fitted, and how."""
    return {
        "model": result.model_name,
        "fit_type": result.fit_type,
        "file": result.file_name,
        "method": result.method,
        "backend": result.backend,
    }


def fit_dataset(result: FitResult, fit: Array) -> Any:
    """What ``FitResult.to_xarray`` returns; `fit` is NaN where it is not known. value, stderr and
    init are variables along ``parameter``, spectra or traces that were free along ``amplitude``."""
    facts = _facts(result) | {
        "success": int(result.success),
        "findings": "\n".join(map(str, result.findings)),
        "model_text": result.problem.model.text,
    }
    facts |= {name: getattr(result, name) for name in ("message", "nfev", "chisqr", "redchi")}
    energy = None if result.is_trace else result.energy
    table, linear = result.table, result.linear
    known = {"time": result.time, "energy": energy}
    axes = {name: axis for name, axis in known.items() if axis is not None}
    coords = {**axes, "parameter": list(table.names)}
    arrays = {"data": np.array(result.data), "fit": fit, "residual": result.residual}
    variables: dict[str, Any] = {name: (tuple(axes), array) for name, array in arrays.items()}
    for name in ("value", "stderr", "init"):
        column = [np.nan if value is None else value for value in table[name]]
        variables[name] = (("parameter",), np.array(column, dtype=np.float64))
    if linear is not None:
        coords["amplitude"] = list(linear.names)
        for name, values in (("linear", linear.known), ("linear_stderr", linear.stderr)):
            variables[name] = (("amplitude", linear.axis), np.array(list(values.values())))
    found = need_xarray().Dataset(variables, coords=coords, attrs=facts)
    return labelled(found, result.labels, result.units)


#: Units by whose names many versions of xarray read numbers as timedelta64, and their symbols, by
#: which they do not.
_DURATIONS = {
    "days": "d",
    "hours": "h",
    "minutes": "min",
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "µs",
    "nanoseconds": "ns",
}


def labelled(dataset: Any, labels: Mapping[str, str], units: Mapping[str, str]) -> Any:
    """A Dataset whose axes, data and parameters say what they are, `long_name`, and their `units`,
    where that is known by their names."""
    for name, array in dataset.variables.items():
        what = "data" if name in ("fit", "residual") else name.removesuffix("_stderr")
        unit = units.get(what, "")
        facts = {"long_name": labels.get(what, ""), "units": _DURATIONS.get(unit, unit)}
        array.attrs.update({key: text for key, text in facts.items() if text})
    return dataset


def json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values by name; JSON has no infinities: an open bound is None."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in row.items()
    }


def plain_fit(result: FitResult) -> dict[str, Any]:
    """What ``FitResult.to_dict`` returns."""
    return {
        **_facts(result),
        "success": result.success,
        "interrupted": result.interrupted,
        "message": result.message,
        "nfev": result.nfev,
        "seconds": result.seconds if isfinite(result.seconds) else None,
        "statistics": json_row(result.statistics),
        "n_data": result.n_data,
        "n_free": result.n_free,
        "chisqr": result.chisqr,
        "redchi": result.redchi,
        "degenerate": bool(result.without_effect),
        "level": result.level,
        "findings": plain_findings(result),
        "at_bound": dict(result.at_bound),
        "intervals": {name: list(ends) for name, ends in result.intervals.items()},
        "without_effect": list(result.without_effect),
        "parameters": [json_row(row) for row in result.table.to_dict()],
        "correlations": {name: json_row(one) for name, one in result.correl.items()},
    }
