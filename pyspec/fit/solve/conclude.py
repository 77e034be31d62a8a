"""The result of a run: its ending, whether that is a success, and what is to be said of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS
from pyspec.calls import Named
from pyspec.fit.counts import at_zero, far_from_expected
from pyspec.fit.ending import Ending, bounds_said
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.levels import at_the_bound, cautions_of, doubts_of
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.determined import Verdict, described
from pyspec.fit.solve.in_doubt import ending_in_doubt
from pyspec.fit.solve.jumps import beyond, not_searched
from pyspec.fit.solve.methods import NATIVE
from pyspec.fit.solve.robust import Robust
from pyspec.fit.solve.stages import Run
from pyspec.plan.following import NONE

Array = npt.NDArray[np.float64]

#: How near the optimum a success must be, in standard errors: for methods with exact derivatives,
#: and for the others.
NEAR, NEAR_WITHOUT_DERIVATIVES = 1e-3, 0.1
EXACT_DERIVATIVES = (NATIVE, "leastsq")

_CERTAIN, _WEAK, _NEUTRAL, _AT_BOUND = (
    CONSTANTS[f"ENDING_{n}"] for n in ("CERTAIN", "WEAK", "NEUTRAL", "AT_BOUND")
)
#: What does not ask for a closer look at a certain ending.
_HARMLESS = _WEAK | _AT_BOUND
#: Whether a bound may not hold a parameter, or the data may not determine another, and C has not
#: looked closer.
_DECIDED = _CERTAIN | _NEUTRAL


def result_of(run: Run, kind: type[FitResult] = FitResult) -> FitResult:
    """The result of a run that has ended."""
    problem, outcome, values = run.problem, run.outcome, run.values
    ending, verdict = ending_of(run)
    if problem.followers is not NONE:
        values |= problem.followers.values(values)
    is_finite = math.isfinite(ending.chisqr)
    last = run.methods[-1]
    # How near the optimum a success must be; a tolerance that was asked for may be wider.
    needed = max(NEAR, run.tolerance) if last in EXACT_DERIVATIVES else NEAR_WITHOUT_DERIVATIVES
    is_optimum = ending.distance <= needed
    ended, is_found = run.end[0] in ("converged", "exact"), False
    if outcome is not None:
        ended = outcome.success
        # A method of lmfit may end in doubt although it is at the optimum, because its differences
        # lose their digits. Exact derivatives tell how far the optimum is.
        in_doubt = not (ended or getattr(outcome, "aborted", False) or run.stopped)
        is_found = in_doubt and is_finite and ending.distance <= NEAR
    has_ended = (ended or is_found) and not run.stopped and is_finite
    sides = {}
    if ending.side is not None:
        sides = {problem.names[k]: side for k, side in ending.sides.items()}
    findings, warned = _findings(run, ending, sides)
    is_plain = is_optimum and is_finite and outcome is None and not run.stopped
    message = ""
    if not is_plain or sides or ending.lost or ending.intervals:
        message = _message(run, ending, verdict, sides, (has_ended, is_optimum, is_found))
    result = kind(
        _problem=problem,
        ending=ending,
        _start=run.start,
        _values=values,
        _message=message,
        _outcome=outcome,
        method=NATIVE if run.methods == (NATIVE,) else " then ".join(run.methods),
        backend=problem.backend,
        settings={"methods": list(run.methods), "scale_covar": run.scale_covar, **run.options},
        start=Named(run.start.values),
        seconds=run.seconds,
        nfev=run.nfev,
        success=has_ended and is_optimum and not ending.lost,
        interrupted=run.interrupted,
        _findings=tuple(findings),
        _warned=tuple(warned),
        _minimizer=run.minimizer,
        _rivals=run.rivals,
    )
    if outcome is not None:
        from pyspec.fit.units import complete

        complete(outcome, result)
    return result


# the ending


def ending_of(run: Run) -> tuple[Ending, Verdict | None]:
    """Where a run ended, and the verdict of a closer look, if one was needed."""
    problem, solver, theta = run.problem, run.solver, run.theta
    n_amplitudes = (problem.only or problem).n_amplitudes_at(theta)
    n_fitted, intervals = theta.size + n_amplitudes, dict[int, tuple[float, float]]()
    if run.intervals:
        intervals = {problem.names.index(name): ends for name, ends in run.intervals.items()}
    is_saturated = run.scale_covar and run.n_points <= n_fitted
    ending, flags, _ = run.ended or (None, 0, 0)
    if solver is not None and not run.stopped and (problem.in_c or not problem.is_poisson):
        information = None
        if problem.is_poisson:
            information = problem.executor.normal(solver.theta, problem.fixed, "fisher")
        judged = run.n_points, n_amplitudes, run.scale_covar, intervals
        ending = solver.settle(*judged, information)
        if solver.flags & _DECIDED != _CERTAIN and problem.in_memory:
            ending = run.objective.judge(solver)
        flags = solver.flags
    if ending is not None:
        is_certain = flags & ~_HARMLESS == _CERTAIN and not is_saturated
        if is_certain and not run.lost and ending.chisqr < math.inf:
            return ending, None
    certain = ending if flags & _CERTAIN else None
    return ending_in_doubt(run, certain, n_amplitudes, is_saturated, intervals)


# what is said


def _findings(
    run: Run, ending: Ending, sides: Mapping[str, str]
) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """What to know before the numbers are used; and what of it is a warning, too."""
    problem, values, findings = run.problem, run.values, list(run.findings)
    names, chisqr = problem.names, ending.chisqr
    for k, error in ending.wide.items():
        low, high, _ = run.start.limits[names[k]]
        numbers = {"error": error, "low": low, "high": high}
        findings.append(Finding(Kind.ERROR_BEYOND_BOUNDS, (names[k],), numbers))
    is_judged = problem.is_weighted and not run.stopped and Robust.of(run.options) is None
    if is_judged and math.isfinite(chisqr):
        figures = ending.redchi, ending.n_free, run.scale_covar
        findings += far_from_expected(problem, values, *figures)
    warned = cautions_of(problem, values)
    if run.stopped or not math.isfinite(chisqr):
        return findings, warned
    if math.isnan(ending.variance):
        findings.append(Finding(Kind.NO_SCATTER, (), {"points": run.n_points}))
    for place, gain in ending.gains.items():
        name, (low, high, _) = names[place], run.start.limits[names[place]]
        at = name, sides[name], low if sides[name] == "min" else high
        findings.append(at_the_bound(problem, *at, gain, chisqr, _scale(run, ending)))
    if run.solver is not None and run.intervals:
        for name, ends in run.intervals.items():
            if name not in run.lost:
                limits = run.start.bounds, ends, _scale(run, ending)
                findings += beyond(problem, run.solver, name, *limits)
    findings += doubts_of(problem, ending.theta, values, sides, chisqr)
    return [*findings, *warned], warned


def _scale(run: Run, ending: Ending) -> float:
    """The variance of a point of weight 1, also where nothing scatters."""
    if math.isnan(ending.variance):
        return ending.redchi if run.scale_covar else 1.0
    return ending.variance


def _message(
    run: Run,
    ending: Ending,
    verdict: Verdict | None,
    sides: Mapping[str, str],
    how: tuple[bool, bool, bool],
) -> str:
    """How the fit ended, in words."""
    problem, (has_ended, is_optimum, is_found) = run.problem, how
    ended = run.stopped or (ending.text if run.outcome is None else str(run.outcome.message))
    ended = ended.strip()
    empty = [problem.names[k] for k in ending.lost]
    # A method may have ended with words to the contrary; where it did not claim a success, they
    # stand first.
    seems = f"This is no optimum: it seems {ending.distance:.2g} standard errors away"
    if is_optimum:
        seems = f"The optimum is {ending.distance:.1g} standard errors away"
    if is_optimum and (empty or not is_found):
        parts = [ended]
    elif has_ended:
        parts = [f"{seems}, where the method ended with '{ended.rstrip('.')}'"]
    else:
        parts = [ended, seems]
    if not is_optimum:
        parts += at_zero(problem, ending.theta)
    parts.append(bounds_said(sides))
    for name, (low, high) in run.intervals.items():
        parts.append(f"{name} moves a jump: it lies above {low:.6g}, up to {high:.6g}")
    if run.intervals and len(problem.names) > len(run.intervals):
        parts.append("Standard errors of others hold it fixed, conf_interval does not")
    if not math.isfinite(ending.chisqr):
        parts.append("chi² is too large for a double; scale the data")
    left = [name for name in empty if name not in run.intervals]
    moving = not_searched(problem, left, run.methods[-1]) if left else {}
    if lost := [name for name in empty if name not in moving]:
        parts.append("The data do not determine " + ", ".join(lost))
        parts.append("" if verdict is None else described(verdict, problem.names))
    parts += [f"{name} {remark}" for name, remark in moving.items()]
    robust = Robust.of(run.options)
    if robust is not None:
        parts.append(
            f"The loss {robust.name} was minimised, not χ²: standard errors follow from "
            "the scatter of the data, whatever scale_covar is"
        )
    return ". ".join(part.rstrip(".") for part in parts if part) + "."
