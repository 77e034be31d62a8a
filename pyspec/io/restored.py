"""Stored fits as results again, without fitting: what pictures, reports and comparisons take; and
what fits that are made again begin with, and what to know of them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, stack_outside
from pyspec.errors import FitError, ModelWarning, several
from pyspec.fit import FitResult, ParameterRow, ParameterTable, SliceFit, SliceResults
from pyspec.fit.ending import Determined, Ending
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.fit.slices.cases import SliceBatch
from pyspec.io.contents import Ends
from pyspec.io.records import NAMED
from pyspec.model import Measurement
from pyspec.model.digest import checksum_of
from pyspec.model.free import free_parameters
from pyspec.model.measurement import row_of
from pyspec.model.sizes import unit_of
from pyspec.plan import compile_model
from pyspec.plan.start import Limits

Array = npt.NDArray[np.float64]

Restored = TypeVar("Restored", FitResult, SliceResults)


def text_of(text: object) -> str:
    """A text of the archive with a line break, by which loaders of models know it is no path."""
    return f"{text}\n" if "\n" not in str(text) else str(text)


def restored_fit(stored: Any, measurement: Measurement) -> FitResult:
    """The FitResult of a StoredFit. Values, errors and statistics are those that were stored;
    curves are evaluated when they are asked for. Where archives do not hold what all files of a
    joint fit leave undetermined, as at first, free amplitudes have no errors."""
    statistics, table = stored.statistics, stored.table
    problem = problem_of(
        compile_model(stored.model()), measurement, str(stored.settings["backend"])
    )
    _check_shared(problem, table, float(statistics["chisqr"]))
    sides = {row.name: row.at_bound for row in table if row.at_bound}
    end = Ends(sides, tuple(statistics["without_effect"]), stored.intervals)
    found = _result(
        problem, table, stored.covariance, statistics, stored.settings, end,
        _of_many=stored.of_joint,
        seconds=float(statistics["seconds"]),
        interrupted=bool(statistics["interrupted"]),
        started_from=str(statistics.get("started_from", "")),
    )  # fmt: skip
    if stored.left is not None:
        found.ending = replace(found.ending, left=Determined(*stored.left))
    return found


def _result(
    problem: FitProblem,
    table: ParameterTable,
    covariance: Array | None,
    statistics: Mapping[str, Any],
    settings: Mapping[str, Any],
    end: Ends,
    **facts: Any,
) -> FitResult:
    """A FitResult of what was stored, and of `facts` as its own arguments."""
    params = _params(table)
    result = FitResult(
        problem=problem,
        ending=_ending(problem, params, covariance, statistics, settings, end),
        _params=params,
        _message=str(statistics["message"]),
        method=str(settings["method"]),
        backend=str(settings["backend"]),
        settings=_settings(settings),
        start=Named({row.name: row.init for row in table if row.init is not None}),
        nfev=int(statistics["nfev"]),
        success=bool(statistics["success"]),
        **facts,
    )
    result._errors = {row.name: row.stderr for row in table}
    result.level = int(statistics.get("level", 1))
    result._tell(findings_of(statistics))  # as they were: nothing is worked out anew
    return result


def _check_shared(problem: FitProblem, table: ParameterTable, chisqr: float) -> None:
    """Raises :class:`FitError` where amplitudes were solved for from the data of other files too:
    from this file alone they are others, and chi² is."""
    shared = [
        name
        for name, par in free_parameters(problem.model.parameters).items()
        if par.free is not None and par.free.shared
    ]
    if not shared:
        return
    values = {row.name: row.value for row in table}
    theta = np.array([values[name] for name in problem.names])
    with np.errstate(all="ignore"):
        residual = problem.executor.residual(theta, problem.fixed)
    if not np.isclose(float(residual @ residual), chisqr, rtol=1e-6, atol=0.0):
        raise FitError(
            f"{problem.label}: {shared[0]} was solved for from the data of several files, of which "
            "this is one; values and errors are in the archive, fit the files together again for "
            "spectra and curves"
        )


def named_alike(result: Restored, stored: Any) -> Restored:
    """A result with the label and the time of what was stored."""
    vars(result).update({name: vars(stored)[name] for name in NAMED if name in vars(stored)})
    return result


def findings_of(facts: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings of a fit; archives did not hold them at first."""
    lines = str(facts.get("findings", "")).splitlines()
    return tuple(Finding.from_dict(json.loads(line)) for line in lines)


def restored_slices(stored: Any, series: Measurement) -> SliceResults:
    """The SliceResults of a StoredSlices."""
    model = stored.model()
    compiled, backend = compile_model(model), str(stored.settings["backend"])
    shared: Any = None
    fits = []
    for index, row in enumerate(stored.rows):
        status, message = stored.status[index], stored.message[index]
        table, end = stored.at(index), stored.ends[index]
        if not np.isfinite(table["value"]).all():
            fits.append(SliceFit(index, int(row), status, message, None))
            continue
        fixed = {one.name: one.value for one in table if one.kind == "fixed"}
        measurement = row_of(series, int(row))
        problem = problem_of(compiled, measurement, backend, shared, fixed or None)
        shared = shared or problem.executor
        # The executor belongs to the first slice; each makes its own when it is asked for.
        problem.use(None)
        facts = {"success": status == "converged", "message": message}
        facts |= {name: getattr(stored, name)[index] for name in ("redchi", "chisqr", "nfev")}
        facts |= {"n_data": problem.n_points, "n_free": len(problem.names)}
        facts["findings"] = stored.findings_text[index]
        covariance = _covariance_of_slice(stored, index, table, problem.names)
        result = _result(
            problem, table, covariance, facts, stored.settings, end,
            seconds=float("nan"),
            interrupted=status == "interrupted",
        )  # fmt: skip
        result.fit_type = SliceBatch.fit_type
        fits.append(SliceFit(index, int(row), status, message, result))
    stopped = any(fit.status in ("interrupted", "not run") for fit in fits)
    then = checksum_of(series)
    time = np.asarray(stored.time)
    return SliceResults(fits, model, series, time, backend, float("nan"), stopped, then)


def _covariance_of_slice(
    stored: Any, index: int, table: ParameterTable, names: Sequence[str]
) -> Array | None:
    """The covariance of the free parameters of a slice, NaN between them where the archive does not
    hold it, so that what depends on it is not known; None without standard errors."""
    if stored.covariance is not None:
        found = np.asarray(stored.covariance[index], dtype=np.float64)
    else:
        errors = [table[name].stderr for name in names]
        found = np.full((len(names), len(names)), np.nan)
        np.fill_diagonal(found, [np.nan if one is None else one**2 for one in errors])
    return found if np.isfinite(found.diagonal()).any() else None


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: settings[key] for key in ("methods", "scale_covar") if key in settings}
    return {**dict(settings.get("options", {})), **plain}


def _params(table: ParameterTable) -> FitParameters:
    """The parameters with their stored values."""
    began = {row.name: row.value if row.init is None else row.init for row in table}
    return FitParameters(
        {row.name: row.value for row in table},
        {row.name: began[row.name] for row in table if row.kind != "expr"},
        {row.name: _limits(row, began[row.name]) for row in table if row.kind == "free"},
    )


def _limits(row: ParameterRow, began: float) -> Limits:
    return Limits(row.min, row.max, unit_of(began, row.min, row.max, 0.0) or 1.0)


def _ending(
    problem: FitProblem,
    params: FitParameters,
    covariance: Array | None,
    statistics: Mapping[str, Any],
    settings: Mapping[str, Any],
    end: Ends,
) -> Ending:
    """Where a stored fit ended."""
    theta, at = problem.theta_of(params.value), problem.names.index
    theta.flags.writeable = False
    side = np.zeros(theta.size, np.int64)
    for name, bound in end.at_bound.items():
        side[at(name)] = -1 if bound == "min" else 1
    variance = float(statistics.get("variance", statistics["redchi"]))
    return Ending(
        theta,
        np.full((theta.size, theta.size), np.nan) if covariance is None else covariance,
        variance if settings["scale_covar"] else 1.0,
        float(statistics["chisqr"]),
        int(statistics["n_data"]),
        int(statistics["n_free"]) - theta.size,
        side=side,
        intervals={at(name): ends for name, ends in end.intervals.items()},
        lost=tuple(map(at, end.without_effect)),
    )


# of fits that are made again

#: Where a fit that is made again starts from, by `start`.
REFIT_FROM = {
    "best": "the best values of the stored fit",
    "initial": "the start values of the stored fit",
}

#: Values that are named in a warning.
SHOWN = 5

#: Values that moved by more than this, in standard errors, were fitted to other data.
MOVED = 0.01


def moved(
    values: Mapping[str, float], stderr: Mapping[str, float | None], again: FitResult
) -> list[str]:
    """The free parameters of a fit that ended elsewhere than those that were stored."""
    return [
        name
        for name in again.free_names
        if (error := stderr.get(name)) and abs(again.values[name] - values[name]) > MOVED * error
    ]


def slice_seeds(stored: Any, start: str) -> list[dict[str, float]]:
    """The start values of each of the StoredSlices, "initial" or "best" ones, and fixed values."""
    columns = {
        row.name: (stored.start if start == "initial" and row.vary else stored.values)[row.name]
        for row in stored.table
        if row.expr is None
    }
    return [
        {name: float(column[k]) for name, column in columns.items() if np.isfinite(column[k])}
        for k in range(len(stored))
    ]


def caution_alone(stored: Any, result: FitResult) -> None:
    """Says of a StoredFit of a file that was fitted together with others which shared parameters
    this file now has for itself, and how to fit all of them again."""
    if not stored.of_joint:
        return
    parameters = result.problem.model.parameters
    shared = [name for name in result.free_names if parameters[name].scope == "project"]
    found = [f"{n} {stored.values[n]:.6g} → {result.values[n]:.6g}" for n in shared]
    free = free_parameters(parameters)
    found += [name for name, par in free.items() if par.free is not None and par.free.shared]
    if not found:
        return
    told = Finding(Kind.REFITTED_ALONE, tuple(shared), {"what": several(found, SHOWN)})
    result._findings = (*result._findings, told)
    warnings.warn(f"{stored.title}: {told}", ModelWarning, stack_outside())
