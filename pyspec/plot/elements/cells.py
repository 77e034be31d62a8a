"""Cells of maps: where each begins and ends, and the gaps of an axis between them.

A cell reaches half way to its neighbours. At a gap of the axis, cells would spread over all of it,
as if something had been measured there. The cells beside a gap end half a step of their own side
beyond their points, and the gap stays open. A point alone between two gaps has the width of those
behind them, or one that can be seen.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pyspec.model.data.checksum import Data
from pyspec.plot.elements.gaps import gaps_of

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

#: A map is drawn with at most this many cells along an axis; more are averaged.
MAX_CELLS = 1600

#: Half of the width of a point alone between two gaps, of that of the map, at least: two pixels.
LEAST = 1 / 400


def edges(axis: Array) -> Array:
    """(n + 1,) borders of the cells around the points of an axis."""
    if axis.size == 1:
        half = 0.5 * min(1.0, abs(axis[0])) or 0.5
        return np.array([axis[0] - half, axis[0] + half])
    middle = 0.5 * (axis[1:] + axis[:-1])
    first, last = 1.5 * axis[0] - 0.5 * axis[1], 1.5 * axis[-1] - 0.5 * axis[-2]
    return np.concatenate([[first], middle, [last]])


def coarse(borders: Array, values: Data, axis: int, step: int = 0) -> tuple[Array, Data]:
    """Borders and values with `step` neighbours averaged along `axis`, by default so many that
    MAX_CELLS are left; NaN do not count."""
    size = values.shape[axis]
    step = step or -(-size // MAX_CELLS)
    if step == 1:
        return borders, values
    begins = np.arange(0, size, step)
    good = np.isfinite(values)
    counts = np.add.reduceat(good.astype(np.float64), begins, axis=axis)
    filled = np.where(good, np.asarray(values, dtype=np.float64), 0.0)
    sums = np.add.reduceat(filled, begins, axis=axis)
    mean = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return np.append(borders[begins], borders[-1]), mean


def gaps(axis: Array) -> Places:
    """The places of the points before which a gap ends. Where points are averaged before they are
    drawn, gaps too narrow to be seen do not count."""
    places = gaps_of(axis)
    if axis.size > MAX_CELLS:
        places = places[np.abs(axis[places] - axis[places - 1]) > np.ptp(axis) / MAX_CELLS]
    return places


def borders(axis: Array) -> Array:
    """(n, 2) where the cell of each point begins and ends, in the order of the axis."""
    around = edges(axis)
    ends = np.stack([around[:-1], around[1:]], axis=1)
    after = gaps(axis)
    if not after.size:
        return ends
    width = np.diff(axis)[after - 1]
    before, behind = _halves(axis, after)
    for own, place, side, sign in ((before, after - 1, 1, 1.0), (behind, after, 0, -1.0)):
        half = np.minimum(own[place], np.abs(width) / 3.0)  # on a logarithmic axis steps are longer
        ends[place, side] = axis[place] + sign * np.copysign(half, width)
    return ends


def _halves(axis: Array, after: Places) -> tuple[Array, Array]:
    """Half of the step before each point, and of that behind it; the other one in place of a gap.
    Between two gaps both are half of the shortest step behind these."""
    steps = np.abs(np.diff(axis))
    steps[after - 1] = np.inf
    around = np.pad(steps, 2, constant_values=np.inf)
    before, behind = around[1:-2], around[2:-1]
    alone = np.maximum(np.minimum(around[:-3], around[3:]), 2.0 * LEAST * np.ptp(axis))
    own = np.minimum(before, behind)
    own = 0.5 * np.where(np.isinf(own), alone, own)
    return (
        np.where(np.isinf(before), own, 0.5 * before),
        np.where(np.isinf(behind), own, 0.5 * behind),
    )


def outline(axis: Array, begin: int, end: int) -> Array:
    """(2,) the outer borders of the cells `begin` to `end`, excluded."""
    ends = borders(axis)
    return np.array([ends[begin, 0], ends[end - 1, 1]])


def cells(axis: Array, values: Data, dim: int) -> tuple[Array, Array, Data]:
    """Borders (n + 1,), points (n,) and values of the cells to draw along the dimension `dim`.

    More than MAX_CELLS points are averaged, never over a gap. A gap is a cell of NaN.
    """
    ends = borders(axis)
    begins = [0, *gaps(axis).tolist(), axis.size]
    step = -(-axis.size // MAX_CELLS)
    around: list[Array] = []
    points: list[Array] = []
    parts: list[Data] = []
    for begin, end in pairwise(begins):
        own = np.append(ends[begin:end, 0], ends[end - 1, 1])
        part = values[(*(slice(None),) * dim, slice(begin, end))]
        own, part = coarse(own, part, dim, step)
        if parts:
            shape = list(part.shape)
            shape[dim] = 1
            parts.append(np.full(shape, np.nan))
            points.append(np.array([0.5 * (around[-1][-1] + own[0])]))
        around.append(own)
        points.append(axis[begin:end] if step == 1 else 0.5 * (own[1:] + own[:-1]))
        parts.append(part)
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=dim)
    return np.concatenate(around), np.concatenate(points), whole


def above_zero(borders: Array, points: Array, values: Data, axis: int) -> tuple[Array, Data]:
    """The cells of points above zero, for a logarithmic axis; the lowest begins above zero too."""
    kept = np.flatnonzero(points > 0)
    if not kept.size:
        return borders, values
    first, last = int(kept[0]), int(kept[-1])
    inside = np.array(borders[first : last + 2])
    values = values[(*(slice(None),) * axis, slice(first, last + 1))]
    end, inner, point = (0, 1, first) if inside[0] < inside[-1] else (-1, -2, last)
    if inside[end] <= 0:
        inside[end] = points[point] ** 2 / inside[inner]
    return inside, values
