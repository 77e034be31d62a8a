"""Errors that are too small, which further fits tell.

A standard error takes χ² to be a parabola in all parameters. For weak lines and lines close
together it is not: after the others have followed, a place two errors away often fits nearly as
well. This is tested. First all parameters go along a straight line to two errors of each: if χ²
rises there like a parabola, the test ends. For a line of 17 standard errors this is so in 19 of 20
fits. Otherwise the others are fitted again, as `conf_interval` does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.scatter import ROUNDING
from pyspec.fit.objective import Objective
from pyspec.fit.results.ended import EndedFit
from pyspec.fit.results.same_data import is_at_hand
from pyspec.fit.solve.descent import Descent
from pyspec.fit.solve.jumps import Jumps

Array = npt.NDArray[np.float64]

#: How many standard errors away χ² is looked at: a parabola rises there by the square of it.
AWAY = 2.0

#: A rise below this part of a parabola's rise is reported. At this value the interval of one
#: standard deviation is longer than the error by half.
LITTLE = 0.5

#: Along straight lines χ² is a parabola where it rises by 1 ± this part of it.
STRAIGHT = 0.3

#: Fits of the others end within so many standard errors of their optimum, or after so many
#: evaluations: then nothing is said.
NEAR, MOST = 0.05, 40

#: Points times free parameters above which nothing is looked at: it takes as long as several fits.
MOST_WORK = 2e6


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
