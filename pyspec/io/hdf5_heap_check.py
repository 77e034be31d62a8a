"""Heaps of HDF5 files, checked before the HDF5 library walks them.

A file keeps strings of any length in global heaps (HDF5 file format specification 3.0, section
III.E). A heap begins with "GCOL", version 1, three bytes of 0 and its length. Then come objects: 16
bytes (number, count, 4 unused bytes, length) and the content, padded to 8 bytes. Number 0 is the
free space at the end. The library never ends with a damaged heap.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from pyspec.errors import DataError

_MARK = b"GCOL\x01\x00\x00\x00"


def check_heaps(path: Path) -> None:
    """Raises :class:`DataError` where a heap of the file does not fit its own lengths."""
    if path.stat().st_size < len(_MARK):
        return
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        at = raw.find(_MARK)
        while at >= 0:
            if not _fits(raw, at):
                raise DataError(
                    f"{path}: the HDF5 file is damaged (the heap of words at byte {at} does not "
                    "fit its lengths); copy it once more"
                )
            at = raw.find(_MARK, at + len(_MARK))


def _fits(raw: mmap.mmap, at: int) -> bool:
    """Whether the objects of one collection lie within it, one after the other."""
    if at + 16 > len(raw):
        return False
    (size,) = struct.unpack_from("<Q", raw, at + 8)
    end = at + size
    if end > len(raw):
        return False
    at += 16
    while at + 16 <= end:
        number, length = struct.unpack_from("<H6xQ", raw, at)
        if number == 0:
            return bool(length == end - at)
        at += 16 + (length + 7) // 8 * 8
    return bool(at <= end)
