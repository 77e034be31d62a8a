"""Parameters that move a jump over the samples: an onset without an instrument, an edge, a width.

Between two samples chi² is smooth in such a parameter, or does not depend on it at all. From one
interval between samples to the next it jumps, and no derivative shows this. Hence the intervals are
tried: neighbours first, then ever farther, each with a whole fit inside of it. What the data say of
the parameter is the interval, not a Gaussian error.

The samples may be energies, times or auxiliary points. The jumps of a formula follow from its
comparisons. If they depend on other free parameters, they are computed again when those change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.solve.methods import NATIVE
from pyspec.fit.solve.native import NativeSolver
from pyspec.plan.places import Places, ends_of, interval, number_of

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]


#: What to do about a jump that cannot be searched.
ELSEWHERE = "fit from several starts (n_starts=10) or fix it at several values, and compare χ²"

#: Pairs of intervals are tried so many intervals away.
NEARBY = (1, -1, 2, -2, 3, -3)

#: FURTHER intervals on either side of the best one are tested for fits that are as good. Above
#: MANY_POINTS points the test stops at the first interval that is worse.
FURTHER, MANY_POINTS = 40, 1_000_000

#: Where the first of a pair lies in its interval.
SHARES = (0.5, 0.25, 0.75)

#: (n_free,) the lower and the upper bounds of a fit.
Bounds = tuple[Array, Array]

#: Fits from theta within bounds.
Fit = Callable[[Array, Bounds], NativeSolver]


@dataclass(frozen=True)
class Jumps:
    """The parameters of a fit that move a jump, by their number, and the `bounds` of all of them. A
    jump parameter lies in one of the intervals between its places, which have numbers, too."""

    places: Mapping[int, Places]
    bounds: Bounds

    @classmethod
    def of(cls, problem: FitProblem, bounds: Bounds) -> Jumps:
        """Those of a fit within bounds."""
        places = problem.jumps()
        return cls({problem.names.index(name): jump for name, jump in places.items()}, bounds)

    def limits(self, index: int) -> tuple[float, float]:
        """The bounds of one parameter."""
        lower, upper = self.bounds
        return float(lower[index]), float(upper[index])

    def inside(self, index: int, places: Array, k: int) -> tuple[float, float]:
        """The bounds of a jump parameter within interval number k of its `places`; they are in the
        wrong order where that lies outside of its own bounds."""
        return self.places[index].inside(places, k, *self.limits(index))

    def frozen(self, theta: Array) -> Bounds:
        """The bounds, with every jump parameter kept in its interval. If other parameters decide
        where this interval lies, the jump parameter is kept at its value."""
        low, high = (bound.copy() for bound in self.bounds)
        for index, jump in self.places.items():
            if jump.pinned:
                least, most = self.limits(index)
                low[index] = high[index] = min(max(theta[index], least), most)
                continue
            places = jump.at(theta)
            low[index], high[index] = self.inside(index, places, number_of(places, theta[index]))
        return low, high


def search(
    best: NativeSolver,
    fit: Fit,
    jumps: Jumps,
    noise: float,
    ties: dict[int, list[float]],
    slight: float,
) -> NativeSolver:
    """The best fit over the intervals of every jump parameter, begun from a fit.

    A fit is better if it lowers chi² by more than `noise`. `ties` receives values in other
    intervals with fits that are as good, up to a share `slight` of chi². There other parameters
    make up for the jump.
    """
    changed = True
    while changed:
        changed = False
        for index in jumps.places:
            better, ties[index] = _search_one(best, fit, index, jumps, noise, slight)
            changed |= better is not best and len(jumps.places) > 1
            best = better
        if not changed:
            better = _search_pairs(best, fit, jumps, noise)
            changed, best = better is not best, better
    return best


def _search_pairs(best: NativeSolver, fit: Fit, jumps: Jumps, noise: float) -> NativeSolver:
    """Moves two parameters that place the same jumps together, into near intervals and on in the
    same direction. An example is a box with one moving edge: both its middle and its width
    change."""
    lower, upper = jumps.bounds

    def tried(theta: Array) -> NativeSolver | None:
        if not np.all((lower <= theta) & (theta <= upper)):
            return None
        within = jumps.frozen(theta)
        trial = fit(np.clip(theta, *within), within)
        return trial if trial.chisqr < best.chisqr - noise else None

    for theta in _pairs(best.theta, jumps):
        better = tried(theta)
        step = theta - best.theta
        while better is not None:
            best, step = better, 2.0 * step
            theta = best.theta.copy()
            theta[step != 0.0] += step[step != 0.0]
            again = tried(theta)
            if again is None:
                return best
            better = again
    return best


def _pairs(theta: Array, jumps: Jumps) -> Iterator[Array]:
    """Points at which two pinned parameters lie in intervals nearby. Those of the second depend on
    where in its interval the first one lies."""

    def into(point: Array, index: int, away: int, share: float) -> Array | None:
        places, moved = jumps.places[index].at(point), point.copy()
        k = number_of(places, point[index]) + away
        if not 0 <= k <= places.size:
            return None
        low, high = jumps.inside(index, places, k)
        moved[index] = middle(low, high, float(point[index]))
        if np.isfinite(high - low):
            moved[index] += (share - 0.5) * (high - low)
        return moved if low <= high else None

    pairs = [
        (index, other)
        for index, jump in jumps.places.items()
        for other in sorted(jump.reads.intersection(jumps.places) if jump.pinned else ())
        if other > index
    ]
    for (index, other), away, share in product(pairs, (0, *NEARBY[:4]), SHARES):
        first = into(theta, index, away, share)
        for beside in NEARBY if first is not None else ():
            assert first is not None
            both = into(first, other, beside, 0.5)
            if both is not None:
                yield both


def _search_one(
    best: NativeSolver, fit: Fit, index: int, jumps: Jumps, noise: float, slight: float
) -> tuple[NativeSolver, list[float]]:
    """The best fit over the intervals of one parameter, and its values where others are as good."""
    again = True
    while again:
        again, places = False, jumps.places[index].at(best.theta)
        ties: list[float] = []
        at = number_of(places, best.theta[index])
        for k in _candidates(places, at, *jumps.limits(index)):
            low, high = jumps.frozen(best.theta)
            low[index], high[index] = jumps.inside(index, places, k)
            if not low[index] <= high[index]:
                continue
            start = best.theta.copy()
            start[index] = middle(low[index], high[index], best.theta[index])
            trial = fit(start, (low, high))
            if trial.chisqr < best.chisqr - noise:
                best, again = trial, True
                break
            if trial.chisqr <= (1.0 + slight) * best.chisqr + noise:
                ties.append(float(trial.theta[index]))
    return best, ties


def _candidates(places: Array, at: int, low: float, high: float) -> Iterator[int]:
    """Intervals near number `at`, then farther, that meet the bounds."""
    offset, step = 1, 1
    while offset <= places.size:
        for k in (at - offset, at + offset):
            if 0 <= k <= places.size:
                begin, end = ends_of(places, k)
                if end >= low and begin < high:
                    yield k
        offset, step = offset + step, max(step, offset // 2)


def reach(
    solver: NativeSolver,
    index: int,
    jumps: Jumps,
    chisqr_at: Callable[[Array], float],
    noise: float,
    over: int = 0,
) -> tuple[float, float]:
    """The interval (low, high] that a jump parameter ended in, joined with next ones that are as
    good. There χ² changes by no more than `noise`, for example at samples that are masked or
    outside of the window. Up to `over` other intervals may lie between."""
    theta = solver.theta.copy()
    places, value = jumps.places[index].at(theta), float(theta[index])
    first = last = number_of(places, value)
    ends = interval(places, value)

    def same(k: int) -> bool:
        low, high = jumps.inside(index, places, k)
        if not low <= high:
            return False
        theta[index] = middle(low, high, value)
        return abs(chisqr_at(theta) - solver.chisqr) <= noise

    for k in range(first - 1, -1, -1):
        if same(k):
            ends = interval(places, float(theta[index]))[0], ends[1]
        elif first - k > over:
            break
    for k in range(last + 1, places.size + 1):
        if same(k):
            ends = ends[0], interval(places, float(theta[index]))[1]
        elif k - last > over:
            break
    return ends


def beyond(
    problem: FitProblem,
    solver: NativeSolver,
    name: str,
    bounds: Bounds,
    ends: tuple[float, float],
    variance: float,
) -> list[Finding]:
    """A finding if a jump parameter fits about as well in the next intervals. There χ² rises by
    less than the `variance` of a point, with the other parameters unchanged."""
    index, jumps = problem.names.index(name), Jumps.of(problem, bounds)
    over = FURTHER if problem.n_points <= MANY_POINTS else 0
    low, high = reach(solver, index, jumps, problem.chisqr_at, variance, over)
    least, most = jumps.limits(index)
    low, high = max(low, least), min(high, most)
    if low >= ends[0] and high <= ends[1]:
        return []
    return [Finding(Kind.INTERVAL_ONLY, (name,), {"low": float(low), "high": float(high)})]


def middle(low: float, high: float, value: float) -> float:
    """A value to start from within bounds: their middle, or the nearest where one is infinite."""
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return float(min(max(value, low), high))


def not_searched(problem: FitProblem, names: Collection[str], method: str) -> dict[str, str]:
    """What to say of those of some parameters without slopes that move a jump."""
    moving = problem.jump_parameters()
    if not moving:
        return {}
    places = problem.jumps() if method != NATIVE else {}
    remarks = {}
    for name in names:
        if name in moving:
            is_searchable = name in places and not places[name].is_rough
            remedy = f"method='{NATIVE}' searches it" if is_searchable else ELSEWHERE
            remarks[name] = f"moves a jump over the samples that was not searched: {remedy}"
    return remarks
