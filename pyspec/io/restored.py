"""Stored fits as results again, without fitting: what pictures, reports and comparisons take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import FitError
from pyspec.fit import FitResult, ParameterTable, SliceFit, SliceResults
from pyspec.fit.linear import LinearProblem, problem_of
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.outcome import information_criteria
from pyspec.io.ends import Ends
from pyspec.model import Measurement, Model
from pyspec.model.digest import checksum_of
from pyspec.model.free import free_parameters
from pyspec.model.measurement import row_of

if TYPE_CHECKING:
    import lmfit

Array = npt.NDArray[np.float64]


def restored_fit(
    model: Model,
    measurement: Measurement,
    table: ParameterTable,
    covariance: Array | None,
    statistics: Mapping[str, Any],
    settings: Mapping[str, Any],
    intervals: Mapping[str, tuple[float, float]],
    of_joint: bool,
    left: tuple[Array, Array] | None,
) -> FitResult:
    """The FitResult of a stored fit. Values, errors and statistics are those that were stored;
    curves are evaluated when they are asked for.

    `covariance` is that of the free parameters, (n_free, n_free), NaN where there is none;
    `of_joint` says whether other files had part in the fit, and `left` what all of them leave
    undetermined: archives did not hold it at first, and free amplitudes have no errors then.
    """
    problem = problem_of(model, measurement, str(settings["backend"]))
    if isinstance(problem, LinearProblem):
        problem.n_lost = len(problem.names) + problem.n_linear - int(statistics["n_free"])
    _check_shared(problem, table, float(statistics["chisqr"]))
    lost = tuple(statistics["without_effect"])
    if of_joint and lost and isinstance(problem, LinearProblem):
        n = len(problem.names)
        problem.left = left or (np.full((n, n), np.nan), np.zeros((n, 0)))
    return _result(
        problem, table, covariance, statistics, settings,
        _of_many=of_joint,
        _variance=float(statistics.get("variance", statistics["redchi"])),
        seconds=float(statistics["seconds"]),
        interrupted=bool(statistics["interrupted"]),
        without_effect=lost,
        degenerate=bool(statistics.get("degenerate", lost)),
        intervals=dict(intervals),
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

    from pyspec.fit.units import from_lmfit

    params = _params(table, problem.names, covariance)
    result = FitResult(
        problem=problem,
        _outcome=_outcome(params, problem, statistics, covariance, settings),
        _params=FitParameters.of(from_lmfit(params)),
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
    if not np.isclose(float(residual @ residual), chisqr, rtol=1e-6):
        raise FitError(
            f"{problem.label}: {shared[0]} was solved for from the data of several files, of which "
            "this is one; values and errors are in the archive, fit the files together again for "
            "spectra and curves"
        )


#: Values that moved by more than this, in standard errors, were fitted to other data.
MOVED = 0.01


def moved(
    values: Mapping[str, float], stderr: Mapping[str, float | None], again: FitResult
) -> list[str]:
    """The free parameters of a fit that ended elsewhere than those that were stored."""
    found = []
    for name in again.free_names:
        error = stderr.get(name)
        if error and abs(again.values[name] - values[name]) > MOVED * error:
            found.append(name)
    return found


def cautions_of(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The cautions of a fit; archives did not hold them at first."""
    return tuple(str(facts.get("cautions", "")).splitlines())


def restored_slices(
    model: Model,
    series: Measurement,
    time: Array,
    rows: npt.NDArray[np.int64],
    tables: Sequence[ParameterTable],
    statistics: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    ends: Sequence[Ends],
) -> SliceResults:
    """The SliceResults of a stored fit slice by slice. `tables`, `statistics` and `ends` have one
    entry a slice, statistics with its status and message."""
    backend = str(settings["backend"])
    shared: Any = None
    fits = []
    given = zip(rows, tables, statistics, ends, strict=True)
    for index, (row, table, facts, end) in enumerate(given):
        status, message = str(facts["status"]), str(facts["message"])
        if not np.isfinite(table["value"]).all():
            fits.append(SliceFit(index, int(row), status, message, None))
            continue
        fixed = {one.name: one.value for one in table if one.kind == "fixed"}
        measurement = row_of(series, int(row))
        problem = FitProblem(model, measurement, backend, shared, fixed or None)
        shared = shared or problem.executor
        # The executor belongs to the first slice; each makes its own when it is asked for.
        problem.use(None)
        done = {"success": status == "converged", "n_data": problem.n_points}
        done |= {**facts, "n_free": len(problem.names)}
        result = _result(
            problem, table, None, done, settings,
            seconds=float("nan"),
            interrupted=status == "interrupted",
            without_effect=end.without_effect,
            degenerate=bool(end.without_effect),
            intervals=dict(end.intervals),
        )  # fmt: skip
        fits.append(SliceFit(index, int(row), status, message, result))
    stopped = any(fit.status == "interrupted" for fit in fits)
    then = checksum_of(series)
    return SliceResults(fits, model, series, time, backend, float("nan"), stopped, then)


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: settings[key] for key in ("methods", "scale_covar") if key in settings}
    return {**dict(settings.get("options", {})), **plain}


def _params(
    table: ParameterTable, free: Sequence[str], covariance: Array | None
) -> lmfit.Parameters:
    """lmfit.Parameters with stored values, errors and correlations."""
    import lmfit

    from pyspec.fit.units import Follower, UnitParameters

    params = UnitParameters()
    for row in table:
        low, high = (row.min, row.max) if row.kind == "free" else (-np.inf, np.inf)
        kind = lmfit.Parameter if row.expr is None else Follower
        par = kind(row.name, row.value, vary=row.kind == "free", min=low, max=high)
        par.stderr = row.stderr
        if row.init is not None:
            par.init_value = row.init
        if row.expr is not None:
            par.user_data = row.expr
        params[row.name] = par
    if covariance is None:
        return params
    spread = np.sqrt(np.diag(covariance))
    for i, name in enumerate(free):
        correl = {
            other: float(covariance[i, j] / (spread[i] * spread[j]))
            for j, other in enumerate(free)
            if i != j and np.isfinite(covariance[i, j]) and spread[i] * spread[j] > 0
        }
        params[name].correl = correl or None
    return params


def _outcome(
    params: lmfit.Parameters,
    problem: FitProblem,
    statistics: Mapping[str, Any],
    covariance: Array | None,
    settings: Mapping[str, Any],
) -> Any:
    """A MinimizerResult with the stored numbers."""
    import lmfit

    free, is_known = problem.names, problem.is_weighted and not settings["scale_covar"]
    outcome = lmfit.minimizer.MinimizerResult()
    outcome.method = str(settings["method"]).rsplit(" then ", 1)[-1]
    outcome.params = params
    outcome.var_names = list(free)
    outcome.init_vals = [params[name].init_value for name in free]
    outcome.init_values = dict(zip(free, outcome.init_vals, strict=True))
    for name in ("chisqr", "redchi", "nfev"):
        setattr(outcome, name, statistics[name])
    outcome.ndata, outcome.nvarys = int(statistics["n_data"]), len(free)
    outcome.nfree = max(outcome.ndata - int(statistics["n_free"]), 1)
    counted = outcome.chisqr, outcome.ndata, int(statistics["n_free"]), is_known
    outcome.aic, outcome.bic = information_criteria(*counted)
    outcome.message = str(statistics["message"])
    outcome.success = bool(statistics["success"])
    if covariance is not None:
        outcome.covar = covariance
    outcome.errorbars = covariance is not None
    return outcome
