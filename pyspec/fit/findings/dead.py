"""Points that are exactly 0 between values that are not, as those of dead channels are.

A few that lie side by side are no spikes: they pull so far at a fit that it misses their neighbours
too, and nothing is then far from it. A wide strip pulls the fit itself to 0. It is recognized by
its edges: the data go from 0 to usual values in one step, and the fit does not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Where more of the points are 0, zeros are usual values: few counts, or a cut-off background.
SHARE = 0.2

#: The values beside them, and the fit at them, are so many typical steps from one point to the next
#: away from 0.
STEPS = 8.0

#: The typical step of more points than that is that of every second line, every third, and so on.
STEPS_OF = 20_000

#: Of a strip so many values on each side are far from 0, and of all points less than this share
#: are 0.
BESIDE, STRIP_SHARE = 3, 0.5

#: A strip is next to so many counts at least, and the fit misses it by the least of the values
#: beside it and so many standard deviations of their sum.
LEAST_COUNTS, MISSED = 5.0, 6.0

#: A point that is 0 by chance, among so many counts, seems dead in less than this share of fits.
CHANCE = 1e-5


def dead_points(data: Array, fit: Array, kept: Mask) -> Mask:
    """Which points are exactly 0 between neighbours that are far from 0. Neighbours are the values
    at lesser and larger energies or times. The fit must be far from 0 too, or go past these points.
    Spectra and traces are looked at one by one, and all together. All (n_rows, n_columns); `kept`
    says which count."""
    zero: Mask = kept & (data == 0.0)
    if not zero.any():
        return zero
    if not kept.all():
        data, fit = np.where(kept, data, 0.0), np.where(kept, fit, 0.0)
    return _one_way(data, fit, kept, zero) | _one_way(data.T, fit.T, kept.T, zero.T).T


def _one_way(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    """Along the last axis; places that are 0 in all of many lines by the sums over these, since of
    few counts one alone may be 0."""
    dead = _single(data, fit, kept, zero) | _strips(data, fit, kept, zero)
    if data.shape[0] > 1 and (whole := (zero | ~kept).all(axis=0, keepdims=True)).any():
        sums = np.where(whole, 0.0, data.sum(axis=0, keepdims=True))
        fits = fit.sum(axis=0, keepdims=True)
        some: Mask = np.any(kept, axis=0, keepdims=True)
        places: Mask = some & (sums == 0.0)
        all_lines = _single(sums, fits, some, places) | _strips(sums, fits, some, places)
        dead |= all_lines & whole & kept
    return dead


def _single(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    """Where the fit is far from 0 too."""
    if np.count_nonzero(zero) > SHARE * np.count_nonzero(kept):
        return np.zeros_like(zero)
    dead = _along(data, fit, kept, zero)
    if dead.any():
        # A count is 0 by chance with the probability exp(-fit): the limit is 22 counts for 50,000
        # points. Differences rounded to whole numbers have another, since most of them are equal.
        values = data[kept]
        far = math.log(values.size / CHANCE) if values.min() >= 0.0 else STEPS
        dead &= np.abs(fit) > far * _quantum(values)
    return dead


def _strips(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    """Strips of two or more zeros side by side along the last axis. The values beside a strip are
    far from 0. The fit misses the zeros, and the values beside them, by more than these scatter.
    The slow test comes last, for the strips that are left."""
    dead, n_points = np.zeros_like(kept), np.count_nonzero(kept)
    lines = np.flatnonzero(np.count_nonzero(zero, axis=1) > 1)
    if not lines.size or np.count_nonzero(zero) > STRIP_SHARE * n_points:
        return dead
    inside = kept[lines]
    values = data[lines][inside]
    line = np.repeat(np.arange(lines.size), np.count_nonzero(inside, axis=1))
    zero, same = values == 0.0, line[1:] == line[:-1]
    begin, end = _runs(zero, same, line)
    sides = np.arange(BESIDE)
    beside = np.concatenate([begin[:, None] - 1 - sides, end[:, None] + sides], axis=1)
    signed = values[beside] * np.sign(values[beside[:, :1]])
    level, length = signed.min(axis=1), end - begin
    far = level > 0.0
    if not far.any():
        return dead
    step = float(np.median(np.abs(np.diff(values)[same & ~zero[1:] & ~zero[:-1]])))
    far &= level > STEPS * step / np.sqrt(length)
    if not far.any():
        return dead
    fitted = fit[lines][inside]
    total = np.concatenate([[0.0], np.cumsum(np.abs(fitted))])
    missed = total[end] - total[begin] + np.abs(values[beside] - fitted[beside]).sum(axis=1)
    far &= missed > level
    if not far.any():
        return dead
    quantum, is_counted = _quantum(values), values.min() >= 0.0
    least = STEPS / np.sqrt(length)
    if is_counted:
        least = np.maximum(LEAST_COUNTS, math.log(n_points / CHANCE) / length)
    far &= level > least * quantum
    variances = np.maximum(max(step, quantum) ** 2, is_counted * quantum * np.abs(signed))
    far &= missed > level + MISSED * np.sqrt(variances.sum(axis=1))
    strip = np.zeros(values.size + 1, np.int64)
    strip[begin[far]], strip[end[far]] = 1, -1
    inside[inside] = np.cumsum(strip)[:-1] > 0
    dead[lines] = inside
    return dead


def _runs(
    zero: Mask, same: Mask, line: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """(begin, end) of two or more zeros in one line, with BESIDE values on both sides; `same` says
    where a value and the next are of one line."""
    inside = zero[1:] & zero[:-1] & same
    edges = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    begin, end = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) + 1
    enough = (begin >= BESIDE) & (end + BESIDE <= zero.size)
    begin, end = begin[enough], end[enough]
    alike = line[begin - BESIDE] == line[end + BESIDE - 1]
    return begin[alike], end[alike]


def _quantum(data: Array) -> float:
    """The least distance of two values: one count, or what differences were rounded to; of others
    next to nothing."""
    return float(np.diff(np.unique(data)).min(initial=np.inf))


def _along(data: Array, fit: Array, kept: Mask, zero: Mask) -> Mask:
    """Where the fit and the values before and behind, along the last axis, are all far above or all
    far below 0."""
    dead, good = np.zeros_like(zero), kept & ~zero
    places, points = np.flatnonzero(good), np.flatnonzero(zero)
    behind = np.searchsorted(places, points)
    points, behind = (
        indices[(behind > 0) & (behind < places.size)] for indices in (points, behind)
    )
    left, right = places[behind - 1], places[behind]
    inside = left // data.shape[1] == right // data.shape[1]
    points, left, right = points[inside], left[inside], right[inside]
    three = np.array([data.flat[left], data.flat[right], fit.flat[points]])
    level = np.maximum(three.min(axis=0), -three.max(axis=0))
    if (level > 0.0).any():
        every = max(1, data.size // STEPS_OF)
        lines, good = data[::every], good[::every]
        pairs = good[:, 1:] & good[:, :-1]
        if pairs.any():
            far = level > STEPS * float(np.median(np.abs(np.diff(lines, axis=1)[pairs])))
            dead.flat[points[far]] = True
    return dead
