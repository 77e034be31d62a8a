"""What further fits tell: rates whose order was exchanged, what `min: 0` moved, and errors that are
too small.

Order. With free spectra a sequence fits as well with two of its rates exchanged, but the spectra of
its states are others then. The order of the start values says which optimum is meant, and a long
step may end in another.

Sign. Where a free spectrum is 0, noise makes it too high at half of the energies, and `min: 0` lets
it be too low at none. What is too much of one spectrum is missing from the others, at all energies
to the same side. The laws in common make up for it. An example: of two decays with spectra that are
0 at two of three energies, the times are wrong by 0.8 of their standard errors at 20 energies, by 2
at 200. Errors and intervals do not know of it. A fit without the bound, which has no such bias,
says how far the parameters moved.

Errors. A standard error takes χ² to be a parabola in all parameters. For weak lines and lines close
together it is not: after the others have followed, a place two errors away often fits nearly as
well. This is tested. First all parameters go along a straight line to two errors of each: if χ²
rises there like a parabola, the test ends. For a line of 17 standard errors this is so in 19 of 20
fits. Otherwise the others are fitted again, as `conf_interval` does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby

import numpy as np
import numpy.typing as npt

from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.findings.finding import Finding, unique
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.scatter import ROUNDING
from pyspec.fit.objective import Objective
from pyspec.fit.results.ended import EndedFit
from pyspec.fit.results.same_data import is_at_hand
from pyspec.fit.solve.covariance import gauss_newton
from pyspec.fit.solve.descent import Descent
from pyspec.fit.solve.jumps import Jumps
from pyspec.model.build.kinetics import scheme_name, schemes_in

Array = npt.NDArray[np.float64]

#: chi² of both orders differs by less than this share of it.
SAME = 1e-9

#: A parameter is reported if it moved by more than FAR standard errors, and by more than
#: BEYOND_CHANCE standard deviations of the difference of both fits. The variance of this difference
#: is the variance without the bound minus the variance with it (J. A. Hausman, Econometrica 46,
#: 1251 (1978)).
FAR, BEYOND_CHANCE = 0.75, 1.5

#: Fewer amplitudes at 0 than these hardly bias anything.
FEWEST = 4

#: How many standard errors away χ² is looked at: a parabola rises there by the square of it.
AWAY = 2.0

#: A rise below this part of a parabola's rise is reported. At this value the interval of one
#: standard deviation is longer than the error by half.
LITTLE = 0.5

#: Along straight lines χ² is a parabola where it rises by 1 ± this part of it.
STRAIGHT = 0.3

#: Fits without the bound, and of the others, end within so many standard errors of their optimum,
#: or after so many evaluations: then nothing is said.
NEAR_UNBOUND, MOST_UNBOUND = 1e-3, 100
NEAR, MOST = 0.05, 40

#: Points times free parameters above which nothing is looked at: it takes as long as several fits.
MOST_WORK = 2e6


def exchanged(result: EndedFit, objective: Objective) -> list[Finding]:
    """Finds rates in another order than their start values, if the data allow both orders. Fits
    from several starts are left out, because those are compared with one another."""
    findings: list[Finding] = []
    for own, names in result.problem.named_files if not result.starts else ():
        for scheme, states in schemes_in(own.model.components) if own.n_amplitudes else ():
            pars = [par for state in states for par in state.parameters if par.vary]
            rates = dict.fromkeys(par.name for par in pars if par.argument in scheme.rates)
            free_rates = [names[rate] for rate in rates if rate in own.parameters]
            free_rates = [
                rate for rate in free_rates if rate in result.free_names and rate in result.start
            ]
            for pair in combinations(free_rates, 2):
                if _is_exchanged(result, objective, *pair):
                    findings.append(Finding(Kind.ORDER_EXCHANGED, (scheme_name(states[0]), *pair)))
    return unique(findings)


def _is_exchanged(result: EndedFit, objective: Objective, rate: str, other: str) -> bool:
    """Whether two rates have another order than at the start, and chi² is the same where they are
    exchanged, within their bounds."""
    problem, start = result.problem, result.start
    theta, places = result.theta.copy(), [problem.names.index(name) for name in (rate, other)]
    first, second = theta[places]
    if not (start[rate] - start[other]) * (first - second) < 0:
        return False
    theta[places] = second, first
    low, high = result._start.bounds
    if not ((low <= theta) & (theta <= high))[places].all():
        return False
    here, there = problem.chisqr_at(result.theta), problem.chisqr_at(theta)
    objective.evaluations.count += 2
    return bool(abs(there - here) <= SAME * here) and bool(np.isfinite(there))


def biased(result: EndedFit, objective: Objective) -> list[Finding]:
    """The finding that `min: 0` holds amplitudes at 0 and moved parameters that all share. There is
    none for counts, which are positive, for data by reference, and for many points."""
    problem, errors = result.problem, result.stderr
    if problem.is_poisson or not is_at_hand(problem) or not problem.n_amplitudes:
        return []
    if problem.n_points * len(problem.names) > MOST_WORK:
        return []
    files = [(own, at) for own, at in problem.files_at(result.theta) if isinstance(own, FreePart)]
    held, every = map(
        sum, zip(*(own.executor.held(at, own.fixed) for own, at in files), strict=True)
    )
    if held < FEWEST:
        return []
    other = Objective(problem.of_any_sign())
    other.evaluations = objective.evaluations
    descent = Descent(other, result.n_data, NEAR_UNBOUND)
    bounds = result._start.bounds
    solver = descent.fit(np.array(result.theta), bounds, MOST_UNBOUND)
    covariance, _ = gauss_newton(solver.factor()[:, :-1])
    if solver.end != "converged" or covariance is None:
        return []
    variances, there = covariance.diagonal() * result.ending.variance, solver.theta
    moved = []
    for k, name in enumerate(problem.names):
        error, far = errors[name], abs(float(there[k] - result.theta[k]))
        chance = np.sqrt(max(variances[k] - (error or 0.0) ** 2, 0.0))
        if error and far > FAR * error and far > BEYOND_CHANCE * chance:
            moved.append((name, float(there[k]), far / error))
    if not moved:
        return []
    names, values, away = zip(*moved, strict=True)
    numbers = {"held": held, "all": every, "values": values, "away": away}
    return [Finding(Kind.BIASED_BY_SIGN, names, numbers)]


def skewed(result: EndedFit, objective: Objective) -> list[Finding]:
    """Finds free parameters along which χ² rises too little; in a joint fit, those of each file. It
    is not tested for data by reference, for models that need Python, for many points, and if χ² is
    rounding."""
    problem = result.problem
    if not is_at_hand(problem) or not problem.in_c:
        return []
    if result.chisqr <= ROUNDING**2 * problem.data_square:
        return []
    if not 0 < problem.n_points * len(problem.names) <= MOST_WORK:
        return []
    shares, is_bounded = dict(_Rises(result, objective).little()), bool(result.at_bound)

    def files_of(name: str) -> list[int]:
        return [k for k, (_, names) in enumerate(problem.named_files) if name in names.values()]

    groups = [tuple(group) for _, group in groupby(shares, key=files_of)]
    return [
        Finding(
            Kind.ERRORS_ASYMMETRIC,
            names,
            {"share": min(map(shares.__getitem__, names)), "bounded": is_bounded},
        )
        for names in groups
    ]


class _Rises:
    """How χ² rises from the best point of a fit, as a share of what a parabola has."""

    def __init__(self, result: EndedFit, objective: Objective) -> None:
        self.objective = objective
        self.problem, self.theta = result.problem, result.theta
        covariance, self.unit = result.ending.known, result.ending.variance
        self.n_points, self.chisqr = result.n_data, float(result.chisqr)
        self.bounds = result._start.bounds
        errors = np.sqrt(covariance.diagonal())
        self.jumps = list(result.ending.intervals)
        self.with_error = np.flatnonzero(errors > 0.0).tolist()
        with np.errstate(all="ignore"):
            #: (n, n) row k: how all parameters move when parameter k moves by AWAY errors.
            self.steps = AWAY * covariance / errors[:, None]

    def little(self) -> Iterator[tuple[str, float]]:
        """The names of those of which χ² rises by too little, and the share."""
        if not self.unit > 0.0 or self._are_straight():
            return
        frozen = Jumps.of(self.problem, self.bounds).frozen(self.theta)
        for k in self.jumps:  # errors are those with it held
            frozen[0][k] = frozen[1][k] = self.theta[k]
        for k in self.with_error:
            share = min((self._followed(k, point, frozen) for point in self._ends(k)), default=1.0)
            if share < LITTLE:
                yield self.problem.names[k], share

    def _ends(self, k: int) -> list[Array]:
        """The points where a parameter is two errors away, but for those beyond its bounds."""
        points = [self.theta + self.steps[k], self.theta - self.steps[k]]
        low, high = self.bounds
        return [np.clip(point, low, high) for point in points if low[k] < point[k] < high[k]]

    def _share(self, chisqr: float) -> float:
        return float((chisqr - self.chisqr) / (self.unit * AWAY**2))

    def _are_straight(self) -> bool:
        """Whether χ² is a parabola along all straight lines."""
        for k in self.with_error:
            for point in self._ends(k):
                self.objective.evaluations.count += 1
                if not abs(self._share(self.problem.chisqr_at(point)) - 1.0) < STRAIGHT:
                    return False
        return True

    def _followed(self, k: int, point: Array, frozen: tuple[Array, Array]) -> float:
        """The share where parameter `k` is held, and the others are fitted again from a point."""
        low, high = (bound.copy() for bound in frozen)
        begin = np.clip(point, low, high)
        begin[k] = low[k] = high[k] = point[k]
        solver = Descent(self.objective, self.n_points, NEAR).fit(begin, (low, high), MOST)
        share = self._share(float(solver.chisqr))
        return share if np.isfinite(share) else 1.0
