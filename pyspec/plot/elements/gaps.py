"""Gaps of an axis: steps over which nothing was measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

#: A gap is a step more than this many times as wide as each of the two steps before and behind it.
#: Among points at random 1 in 35 steps is, while 1 in 10 is wider than the next.
GAP = 3.0

#: Two steps with one point or one step between them are two gaps if both are more than this many
#: times as wide as all steps around them. Among points at random 1 in 900 steps is such a gap.
TWO_GAPS = 6.0


def gaps_of(axis: Array) -> Places:
    """Indices of the points behind gaps of the axis, or of its logarithm above zero, where decades
    of time may be missing. Steps that grow along the axis, as those of delays over decades do, are
    none."""
    wide = _wide(np.abs(np.diff(axis)))
    above = np.flatnonzero(axis > 0)
    wide[above[:-1]] |= _wide(np.abs(np.diff(np.log(axis[above]))))
    return np.flatnonzero(wide) + 1


def _wide(steps: Array) -> Flags:
    """Which steps are gaps; neither the first nor the last."""
    n = steps.size
    around = np.pad(steps, 4)

    def at(*places: int) -> list[Array]:
        return [around[4 + k : 4 + k + n] for k in places]

    def stands_out(least: Array, factor: float, places: tuple[int, int, int, int]) -> Flags:
        beside = at(*places)
        wider = least > factor * (1.0 + 1e-6) * np.max(beside, axis=0)
        return np.asarray(wider & (beside[1] > 0) & (beside[2] > 0))

    wide = stands_out(steps, GAP, (-2, -1, 1, 2))
    for further in (1, 2):  # the step behind this one, or that behind the next
        both = np.minimum(*at(0, further))
        inner = at(1)[0] if further == 2 else 0.0
        is_pair = stands_out(both, TWO_GAPS, (-2, -1, further + 1, further + 2))
        is_pair &= both > TWO_GAPS * inner
        wide |= is_pair
        wide[further:] |= is_pair[: n - further]
    return wide


def broken(x: Array, *curves: Array) -> tuple[Array, ...]:
    """Points along a line, with a NaN in the middle of each gap of x, so that no line leads over
    it. No NaN is added where all curves are NaN beside the gap already."""
    after = gaps_of(x)
    if after.size and curves:
        ends = np.all(np.isnan(curves), axis=0)
        after = after[~(ends[after] | ends[after - 1])]
    if not after.size:
        return x, *curves
    middle = 0.5 * (x[after] + x[after - 1])
    return np.insert(x, after, middle), *(np.insert(y, after, np.nan) for y in curves)
