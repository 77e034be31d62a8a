"""Spectra and traces of more points than a picture can show: the range of every stretch of them.

Markers for some hundred thousand points take seconds to draw and a hundred MB as SVG, and cannot be
told apart. So the axis is cut into some thousand stretches, and a line joins the lowest and the
highest point of each: no outlier is lost.
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
    """Indices of the points that are drawn: all of few; of many the lowest and highest of each
    curve in each stretch, and one where no value is known."""
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
    """Whether the range from one point to another can be seen. Among many points it must be in
    sight and as wide as a stretch."""
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
    """The first index of each stretch. Stretches are even on the axis and on its logarithm, either
    of which may be drawn; where few points are in sight, each is a stretch."""
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
