"""The fit of a record of an archive: a result of the same class. Model, measurement and problem are
made when they are asked for, see :mod:`pyspec.io.archive.problems`."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyspec.calls import Named
from pyspec.fit import (
    FitResult,
    JointResult,
    MCMCResult,
    ParameterRow,
    ParameterTable,
    SampleSettings,
    SliceFit,
    SliceResults,
    Start,
)
from pyspec.fit.batch.fits import Table
from pyspec.fit.ending import Determined, Ending
from pyspec.fit.findings.finding import Finding
from pyspec.fit.results.joint import Member
from pyspec.io.archive.contents import NAMED
from pyspec.io.archive.fields import Array, Record, Samples
from pyspec.io.archive.fit_record import ARRAYS, AT, BY_NAME, NUMBERS, OF_ENDING, TEXTS
from pyspec.io.archive.problems import Recorded, RecordedFiles, RecordedSlice, table_of
from pyspec.model.data.digest import checksum_of
from pyspec.model.sizes import unit_of
from pyspec.plan.start import Limits, StartParameters


def result_of(record: Record, data: object) -> FitResult | SliceResults:
    """The fit of a record, and of its data where they are known; those of a joint fit are a list of
    the data of each file. What depends on the model is made when it is asked for.

    Raises whatever a record leads to that :func:`record_of` did not make."""
    for own in record.get("files", [record]):
        for group in ("measurement", "axes", "texts", "statistics"):
            own[group].keys()  # raises now, and not when it is needed
    record["settings"].keys()
    fit: FitResult | SliceResults
    if record["kind"] == "joint":
        fit = _joint_of(record, data)
    else:
        kept = Recorded(record, data)
        fit = _slices_of(kept) if record["kind"] == "slices" else _fit_of(kept)
        _name(fit, record, record)
    return fit


def _name(fit: FitResult | SliceResults, record: Record, own: Record) -> None:
    """Says what made a fit, of which data, and what a person called it."""
    fit.versions, fit._sha256 = dict(record["versions"]), str(own["data_sha256"])
    vars(fit).update({name: str(own[name]) for name in NAMED if own.get(name)})


def _joint_of(record: Record, data: Any) -> JointResult:
    owns = record["files"]
    kept = RecordedFiles(record, data)
    joint = _fit_of(kept, JointResult)
    assert isinstance(joint, JointResult)
    joint._members = tuple(_member_of(own, joint.free_names) for own in owns)
    alone = copy.copy(joint)  # which does not refer to the files
    files = [alone._file(k, own) for k, own in enumerate(kept.files)]
    for file, own in zip(files, owns, strict=True):
        _show(file, table_of(own["parameters"]))
        file._statistics = _statistics_of(own["statistics"])
        file.started_from = str(own["started_from"])
        _name(file, record, own)
    joint.files = tuple(files)
    _name(joint, record, {**record, "data_sha256": owns[0]["data_sha256"]})
    return joint


def _member_of(own: Record, free_names: Sequence[str]) -> Member:
    full = dict(zip(own["names"], own["joint_names"], strict=True))
    return Member(
        str(own["file_name"]),
        str(own["fit_type"]),
        full,
        tuple(free_names.index(full[name]) for name in own["free_names"]),
        float(own["chisqr"]),
        int(own["n_points"]),
        int(own["n_amplitudes"]),
        _left_of(own),
    )


def _fit_of(kept: Recorded, kind: type[FitResult] = FitResult) -> FitResult:
    record, table = kept.record, table_of(kept.record["parameters"])
    result = _result(
        kind,
        kept,
        table,
        _ending_of(record["ending"], len(kept.names)),
        record,
        statistics=record["statistics"],
        findings=record["findings"],
        _is_joint_member=bool(record["of_joint"]),
        seconds=float(record["seconds"]),
        interrupted=bool(record["interrupted"]),
        started_from=str(record["started_from"]),
        starts=tuple(Start(**json.loads(line)) for line in str(record["starts"]).splitlines()),
        fit_type=str(record["fit_type"]),
        file_name=str(record["file_name"]),
        target=str(record["target"]),
    )
    nfev, seconds = record["diagnosed"].tolist()
    result.level, result.diagnosed = int(record["level"]), (int(nfev), seconds)
    result.mcmc = _samples_of(record.get("samples"))
    return result


def _result(
    kind: type[FitResult],
    problem: Recorded,
    table: ParameterTable,
    ending: Ending,
    facts: Record,
    statistics: Mapping[str, float],
    findings: object,
    **more: Any,
) -> FitResult:
    """A result of what was stored; `more` are arguments of its own."""
    settings = problem.settings
    result = kind(
        _problem=problem,
        ending=ending,
        _start=_start_of(table, problem.names),
        _values={row.name: row.value for row in sorted(table, key=lambda row: row.kind == "expr")},
        _message=str(facts["message"]),
        _statistics=_statistics_of(statistics),
        method=str(settings["method"]),
        backend=str(settings["backend"]),
        settings={
            "methods": list(settings["methods"]),
            "scale_covar": bool(settings["scale_covar"]),
            **settings.get("options", {}),
        },
        start=Named({row.name: row.init for row in table if row.init is not None}),
        nfev=int(facts["nfev"]),
        success=bool(facts["success"]),
        **more,
    )
    _show(result, table)
    lines = str(findings).splitlines()  # as they were: nothing is worked out anew
    result._tell(tuple(Finding.from_dict(json.loads(line)) for line in lines))
    return result


def _show(result: FitResult, table: ParameterTable) -> None:
    """Gives a result its table, and what is in it."""
    result.table = table
    result._errors = {row.name: row.stderr for row in table}
    result._expressions = {row.name: row.expr for row in table if row.expr is not None}


def _statistics_of(numbers: Mapping[str, float]) -> dict[str, float]:
    return {n: float(v) for n, v in numbers.items() if n not in OF_ENDING}


# slices


def _slices_of(kept: Recorded) -> SliceResults:
    record = kept.record
    fits = RecordedSlices(kept)
    n = fits.n
    texts = (*TEXTS, "findings", "at_bound", "without_effect", "intervals")
    if any(len(record[name]) != n for name in texts) or any(
        np.shape(record[name]) != (n,) for name in (*NUMBERS, "rows")
    ):
        raise ValueError(f"columns of other lengths than {n} slices")
    by_data = kept.data is not None
    series = kept.measurement if by_data else kept.measured
    slices = SliceResults(
        fits,
        series,
        np.asarray(kept.axes["time"], np.float64),
        checksum_of(kept.measurement) if by_data else 0,
    )
    slices.file_name, slices.started_from = str(record["file_name"]), str(record["started_from"])
    return slices


class RecordedSlices(Table[SliceFit]):
    """The slices of an archive, each of which is made when it is asked for."""

    def __init__(self, kept: Recorded) -> None:
        record = kept.record
        super().__init__(len(record["status"]), kept.model, str(kept.settings["backend"]))
        self.seconds, self.interrupted = float(record["seconds"]), bool(record["interrupted"])
        self._whole = kept
        self._table = table_of(record["parameters"])
        names = self._table["name"]
        self._columns = {
            name: dict(zip(names, np.asarray(record[name], np.float64), strict=True))
            for name in BY_NAME
        }

    def texts(self, field: str) -> list[str]:
        return list(map(str, self._whole.record[field]))

    def numbers(self, field: str) -> Array:
        return np.array(self._whole.record[field], np.float64)

    def columns(self, field: str, names: Sequence[str]) -> Array:
        own = self._columns[field]
        return np.array([own[name] for name in names])

    def fit_at(self, k: int) -> SliceFit:
        record, whole = self._whole.record, self._whole
        status, message = str(record["status"][k]), str(record["message"][k])
        row = int(record["rows"][k])
        sides = dict(line.split(" ") for line in record["at_bound"][k].splitlines())
        rows = []
        for par in self._table:
            value, stderr, init = (self._columns[name][par.name][k] for name in BY_NAME)
            optional = [None if np.isnan(v) else float(v) for v in (stderr, init)]
            bound = sides.get(par.name, "")
            rows.append(
                replace(
                    par, value=float(value), stderr=optional[0], init=optional[1], at_bound=bound
                )
            )
        table = ParameterTable(rows)
        if not np.isfinite(table["value"]).all():
            return SliceFit(k, row, status, message, None)
        fixed = {par.name: par.value for par in table if par.kind == "fixed"}
        result = _result(
            FitResult,
            RecordedSlice(whole.record, whole.data, whole, row, fixed or None),
            table,
            self._ending(k, table, sides),
            {"message": message, "nfev": record["nfev"][k], "success": status == "converged"},
            {name: float(column[k]) for name, column in record["statistics"].items()},
            record["findings"][k],
            seconds=float("nan"),
            interrupted=status == "interrupted",
            fit_type="slice",
        )
        result.level = int(record["level"])
        return SliceFit(k, row, status, message, result)

    def _ending(self, k: int, table: ParameterTable, sides: Mapping[str, str]) -> Ending:
        record, names = self._whole.record, self._whole.names
        at, n = names.index, len(names)
        counted, chisqr = record["statistics"], float(record["chisqr"][k])
        covariance = record.get("covariance")
        side = np.zeros(n, np.int64)
        for name, bound in sides.items():
            side[at(name)] = -1 if bound == "min" else 1
        lines = [line.split(" ") for line in record["intervals"][k].splitlines()]
        return Ending(
            np.array([table[name].value for name in names], np.float64),
            np.full((n, n), np.nan) if covariance is None else np.array(covariance[k]),
            float(record["redchi"][k]) if self._whole.settings["scale_covar"] else 1.0,
            chisqr,
            int(counted["n_data"][k]),
            int(counted["n_free"][k]) - n,
            side=side,
            intervals={at(name): (float(low), float(high)) for name, low, high in lines},
            lost=tuple(map(at, record["without_effect"][k].splitlines())),
        )


# the parts of a record


def _start_of(table: ParameterTable, names: Sequence[str]) -> StartParameters:
    """Where the fit started, as far as it is known; `names` are the order of theta."""
    began = {row.name: row.value if row.init is None else row.init for row in table}

    def limits(row: ParameterRow) -> Limits:
        return Limits(row.min, row.max, unit_of(began[row.name], row.min, row.max, 0.0) or 1.0)

    return StartParameters.of(
        names,
        {row.name: began[row.name] for row in table if row.kind != "expr"},
        {row.name: limits(row) for row in table if row.kind == "free"},
    )


def _ending_of(record: Record, n: int) -> Ending:
    """The ending again. Raises ValueError for arrays that do not fit each other."""
    arrays: dict[str, Any] = {name: record.get(name) for name in ARRAYS}
    theta, covariance, factor = (arrays[name] for name in ("theta", "covariance", "factor"))
    if np.shape(theta) != (n,) or np.shape(covariance) != (n, n):
        raise ValueError(f"an ending of {np.shape(theta)} for {n} free parameters")
    if factor is not None and np.shape(factor) != ((n + 1) * (n + 2) // 2,):
        raise ValueError(f"a factor of {np.shape(factor)} for {n} free parameters")
    for array in arrays.values():
        if array is not None:
            array.flags.writeable = False
    at: dict[str, Any] = {}
    for name in AT:
        rows = np.asarray(record.get(name, np.zeros((0, 2))), np.float64).tolist()
        at[name] = {int(k): tuple(own) if len(own) > 1 else own[0] for k, *own in rows}
    return Ending(
        **arrays,
        **at,
        variance=float(record["variance"]),
        chisqr=float(record["chisqr"]),
        n_points=int(record["n_points"]),
        n_amplitudes=int(record["n_amplitudes"]),
        distance=float(record["distance"]),
        end=(str(record["end"]), float(record["reached"])),
        lost=tuple(record["lost"].tolist()),
        left=_left_of(record),
    )


def _left_of(record: Record) -> Determined | None:
    left = record.get("left")
    return None if left is None else Determined(left["covariance"], left["away"])


def _samples_of(contents: Samples | None) -> MCMCResult | None:
    """The samples again. Raises ValueError where names and chain do not fit each other."""
    if contents is None:
        return None
    names, chain = tuple(contents["names"]), np.asarray(contents["chain"], np.float64)
    acceptance = np.asarray(contents["acceptance"], np.float64)
    if chain.ndim != 3 or chain.shape[2] != len(names) or acceptance.shape != chain.shape[1:2]:
        raise ValueError(f"{len(names)} names and {acceptance.shape} walkers for {chain.shape}")
    followers, derived = tuple(contents["followers"]), np.asarray(contents["derived"], np.float64)
    if derived.shape != (*chain.shape[:2], len(followers)):
        raise ValueError(f"{len(followers)} followers for {derived.shape}")
    return MCMCResult(
        names, chain, acceptance, SampleSettings(**contents["settings"]), followers, derived,
        interrupted=bool(contents["interrupted"]), _notes=str(contents["notes"]).splitlines(),
    )  # fmt: skip
