"""Stored fits as results again, without fitting: what pictures, reports and comparisons take; and
what fits that are made again begin with, and what to know of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, stack_outside
from pyspec.errors import FitError, ModelWarning, several
from pyspec.fit import FitResult, ParameterRow, ParameterTable, SliceFit, SliceResults
from pyspec.fit.linear import LinearProblem, problem_of
from pyspec.fit.parameters import FitParameters, Limits
from pyspec.fit.problem import FitProblem
from pyspec.fit.slices.cases import SliceBatch
from pyspec.fit.solve.outcome import NativeOutcome, count
from pyspec.fit.spread import Spread
from pyspec.io.records import NAMED
from pyspec.model import Measurement
from pyspec.model.digest import checksum_of
from pyspec.model.free import free_parameters
from pyspec.model.measurement import row_of
from pyspec.model.sizes import unit_of

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
    problem = problem_of(stored.model(), measurement, str(stored.settings["backend"]))
    if isinstance(problem, LinearProblem):
        problem.n_lost = len(problem.names) + problem.n_linear - int(statistics["n_free"])
    _check_shared(problem, table, float(statistics["chisqr"]))
    lost = tuple(statistics["without_effect"])
    if stored.of_joint and lost and isinstance(problem, LinearProblem):
        n = len(problem.names)
        problem.left = stored.left or (np.full((n, n), np.nan), np.zeros((n, 0)))
    return _result(
        problem, table, stored.covariance, statistics, stored.settings,
        _of_many=stored.of_joint,
        _variance=float(statistics.get("variance", statistics["redchi"])),
        seconds=float(statistics["seconds"]),
        interrupted=bool(statistics["interrupted"]),
        without_effect=lost,
        degenerate=bool(statistics.get("degenerate", lost)),
        intervals=dict(stored.intervals),
        started_from=str(statistics.get("started_from", "")),
    )  # fmt: skip


def _result(
    problem: FitProblem,
    table: ParameterTable,
    covariance: Array | None,
    statistics: Mapping[str, Any],
    settings: Mapping[str, Any],
    **facts: Any,
) -> FitResult:
    """A FitResult of what was stored, and of `facts` as its own arguments."""
    params = _params(table, problem.names, covariance)
    problem.sizes = [params.limits[name].unit for name in problem.names]
    result = FitResult(
        problem=problem,
        _outcome=_Outcome(problem, params, statistics, settings, covariance),
        _params=params,
        _message=str(statistics["message"]),
        method=str(settings["method"]),
        backend=str(settings["backend"]),
        settings=_settings(settings),
        start=Named({row.name: row.init for row in table if row.init is not None}),
        nfev=int(statistics["nfev"]),
        success=bool(statistics["success"]),
        at_bound={row.name: row.at_bound for row in table if row.at_bound},
        **facts,
    )
    result.cautions = cautions_of(statistics)  # as they were: nothing is worked out anew
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


def cautions_of(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The cautions of a fit; archives did not hold them at first."""
    return tuple(str(facts.get("cautions", "")).splitlines())


def restored_slices(stored: Any, series: Measurement) -> SliceResults:
    """The SliceResults of a StoredSlices."""
    model, backend = stored.model(), str(stored.settings["backend"])
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
        problem = FitProblem(model, measurement, backend, shared, fixed or None)
        shared = shared or problem.executor
        # The executor belongs to the first slice; each makes its own when it is asked for.
        problem.use(None)
        facts = {"success": status == "converged", "message": message}
        facts |= {name: getattr(stored, name)[index] for name in ("redchi", "chisqr", "nfev")}
        facts |= {"n_data": problem.n_points, "n_free": len(problem.names)}
        facts["cautions"] = stored.warned[index]
        covariance = _covariance_of_slice(stored, index, table, problem.names)
        result = _result(
            problem, table, covariance, facts, stored.settings,
            seconds=float("nan"),
            interrupted=status == "interrupted",
            without_effect=end.without_effect,
            degenerate=bool(end.without_effect),
            intervals=dict(end.intervals),
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


def _params(table: ParameterTable, free: Sequence[str], covariance: Array | None) -> FitParameters:
    """The parameters with their stored values, errors and correlations."""
    began = {row.name: row.value if row.init is None else row.init for row in table}
    return FitParameters(
        {row.name: row.value for row in table},
        began,
        {row.name: _limits(row, began[row.name]) for row in table if row.kind == "free"},
        stderr={row.name: row.stderr for row in table if row.stderr is not None},
        spread=None if covariance is None else Spread(free, covariance),
        expressions={row.name: row.expr for row in table if row.expr is not None},
    )


def _limits(row: ParameterRow, began: float) -> Limits:
    return Limits(row.min, row.max, unit_of(began, row.min, row.max, 0.0) or 1.0)


class _Outcome(NativeOutcome):
    """How a stored fit ended, by the names of lmfit."""

    def __init__(
        self,
        problem: FitProblem,
        params: FitParameters,
        statistics: Mapping[str, Any],
        settings: Mapping[str, Any],
        covariance: Array | None,
    ) -> None:
        self.problem, self.params = problem, params
        self.theta = problem.theta_of(params.value)
        self.var_names = list(problem.names)
        self.method = str(settings["method"]).rsplit(" then ", 1)[-1]
        self.message, self.success = str(statistics["message"]), bool(statistics["success"])
        self.chisqr, n_linear = statistics["chisqr"], int(statistics["n_free"]) - len(problem.names)
        is_known = problem.is_weighted and not settings["scale_covar"]
        count(self, int(statistics["n_data"]), n_linear, is_known)
        self.redchi = statistics["redchi"]
        self.covar, self.errorbars = covariance, covariance is not None


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
    text = (
        f"was fitted together with other files, and now alone: {several(found, SHOWN)} "
        "are of this file, no longer of all; refit_joint(load_fits(path)) fits all together"
    )
    result.cautions = (*result.cautions, text)
    warnings.warn(f"{stored.title}: {text}", ModelWarning, stack_outside())
