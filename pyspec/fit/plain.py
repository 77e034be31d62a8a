"""Plain fits: those that ended well, within all bounds, of data that say something of every
parameter, and scatter about the fit as much as was declared.

Most fits are plain. What :mod:`pyspec.fit.solve.assess` says of any fit comes here from one look at
each parameter: after the loop in C nothing of Python is left in the caches, and each function that
runs has to be fetched again.
"""

from __future__ import annotations

import math
from operator import le, lt
from typing import Any

from pyspec.calls import Named
from pyspec.fit.counts import is_expected
from pyspec.fit.following import NONE, FollowerErrors, Following
from pyspec.fit.parameters import Columns, FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.result import FitResult
from pyspec.fit.solve.assess import ROUNDING, assess
from pyspec.fit.solve.methods import NATIVE
from pyspec.fit.solve.near import NEAR
from pyspec.fit.solve.stages import Run
from pyspec.fit.spread import Spread


def judged(run: Run, kind: type[FitResult] = FitResult) -> FitResult:
    """The result of a run that has ended."""
    settings = {"methods": list(run.methods), "scale_covar": run.scale_covar, **run.options}
    result = None if run.moved else plain_result(run, settings)
    return assess(run, settings, kind) if result is None else result


def plain_result(run: Run, settings: dict[str, Any]) -> FitResult | None:
    """The result of a plain fit; None where there is more to say, and nothing is changed then."""
    problem, solver, outcome, params = run.problem, run.solver, run.outcome, run.params
    if type(problem) is not FitProblem or solver is None or run.methods != (NATIVE,):
        return None
    measurement, followers = problem.measurement, problem.followers
    if not isinstance(followers, Following):
        return None
    if measurement.loss == "poisson" or not outcome.success:
        return None
    certain, chisqr, names, columns = solver.certain, outcome.chisqr, problem.names, params.columns
    if certain is None or run.stopped or run.intervals or run.lost or run.cautions:
        return None
    if columns is None:
        if (*params.limits,) != names:
            return None
        columns = Columns(params.began, params.limits)
    n_points, n_names = run.n_points, len(names)
    if n_points == n_names and run.scale_covar:
        return None
    n_free = max(n_points - n_names, 1)
    redchi = chisqr / n_free
    is_weighted = measurement.weight is not None
    if is_weighted and not is_expected(redchi, n_free, run.scale_covar):
        return None
    scale = redchi if run.scale_covar else 1.0
    rounding = ROUNDING * problem.data_square
    if not chisqr > rounding:
        return None
    share = certain.decrease / max(scale, rounding / max(n_points, 1))
    if not (share >= 0.0 and math.sqrt(share) <= max(NEAR, run.tolerance)):
        return None
    variances, values = certain.variances(scale), run.values
    if not (chisqr < math.inf and min(variances) >= 0.0 and max(variances) < math.inf):
        return None
    errors = list(map(math.sqrt, variances))
    if not (
        all(map(lt, columns.lows, values))
        and all(map(lt, values, columns.highs))
        and all(map(le, errors, columns.widths))
    ):
        return None
    spread = params.spread = Spread.known(names, certain.block, scale, variances)
    params.stderr = dict(zip(names, errors, strict=True))
    outcome.ndata, outcome.nvarys, outcome.nfree, outcome.redchi = n_points, n_names, n_free, redchi
    is_known = is_weighted and not run.scale_covar
    outcome.counted, outcome.errorbars = (chisqr, n_points, n_names, is_known), True
    if followers is not NONE:
        _follow(followers, params, spread)
    cautions, warned = problem.said_of(params.value, chisqr)
    return FitResult(
        problem=problem,
        _outcome=outcome,
        _params=params,
        _message=outcome.ended,
        method=NATIVE,
        backend=problem.backend,
        settings=settings,
        start=Named(run.start),
        seconds=run.seconds,
        nfev=run.nfev,
        success=True,
        intervals=run.intervals,
        _cautions=cautions,
        _warned=warned,
    )


def _follow(followers: Following, params: FitParameters, spread: Spread) -> None:
    """Appends the expression parameters; their standard errors come when they are asked for."""
    known = dict(params.value)
    values = followers.values(known)
    if values:
        params.errors = FollowerErrors(followers, known, spread.names, spread)
        params.value |= values
        params.expressions = followers.texts
