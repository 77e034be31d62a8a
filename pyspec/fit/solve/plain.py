"""What a plain fit says: one that ended well within all bounds, of data without declared noise that
determine every parameter.

Most fits are plain. What :mod:`pyspec.fit.solve.assess` says of any fit comes here from one look at
each parameter: after the loop in C nothing of Python is left in the caches, and each function that
runs has to be fetched again.
"""

from __future__ import annotations

import math
from typing import Any

from pyspec.fit.following import NONE, FollowerErrors
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.methods import NATIVE
from pyspec.fit.solve.stages import Run
from pyspec.fit.spread import Spread

#: How near the optimum a success must be, in standard errors, for a method with exact derivatives.
NEAR = 1e-3

#: Below this share of the data, squared, a residual is rounding and has no standard deviation.
ROUNDING = 1e-16


def plain_facts(run: Run) -> dict[str, Any] | None:
    """The facts of a FitResult; None where there is more to say, and nothing is changed then."""
    problem, solver, outcome, params = run.problem, run.solver, run.outcome, run.params
    if type(problem) is not FitProblem or solver is None or run.methods != (NATIVE,):
        return None
    if problem.measurement.weight is not None or problem.measurement.loss == "poisson":
        return None
    if run.stopped or run.intervals or run.lost or run.cautions or not outcome.success:
        return None
    certain, chisqr, limits, names = solver.certain, outcome.chisqr, params.limits, problem.names
    if certain is None or not math.isfinite(chisqr) or (*limits,) != names:
        return None
    n_points, n_names = run.n_points, len(names)
    n_free = max(n_points - n_names, 1)
    redchi = chisqr / n_free
    scale = redchi if run.scale_covar else 1.0
    rounding = ROUNDING * problem.data_square
    if chisqr > rounding:
        variance = max(scale, rounding / max(n_points, 1))
        if variance > 0.0:
            share = certain.decrease / variance
            if not (share >= 0.0 and math.sqrt(share) <= max(NEAR, run.tolerance)):
                return None
    spread, value = Spread(names, certain.covariance, scale), params.value
    errors = spread.errors()
    if len(errors) < n_names:
        return None
    for name, (low, high, _) in limits.items():
        if not (low < value[name] < high and errors[name] <= high - low):
            return None
    outcome.ndata, outcome.nvarys, outcome.nfree, outcome.redchi = n_points, n_names, n_free, redchi
    outcome.counted = chisqr, n_points, n_names, False
    outcome.errorbars = True
    params.spread, params.stderr = spread, errors
    if problem.followers is not NONE:
        _follow(problem, params, spread)
    cautions, warned = problem.said_of(value, chisqr)
    return {
        "backend": problem.backend,
        "method": NATIVE,
        "seconds": run.seconds,
        "nfev": run.nfev,
        "success": True,
        "degenerate": False,
        "interrupted": False,
        "message": outcome.ended,
        "cautions": cautions,
        "warned": warned,
        "at_bound": {},
        "without_effect": (),
        "intervals": run.intervals,
        "expressions": dict(params.expressions),
        "start": run.start,
        "params": params,
        "scale_covar": run.scale_covar,
    }


def _follow(problem: FitProblem, params: FitParameters, spread: Spread) -> None:
    """Appends the expression parameters; their standard errors come when they are asked for."""
    known = dict(params.value)
    values = problem.followers.values(known)
    if values:
        params.errors = FollowerErrors(problem.followers, known, spread.names, spread)
        params.value |= values
        params.expressions = problem.expressions(values)
