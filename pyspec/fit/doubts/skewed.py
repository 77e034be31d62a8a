"""Parameters that may lie further from the truth than their standard errors say.

A standard error takes χ² to be a parabola in all parameters. Of weak lines and of lines close
together it is none: a place two errors away often fits nearly as well, once the others have
followed. That is looked at. First all parameters go along a straight line to two errors of each:
where χ² rises there by what a parabola has, nothing more is asked, and of a line of 17 standard
errors that is so in 19 of 20 fits. Else the others are fitted again, as `conf_interval` does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, FitError
from pyspec.fit.doubts.scatter import ROUNDING
from pyspec.fit.evaluations import Evaluations
from pyspec.fit.same_data import is_at_hand, need_fitted
from pyspec.fit.solve.descent import Descent
from pyspec.fit.solve.jumps import Jumps

Array = npt.NDArray[np.float64]

#: How many standard errors away χ² is looked at: a parabola rises there by the square of it.
AWAY = 2.0

#: A rise of less than this part of that of a parabola is told.
LITTLE = 0.5

#: Along straight lines χ² is a parabola where it rises by 1 ± this part of it.
STRAIGHT = 0.3

#: Fits of the others end within so many standard errors of their optimum, where χ² is too high by
#: the square of it, or after so many evaluations: nothing is said for it.
NEAR, MOST = 0.05, 40

#: Points times free parameters above which nothing is looked at: it takes as long as several fits.
MOST_WORK = 2e6


def skewed(result: Any, said: Iterable[str]) -> list[str]:
    """A sentence on the free parameters of a fit of which χ² rises by too little, of a joint fit on
    those of each file, but for those that are named in what was `said` already; none of fits
    without success, of one file of a joint fit, which says it, of data by reference, and of models
    that need Python or many points."""
    problem = result.problem
    if not result.success or result._of_many or not _is_known(result):
        return []
    account = problem.evaluations
    problem.evaluations = Evaluations(len(problem.names))
    try:
        with np.errstate(all="ignore"):
            need_fitted(result)
            found = dict(_Rises(result).little())
    except (DataError, FitError):
        return []
    finally:
        problem.evaluations = account
        problem.rest()
    told = set(re.findall(r"\w+", " ".join(said)))
    found = {name: share for name, share in found.items() if name not in told}
    is_bounded, sentences = bool(result.at_bound), []
    for _, group in groupby(found, key=_file_of):
        names = [*group]
        sentences.append(_sentence(names, min(map(found.__getitem__, names)), is_bounded))
    return sentences


def _file_of(name: str) -> str:
    """The file of a joint fit that a parameter is of; "" for what all have."""
    begin = re.match(r"file\d\d+_", name)
    return begin[0] if begin else ""


def _is_known(result: Any) -> bool:
    """Whether χ² is more than rounding, and many evaluations of it take little time."""
    problem = result.problem
    if not is_at_hand(problem) or not problem.in_c:
        return False
    is_rounding = result.chisqr <= ROUNDING**2 * problem.data_square
    return bool(not is_rounding and 0 < problem.n_points * len(problem.names) <= MOST_WORK)


class _Rises:
    """How χ² rises from the best point of a fit, as a share of what a parabola has."""

    def __init__(self, result: Any) -> None:
        self.problem, self.theta = result.problem, result.theta
        covariance, self.unit = result._spread()
        self.n_points, self.chisqr = result.n_data, float(result.chisqr)
        self.bounds = self.problem.bounds_of(result._params)
        errors = np.sqrt(covariance.diagonal())
        self.jumps = [self.problem.names.index(name) for name in result.intervals]
        self.known = np.flatnonzero(errors > 0.0).tolist()
        with np.errstate(all="ignore"):
            #: (n, n) by rows: where all go if one goes as far as it is looked at.
            self.steps = AWAY * covariance / errors[:, None]

    def little(self) -> Iterator[tuple[str, float]]:
        """The names of those of which χ² rises by too little, and the share."""
        if not self.unit > 0.0 or self._are_straight():
            return
        frozen = Jumps.of(self.problem, self.bounds).frozen(self.theta)
        for k in self.jumps:  # errors are those with it held
            frozen[0][k] = frozen[1][k] = self.theta[k]
        for k in self.known:
            share = min((self._followed(k, point, frozen) for point in self._ends(k)), default=1.0)
            if share < LITTLE:
                yield self.problem.names[k], share

    def _ends(self, k: int) -> list[Array]:
        """The points where a parameter is two errors away, but for those beyond its bounds."""
        points = [self.theta + self.steps[k], self.theta - self.steps[k]]
        low, high = self.bounds
        return [np.clip(one, low, high) for one in points if low[k] < one[k] < high[k]]

    def _share(self, chisqr: float) -> float:
        return float((chisqr - self.chisqr) / (self.unit * AWAY**2))

    def _are_straight(self) -> bool:
        """Whether χ² is a parabola along all straight lines."""
        for k in self.known:
            for point in self._ends(k):
                if not abs(self._share(self.problem.chisqr_at(point)) - 1.0) < STRAIGHT:
                    return False
        return True

    def _followed(self, k: int, point: Array, frozen: tuple[Array, Array]) -> float:
        """The share where parameter `k` is held, and the others are fitted again from a point."""
        low, high = (bound.copy() for bound in frozen)
        begin = np.clip(point, low, high)
        begin[k] = low[k] = high[k] = point[k]
        solver = Descent(self.problem, self.n_points, NEAR).fit(begin, (low, high), MOST)
        share = self._share(float(solver.chisqr))
        return share if np.isfinite(share) else 1.0


def _sentence(names: Sequence[str], share: float, is_bounded: bool) -> str:
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    followed = "the others have followed" + (", also those at a bound" if is_bounded else "")
    return (
        f"standard errors may be too small, of {listed}: two of them away χ² rises, once "
        f"{followed}, by no more than {max(share, 0.0):.0%} of what a parabola has; quote the "
        "interval of conf_interval"
    )
