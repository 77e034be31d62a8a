"""What a call was given, as numbers or a place in a list."""

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


def real(what: str, given: object) -> Array:
    """Real numbers as float64, where masked ones are NaN. Raises :class:`DataError` for anything
    else: of complex numbers NumPy would keep the real part alone."""
    return np.asarray(real_array(what, given), dtype=np.float64)


def real_array(what: str, given: object) -> Stored:
    """The same in their own type; masked ones, if there are any, as float64."""
    try:
        array = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)
    except ValueError:  # lists of different lengths
        raise DataError(f"{what} is {shortened(given)}; give an array of real numbers") from None
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{what} has type {array.dtype}; give real numbers, such as np.asarray({what}, float)"
        )
    if np.ma.is_masked(array):
        return np.ma.filled(array.astype(np.float64), np.nan)
    return np.asarray(array)


def is_whole(given: object, least: int) -> TypeGuard[float]:
    """Whether this is a whole number from `least` on that something can be counted with."""
    if isinstance(given, (bool, np.bool_)):
        return False
    if isinstance(given, (float, np.floating)):
        return float(given).is_integer() and least <= float(given) < LARGEST
    return isinstance(given, (int, np.integer)) and least <= int(given) < LARGEST


def whole(what: str, given: object, least: int, error: type[PyspecError]) -> int:
    """The number: 3 of 3.0, too. Raises `error` unless this is a whole number from `least` on."""
    if not is_whole(given, least):
        raise error(f"{what} must be a whole number from {least} on, not {shortened(given)}")
    return int(given)


def row_of(what: str, given: object, n: int, of: str = "a row") -> int:
    """The place of a row, 0 to n - 1; a number from -n on counts from the end. Raises
    :class:`DataError` for any other."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and -n <= given < n:
        return int(given) % n
    raise DataError(f"{what} {shortened(given)} is not {of}; there are 0 to {n - 1}")


def one_of(what: str, given: object, known: Sequence[str], error: type[PyspecError]) -> None:
    """Raises `error` unless `given` is one of the words `known`."""
    if not isinstance(given, str) or given not in known:
        hint = suggest(given, list(known)) if isinstance(given, str) else ""
        raise error(f"{what} must be one of {', '.join(known)}, not {shortened(given)}{hint}")


def frozen(array: Frozen) -> Frozen:
    """A read-only view: the owner's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
