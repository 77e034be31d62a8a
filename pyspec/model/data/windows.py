"""Limits on an axis as index ranges: both ends count, on either direction. Limits are taken in
either order; a range of times that are averaged runs forward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

Array = npt.NDArray[np.float64]


#: What leaves out times of a series, whose `exclude` takes energies.
DELAYS = ". exclude= leaves out energies of a series; exclude_times=[(-0.1, 0.2)] leaves out times"


#: A point lies on a limit if it is nearer than this part of the smallest step: ``np.arange(80, 90,
#: 0.1)`` has 83.99999999999977 for 84, and single precision has 83.0999985 for 83.1.
ROUNDED = 1e-3


def slice_of(ends: tuple[int, int] | None) -> slice:
    """The part of an axis between the (begin, end) of a window, end excluded; None for all."""
    return slice(None) if ends is None else slice(*ends)


def slack(axis: Array) -> float:
    """How far a point may lie outside of a limit that it is on but for rounding."""
    return ROUNDED * float(np.abs(np.diff(axis)).min()) if axis.size > 1 else 0.0


def apart(axis: Array, other: Array) -> str:
    """How far two axes are apart where that is more than rounding, in words; "" of one axis."""
    if axis.shape != other.shape:
        return f"{axis.size} points in place of {other.size}"
    distance = np.abs(axis - other)
    allowed = min(_near(axis), _near(other))
    if not axis.size or distance.max() <= allowed:
        return ""
    at = int(np.argmax(distance))
    return (
        f"up to {distance[at]:.3g} apart, {axis[at]:.12g} and {other[at]:.12g}, where rounding may "
        f"be {allowed:.3g}"
    )


def places_on(axis: Array, points: Array) -> npt.NDArray[np.int64]:
    """The index of each point on an axis in any order, up to rounding; -1 for points that are not
    on it."""
    order = np.argsort(axis)
    right = np.searchsorted(axis[order], points)
    sides = [order[np.clip(right - k, 0, axis.size - 1)] for k in (1, 0)]
    left_off, right_off = (np.abs(axis[side] - points) for side in sides)
    nearest = np.where(left_off < right_off, *sides)
    return np.where(np.minimum(left_off, right_off) <= _near(np.sort(axis)), nearest, -1)


def _near(axis: Array) -> float:
    """As :func:`slack`; of a single point, its last digits."""
    return slack(axis) or 1e-12 * float(np.abs(axis).max(initial=0.0))


def index_range(
    axis: Array, limits: Sequence[float | None] | None, name: str, remedy: str = ""
) -> tuple[int, int]:
    """Half-open (begin, end) of the points with ``low <= axis <= high``, but for rounding.

    None means the whole axis; in a pair it leaves that side open, as in ``[-0.15, None]``. Raises
    :class:`DataError` if no point lies inside, with a further `remedy`.
    """
    if limits is None:
        return 0, axis.size
    low, high = _pair(limits, name)
    near = slack(axis)
    inside = np.flatnonzero((axis >= low - near) & (axis <= high + near))
    if not inside.size:
        raise DataError(
            f"no point of the {name} axis lies in [{low:g}, {high:g}]; it runs from "
            f"{axis[0]:g} to {axis[-1]:g} with {axis.size} points; choose limits that hold some"
            f"{remedy}"
        )
    return int(inside[0]), int(inside[-1]) + 1


def excluded(
    axis: Array, pairs: Sequence[Sequence[float | None]], name: str, of_series: bool = False
) -> npt.NDArray[np.bool_] | None:
    """(n,) True within one of the pairs (low, high), both ends included; None without pairs.

    Raises :class:`DataError` for what is no list of pairs, and for a pair without a point, such as
    one of times `of_series` whose energies are left out.
    """
    ranges = list(pairs)
    if ranges and not all(isinstance(pair, Iterable) for pair in ranges):
        raise DataError(f"exclude is {pairs!r}; give a list of pairs, such as [(83.2, 83.6)]")
    mask = np.zeros(axis.size, dtype=bool)
    remedy = DELAYS if of_series else ""
    for pair in ranges:
        mask[slice(*index_range(axis, pair, name, remedy))] = True
    return mask if ranges else None


def row_range(
    axis: Array, start: float | None, stop: float | None, kind: str, name: str = "time"
) -> tuple[int, int]:
    """Half-open range of rows from `start` to `stop`, both included.

    `kind` is "abs" for values of the axis, "ind" for row numbers.
    """
    if kind == "abs":
        return index_range(axis, (start, stop), name)
    first, last = (_row(end, axis.size, kind) for end in (start, stop))
    return min(first, last), max(first, last) + 1


def forward_range(
    time_range: Any, kind: str, name: str = "time_range"
) -> tuple[float | None, float | None]:
    """(start, stop) of a time range, as :func:`row_range` takes them; `name` is how it is called.

    Raises :class:`DataError` for what is no pair, and for a pair that runs backwards: ends
    exchanged by mistake would choose other spectra.
    """
    try:
        start, stop = time_range
    except (TypeError, ValueError):
        raise DataError(f"{name} is {time_range!r}; give (start, stop)") from None
    numbers = all(isinstance(end, (int, float, np.number)) for end in (start, stop))
    if numbers and start > stop and (kind == "abs" or (start < 0) == (stop < 0)):
        raise DataError(
            f"{name} ({start:g}, {stop:g}) runs backwards; give the earlier end first: "
            f"({stop:g}, {start:g})"
        )
    return start, stop


def spectrum_rows(
    time: Array | None,
    time_point: float | None,
    time_range: Any,
    time_type: str,
) -> tuple[int, int] | None:
    """The rows of the spectrum that is meant; None for data that are one, without times."""
    if time is None:
        if time_point is not None or time_range is not None:
            raise DataError("the data are one spectrum; leave time_point and time_range out")
        return None
    if (time_point is None) == (time_range is None):
        raise DataError("give either time_point or time_range=(start, stop)")
    if time_point is not None:
        row = nearest_row(time, time_point, time_type)
        return row, row + 1
    start, stop = forward_range(time_range, time_type)
    return row_range(time, start, stop, time_type)


def nearest_row(axis: Array, point: float, kind: str) -> int:
    """The row nearest to a time, or the row number itself for ``kind="ind"``."""
    if kind != "abs":
        return _row(point, axis.size, kind)
    low, high, near = float(axis.min()), float(axis.max()), slack(axis)
    if not low - near <= point <= high + near:
        raise DataError(
            f"time_point {point!r} lies outside of the time axis; choose one in [{low:g}, {high:g}]"
        )
    return int(np.argmin(np.abs(axis - point)))


def _row(row: object, size: int, kind: str) -> int:
    if kind != "ind":
        raise DataError(f"time_type must be 'abs' (axis values) or 'ind' (rows), not {kind!r}")
    real = (int, float, np.integer, np.floating)
    if not isinstance(row, real) or row % 1 != 0 or not -size <= row < size:
        raise DataError(
            f"row {row!r} is not a row of the data; choose a whole number in 0 ... {size - 1}"
        )
    return int(row) % size


def _pair(limits: Sequence[float | None], name: str) -> tuple[float, float]:
    try:
        low, high = limits
        ends = [-np.inf if low is None else float(low), np.inf if high is None else float(high)]
    except (TypeError, ValueError):
        raise DataError(
            f"{name} limits must be two numbers, not {limits!r}; give [low, high], or None in the "
            "place of one for no limit"
        ) from None
    wrong = [value for value, end in zip(ends, limits, strict=True) if end is not None]
    if not np.isfinite(wrong).all():
        raise DataError(f"{name} limits must be finite, not {limits!r}; None means no limit")
    return min(ends), max(ends)
