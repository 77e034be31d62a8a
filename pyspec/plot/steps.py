"""Gaps of an axis: steps over which nothing was measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

#: A step that is more than this many times as wide as both of its neighbours is a gap.
GAP = 3.0


def gaps_of(axis: Array) -> Places:
    """The places of the points before which a gap ends. Steps that grow along the axis, as those of
    delays over decades do, are none."""
    steps = np.abs(np.diff(axis))
    if steps.size < 3:
        return np.empty(0, dtype=np.intp)
    beside = np.maximum(steps[:-2], steps[2:])
    wide = (steps[1:-1] > GAP * (1.0 + 1e-6) * beside) & (beside > 0)
    return np.flatnonzero(wide) + 2


def broken(x: Array, *curves: Array) -> tuple[Array, ...]:
    """Points along a line with a NaN in the middle of each gap of x, so that no line leads over
    it."""
    after = gaps_of(x)
    if not after.size:
        return x, *curves
    middle = 0.5 * (x[after] + x[after - 1])
    return np.insert(x, after, middle), *(np.insert(y, after, np.nan) for y in curves)
