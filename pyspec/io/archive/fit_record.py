"""A fit as a record of an archive: a dict of texts, numbers and arrays.

:mod:`pyspec.io.archive.results` restores the fit. ``docs/archive_format.md`` describes the fields.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from pyspec._version import VERSION
from pyspec.errors import DataError
from pyspec.fit import (
    FitResult,
    JointResult,
    MCMCResult,
    ParameterRow,
    ParameterTable,
    SliceResults,
)
from pyspec.fit.again import settings_of
from pyspec.fit.ending import Ending
from pyspec.fit.findings.finding import Finding
from pyspec.fit.results.joint import Member
from pyspec.io.archive.addresses import is_left_out, references_of
from pyspec.io.archive.contents import NAMED
from pyspec.io.archive.fields import Array
from pyspec.model import Model
from pyspec.model.build.inputs import own_inputs
from pyspec.model.data.source import source_of

#: Numbers of a slice, and its texts.
NUMBERS, TEXTS = ("redchi", "chisqr", "nfev"), ("status", "message")


def record_of(result: FitResult | SliceResults) -> dict[str, object]:
    """One fit, or the fits of slices, all but the data; see :func:`pyspec.io.save_archive`."""
    if isinstance(result, SliceResults):
        own = _slices_record(result)
    elif isinstance(result, JointResult):
        pairs = zip(result._members, result.files, strict=True)
        own = {**_fit_record(result), "files": [_file_record(*pair) for pair in pairs]}
        own["kind"] = "joint"
    else:
        own = {"kind": "fit", **_fit_record(result), **_fitted(result, result._problem.model)}
    return own | {"versions": dict(result.versions) or versions()} | _named(result)


def _named(result: FitResult | SliceResults) -> dict[str, object]:
    return {name: text for name in NAMED if (text := vars(result).get(name))}


# one fit


def _fit_record(result: FitResult) -> dict[str, object]:
    """One fit, or one of several files, but for what was fitted."""
    return {
        "model_name": result.model_name,
        "fit_type": result.fit_type,
        "file_name": result.file_name,
        "target": result.target,
        "parameters": _columns(result.table),
        "free_names": list(result.free_names),
        "ending": _ending_record(result.ending),
        "statistics": _statistics(result),
        "settings": _settings(result.method, result.backend, result.settings),
        "samples": _samples(result.mcmc),
        "of_joint": result._is_joint_member,
        "success": result.success,
        "interrupted": result.interrupted,
        "message": result.message.replace("\x00", ""),
        "seconds": result.seconds,
        "nfev": result.nfev,
        "started_from": result.started_from,
        "starts": "\n".join(json.dumps(asdict(start)) for start in result.starts),
        "findings": _lines(result._every_finding),
        "level": result.level,
        "diagnosed": np.array(result.diagnosed, np.float64),
    }


# several files


#: Numbers of a :class:`pyspec.fit.results.joint.Member`.
OF_MEMBER = ("chisqr", "n_points", "n_amplitudes")


def _file_record(member: Member, file: FitResult) -> dict[str, object]:
    return {
        "model_name": file.model_name,
        "fit_type": member.fit_type,
        "file_name": member.name,
        "parameters": _columns(file.table),
        "free_names": list(file.free_names),
        "names": list(member.full),
        "joint_names": list(member.full.values()),
        **{name: getattr(member, name) for name in OF_MEMBER},
        "left": None if member.left is None else member.left._asdict(),
        "statistics": _statistics(file),
        "started_from": file.started_from,
        **_fitted(file, file._problem.model),
        **_named(file),
    }


# slices


def _slices_record(slices: SliceResults) -> dict[str, object]:
    """Slices, all but their data: values as arrays (n_parameters, n_slices)."""
    model, results = slices.model, [fit.result for fit in slices]
    done = next((result for result in results if result is not None), None)
    rows = [
        ParameterRow(par.name, values, None, par.vary, par.min, par.max, par.expr, values)
        for par, values in zip(model.parameters.values(), model.values.values(), strict=True)
    ]
    counted = [
        {}
        if result is None
        else {**_goodness(result), "n_data": result.n_data, "n_free": result.n_free}
        for result in results
    ]
    names = [*max(counted, key=len, default={})] or ["n_data", "n_free"]  # none has a result
    ends = [[] if result is None else list(result.at_bound.items()) for result in results]
    jumps = [[] if result is None else list(result.intervals.items()) for result in results]
    return {
        "kind": "slices",
        "model_name": slices.model_name,
        "fit_type": slices.fit_type,
        "file_name": slices.file_name,
        "parameters": _columns(ParameterTable(rows)),
        "free_names": list(slices.free_names),
        **{name: np.array(list(getattr(slices, name).values())) for name in BY_NAME},
        **{name: getattr(slices, name) for name in NUMBERS},
        "rows": slices.rows,
        "status": list(slices.status),
        "message": [text.replace("\x00", "") for text in slices.message],
        "findings": [_lines(() if result is None else result.findings) for result in results],
        "at_bound": ["\n".join(f"{name} {side}" for name, side in sides) for sides in ends],
        "without_effect": [
            "\n".join(() if result is None else result.without_effect) for result in results
        ],
        "intervals": [
            "\n".join(f"{n} {low!r} {high!r}" for n, (low, high) in jump) for jump in jumps
        ],
        "started_from": slices.started_from,
        "seconds": slices.seconds,
        "interrupted": slices.interrupted,
        "level": slices.level,
        "statistics": {
            name: np.array([row.get(name, np.nan) for row in counted], np.float64) for name in names
        },
        "covariance": _covariances(results),
        "settings": _settings(
            "" if done is None else done.method, slices.backend, settings_of(slices)
        ),
        **_fitted(slices, model, np.asarray(slices.time, dtype=np.float64)),
    }


BY_NAME = ("values", "stderr", "start")


def _covariances(results: Sequence[FitResult | None]) -> Array | None:
    """(n_slices, n_free, n_free), NaN where a slice has none; None where no slice has one."""
    each = [None if result is None else result.ending.covariance for result in results]
    some = next((matrix for matrix in each if matrix is not None), None)
    if some is None:
        return None
    return np.array([np.full(some.shape, np.nan) if one is None else one for one in each])


def _fitted(
    result: FitResult | SliceResults, model: Model, time: Array | None = None
) -> dict[str, object]:
    """What was fitted: the model, on its own times or those of slices, and the measurement but for
    its data."""
    measurement, window = result.measurement, {}
    for field in fields(measurement):
        value = getattr(measurement, field.name)
        if field.name != "data":
            if source_of(value) is not None:
                value = None if is_left_out(value) else np.asarray(value)
            window[field.name] = np.array(value) if isinstance(value, tuple) else value
    return {
        "texts": _texts(model),
        "axes": {
            "energy": model.energy,
            "time": model.time if time is None else time,
            "aux": model.aux,
            "aux_weights": model.aux_weights,
        },
        "inputs": own_inputs(model, model.inputs),
        "measurement": window,
        "data_sha256": "",
        "by_reference": references_of(measurement),
    }


def _texts(model: Model) -> dict[str, object]:
    dynamics, profiles = [], []
    for par in model.parameters.values():
        if par.dynamics is not None:
            names = par.dynamics.name.split(", ")
            entry = {"target": par.name, "names": names, "text": par.dynamics.text}
            dynamics.append({**entry, "frequency": float(par.dynamics.frequency)})
        if par.profile is not None:
            entry = {"target": par.name, "name": par.profile.name, "text": par.profile.text}
            profiles.append(entry)
    texts = {
        "name": model.name,
        "model": model.text,
        "time_model": model.is_time_model,
        "dynamics": dynamics,
        "profiles": profiles,
    }
    if model.elsewhere:
        texts["elsewhere"] = {name: formula.text for name, formula in model.elsewhere.items()}
    return texts


def _settings(method: str, backend: str, settings: Mapping[str, Any]) -> dict[str, object]:
    """How the fit was run; a function that is the loss is known by its name, and other options that
    are no plain values are left out."""
    options = dict(settings)
    if callable(options.get("loss")):
        options["loss"] = getattr(options["loss"], "__name__", "function")
    methods, scale = options.pop("methods"), options.pop("scale_covar")
    plain = {key: value for key, value in options.items() if isinstance(value, (str, int, float))}
    return {
        "method": method,
        "methods": list(methods),
        "backend": backend,
        "scale_covar": bool(scale),
        "options": plain,
    }


# parameters


def _columns(table: ParameterTable) -> dict[str, object]:
    columns = {name: table[name] for name in table.columns}
    for name in ("value", "stderr", "min", "max", "init"):
        columns[name] = np.array([np.nan if v is None else v for v in columns[name]], np.float64)
    columns["vary"] = np.array(columns["vary"], dtype=np.bool_)
    columns["expr"] = ["" if text is None else text for text in columns["expr"]]
    return columns


# the ending

#: Fields of an :class:`Ending`: numbers, arrays, and numbers at some places.
ONE = ("variance", "chisqr", "n_points", "n_amplitudes", "distance")
ARRAYS = ("theta", "covariance", "side", "factor", "fisher")
AT = ("intervals", "gains", "wide")


def _ending_record(ending: Ending) -> dict[str, object]:
    record = {name: getattr(ending, name) for name in (*ONE, *ARRAYS)}
    record["end"], record["reached"] = ending.end
    record["lost"] = np.array(ending.lost, np.int64)
    for name in AT:
        rows = [np.hstack(pair) for pair in getattr(ending, name).items()]
        record[name] = np.array(rows, np.float64) if rows else None
    if ending.left is not None:
        record["left"] = ending.left._asdict()
    return record


# what it found


#: What the ending of a fit says too, for other programs that read an archive.
OF_ENDING = ("chisqr", "redchi", "n_data", "n_free")


def _statistics(result: FitResult) -> dict[str, object]:
    own = {name: getattr(result, name) for name in OF_ENDING}
    return {**_goodness(result), **own}


def _goodness(result: FitResult) -> dict[str, float]:
    """Its statistics; what they take from the data is NaN where these were changed."""
    try:
        return dict(result.statistics)
    except DataError:
        return dict(result._goodness(math.nan, math.nan))


def _lines(findings: Sequence[Finding]) -> str:
    """Findings as JSON, each a line of its own."""
    records = [{**finding.to_dict(), "numbers": dict(finding.numbers)} for finding in findings]
    return "\n".join(json.dumps(record, default=np.generic.item) for record in records)


def _samples(samples: MCMCResult | None) -> dict[str, object] | None:
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


@cache
def versions() -> Mapping[str, str]:
    """Of pyspec and the libraries, without importing lmfit, which takes a second. Looked up once:
    three files of metadata take 3 ms, more than all else of a fit."""
    return {
        "pyspec": VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "lmfit")},
    }
