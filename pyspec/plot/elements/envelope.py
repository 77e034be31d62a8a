"""Spectra and traces of more points than a picture can show: the range of every stretch of them.

A marker for each of some hundred thousand points takes seconds to draw and a hundred MB as SVG, and
nobody can tell one from another. Of each of some thousand stretches of the axis the lowest and the
highest point are drawn then, joined by a line, so that no outlier is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

#: More points than these in sight are drawn by the range of each stretch.
MANY = 20_000

#: So many stretches lie in sight, of a linear axis and of a logarithmic one.
STRETCHES = 2000


def are_many(x: Array, limits: Sequence[float] | None = None) -> bool:
    """Whether too many points are in sight, within `limits` of the axis, for a marker each."""
    return x.size > MANY and int(np.count_nonzero(_in_sight(x, limits))) > MANY


def shown(x: Array, *curves: Any, limits: Sequence[float] | None = None) -> Places | slice:
    """The places of the points that are drawn: all, where they are few, else the lowest and the
    highest of each curve in each stretch, and one where no value is known."""
    if x.size <= MANY:
        return slice(None)
    begins = _begins(x, limits)
    stretch = np.repeat(np.arange(begins.size), np.diff([*begins, x.size]))
    found: list[Any] = [begins[:1], [x.size - 1]]
    for curve in curves:
        values = np.asarray(curve, dtype=np.float64)
        for end in (np.fmin, np.fmax):
            ends = end.reduceat(values, begins)
            at = np.flatnonzero(values == ends[stretch])
            found.append(at[np.unique(stretch[at], return_index=True)[1]])
        found.append(begins[np.isnan(ends)])
    return np.unique(np.concatenate(found))


def is_seen(x: Array, first: int, last: int, limits: Sequence[float] | None = None) -> bool:
    """Whether what reaches from one point to another can be seen: of many points, whether it is as
    wide as a stretch and in sight."""
    if x.size <= MANY:
        return True
    low, high = sorted((float(x[0]), float(x[-1])) if limits is None else limits)
    begin, end = sorted((float(x[first]), float(x[last])))
    return end - begin >= (high - low) / STRETCHES and end >= low and begin <= high


def _in_sight(x: Array, limits: Sequence[float] | None) -> npt.NDArray[np.bool_]:
    if limits is None:
        return np.isfinite(x)
    low, high = sorted(limits)
    return np.asarray((x >= low) & (x <= high))


def _begins(x: Array, limits: Sequence[float] | None) -> Places:
    """Where the stretches begin: even ones of the axis and of its logarithm, which may be drawn;
    single points where those in sight are few."""
    inside = _in_sight(x, limits)
    if np.count_nonzero(inside) <= MANY:
        new = inside | np.concatenate([[False], inside[:-1]])
        return np.flatnonzero(np.concatenate([[True], new[1:]]))
    size = np.abs(x)
    decades = np.log10(np.where(size > 0, size, np.min(size[size > 0], initial=1.0)))
    new = np.zeros(x.size, dtype=bool)
    new[0] = True
    for along in (x, decades):
        low, high = float(along[inside].min()), float(along[inside].max())
        number = np.floor((along - low) / ((high - low) or 1.0) * STRETCHES)
        number = np.clip(number, -1, STRETCHES)
        new[1:] |= number[1:] != number[:-1]
    return np.flatnonzero(new)
