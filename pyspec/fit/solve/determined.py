"""What the data determine at the end of a fit: one rule for every method.

Two questions are asked of the derivatives J of the residual at the best point, over the free
parameters that no bound holds:

*Is it an optimum?* The distance to it is the undamped step, in standard errors. It is the length of
the projection of the residual r on the columns of J, over s, the standard deviation of one point.

*Is there only one?* With the columns of J scaled to length 1, a direction v with Jv = 0 changes
the parameters and not the model. A direction whose singular value is tiny beside the largest is
walked: one standard error far, or to the bounds. Where chi² rises by less than a hundredth of s²,
the data say nothing of that combination of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Singular values, relative to the largest: below the first a direction is lost; below the second
#: it is walked.
LOST, WEAK = 1e-12, 1e-4

#: One standard error along a determined direction raises chi² by s²; this share of it is demanded.
RISE = 1e-2

#: A parameter takes part in a lost direction where its share of it is larger than this.
SHARE_LOST, SHARE_WEAK = 1e-5, 1e-2

#: A bound nearer than this share of a step along a weak direction is in its way.
BLOCKED = 1e-2

#: An effect of 64 last digits of the data is rounding.
TRACE = 64 * float(np.finfo(float).eps)

#: A slope of chi² at a bound below so many standard errors neither holds a parameter nor frees it.
NEUTRAL = 1e-3

#: Shares of the way from a bound to the other.
RUNGS = 3.0 ** np.arange(-12, 1)

#: A square or fourth power rises by 9 or 81 from one of these to the next; what rises by more than
#: this is flat before.
STEEPEST = 100.0

#: A parameter is next to a bound within this share of the interval of its bounds.
NEXT_TO = 1e-2


@dataclass(frozen=True)
class Point:
    """The end of a fit.

    Parameters
    ----------
    theta, lower, upper : (n,) values and bounds of the free parameters
    root : (m, n) any matrix whose Gram matrix is the information JᵀJ (or Fisher's)
    downhill : (n,) Jᵀr, the direction in which chi² falls
    sides : (n,) -1 at the lower bound, 1 at the upper, else 0
    sizes : (n,) natural size of each parameter
    variance : s², of one point
    chisqr : there
    """

    theta: Array
    lower: Array
    upper: Array
    root: Array
    downhill: Array
    sides: npt.NDArray[np.int64]
    sizes: Array
    variance: float
    chisqr: float


@dataclass(frozen=True)
class Verdict:
    """What the data determine.

    Attributes
    ----------
    distance : to the optimum, in standard errors, over the parameters that no bound holds
    lost : places of the parameters that the data do not determine
    combinations : for each lost direction of two or more parameters, their places and how they
        move together, the largest change being 1 in units of each parameter's column
    next_to : places of parameters near to a bound that the data push beyond it, so near that
        reaching it changes nothing; and -1 for the lower bound, 1 for the upper
    """

    distance: float
    lost: tuple[int, ...] = ()
    combinations: tuple[tuple[tuple[int, float], ...], ...] = ()
    next_to: tuple[tuple[int, int], ...] = ()


def judge(point: Point, chisqr: Callable[[Array], float], apart: Collection[int] = ()) -> Verdict:
    """Whether a point is an optimum, and the only one.

    `chisqr` evaluates chi² elsewhere (NaN where the model is not defined); `apart` are parameters
    that are judged in another way, such as onsets known to an interval between samples.
    """
    size = np.sqrt(np.einsum("ij,ij->j", point.root, point.root))
    spread = np.sqrt(point.variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.where(size > 0.0, point.downhill / (size * spread), 0.0)
        pushed = pull * point.sides > (NEUTRAL if spread > 0.0 else 0.0)  # inf · 0 is not
    rest = [k for k in range(size.size) if k not in apart]
    empty = [k for k in rest if not size[k] > 0.0 and not _is_held(point, k, chisqr)]
    free = np.array([k for k in rest if size[k] > 0.0 and not pushed[k]], dtype=np.intp)
    if not free.size:
        return Verdict(0.0, tuple(empty))
    scaled = point.root[:, free] / size[free]
    _, singular, vt = np.linalg.svd(scaled, full_matrices=False)
    # A wide matrix has fewer singular values than columns; the others are 0.
    missing = free.size - singular.size
    if missing > 0:
        _, _, vt = np.linalg.svd(scaled, full_matrices=True)
        singular = np.concatenate([singular, np.zeros(missing)])
    distance, next_to = 0.0, list[tuple[int, int]]()
    if spread > 0.0:
        length, next_to = _distance(point, free, size)
        distance = float(length / spread)
    lost, combinations = set(empty), []
    for value, direction in _weak(point, free, size, singular, vt):
        is_sound = value > LOST * singular[0]
        at_bound = np.abs(direction[point.sides[free] != 0]).max(initial=0.0) > SHARE_LOST
        if (is_sound or at_bound) and not _is_flat(
            point, free, direction / size[free], value if is_sound else 0.0, chisqr
        ):
            continue
        share = SHARE_WEAK if is_sound else SHARE_LOST
        members = np.flatnonzero(np.abs(direction) > share)
        lost.update(int(free[k]) for k in members)
        if members.size > 1:
            unit = direction[members] / np.abs(direction).max()
            combinations.append(
                tuple((int(free[k]), float(v)) for k, v in zip(members, unit, strict=True))
            )
    return Verdict(distance, tuple(sorted(lost)), tuple(combinations), tuple(next_to))


def _is_held(point: Point, k: int, chisqr: Callable[[Array], float]) -> bool:
    """Whether a parameter without a slope is held at a bound by chi². Distances are tried up to the
    other bound, or without one up to the parameter's own size. Chi² must be no lower at any of
    them, it must be higher at the last, and it must rise from the bound on. This holds for a width
    of 0, whose sign has no effect. It does not hold for an onset after the last time, which may be
    anywhere there. Takes one evaluation for each distance."""
    side, low, high = int(point.sides[k]), float(point.lower[k]), float(point.upper[k])
    if side == 0 or not point.variance > 0.0:
        return False
    own = max(abs(float(point.theta[k])), float(point.sizes[k]))
    room, least = high - low if np.isfinite(high - low) else own, RISE * point.variance
    rise, before = 0.0, np.inf
    for share in RUNGS:
        theta = point.theta.copy()
        theta[k] = np.clip(theta[k] - side * share * room, low, high)
        rise = chisqr(theta) - point.chisqr
        if not -least <= rise < np.inf or rise > max(least, STEEPEST * abs(before)):
            return False
        before = np.inf if rise > least else rise
    return rise > least


def _weak(
    point: Point, free: npt.NDArray[np.intp], size: Array, singular: Array, vt: Array
) -> Iterator[tuple[float, Array]]:
    """The directions to be judged, with their singular values. Any mixture of several lost
    directions is lost, too. A mixture of two parameters at bounds may be blocked both ways although
    each of them is free to move. So parameters at or near a bound get one direction each."""
    room = np.minimum(point.theta - point.lower, point.upper - point.theta)[free] * size[free]
    is_lost = singular <= LOST * singular[0]
    for group in (is_lost, ~is_lost & (singular <= WEAK * singular[0])):
        if not group.any():
            continue
        values, rows = singular[group], vt[group]
        longest = np.sqrt(point.variance) / np.where(is_lost[group], np.inf, values)
        is_near = np.any(room < BLOCKED * longest[:, None] * np.abs(rows), axis=0)
        columns = np.flatnonzero(is_near | (point.sides[free] != 0)).tolist()
        shares = _one_each(rows, columns)
        rows = shares @ rows
        length = np.linalg.norm(rows, axis=1)
        rows /= length[:, None]
        rows[np.abs(rows) < LOST] = 0.0  # rounding, which at a bound would stop the walk
        sizes = np.linalg.norm(shares * values, axis=1) / length
        yield from zip(sizes.tolist(), rows, strict=True)


def _one_each(rows: Array, columns: list[int]) -> Array:
    """(n, n) shares of n directions in new ones that span the same space. As far as possible, each
    new direction contains only one of the `columns`, and the last directions contain none."""
    shares, rows, left = np.eye(len(rows)), rows.copy(), list(range(len(rows)))
    while len(rows) > 1 and left and columns:
        sizes = np.abs(rows[np.ix_(left, columns)])
        i, j = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        if not sizes[i, j] > SHARE_LOST:
            break
        row, column = left.pop(int(i)), columns.pop(int(j))
        factor = rows[:, column] / rows[row, column]
        factor[row] = 0.0
        rows -= factor[:, None] * rows[row]
        shares -= factor[:, None] * shares[row]
    return shares


def _distance(
    point: Point, free: npt.NDArray[np.intp], size: Array
) -> tuple[float, list[tuple[int, int]]]:
    """The length of the undamped step, in units of the residual, and the parameters next to a bound
    with the side of it. A parameter at or next to a bound that the step would push beyond it stays
    where it is; the others step without it."""
    spread, next_to = np.sqrt(point.variance), list[tuple[int, int]]()
    while free.size:
        _, singular, vt = np.linalg.svd(point.root[:, free] / size[free], full_matrices=False)
        sound = singular > LOST * singular[0]
        steps = (vt[sound] @ (point.downhill[free] / size[free])) / singular[sound]
        step = vt[sound].T @ (steps / singular[sound])
        wall = np.where(step > 0.0, point.upper[free] - point.theta[free], 0.0)
        wall = np.where(step < 0.0, point.theta[free] - point.lower[free], wall) * size[free]
        inside = (step * point.sides[free] <= 0.0) & (
            (np.abs(step) <= wall) | (wall > NEUTRAL * spread)
        )
        if inside.all():
            return float(np.linalg.norm(steps)), next_to
        # Near to a bound in its own units, too: not the place of a line that is too narrow to be
        # seen. All places are then as good as the bound, and the fit did not end there.
        value, low, high = (a[free] for a in (point.theta, point.lower, point.upper))
        own = np.maximum(np.abs(value), point.sizes[free])
        interval = np.where(np.isfinite(high - low), high - low, own)
        room = np.where(step < 0.0, value - low, high - value)
        is_near = ~inside & (point.sides[free] == 0) & (room <= NEXT_TO * interval)
        sides = np.sign(step[is_near]).astype(int).tolist()
        next_to += zip(free[is_near].tolist(), sides, strict=True)
        free = free[inside]
    return 0.0, next_to


def _is_flat(
    point: Point,
    free: npt.NDArray[np.intp],
    change: Array,
    singular: float,
    chisqr: Callable[[Array], float],
) -> bool:
    """Whether chi² hardly rises one standard error along `change`, or to the bounds, either way.

    The standard error is infinite if the singular value is 0. The walk then ends where a parameter
    has changed by the interval of its bounds, or without bounds by its own size."""
    if not point.variance > 0.0:
        return singular == 0.0
    interval = point.upper[free] - point.lower[free]
    own = np.maximum(np.abs(point.theta[free]), point.sizes[free])
    size = np.where(np.isfinite(interval), interval, own)
    moving = np.abs(change) > 0.0
    longest = np.sqrt(point.variance) / singular if singular > 0.0 else np.inf
    if singular == 0.0:
        longest = float(np.min(size[moving] / np.abs(change[moving])))
    for sign in (1.0, -1.0):
        step = sign * change
        wall = np.where(step > 0.0, point.upper[free], point.lower[free]) - point.theta[free]
        with np.errstate(over="ignore"):
            room = np.min(wall[moving] / step[moving], initial=longest)
        theta = point.theta.copy()
        theta[free] = np.clip(theta[free] + room * step, point.lower[free], point.upper[free])
        if not chisqr(theta) - point.chisqr < RISE * point.variance:
            return False
    return True


def without_trace(point: Point, data_square: float, apart: Collection[int] = ()) -> list[int]:
    """Places of parameters without effect in a model that agrees with the data to rounding. Their
    whole size changes the model by less than rounding. An example is the place of a line of height
    1e-17. Parameters in `apart` are judged in another way and left out."""
    effect = point.sizes * np.sqrt(np.einsum("ij,ij->j", point.root, point.root))
    faint = np.flatnonzero(effect <= TRACE * np.sqrt(data_square)).tolist()
    return [k for k in faint if k not in apart]


def described(verdict: Verdict, names: Sequence[str]) -> str:
    """How lost parameters move together, in words; "" where each is lost by itself."""
    parts = []
    for members in verdict.combinations[:3]:
        strong = sorted(members, key=lambda pair: (-round(abs(pair[1]), 6), pair[0]))[:4]
        sign = np.sign(strong[0][1])
        moves = ", ".join(f"{names[k]} {'up' if v * sign > 0 else 'down'}" for k, v in strong)
        parts.append(f"χ² hardly changes when these change together: {moves}")
    return ". ".join(parts)
