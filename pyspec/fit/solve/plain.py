"""What a plain fit says: one that ended well within all bounds, of data without declared noise that
determine every parameter.

Most fits are plain. What :mod:`pyspec.fit.solve.assess` says of any fit comes here from one look at
each parameter: after the loop in C nothing of Python is left in the caches, and each function that
runs has to be fetched again.
"""

from __future__ import annotations

import math
from operator import le, lt
from typing import Any

from pyspec.fit.following import NONE, FollowerErrors
from pyspec.fit.parameters import Columns, FitParameters
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
    certain, chisqr, names, columns = solver.certain, outcome.chisqr, problem.names, params.columns
    if certain is None or not math.isfinite(chisqr):
        return None
    if columns is None:
        if (*params.limits,) != names:
            return None
        columns = Columns(params.began, params.limits)
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
    variances, value = certain.variances(scale), params.value
    if not (all(map(math.isfinite, variances)) and min(variances) >= 0.0):
        return None
    errors = list(map(math.sqrt, variances))
    values = list(map(value.__getitem__, names))
    within = all(map(lt, columns.lows, values)) and all(map(lt, values, columns.highs))
    if not (within and all(map(le, errors, columns.widths))):
        return None
    spread = Spread.known(names, certain.block, scale, variances)
    outcome.ndata, outcome.nvarys, outcome.nfree, outcome.redchi = n_points, n_names, n_free, redchi
    outcome.counted = chisqr, n_points, n_names, False
    outcome.errorbars = True
    params.spread, params.stderr = spread, dict(zip(names, errors, strict=True))
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
