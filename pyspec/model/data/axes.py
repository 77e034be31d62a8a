"""Axes as a model takes them: checked, copied, frozen."""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError


class Unchanged(Enum):
    """Stands for an axis that a call does not mention."""

    UNCHANGED = 0


UNCHANGED = Unchanged.UNCHANGED


def check_axis(values: object, name: str, ascending: bool = False) -> npt.NDArray[np.float64]:
    """A read-only float64 copy of an axis.

    Raises :class:`DataError` unless the values are finite real numbers in one dimension that rise,
    or, unless `ascending`, fall throughout.
    """
    axis = check_line(values, f"the {name} axis", name)
    step = np.diff(axis)
    falls = axis.size > 1 and axis[-1] < axis[0] and not ascending
    wrong = step >= 0 if falls else step <= 0
    if wrong.any():
        at = int(np.argmax(wrong))
        order = "rise" if ascending else "rise, or fall, all the way"
        if step[at] == 0.0:
            raise DataError(
                f"the {name} axis has {axis[at]:.12g} at index {at} and again at {at + 1}, but it "
                f"must {order}; leave one of them out with its data, or average the data of both, "
                "as read(path, sort=True) does"
            )
        raise DataError(
            f"the {name} axis goes from {axis[at]:.12g} to {axis[at + 1]:.12g} at index {at}, but "
            f"it must {order}; sort the axis and the data together"
        )
    axis.setflags(write=False)
    return axis


def check_line(values: object, who: str, name: str) -> npt.NDArray[np.float64]:
    """A float64 copy of a line of finite real numbers.

    Raises :class:`DataError` for anything else. Messages begin with `who`.
    """
    remedy = "give every point a value, or remove it from axis and data"
    if np.ma.is_masked(values):
        raise DataError(f"{who} is a masked array and hides points; {remedy}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{who} has rows of different lengths; give one line of values") from None
    if array.size == 0:
        raise DataError(f"{who} is empty; give the value of each point")
    if array.dtype.kind not in "fiu":
        kind = {"U": "text", "S": "text", "c": "complex numbers", "b": "truth values"}
        kind |= {"M": "dates", "m": "durations"}
        description = kind.get(array.dtype.kind, f"of type {array.dtype}")
        raise DataError(
            f"{who} is {description}; give real numbers, such as np.asarray({name}, float)"
        )
    if array.ndim != 1:
        raise DataError(f"{who} has shape {array.shape}; give one line of values, of shape (n,)")
    line = array.astype(np.float64)
    finite = np.isfinite(line)
    if not finite.all():
        at = int(np.argmin(finite))
        raise DataError(f"{who} has {line[at]} at index {at}; {remedy}")
    return line


def taken_axis(
    own: npt.NDArray[np.float64] | None,
    axis: npt.ArrayLike | Unchanged | None,
    name: str,
    ascending: bool = False,
) -> npt.NDArray[np.float64] | None:
    """The axis of a model after a call: its `own` if the call does not name the axis or gives equal
    values, so that caches keyed by identity stay valid."""
    if isinstance(axis, Unchanged):
        return own
    is_plain = type(axis) is np.ndarray and axis.dtype == np.float64
    if own is not None and is_plain and np.array_equal(np.asarray(axis), own):
        return own
    return None if axis is None else check_axis(axis, name, ascending)


def check_weights(values: object, size: int) -> npt.NDArray[np.float64]:
    """Weights of an average over `size` points, scaled to sum 1; equal ones for None.

    Raises :class:`DataError` unless they are finite, not negative and not all zero.
    """
    if values is None:
        values = np.ones(size)
    array = np.asarray(values)
    if array.dtype.kind not in "fiu" or array.shape != (size,):
        raise DataError(f"aux_weights must be {size} real numbers, one for each auxiliary point")
    weights = array.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
        raise DataError("aux_weights must be finite, not negative and not all zero")
    weights /= weights.sum()
    weights.setflags(write=False)
    return weights
