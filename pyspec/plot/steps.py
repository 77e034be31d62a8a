"""Gaps of an axis: steps over which nothing was measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

#: A step that is more than this many times as wide as each of the two before and the two behind it
#: is a gap: 1 in 35 of the steps between points at random, of which 1 in 10 is wider than the next.
GAP = 3.0


def gaps_of(axis: Array) -> Places:
    """The places of the points before which a gap ends. Steps that grow along the axis, as those of
    delays over decades do, are none."""
    steps = np.abs(np.diff(axis))
    if steps.size < 3:
        return np.empty(0, dtype=np.intp)
    around, n = np.pad(steps, 2), steps.size
    before = np.maximum(around[:n], around[1 : n + 1])
    beside = np.maximum(before, np.maximum(around[3 : n + 3], around[4:]))
    wide = (steps > GAP * (1.0 + 1e-6) * beside) & (beside > 0)
    return np.flatnonzero(wide[1:-1]) + 2


def broken(x: Array, *curves: Array) -> tuple[Array, ...]:
    """Points along a line with a NaN in the middle of each gap of x, so that no line leads over
    it."""
    after = gaps_of(x)
    if not after.size:
        return x, *curves
    middle = 0.5 * (x[after] + x[after - 1])
    return np.insert(x, after, middle), *(np.insert(y, after, np.nan) for y in curves)
