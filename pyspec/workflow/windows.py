"""Limits on an axis as index ranges: both ends count, in either order, on either direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

Array = npt.NDArray[np.float64]


def index_range(axis: Array, limits: Sequence[float] | None, what: str) -> tuple[int, int]:
    """Half-open (begin, end) of the points with ``low <= axis <= high``.

    None means the whole axis. Raises :class:`DataError` if no point lies inside.
    """
    if limits is None:
        return 0, axis.size
    low, high = _pair(limits, what)
    inside = np.flatnonzero((axis >= low) & (axis <= high))
    if not inside.size:
        raise DataError(
            f"no point of the {what} axis lies in [{low:g}, {high:g}]; it runs from "
            f"{axis[0]:g} to {axis[-1]:g} with {axis.size} points; choose limits that hold some"
        )
    return int(inside[0]), int(inside[-1]) + 1


def row_range(
    axis: Array, start: float, stop: float, kind: str, what: str = "time"
) -> tuple[int, int]:
    """Half-open range of rows from `start` to `stop`, both included.

    `kind` is "abs" for values of the axis, "ind" for row numbers.
    """
    if kind == "abs":
        return index_range(axis, (start, stop), what)
    if kind != "ind":
        raise DataError(f"time_type must be 'abs' (axis values) or 'ind' (rows), not {kind!r}")
    first, last = _row(start, axis.size), _row(stop, axis.size)
    return min(first, last), max(first, last) + 1


def nearest_row(axis: Array, point: float, kind: str) -> int:
    """The row nearest to a time, or the row number itself for ``kind="ind"``."""
    if kind == "ind":
        return _row(point, axis.size)
    if kind != "abs":
        raise DataError(f"time_type must be 'abs' (axis values) or 'ind' (rows), not {kind!r}")
    low, high = float(axis.min()), float(axis.max())
    if not low <= point <= high:
        raise DataError(
            f"time_point {point!r} lies outside of the time axis; choose one in [{low:g}, {high:g}]"
        )
    return int(np.argmin(np.abs(axis - point)))


def _row(given: Any, size: int) -> int:
    whole = isinstance(given, (int, float, np.integer, np.floating)) and given % 1 == 0
    if not whole or not -size <= given < size:
        raise DataError(
            f"row {given!r} is not a row of the data; choose a whole number in 0 ... {size - 1}"
        )
    return int(given) % size


def _pair(limits: Sequence[float], what: str) -> tuple[float, float]:
    try:
        low, high = sorted(float(value) for value in limits)
    except (TypeError, ValueError):
        raise DataError(
            f"{what} limits must be two numbers, not {limits!r}; give [low, high]"
        ) from None
    if not (np.isfinite(low) and np.isfinite(high)):
        raise DataError(f"{what} limits must be finite, not {limits!r}; None means no limit")
    return low, high
