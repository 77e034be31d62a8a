"""Memory that Python shares with the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import addressof, c_char, c_double
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import DTYPES
from pyspec.errors import TooLargeError

_CODES = {"u8": "Q", "i8": "q", "f8": "d"}

_first_byte: Any = c_char.from_buffer


def address(array: npt.NDArray[np.generic]) -> int:
    """Where the first value of an array lies; valid as long as the array lives. NumPy takes a
    microsecond to tell, and a fit asks some fifty times; this takes a fifth of that for contiguous
    arrays that may be written to."""
    flags = array.flags
    if flags.writeable and flags.c_contiguous and array.size:
        return addressof(_first_byte(array))
    return int(array.__array_interface__["data"][0])


def address_in(memory: bytearray | npt.NDArray[np.generic]) -> int:
    """Where memory begins that lies in one piece and may be written to."""
    return addressof(_first_byte(memory))


#: Bytes at whose multiples work memory begins.
ALIGNED = 64


def aligned(n_bytes: int) -> npt.NDArray[np.float64]:
    """Doubles that start on a 64-byte boundary, whatever they hold: C reads none of its work memory
    before it has written there."""
    return aligned_at(n_bytes)[0]


def aligned_at(n_bytes: int) -> tuple[npt.NDArray[np.float64], int]:
    """The same, and their address."""
    raw = np.empty(n_bytes // 8 + 8)
    begin = address(raw)
    skip = -begin % ALIGNED
    return raw[skip // 8 : skip // 8 + n_bytes // 8], begin + skip


def doubles_at(place: int, n: int) -> npt.NDArray[np.float64]:
    """A copy of n numbers of the library's."""
    return np.array((c_double * n).from_address(place))


def doubles(n: int, label: Callable[[], str]) -> npt.NDArray[np.float64]:
    """Room for n numbers. Raises :class:`TooLargeError`, which names them by `label`, where there
    is none."""
    try:
        return np.empty(n)
    except (MemoryError, ValueError) as error:  # ValueError: more than addresses reach
        raise TooLargeError(
            f"{label()} would take {8 * n / 2**30:.3g} GiB, more memory than there is; "
            "take fewer points, or a window of them"
        ) from error


def _layout(dtype: np.dtype[np.void]) -> tuple[dict[str, int], Struct]:
    names = dtype.names or ()
    codes = "".join(_CODES[dtype[name].str[1:]] for name in names)
    return dict.fromkeys(names, 0), Struct(f"={codes}")


#: The structures that consist of words of 8 bytes: 0 in every field, and their layout.
_LAYOUTS = {
    name: _layout(dtype)
    for name, dtype in DTYPES.items()
    if all(dtype[field].itemsize == 8 for field in dtype.names or ())
}


#: How many words that are.
WORDS = {name: layout.size // 8 for name, (_, layout) in _LAYOUTS.items()}


def record(name: str, fields: Mapping[str, float]) -> npt.NDArray[np.void]:
    """One structure of the library, (1,): these fields, and 0 in all others. Filling it field by
    field takes three times as long."""
    memory = bytearray(8 * WORDS[name])
    fill(name, fields, memory)
    return view(name, memory)


def fill(name: str, fields: Mapping[str, float], memory: Any, at: int = 0) -> None:
    """The same in memory of the caller, from the word `at` on."""
    zeros, layout = _LAYOUTS[name]
    layout.pack_into(memory, 8 * at, *{**zeros, **fields}.values())


def reading(
    name: str, fields: Sequence[str]
) -> tuple[list[int], Callable[[bytearray], tuple[Any, ...]]]:
    """What reads these fields of a structure that memory begins with, all at once; and where in
    what it gives each of them stands."""
    asked = [field for field in DTYPES[name].names or () if field in fields]
    return [asked.index(field) for field in fields], struct_of(name, fields).unpack_from


def struct_of(name: str, fields: Sequence[str]) -> Struct:
    """The layout of a structure with these fields alone, in its own order. Reading skips the
    others, writing makes them 0."""
    dtype = DTYPES[name]
    codes = [
        _CODES[dtype[field].str[1:]] if field in fields else f"{dtype[field].itemsize}x"
        for field in dtype.names or ()
    ]
    return Struct(f"={''.join(codes)}")


def words_of(name: str, fields: Sequence[str], at: int = 0) -> slice:
    """The words that these fields are, which follow each other, of a structure at some word."""
    first = at + (DTYPES[name].names or ()).index(fields[0])
    return slice(first, first + len(fields))


def copies(
    memory: bytearray, n_bytes: int, addresses: Sequence[slice], n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(n, words) copies of a piece of memory, of which only `n_bytes` are not 0, and (n,) where
    they begin. The words `addresses` lead into that memory; those of a copy lead into the copy."""
    copied = np.zeros((n, len(memory) // 8), np.int64)
    begins = address(copied) + np.arange(0, copied.nbytes, len(memory))
    copied[:, : n_bytes // 8] = np.frombuffer(memory, np.int64, n_bytes // 8)
    moved = (begins - address_in(memory))[:, None]
    for words in addresses:
        own = copied[:, words]
        own += moved
    return copied, begins


def view(
    name: str, memory: bytearray | memoryview | npt.NDArray[np.generic], at: int = 0
) -> npt.NDArray[np.void]:
    """A structure in a piece of memory, (1,), to read and to write."""
    return np.frombuffer(memory, DTYPES[name], 1, 8 * at)
