"""Intervals by profile likelihood: how far a parameter may go while the others follow.

The profile of a parameter is the smallest chi² that the others allow at a value of it. An interval
ends where it has risen by as much as the probability asks for:

- by z² if the noise is known, where z is the number of standard deviations with that probability.
  Chi², or twice a log-likelihood of counts, has one degree of freedom there [1];
- by ``F · chi²_best / (n - k)`` where the noise is the scatter about the fit, with F the quantile
  of Fisher's distribution with 1 and n - k degrees of freedom [2].

The root of chi²'s rise is nearly a straight line in the value. If it is smooth, the ends follow
from [J r] at few points near the profile. One call of C for each round computes those of all
parameters (:mod:`pyspec.fit.uncertainty.rays`). Otherwise each value takes a fit of the other
parameters, from where the last one ended. It uses the solver of ordinary fits with exact
derivatives.

Where chi² falls below that of the fit on the way, there is a better optimum. The search goes on
outwards, and the interval stays the one about the fit. It includes the other optimum if chi²
between them does not rise by as much as the probability asks for. Intervals about the better
optimum would be right less often. This was measured on 200 doublets with free widths, 1.6 standard
deviations apart and 20 of the noise high. Of these, 13 have a better optimum, with one line narrow
and low. No interval of 68 % about it holds the truth.

[1] S. S. Wilks, Ann. Math. Stat. 9, 60 (1938). [2] As :func:`lmfit.conf_interval` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import erf, erfinv, fdtr, fdtri

from pyspec.calls.arguments import real_array
from pyspec.errors import CallError, FitError, shortened, suggest
from pyspec.fit.batch.points import sums_at_points
from pyspec.fit.findings.finding import Finding, warn
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.interrupts import Hold
from pyspec.fit.objective import Objective
from pyspec.fit.progress import Steps
from pyspec.fit.solve.covariance import left_by_others
from pyspec.fit.solve.descent import Descent
from pyspec.fit.solve.jumps import Jumps
from pyspec.fit.solve.native import TOLERANCE
from pyspec.fit.solve.robust import refuse_robust
from pyspec.fit.uncertainty.intervals import Intervals, Pairs
from pyspec.fit.uncertainty.rays import Ray

if TYPE_CHECKING:
    from pyspec.fit.results.ended import EndedFit

Array = npt.NDArray[np.float64]

#: An end is known to this part of its distance from the best value.
NEAR = 1e-6

#: Steps outwards, each up to four times as far as the last one, before a side counts as open.
MOST_STEPS = 40

#: The fit was not at its optimum if chi² falls below it by more than this part of the variance of a
#: point.
BELOW = 1e-3


def probabilities(sigmas: npt.ArrayLike) -> list[float]:
    """Probabilities, rising: of a number below 1 itself, of others that of so many standard
    deviations of a normal distribution. Raises :class:`CallError`, also for those beyond which so
    little is left that the probability rounds to 1."""
    levels = np.atleast_1d(real_array("sigmas", sigmas)).astype(np.float64)
    if levels.ndim != 1 or not levels.size or not (np.isfinite(levels) & (levels > 0)).all():
        raise CallError(
            f"sigmas is {shortened(sigmas)}; give standard deviations such as [1, 2, 3], or "
            "probabilities below 1 such as [0.9]"
        )
    rising = sorted({float(erf(z / np.sqrt(2))) if z >= 1 else float(z) for z in levels})
    if rising[-1] == 1.0:
        raise CallError(
            f"sigmas is {shortened(sigmas)}, and the probability of {float(levels.max()):g} "
            "standard deviations rounds to 1; give 8 at most"
        )
    return rising


class ProfileLikelihood:
    """The profile of chi² of one fit.

    Parameters
    ----------
    result : the fit: its problem, best point, bounds, standard errors and chi²

    Attributes
    ----------
    scaled : whether the noise is the scatter about the fit; else chi² is taken as it is
    """

    def __init__(self, result: EndedFit) -> None:
        refuse_robust(result, "confidence intervals")
        self.result, self.scaled = result, result._scale_covar
        self.problem = problem = result.problem
        self.objective = Objective(problem, result._start.units)
        self.names: tuple[str, ...] = problem.names
        self.best = np.array(result.theta, np.float64)
        self.chisqr = float(result.chisqr)
        self.n_rest = result.n_data - result.n_free
        #: The least chi² that was found below that of the fit, and its point.
        self.better: tuple[float, Array] | None = None
        self.lower, self.upper = bounds = result._start.bounds
        self.frozen = Jumps.of(problem, bounds).frozen(self.best)
        #: Of each value of a parameter that was tried: the parameters, and the probability that it
        #: is beyond.
        self.tried_of: list[list[tuple[Array, float]]] = [[] for _ in self.names]
        if self.scaled and not (self.n_rest > 0 and self.chisqr > 0):
            raise FitError(
                f"{result.model_name}: no confidence intervals: the fit leaves no scatter to take "
                "the noise from; declare the noise (weights or sigma)"
            )
        self.unit = self.chisqr / self.n_rest if self.scaled else 1.0
        self.held = [self.names.index(name) for name in (*result.at_bound, *result.intervals)]
        self.sizes = [self._size(result, k) for k in range(self.best.size)]

    def _size(self, result: EndedFit, k: int) -> float:
        """A first step: the standard error, or half of a jump's interval. Where there is neither,
        the distance d from a bound where 2 g d + S d², the rise of chi², is the variance of a
        point. Here g is the slope of half of chi², and S is the curvature that the others leave.
        Without slope and curvature it is a tenth of the value."""
        error = result.stderr.get(self.names[k])
        if error:
            return float(error)
        low, high = result.intervals.get(self.names[k], (0.0, 0.0))
        width = 0.5 * (high - low)
        if 0 < width < np.inf:
            return float(width)
        bounds = [*zip(self.lower.tolist(), self.upper.tolist(), strict=True)]
        factor, fisher = self.objective.information(self.best, bounds)
        slope = abs(float(factor[:, k] @ factor[:, -1]))
        root = factor[:, :-1] if fisher is None else fisher
        (curvature,) = left_by_others(root, [k], self.held).tolist()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            size = self.unit / (slope + np.sqrt(slope**2 + self.unit * curvature))
        return float(size) if 0 < size < np.inf else 0.1 * abs(float(self.best[k])) or 1.0

    def rise(self, probability: float) -> float:
        """By what chi² rises at the end of an interval that holds with this probability."""
        if self.scaled:
            return self.unit * float(fdtri(1, self.n_rest, probability))
        return 2.0 * float(erfinv(probability)) ** 2

    def probability(self, rise: float) -> float:
        """The probability of an interval at whose end chi² has risen so much."""
        if self.scaled:
            return float(fdtr(1, self.n_rest, max(rise, 0.0) / self.unit))
        return float(erf(np.sqrt(max(rise, 0.0) / 2)))

    def interval(
        self, name: str, levels: Sequence[float], rays: Mapping[tuple[int, float], Ray]
    ) -> Pairs:
        """The ends for all probabilities, which rise; `rays` have those that are known."""
        k = self.names.index(name)
        low, high = (self._ends(k, side, levels, rays.get((k, side))) for side in (-1.0, 1.0))
        below = list(zip(levels, low, strict=True))[::-1]
        return [*below, (0.0, float(self.best[k])), *zip(levels, high, strict=True)]

    def _ends(self, k: int, side: float, levels: Sequence[float], ray: Ray | None) -> list[float]:
        """The ends on one side."""
        bound = float((self.lower if side < 0 else self.upper)[k])
        room = abs(bound - float(self.best[k]))
        if ray is not None:
            distances = list(ray.ends)
        else:
            side_of = _Side(self, k, side, room)
            distances = [side_of.end(float(np.sqrt(self.rise(level)))) for level in levels]
        best = float(self.best[k])
        return [bound if away >= room else best + side * away for away in distances]

    def rays(
        self, names: Sequence[str], levels: Sequence[float], each: bool, check: Callable[[], None]
    ) -> dict[tuple[int, float], Ray]:
        """(parameter, side) → the ray that has its ends, of those whose profile is smooth. With
        `each` every end is a point that was tried."""
        problem, ending = self.problem, self.result.ending
        if not problem.in_memory or self.result.intervals or not self.result.success:
            return {}
        wanted = [float(np.sqrt(self.rise(level))) for level in levels]
        variance = ending.covariance.diagonal() / ending.variance
        side = np.zeros(self.best.size, np.int64) if ending.side is None else ending.side
        rays = dict[tuple[int, float], Ray]()
        for name in names:
            k = self.names.index(name)
            if side[k] or not variance[k] > 0.0:
                continue
            tangent = np.nan_to_num(ending.covariance[k] / ending.covariance[k, k])
            for to in (-1.0, 1.0):
                slope = float(1.0 / np.sqrt(variance[k]))
                start = self.best, side, (self.lower, self.upper), slope, to * tangent
                rays[k, to] = Ray(k, to, *start, wanted, self.chisqr, each)
            rays[k, -1.0].other, rays[k, 1.0].other = rays[k, 1.0], rays[k, -1.0]
        with sums_at_points(problem, check) as sums:
            while left := [ray for ray in rays.values() if ray.is_asking]:
                triangles = sums(np.array([ray.theta for ray in left]), "gram")
                self.objective.evaluations.count += len(left)
                for ray, triangle in zip(left, triangles, strict=True):
                    point = ray.take(triangle)
                    if point is not None:
                        self.tried_of[ray.k].append((point[0], self.probability(point[1])))
                for ray in rays.values():
                    ray.look()
        return {key: ray for key, ray in rays.items() if ray.is_done}

    def fit_at(self, k: int, value: float, start: Array) -> tuple[float, Array]:
        """The least chi² where parameter `k` is held at a value, and the point; inf where the model
        is not a number."""
        low, high = (bound.copy() for bound in self.frozen)
        begin = np.clip(start, low, high)
        begin[k] = low[k] = high[k] = value
        descent = Descent(self.objective, self.result.n_data, TOLERANCE)
        solver = descent.fit(begin, (low, high))
        if solver.end == "not_finite":
            return np.inf, begin
        chisqr, theta = float(solver.chisqr), solver.theta.copy()
        rise = chisqr - self.chisqr
        least = BELOW * self.chisqr / self.n_rest if self.scaled else BELOW
        if rise < -max(least, 1e-9 * self.chisqr):
            if not self.result.success:
                raise FitError(
                    f"{self.result.model_name}: no confidence intervals: at {self.names[k]} = "
                    f"{value:.10g} chi² is {chisqr:.10g}, below the {self.chisqr:.10g} of the fit, "
                    "which is not at its best optimum; fit again, from there: "
                    f"{self.listed(theta)}"
                )
            if self.better is None or chisqr < self.better[0]:
                self.better = chisqr, theta
        self.tried_of[k].append((theta, self.probability(rise)))
        return chisqr, theta

    def listed(self, theta: Array) -> str:
        """A point in words."""
        return ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.names, theta, strict=True))


class _Side:
    """The search for ends on one side of the best value of one parameter."""

    def __init__(self, profile: ProfileLikelihood, k: int, side: float, room: float) -> None:
        self.profile, self.k, self.side, self.room = profile, k, side, room
        #: The root of the rise by distance, and the points there.
        self.roots: dict[float, float] = {0.0: 0.0}
        self.points: dict[float, Array] = {0.0: profile.best}

    def root(self, away: float) -> float:
        """The root of chi²'s rise so far away. The others begin where a straight line through the
        best point and the nearest known one before leads: beyond it they may be in another
        optimum."""
        if away in self.roots:
            return self.roots[away]
        best, before = self.profile.best, max(d for d in self.points if d < away)
        start = best + (self.points[before] - best) * (away / before if before else 0.0)
        value = float(best[self.k]) + self.side * away
        chisqr, theta = self.profile.fit_at(self.k, value, start)
        if np.isfinite(chisqr):
            self.points[away] = theta
        root = float(np.sqrt(max(chisqr - self.profile.chisqr, 0.0)))
        self.roots[away] = root
        return root

    def end(self, wanted: float) -> float:
        """How far away the root of the rise is `wanted`: `room` where the bound comes before, inf
        where no step outwards finds it."""
        low, high = self._bracket(wanted)
        if high is None:
            return low
        most = 1e3 * wanted  # in place of inf, where the model is no number
        return float(
            brentq(
                lambda away: min(self.root(away), most) - wanted,
                low,
                high,
                xtol=NEAR * high,
                rtol=8 * np.finfo(float).eps,
            )
        )

    def _bracket(self, wanted: float) -> tuple[float, float | None]:
        """The nearest known distance at which the root is `wanted` or more, and the one before;
        (room or inf, None) without the former."""
        beyond = min((d for d, root in self.roots.items() if root >= wanted), default=np.inf)
        away = max(d for d in self.roots if d < beyond)  # chi² may fall again further out
        if beyond < np.inf:
            return away, beyond
        step = self.profile.sizes[self.k] * wanted / np.sqrt(self.profile.unit)
        for _ in range(MOST_STEPS):
            root = self.roots[away]
            further = away * min(4.0, max(1.05, wanted / root)) if away * root > 0 else step
            further = min(max(further, 1.05 * away), self.room)
            if self.root(further) >= wanted:
                return away, further
            if further >= self.room:
                return self.room, None
            away, step = further, 4.0 * further
        return np.inf, None


def confidence_intervals(
    result: EndedFit,
    p_names: str | Sequence[str] | None,
    sigmas: npt.ArrayLike,
    trace: bool,
    progress: bool | Callable[[int, int], object] | None,
) -> Intervals | tuple[Intervals, dict[str, dict[str, Array]]]:
    """What :meth:`pyspec.fit.FitResult.conf_interval` returns."""
    wanted, levels = (
        _wanted(p_names, result.problem.names, result._expressions),
        probabilities(sigmas),
    )
    steps = Steps(progress, f"{result.model_name}, intervals", "parameters")
    intervals = Intervals()
    traces: dict[str, dict[str, Array]] = {}
    try:
        with Hold() as hold, np.errstate(all="ignore"):
            profile = ProfileLikelihood(result)
            profile.objective.evaluations.hold = hold  # Ctrl-C ends it between two evaluations
            rays = profile.rays(wanted, levels, trace, hold.check)
            for n, name in enumerate(wanted):
                intervals[name] = profile.interval(name, levels, rays)
                traces[name] = _trace(profile, profile.names.index(name))
                steps.update(n + 1, len(wanted))
    finally:
        result.problem.rest()
        steps.close()
    if profile.better is not None:
        chisqr, theta = profile.better
        numbers = {"chisqr": chisqr, "of_fit": profile.chisqr, "values": tuple(theta.tolist())}
        intervals.findings = (Finding(Kind.BETTER_OPTIMUM, profile.names, numbers),)
        warn(result.model_name, intervals.findings)
    return (intervals, traces) if trace else intervals


def _wanted(
    p_names: str | Sequence[str] | None, names: Sequence[str], followers: Container[str]
) -> list[str]:
    """The parameters asked for. Raises :class:`CallError` for one that is not free."""
    wanted = list(names) if p_names is None else p_names
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    lost = next((name for name in wanted if name not in names), None)
    if lost is not None and lost in followers:
        raise CallError(
            f"conf_interval: {lost!r} follows an expression and has no profile; result.stderr and "
            "result.sample() have errors of it, of one file bootstrap(result) too"
        )
    if lost is not None:
        raise CallError(
            f"conf_interval: {lost!r} is no free parameter{suggest(str(lost), list(names))}; there "
            f"are {', '.join(names)}"
        )
    return wanted


def _trace(profile: ProfileLikelihood, k: int) -> dict[str, Array]:
    """The points that were tried of a parameter, by name, and the probability of each."""
    tried = profile.tried_of[k]
    points = np.array([theta for theta, _ in tried]).reshape(-1, len(profile.names))
    columns: Mapping[str, Array] = dict(zip(profile.names, points.T, strict=True))
    return {**columns, "prob": np.array([probability for _, probability in tried])}
