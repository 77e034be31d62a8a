"""The profile of chi² along one side of one parameter, from sums at few points.

At a distance d from the best value, let the other parameters follow to where chi² is smallest. Its
rise is there s(d)², and s is nearly a straight line. From a point near the profile, where [J r] is
known, one Gauss-Newton step of the others leads to the profile. The rise there is that of the point
less what the step gains. Its slope by d is the derivative of chi² at the end of the step [1]. So
each point has s and ds/dd, and a polynomial through those of both sides has the ends.

Three cases are left to fits with the parameter held: a point that is not near the profile, other
parameters that meet or leave a bound, and an s that does not rise.

[1] D. J. Venzon & S. H. Moolgavkar, Appl. Stat. 37, 87 (1988).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from pyspec.executor.normal import unpack
from pyspec.fit.solve.covariance import SOUND

Array = npt.NDArray[np.float64]

#: An end is known where the last term of the polynomial is below this part of its distance from the
#: best value.
NEAR = 1.5e-5

#: A point is near the profile where the step of the others gains less than TRUST of the rise. The
#: step also leaves a part of the slope, because chi² has not quite the curvature of Gauss-Newton.
#: At most LEFT of it may remain, which changes no end.
TRUST, LEFT = 1e-3, 1e-4

#: Points on one side.
MOST = 8

#: Places between the best value and the furthest end at which s must rise, and how far beyond the
#: furthest point that may be.
LOOKED_AT, BEYOND = 16, 1.1


#: d, s and ds/dd.
Node = tuple[float, float, float]


@dataclass
class Ray:
    """One side of one parameter.

    Parameters
    ----------
    k, side : the parameter, and -1 or 1
    best : (n,) the best point
    held : parameters at a bound, -1 or 1 which; others are 0
    bounds : (n,) lower and upper ones
    slope, tangent : ds/dd at the best point and d theta / dd, as far as the covariance knows them
    wanted : values of s, rising
    chisqr : at the best point
    each : whether every end is to be a point of its own
    """

    k: int
    side: float
    best: Array
    held: npt.NDArray[np.int64]
    bounds: tuple[Array, Array]
    slope: float
    tangent: Array
    wanted: Sequence[float]
    chisqr: float
    each: bool = False

    #: The other side of the parameter.
    other: Ray | None = None
    #: Whether the ends are known; and whether they are to be found otherwise.
    is_done: bool = False
    is_lost: bool = False
    #: The distance of each end, and that of the bound where it comes before.
    ends: Sequence[float] = ()
    n_points: int = 0
    _nodes: list[Node] = field(default_factory=list)
    _points: list[tuple[float, Array, Array]] = field(default_factory=list)  # d, theta, d theta/dd
    _at: tuple[float, Array] | None = None  # where a point is asked for

    def __post_init__(self) -> None:
        bound = float((self.bounds[0] if self.side < 0 else self.bounds[1])[self.k])
        self.room = abs(bound - float(self.best[self.k]))
        self.others = np.flatnonzero((self.held == 0) & (np.arange(self.best.size) != self.k))
        self._points.append((0.0, self.best, self.tangent))
        self._ask(self.wanted[-1] / self.slope)

    # points

    @property
    def is_asking(self) -> bool:
        """Whether a point is asked for."""
        return not (self.is_done or self.is_lost) and self._at is not None

    @property
    def theta(self) -> Array:
        """(n,) the point that is asked for."""
        assert self._at is not None
        return self._at[1]

    def _ask(self, d: float, theta: Array | None = None) -> None:
        """Asks for a point so far away."""
        d = min(d, self.room)
        point = self._path(d) if theta is None else theta
        point[self.k] = self.best[self.k] + self.side * d
        if d >= self.room:
            point[self.k] = (self.bounds[0] if self.side < 0 else self.bounds[1])[self.k]
        low, high = self.bounds
        is_inside = bool(((point >= low) & (point <= high)).all())
        self.is_lost |= not (is_inside and np.isfinite(d) and d > 0.0) or self.n_points >= MOST
        self._at = d, point

    def _path(self, d: float) -> Array:
        """Where the profile leads: the cubic through the two nearest known points."""
        points = sorted(self._points, key=lambda point: point[0])
        after = next((i for i, point in enumerate(points) if point[0] > d), len(points) - 1)
        if after == 0:
            return np.asarray(self.best + self.tangent * d)
        (a, before, first), (b, end, last) = points[after - 1], points[after]
        if d > 2.0 * b:
            return np.asarray(end + last * (d - b))
        h, x = b - a, (d - a) / (b - a)
        bend = first * h - (end - before), -(last * h) + (end - before)
        return np.asarray(
            before + x * (end - before) + x * (1 - x) * ((1 - x) * bend[0] + x * bend[1])
        )

    def take(self, triangle: Array) -> tuple[Array, float] | None:
        """What was asked for: the triangle of [J r]. The point of the profile that it leads to and
        the rise there, or None."""
        assert self._at is not None
        d, theta = self._at
        self.n_points += 1
        node = self._node(theta, triangle) if np.isfinite(triangle).all() else None
        if node is None:
            self.is_lost = True
            return None
        rise, slope, point, tangent, gain = node
        low, high = self.bounds
        if not ((point >= low) & (point <= high)).all() or not rise > 0.0 or not slope > 0.0:
            self.is_lost = True
            return None
        self._points = [point_before for point_before in self._points if point_before[0] != d]
        self._points.append((d, point, tangent))
        root = float(np.sqrt(rise))
        bend = abs(1.0 - (root / (d * self.slope)) ** 2)
        if gain > TRUST * rise or bend * float(np.sqrt(max(gain, 0.0) / rise)) > LEFT:
            further = d * self.wanted[-1] / root if 0.5 < self.wanted[-1] / root < 2.0 else d
            self._ask(further, point + tangent * (min(further, self.room) - d))
            return None
        self._nodes.append((d, root, slope / (2.0 * root)))
        self._at = None
        return point, rise

    def _node(
        self, theta: Array, triangle: Array
    ) -> tuple[float, float, Array, Array, float] | None:
        """The rise, its slope by d, the point, its tangent, and what the step of the others
        gained; None where that is not to be trusted."""
        whole = unpack(triangle)
        gram, right, chisqr = whole[:-1, :-1], whole[:-1, -1], float(whole[-1, -1])
        k, own = self.k, self.others
        step, follow = np.zeros(own.size), np.zeros(own.size)
        if own.size:
            size = np.sqrt(gram.diagonal()[own])
            if not (size > 0.0).all():
                return None
            try:
                root = np.linalg.cholesky(gram[np.ix_(own, own)] / (size[:, None] * size))
            except np.linalg.LinAlgError:
                return None
            if root.diagonal().min() < SOUND:
                return None
            right_sides = np.stack([right[own], -gram[own, k]], axis=1) / size[:, None]
            solved = np.linalg.solve(root.T, np.linalg.solve(root, right_sides)) / size[:, None]
            step, follow = solved[:, 0], solved[:, 1]
        left = right - gram[:, own] @ step  # minus half of the slopes of chi² after the step
        pushed = self.held * left
        if (pushed[self.held != 0] < 0.0).any():
            return None  # a bound lets go
        gain = float(right[own] @ step)
        point, tangent = theta.copy(), np.zeros(theta.size)
        point[own] += step
        tangent[k], tangent[own] = self.side, self.side * follow
        slope = -2.0 * self.side * float(left[k])
        return chisqr - gain - self.chisqr, slope, point, tangent, gain

    # ends

    def look(self) -> None:
        """Whether the ends are known well enough, from what both sides have by now; else where the
        next point is asked for."""
        if self.is_lost or self.is_done or self.is_asking:
            return
        if self.other is not None and self.other.is_asking and not self.other._nodes:
            return  # which helps
        nodes = self._nodes  # and the furthest one of the other side at a negative distance
        if self.other is not None and not self.other.is_lost and self.other._nodes:
            furthest, root, slope = max(self.other._nodes)
            nodes = [(-furthest, -root, slope), *nodes]
        places, terms = _divided(nodes)
        worst, at = 0.0, 0.0
        for wanted in self.wanted:
            if self._at_bound < wanted:
                break
            d = self._end(places, terms, wanted)
            if d is None:
                self.is_lost = True
                return
            error = abs(terms[-1])
            for place in places[:-1]:
                error *= abs(d - place)
            error = 1.0 if d > BEYOND * self._furthest else error / wanted
            if self.each and min(abs(d - node[0]) for node in self._nodes) > NEAR * d:
                error = max(error, 1.0)
            if error > worst:
                worst, at = error, d
        if worst > NEAR:
            self._ask(at)
            return
        ends = [self._end(places, terms, level) for level in self.wanted if self._at_bound >= level]
        reached = [end for end in ends if end is not None]
        self.ends = reached + [self.room] * (len(self.wanted) - len(reached))
        self.is_done = True

    @property
    def _furthest(self) -> float:
        return max(node[0] for node in self._nodes)

    @property
    def _at_bound(self) -> float:
        """s at the bound, inf where that has not been reached."""
        return next((node[1] for node in self._nodes if node[0] == self.room), np.inf)

    def _end(self, places: Sequence[float], terms: Sequence[float], wanted: float) -> float | None:
        """Where the polynomial has a value, or a point further out than it is known; None where it
        does not rise up to there."""
        most = min(BEYOND * self._furthest, self.room)
        top, slope = _value(places, terms, most)
        grid = [most * n / LOOKED_AT for n in range(LOOKED_AT + 1)]
        if any(_value(places, terms, d)[1] <= 0.0 for d in grid):
            return None
        if wanted > top:
            return most + (wanted - top) / slope
        return float(
            brentq(lambda d: _value(places, terms, d)[0] - wanted, 0.0, most, xtol=1e-12 * most)
        )


def _divided(nodes: Sequence[Node]) -> tuple[list[float], list[float]]:
    """The polynomial through 0 at 0 and the values and slopes of nodes, in Newton's form: places
    and coefficients."""
    places, column = [0.0], [0.0]
    slopes = {d: slope for d, _, slope in nodes}
    for d, root, _ in nodes:
        places += [d, d]
        column += [root, root]
    terms = [column[0]]
    for order in range(1, len(places)):
        column = [
            slopes[places[i]]
            if places[i] == places[i + order]
            else (column[i + 1] - column[i]) / (places[i + order] - places[i])
            for i in range(len(places) - order)
        ]
        terms.append(column[0])
    return places, terms


def _value(places: Sequence[float], terms: Sequence[float], d: float) -> tuple[float, float]:
    """A polynomial and its slope."""
    value, slope = terms[-1], 0.0
    for place, term in zip(reversed(places[:-1]), reversed(terms[:-1]), strict=True):
        slope = slope * (d - place) + value
        value = value * (d - place) + term
    return value, slope
