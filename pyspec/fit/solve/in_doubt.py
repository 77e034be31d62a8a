"""The ending of a fit that C is not certain of, or that did not end there: slopes at the end, what
the data determine, and what bounds cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.executor.normal import pack_triangle, unpack
from pyspec.fit.bounds import at_bound
from pyspec.fit.ending import Ending
from pyspec.fit.solve.covariance import gains_beyond, gauss_newton
from pyspec.fit.solve.determined import Point, Verdict, judge, without_trace
from pyspec.fit.solve.robust import Robust
from pyspec.fit.solve.stages import Run

Array = npt.NDArray[np.float64]

#: Below this share of the data, squared, a residual is rounding and has no standard deviation.
ROUNDING = 1e-16


def ending_in_doubt(
    run: Run,
    certain: Ending | None,
    n_amplitudes: int,
    is_saturated: bool,
    intervals: Mapping[int, tuple[float, float]],
) -> tuple[Ending, Verdict]:
    """The ending of a run, and the verdict of a closer look. `certain` is what C says of it if
    that is certain."""
    problem, theta, side = run.problem, run.theta, _side(run, intervals)
    n, (lower, upper) = theta.size, run.start.bounds
    chisqr = run.end[1]
    if run.outcome is not None:
        with np.errstate(over="ignore"):
            chisqr = float(np.einsum("i,i", run.outcome.residual, run.outcome.residual))
    n_free = max(run.n_points - n - n_amplitudes, 1)
    variance = chisqr / n_free if run.scale_covar else 1.0
    slopes, verdict = None, Verdict(0.0)
    if not run.stopped:
        at = np.where(side, np.where(side < 0, lower, upper), theta)
        slopes = _slopes_at(run, at, (variance, chisqr), n_amplitudes)
        variance = slopes.variance
        if math.isfinite(chisqr):
            verdict = _judged(run, slopes, side, chisqr, tuple(intervals))
    # What C said of the bounds holds where none was added.
    of_c = None if verdict.next_to else certain
    covariance, empty = np.full((n, n), np.nan), list[int]()
    if is_saturated or slopes is None:
        pass
    elif of_c is not None:
        covariance = of_c.covariance.copy()
    else:
        own = [k for k in range(n) if side[k] == 0 and k not in intervals]
        inner, lacking = gauss_newton(slopes.root[:, own]) if own else (None, [])
        empty = [own[k] for k in lacking]
        if inner is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                covariance[np.ix_(own, own)] = inner * variance
    endless = np.flatnonzero(np.isinf(covariance.diagonal())).tolist()
    lost = [*empty, *endless, *verdict.lost, *map(problem.names.index, run.lost)]
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(covariance.diagonal())
    too_wide = np.flatnonzero(errors > upper - lower).tolist()
    wide = {k: float(errors[k]) for k in too_wide if k not in lost}
    for k in (*lost, *wide):
        covariance[k] = covariance[:, k] = np.nan
    gains = {} if of_c is None else of_c.gains
    if of_c is None and slopes is not None and side.any():
        bound = {k: "min" if side[k] < 0 else "max" for k in np.flatnonzero(side).tolist()}
        gains = gains_beyond(slopes.root, slopes.downhill, bound, [*bound, *intervals])
    for array in (covariance, side):
        array.flags.writeable = False
    ending = Ending(
        theta,
        covariance,
        math.nan if is_saturated else variance,
        chisqr,
        run.n_points,
        n_amplitudes,
        verdict.distance,
        run.end[::2],
        side,
        None if slopes is None else slopes.factor,
        None if slopes is None else slopes.fisher,
        intervals,
        tuple(dict.fromkeys(lost)),
        gains,
        wide,
    )
    return ending, verdict


class _Slopes(NamedTuple):
    """What is known of a fit around its end.

    Attributes
    ----------
    at : (n,) the end; at a bound the bound itself
    root : (m, n) any matrix whose Gram matrix is the information
    downhill : (n,) the direction in which chi², or the loss, falls
    variance, chisqr : of a point, and chi² or the loss there
    chisqr_at : the same elsewhere
    factor, fisher : as of :class:`pyspec.fit.ending.Ending`
    """

    at: Array
    root: Array
    downhill: Array
    variance: float
    chisqr: float
    chisqr_at: Callable[[Array], float]
    factor: Array | None = None
    fisher: Array | None = None


def _slopes_at(run: Run, at: Array, scale: tuple[float, float], n_amplitudes: int) -> _Slopes:
    """The slopes of a fit at its end; `scale` are the variance of a point, and chi²."""
    problem, solver, objective = run.problem, run.solver, run.objective
    lower, upper = run.start.bounds
    bounds = list(zip(lower.tolist(), upper.tolist(), strict=True))
    robust = Robust.of(run.options)
    if robust is not None:
        local = robust.around(objective, at, bounds, run.n_points, n_amplitudes)
        run.nfev = max(run.nfev, objective.evaluations.count)
        return _Slopes(at, *local, partial(robust.at, problem), fisher=local[0])
    fisher = None
    if run.ended is not None and run.ended[0].factor is not None:
        whole = unpack(run.ended[0].factor, symmetric=False)
    elif solver is None:
        whole, fisher = objective.information(at, bounds)
    else:
        whole = solver.factor()
        if problem.is_poisson:
            fisher = objective.slopes(at, bounds, list(range(at.size)))
    factor, root = pack_triangle(whole), whole[:, :-1]
    factor.flags.writeable = False
    run.nfev = max(run.nfev, objective.evaluations.count)
    downhill, of_information = root.T @ whole[:, -1], root if fisher is None else fisher
    return _Slopes(at, of_information, downhill, *scale, problem.chisqr_at, factor, fisher)


def _judged(
    run: Run,
    slopes: _Slopes,
    side: npt.NDArray[np.int64],
    chisqr: float,
    apart: tuple[int, ...],
) -> Verdict:
    """Whether the end of a fit is an optimum, and what the data determine there. Parameters next to
    a bound get its `side`."""
    problem, objective = run.problem, run.objective
    if not np.isfinite(slopes.downhill).all():
        objective.refuse(slopes.at)
    least = ROUNDING * problem.data_square / max(run.n_points, 1)
    point = Point(
        slopes.at,
        *run.start.bounds,
        slopes.root,
        slopes.downhill,
        side,
        np.array(objective.sizes, np.float64),
        max(slopes.variance, least),
        slopes.chisqr,
    )
    verdict = judge(point, slopes.chisqr_at, apart)
    for k, to in verdict.next_to:
        side[k] = to
    if chisqr > ROUNDING * problem.data_square:
        return verdict
    faint = without_trace(point, problem.data_square, apart)
    every = tuple(sorted({*verdict.lost, *faint}))
    return Verdict(0.0, every, verdict.combinations)


def _side(run: Run, intervals: Mapping[int, tuple[float, float]]) -> npt.NDArray[np.int64]:
    """(n,) the bounds that parameters ended at. The native solver reaches them to the last bit, the
    transformations of lmfit do not."""
    lower, upper = run.start.bounds
    if run.outcome is None:
        side = np.where(run.theta <= lower, -1, np.where(run.theta >= upper, 1, 0))
    else:
        codes, start = {"": 0, "min": -1, "max": 1}, run.start.theta
        rows = zip(run.theta.tolist(), lower.tolist(), upper.tolist(), start.tolist(), strict=True)
        side = np.array([codes[at_bound(*row)] for row in rows])
    side = side.astype(np.int64)
    side[list(intervals)] = 0
    return side
