"""What an archive holds of a fit, as a dict of texts, numbers and arrays."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.errors import DataError
from pyspec.fit import (
    MC,
    FitResult,
    MCMCResult,
    ParameterRow,
    ParameterTable,
    SliceResults,
)
from pyspec.fit.findings.finding import Finding
from pyspec.fit.statistics import goodness
from pyspec.io.addresses import is_left_out
from pyspec.model import Measurement, Model
from pyspec.model.inputs import own_inputs
from pyspec.model.source import source_of

Array = npt.NDArray[np.float64]

#: The parts of :class:`pyspec.fit.ending.Determined`.
_LEFT = ("covariance", "directions")


def fit_contents(result: FitResult) -> dict[str, Any]:
    """One fit, all but its data; see :func:`pyspec.io.save_archive`."""
    measurement = result.problem.measurement
    return {
        "kind": "fit",
        "model_name": result.model_name,
        "fit_type": result.fit_type,
        "file_name": result.file_name,
        "parameters": _columns(result.table),
        "free_names": list(result.problem.names),
        "covariance": _covariance(result),
        "statistics": _statistics(result),
        "settings": _settings(result),
        "samples": _samples(result.mcmc),
        "intervals": intervals_text(result.intervals),
        "of_joint": result._of_many,
        "left": _left(result),
        **_common(result.problem.model, measurement),
    }


def slices_contents(slices: SliceResults) -> dict[str, Any]:
    """A slice-by-slice fit, all but its data: values as arrays (n_parameters, n_slices)."""
    model = slices.model
    done = [fit.result for fit in slices if fit.result is not None]
    common = _common(model, slices.series)
    common["axes"]["time"] = np.asarray(slices.time, dtype=np.float64)
    rows = [
        ParameterRow(par.name, values, None, par.vary, par.min, par.max, par.expr, values)
        for par, values in zip(model.parameters.values(), model.values.values(), strict=True)
    ]
    none = {"method": "", "methods": ["native"], "scale_covar": True, "options": {}}
    return {
        "kind": "slices",
        "model_name": slices.model_name,
        "fit_type": slices.fit_type,
        "file_name": slices.file_name,
        "parameters": _columns(ParameterTable(rows)),
        "values": np.array(list(slices.values.values())),
        "stderr": np.array(list(slices.stderr.values())),
        "start": np.array(list(slices.start.values())),
        "redchi": slices.redchi,
        "chisqr": slices.chisqr,
        "nfev": slices.nfev,
        "rows": slices.rows,
        "status": list(slices.status),
        "message": [text.replace("\x00", "") for text in slices.message],
        "findings": [_lines(() if one.result is None else one.result.findings) for one in slices],
        "started_from": slices.started_from,
        "statistics": _slice_statistics([one.result for one in slices]),
        "covariance": _slice_covariances([one.result for one in slices]),
        **ends_contents([one.result for one in slices]),
        "settings": _of_first(slices) if done else {**none, "backend": slices.backend},
        **common,
    }


def _lines(findings: Sequence[Finding]) -> str:
    """Findings as JSON, each a line of its own."""
    return "\n".join(json.dumps(one.to_dict()) for one in findings)


def _common(model: Model, measurement: Measurement) -> dict[str, Any]:
    return {
        "texts": _texts(model),
        "axes": {
            "energy": model.energy,
            "time": model.time,
            "aux": model.aux,
            "aux_weights": model.aux_weights,
        },
        "inputs": own_inputs(model, model.inputs),
        "measurement": _measurement(measurement),
        "versions": versions(),
    }


def _columns(table: ParameterTable) -> dict[str, Any]:
    columns: dict[str, Any] = {name: table[name] for name in table.columns}
    for name in ("value", "stderr", "min", "max", "init"):
        columns[name] = np.array([np.nan if v is None else v for v in columns[name]], np.float64)
    columns["vary"] = np.array(columns["vary"], dtype=np.bool_)
    columns["expr"] = ["" if text is None else text for text in columns["expr"]]
    return columns


def _settings(result: FitResult) -> dict[str, Any]:
    """How the fit was run; a function that is the loss is known by its name, and other options that
    are no plain values are left out."""
    options = dict(result.settings)
    if callable(options.get("loss")):
        options["loss"] = getattr(options["loss"], "__name__", "function")
    methods, scale = options.pop("methods"), options.pop("scale_covar")
    plain = {key: one for key, one in options.items() if isinstance(one, (str, int, float))}
    return {
        "method": result.method,
        "methods": list(methods),
        "backend": result.backend,
        "scale_covar": bool(scale),
        "options": plain,
    }


def _of_first(slices: SliceResults) -> dict[str, Any]:
    """How slices were run. The seed of their random starts is that of the first slice, from which
    those of the others are counted; it is left out where they are not."""
    done = {one.index: one.result for one in slices if one.result is not None}
    settings = _settings(next(iter(done.values())))
    if "n_starts" in settings["options"]:
        first = {one.settings["seed"] - index for index, one in done.items()}
        settings["options"]["seed"] = min(first)
        if len(first) > 1 or min(first) < 0:
            del settings["options"]["seed"]
    return settings


def _measurement(measurement: Measurement) -> dict[str, Any]:
    """The window, and all else that a Measurement has beside its data."""
    found: dict[str, Any] = {}
    for one in fields(measurement):
        value = getattr(measurement, one.name)
        if one.name != "data":
            if source_of(value) is not None:
                value = None if is_left_out(value) else np.asarray(value)
            found[one.name] = np.array(value) if isinstance(value, tuple) else value
    return found


def _covariance(result: FitResult) -> Array | None:
    ending = result.ending
    return np.array(ending.covariance) if ending.places.size else None


def _slice_covariances(results: Sequence[FitResult | None]) -> Array | None:
    """(n_slices, n_free, n_free), NaN where a slice has none; None where no slice has one."""
    found = [None if one is None else _covariance(one) for one in results]
    shape = next((one.shape for one in found if one is not None), None)
    if shape is None:
        return None
    return np.array([np.full(shape, np.nan) if one is None else one for one in found])


def _left(result: FitResult) -> dict[str, Array] | None:
    """What the data leave undetermined, where free amplitudes need it."""
    ending = result.ending
    if result.problem.free is None or not (ending.lost or ending.left):
        return None
    return dict(zip(_LEFT, ending.determined(), strict=True))


def left_of(contents: Mapping[str, Array] | None) -> tuple[Array, Array] | None:
    """The same, read back."""
    if not contents:
        return None
    covariance, directions = (np.asarray(contents[name], np.float64) for name in _LEFT)
    return covariance, directions


def _samples(samples: MCMCResult | None) -> dict[str, Any] | None:
    """Samples of the posterior, where there are some."""
    if samples is None:
        return None
    return {
        "names": list(samples.names),
        "chain": np.asarray(samples.chain, dtype=np.float64),
        "acceptance": np.asarray(samples.acceptance_fraction, dtype=np.float64),
        "settings": asdict(samples.settings),
        "followers": list(samples.followers),
        "derived": np.asarray(samples.derived, dtype=np.float64),
        "interrupted": samples.interrupted,
        "notes": "\n".join(" ".join(text.split()) for text in samples._notes),
    }


def samples_of(contents: Mapping[str, Any] | None) -> MCMCResult | None:
    """The samples again. Raises ValueError where names and chain do not fit each other."""
    if contents is None:
        return None
    names, chain = tuple(contents["names"]), np.asarray(contents["chain"], np.float64)
    acceptance = np.asarray(contents["acceptance"], np.float64)
    if chain.ndim != 3 or chain.shape[2] != len(names) or acceptance.shape != chain.shape[1:2]:
        raise ValueError(f"{len(names)} names and {acceptance.shape} walkers for {chain.shape}")
    followers = tuple(contents.get("followers", ()))  # archives did not hold them at first
    derived = np.asarray(contents.get("derived", np.zeros((*chain.shape[:2], 0))), np.float64)
    if derived.shape != (*chain.shape[:2], len(followers)):
        raise ValueError(f"{len(followers)} followers for {derived.shape}")
    known = {one.name for one in fields(MC)}
    settings = {key: value for key, value in contents["settings"].items() if key in known}
    return MCMCResult(
        names, chain, acceptance, MC(**settings), followers, derived,
        interrupted=bool(contents.get("interrupted", False)),
        notes=str(contents.get("notes", "")).splitlines(),
    )  # fmt: skip


def _statistics(result: FitResult) -> dict[str, Any]:
    facts: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("chisqr", "redchi", "nfev", "n_data", "n_free", "success", "interrupted")
    }
    facts |= {"message": result.message.replace("\x00", ""), "seconds": result.seconds}
    facts |= {"without_effect": list(result.without_effect), "degenerate": result.degenerate}
    facts |= {"findings": _lines(result.findings), "level": result.level}
    facts |= {"started_from": result.started_from}
    if result._of_many:
        facts["variance"] = result.ending.variance
    return {**_goodness(result), **facts}


def _goodness(result: FitResult) -> dict[str, float]:
    """Its statistics; what they take from the data is NaN where these were changed."""
    try:
        return dict(result.statistics)
    except DataError:
        return dict(goodness(result, math.nan, math.nan))


def _slice_statistics(results: Sequence[FitResult | None]) -> dict[str, Array]:
    """Name → (n_slices,) the numbers by which slices are compared, NaN where one has no result."""
    rows: list[dict[str, float]] = [
        {} if one is None else {**_goodness(one), "n_data": one.n_data, "n_free": one.n_free}
        for one in results
    ]
    names = [*max(rows, key=len, default={})] or ["n_data", "n_free"]  # none: no slice has a result
    return {name: np.array([row.get(name, np.nan) for row in rows], np.float64) for name in names}


def _texts(model: Model) -> dict[str, Any]:
    dynamics, profiles = [], []
    for par in model.parameters.values():
        if par.dynamics is not None:
            names = par.dynamics.name.split(", ")
            one = {"target": par.name, "names": names, "text": par.dynamics.text}
            dynamics.append({**one, "frequency": float(par.dynamics.frequency)})
        if par.profile is not None:
            one = {"target": par.name, "name": par.profile.name, "text": par.profile.text}
            profiles.append(one)
    texts = {
        "model": model.text,
        "time_model": model.is_time_model,
        "dynamics": dynamics,
        "profiles": profiles,
    }
    if model.elsewhere:
        texts["elsewhere"] = {name: one.text for name, one in model.elsewhere.items()}
    return texts


@dataclass(frozen=True)
class Ends:
    """What :class:`pyspec.FitResult` says of its parameters: `at_bound`, `without_effect` and
    `intervals`. An archive holds a text for each fit, a line for each parameter; at first it did
    not, and nothing is known of these."""

    at_bound: Mapping[str, str] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def intervals_text(intervals: Mapping[str, tuple[float, float]]) -> str:
    """Lines ``name low high``, all digits."""
    return "\n".join(f"{name} {low!r} {high!r}" for name, (low, high) in intervals.items())


def intervals_of(text: Any) -> dict[str, tuple[float, float]]:
    """These again. Raises ValueError for any other text."""
    rows = [line.split(" ") for line in str(text).splitlines()]
    return {name: (float(low), float(high)) for name, low, high in rows}


def ends_contents(results: Sequence[FitResult | None]) -> dict[str, list[str]]:
    """How the fits ended, of those that have a result."""
    ends = [Ends() if one is None else one for one in results]
    return {
        "at_bound": [
            "\n".join(f"{name} {side}" for name, side in one.at_bound.items()) for one in ends
        ],
        "without_effect": ["\n".join(one.without_effect) for one in ends],
        "intervals": [intervals_text(one.intervals) for one in ends],
    }


def ends_of(contents: Mapping[str, Any], n: int) -> tuple[Ends, ...]:
    """The same again. Raises ValueError for other texts, or another number of them."""
    if "at_bound" not in contents:
        return (Ends(),) * n
    columns = [contents[name] for name in ("at_bound", "without_effect", "intervals")]
    found = []
    for bounds, lost, intervals in zip(*columns, strict=True):
        sides = dict(line.split(" ") for line in str(bounds).splitlines())
        found.append(Ends(sides, tuple(str(lost).splitlines()), intervals_of(intervals)))
    if len(found) != n:
        raise ValueError(f"{len(found)} ends of {n} fits")
    return tuple(found)


def versions() -> dict[str, str]:
    """Of pyspec and of the libraries; asks for that of lmfit without importing it, a second."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """The same, looked up once: three files of metadata take 3 ms, more than all else of a fit."""
    return {
        "pyspec": VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "lmfit")},
    }


def table_of(columns: Mapping[str, Any]) -> ParameterTable:
    """The table again, from its columns."""
    rows = []
    for k, name in enumerate(columns["name"]):
        error, init = float(columns["stderr"][k]), float(columns["init"][k])
        rows.append(
            ParameterRow(
                name=name,
                value=float(columns["value"][k]),
                stderr=None if np.isnan(error) else error,
                vary=bool(columns["vary"][k]),
                min=float(columns["min"][k]),
                max=float(columns["max"][k]),
                expr=columns["expr"][k] or None,
                init=None if np.isnan(init) else init,
                at_bound=columns["at_bound"][k],
            )
        )
    return ParameterTable(rows)
