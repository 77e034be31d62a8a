"""Arguments of a call, as numbers or a place in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, PyspecError, shortened, suggest

if TYPE_CHECKING:
    from typing import TypeGuard

#: No number that is counted with is as large.
LARGEST = 2**63

Array = npt.NDArray[np.float64]
Stored = npt.NDArray[np.generic]

Frozen = TypeVar("Frozen", bound=Stored)


def real(label: str, values: object) -> Array:
    """Real numbers as float64, where masked ones are NaN. Raises :class:`DataError` for anything
    else: of complex numbers NumPy would keep the real part alone."""
    return np.asarray(real_array(label, values), dtype=np.float64)


def real_array(label: str, values: object) -> Stored:
    """The same in their own type; masked ones, if there are any, as float64."""
    try:
        array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:  # lists of different lengths
        raise DataError(f"{label} is {shortened(values)}; give an array of real numbers") from None
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{label} has type {array.dtype}; give real numbers, such as np.asarray({label}, float)"
        )
    if np.ma.is_masked(array):
        return np.ma.filled(array.astype(np.float64), np.nan)
    return np.asarray(array)


def is_whole(value: object, least: int) -> TypeGuard[float]:
    """Whether this is a whole number from `least` on that something can be counted with."""
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, (float, np.floating)):
        return float(value).is_integer() and least <= float(value) < LARGEST
    return isinstance(value, (int, np.integer)) and least <= int(value) < LARGEST


def whole(label: str, value: object, least: int, error: type[PyspecError]) -> int:
    """The number: 3 of 3.0, too. Raises `error` unless this is a whole number from `least` on."""
    if not is_whole(value, least):
        raise error(f"{label} must be a whole number from {least} on, not {shortened(value)}")
    return int(value)


def row_of(label: str, value: object, n: int, of: str = "a row") -> int:
    """The place of a row, 0 to n - 1; a number from -n on counts from the end. Raises
    :class:`DataError` for any other."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and -n <= value < n:
        return int(value) % n
    raise DataError(f"{label} {shortened(value)} is not {of}; there are 0 to {n - 1}")


def one_of(label: str, value: object, choices: Sequence[str], error: type[PyspecError]) -> None:
    """Raises `error` unless `value` is one of the words `choices`."""
    if not isinstance(value, str) or value not in choices:
        hint = suggest(value, list(choices)) if isinstance(value, str) else ""
        raise error(f"{label} must be one of {', '.join(choices)}, not {shortened(value)}{hint}")


def frozen(array: Frozen) -> Frozen:
    """A read-only view: the owner's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
