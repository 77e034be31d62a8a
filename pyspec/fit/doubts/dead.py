"""Points that are exactly 0 between values that are not, as those of dead channels are.

A few that lie side by side are no spikes: they pull so far at a fit that it misses their neighbours
too, and nothing is then far from it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Where more of the points are 0, zeros are usual values: few counts, or a cut-off background.
SHARE = 0.2

#: The values beside them, and the fit at them, are so many typical steps from one point to the next
#: away from 0.
STEPS = 8.0

#: A point that is 0 by chance, among so many counts, seems dead in less than this share of fits.
CHANCE = 1e-5


def dead_points(data: Array, fit: Array, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which points are exactly 0 while the fit is far from it, and so are the values on both sides,
    at lesser and larger energies or times. All (n_rows, n_columns); `kept` says which count."""
    zero = kept & (data == 0.0)
    if not 0 < np.count_nonzero(zero) <= SHARE * np.count_nonzero(kept):
        return np.zeros_like(zero)
    found = _along(data, fit, kept, zero) | _along(data.T, fit.T, kept.T, zero.T).T
    if found.any():
        found &= np.abs(fit) > _far_of_counts(data[kept])
    return found


def _far_of_counts(data: Array) -> float:
    """Where the fit is below that, some of so many counts may be 0 by chance, whose probability is
    exp(-fit): 22 counts for 50,000 points. One count is the least distance of two values; that of
    data that are no counts is next to nothing."""
    if data.min() < 0.0:
        return 0.0
    quantum = float(np.diff(np.unique(data)).min(initial=np.inf))
    return quantum * math.log(data.size / CHANCE)


def _along(
    data: Array, fit: Array, kept: npt.NDArray[np.bool_], zero: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Where the fit and the values before and behind, along the last axis, are all far above or all
    far below 0."""
    found, good = np.zeros_like(zero), kept & ~zero
    pairs = good[:, 1:] & good[:, :-1]
    if not pairs.any():
        return found
    far = STEPS * float(np.median(np.abs(np.diff(data, axis=1)[pairs])))
    lines = np.flatnonzero((zero & (np.abs(fit) > far)).any(axis=1))
    data, fit, zero, good = data[lines], fit[lines], zero[lines], good[lines]
    places = np.arange(data.shape[1])
    before = np.maximum.accumulate(np.where(good, places, -1), axis=1)
    behind = np.minimum.accumulate(np.where(good, places, places.size)[:, ::-1], axis=1)[:, ::-1]
    inside = (before >= 0) & (behind < places.size)
    left, right = (
        np.take_along_axis(data, np.clip(one, 0, places.size - 1), axis=1)
        for one in (before, behind)
    )
    above = np.minimum(np.minimum(left, right), fit) > far
    below = np.maximum(np.maximum(left, right), fit) < -far
    found[lines] = zero & inside & (above | below)
    return found
