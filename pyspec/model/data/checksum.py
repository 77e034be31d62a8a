"""Quick checksums of arrays, and of their rows."""

from __future__ import annotations

import zlib
from struct import Struct
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, ISA, LIBRARY
from pyspec._library.memory import address, address_in

#: Values as they are stored: float64, float32, uint16, or of another type.
Data: TypeAlias = npt.NDArray[Any]

#: Words of 8 bytes in a line of the checksum; a block of that many lines is added up at a time.
LINE, LINES = 512, 512

_ISA = CONSTANTS[f"ISA_{ISA}"]
_NUMBER = Struct("=d").unpack


def checksum(array: Data) -> int:
    """A number that changes with the values of an array, or with their order; a change by accident
    escapes it hardly ever. It is taken in one pass, in a tenth of the time of the digest.

    The bytes are laid out in lines. The checksum is the CRC-32 of the sums of the lines and of the
    columns, as integers modulo 2^64. A change of one word changes both. An exchange of two
    different words changes at least one of them.
    """
    plain = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    if plain.nbytes < 8 * LINE:
        return zlib.crc32(plain.data)
    return checksum_at(plain, address(plain))


def checksums(rows: Data) -> list[int]:
    """The same of each row of an array; of short ones, in C order, without Python for each."""
    width = rows[0].nbytes if len(rows) else 0
    if not 0 < width < 8 * LINE or not rows.flags.c_contiguous:
        return [checksum(row) for row in rows]
    return list(map(zlib.crc32, rows))


def checksum_and_square_at(plain: npt.NDArray[np.float64], at: int) -> tuple[int, float]:
    """The same, and the sum of the squares of the values, in one pass."""
    square = bytearray(8)
    crc = checksum_at(plain, at, address_in(square))
    rest = plain.nbytes % (8 * LINE)
    of_rest = LIBRARY.pyspec_square(at + plain.nbytes - rest, 1, rest // 8, rest, *[0] * 6)
    return crc, float(_NUMBER(square)[0] + of_rest)


def checksum_at(plain: Data, at: int, square: int = 0) -> int:
    """The same of an array in C order that is not empty; `at` is its address. At the address
    `square`, if it is not 0, the sum of squares of its whole lines is written."""
    n_lines = plain.nbytes // (8 * LINE)
    if not n_lines:
        return zlib.crc32(plain.data)
    sums = bytearray(8 * (n_lines + -(-n_lines // LINES) * LINE))
    LIBRARY.pyspec_word_sums(_ISA, at, n_lines, LINE, LINES, address_in(sums), square)
    crc = zlib.crc32(sums)
    if plain.nbytes > 8 * LINE * n_lines:
        crc = zlib.crc32(plain.reshape(-1)[8 * LINE * n_lines // plain.itemsize :].data, crc)
    return crc
