"""Points that are exactly 0 between values that are not, as those of dead channels are.

A few that lie side by side are no spikes: they pull so far at a fit that it misses their neighbours
too, and nothing is then far from it. The data tell them: they go from usual values to 0 in one
step, and back. A fit that follows these steps has a model of them, and nothing is dead there.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Where more of the points are 0, zeros are usual values: few counts, or a cut-off background.
SHARE = 0.2

#: The values beside them are so many typical steps from one point to the next away from 0.
STEPS = 8.0

#: The fit misses the zeros, or a value beside them, by more than this part of the values beside.
MISSED = 0.3

#: The typical step of more points than that is that of every second line, every third, and so on.
STEPS_OF = 20_000

#: A point that is 0 by chance, among so many counts, seems dead in less than this share of fits.
CHANCE = 1e-5


def dead_points(data: Array, fit: Array, kept: Mask) -> Mask:
    """Which points are exactly 0 between neighbours that are far from 0, where the fit misses them
    or these neighbours. Neighbours are the values at lesser and larger energies or times. Spectra
    and traces are looked at one by one, and all together. All (n_rows, n_columns); `kept` says
    which count."""
    zero: Mask = kept & (data == 0.0)
    if not zero.any():
        return zero
    return _one_way(data, fit, kept, zero) | _one_way(data.T, fit.T, kept.T, zero.T).T


def _one_way(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    """Along the last axis; places that are 0 in all of many lines by the sums over these, since of
    few counts one alone may be 0."""
    dead = _along(data, fit, kept, zero)
    if data.shape[0] > 1 and (whole := (zero | ~kept).all(axis=0, keepdims=True)).any():
        sums, fits = (np.where(kept, a, 0.0).sum(axis=0, keepdims=True) for a in (data, fit))
        some: Mask = np.any(kept, axis=0, keepdims=True)
        dead |= _along(sums, fits, some, some & whole) & kept
    return dead


def _along(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    dead, n, good = np.zeros_like(zero), data.shape[1], kept & ~zero
    places, points = np.flatnonzero(good), np.flatnonzero(zero)
    if not places.size or points.size > SHARE * np.count_nonzero(kept):
        return dead
    behind = np.searchsorted(places, points)
    left, right = places[behind - 1], places[np.minimum(behind, places.size - 1)]
    inside = (left // n == points // n) & (right // n == points // n)
    inside &= (left < points) & (points < right)
    if not inside.any():
        return dead
    points, left, right = points[inside], left[inside], right[inside]
    beside, fitted = (np.array([a.flat[left], a.flat[right]]) for a in (data, fit))
    level = np.maximum(beside.min(axis=0), -beside.max(axis=0))
    # Of zeros side by side the fit may go through the first and the last alone.
    _, first, strip = np.unique(left, return_index=True, return_inverse=True)
    missed = np.maximum.reduceat(np.abs(fit.flat[points]), first)[strip]
    missed = np.maximum(missed, np.abs(beside - fitted).max(axis=0))
    far = (level > 0.0) & (missed > MISSED * level)
    every = max(1, data.size // STEPS_OF)
    lines, pairs = data[::every], good[::every, 1:] & good[::every, :-1]
    if not far.any() or not pairs.any():
        return dead
    far &= level > STEPS * float(np.median(np.abs(np.diff(lines, axis=1)[pairs])))
    if far.any():
        # One count, or what differences were rounded to; of others next to nothing. A count is 0 by
        # chance with the probability exp(-level): the limit is 22 counts for 50,000 points.
        values = data[kept]
        quantum = float(np.diff(np.unique(values)).min(initial=np.inf))
        least = math.log(values.size / CHANCE) if values.min() >= 0.0 else STEPS
        dead.flat[points[far & (level > least * quantum)]] = True
    return dead
