"""The user block of an archive: length and sha256 of all that follows, before HDF5 reads it.

It guards against damage (bad disks, cut transfers, other programs), not against malice.

offset  size  content
     0     8  89 50 59 53 50 45 43 0A (``\\x89PYSPEC\\n``)
     8     4  version of the format, little-endian
    12     4  length of this block: 512
    16     8  length of the HDF5 file behind it, in bytes
    24    32  sha256 of the HDF5 file behind it
    56   424  a line for people, filled up with zero bytes
   480    32  sha256 of the bytes 0 to 479
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pyspec.errors import DataError

#: What this version writes, and the only one that it reads.
VERSION = 4

MAGIC = b"\x89PYSPEC\n"
HDF5 = b"\x89HDF\r\n\x1a\n"
SIZE = 512

_FIELDS = struct.Struct("<8sIIQ32s424s32s")
#: What to do about a damaged archive.
REMEDY = (
    "copy it once more from where it is whole, or read what is whole: load_fits(path, "
    "damaged='skip'); 'pyspec verify FILE' names the rest"
)

_NOTE = b"Fits saved by pyspec, behind 512 bytes an HDF5 file. Check: pyspec verify FILE\n"
_PIECE = 1 << 20


@dataclass(frozen=True)
class Header:
    """What a user block says.

    Attributes
    ----------
    version : of the format
    length : of the HDF5 file behind the block
    sha256 : of the HDF5 file behind the block
    """

    version: int
    length: int
    sha256: bytes


def refused(path: Path, version: object) -> DataError:
    """What is said of an archive of another version of the format."""
    return DataError(
        f"{path}: has version {version} of the format, and this pyspec reads version {VERSION} "
        "alone; load it with the pyspec that saved it, or fit again"
    )


class DamageError(DataError):
    """An archive is not as it was written; `damage` says where, without path and remedy."""

    def __init__(self, damage: str, path: Path | None = None) -> None:
        self.damage = damage
        super().__init__(damage if path is None else f"{path}: is damaged: {damage}; {REMEDY}")

    def __reduce__(self) -> tuple[type[DataError], tuple[object, ...]]:
        return DataError, self.args


def seal(path: Path) -> None:
    """Writes the user block of a file that has room for it."""
    with path.open("rb+") as file:
        file.seek(SIZE)
        digest, length = _digest(file)
        head = _FIELDS.pack(MAGIC, VERSION, SIZE, length, digest, _NOTE, b"")[:480]
        file.seek(0)
        file.write(head + hashlib.sha256(head).digest())


def read_header(file: BinaryIO) -> Header:
    """The user block of an open file.

    Raises :class:`DamageError` where it is cut off, or its own sha256 differs.
    """
    head = file.read(SIZE)
    if len(head) < SIZE:
        raise DamageError(f"the file ends after {len(head)} bytes, within its header")
    magic, version, size, length, digest, _, own = _FIELDS.unpack(head)
    if magic != MAGIC or size != SIZE or hashlib.sha256(head[:480]).digest() != own:
        raise DamageError("the header (the first 512 bytes) is damaged")
    return Header(version, length, digest)


def check_sealed(path: Path) -> Header:
    """Reads a whole archive.

    Raises :class:`DamageError` where a byte is not as it was written. A version that this one does
    not know is not checked.
    """
    with path.open("rb") as file:
        header = read_header(file)
        if header.version != VERSION:
            return header
        digest, length = _digest(file)
    if length != header.length:
        kind = "cut off" if length < header.length else "longer than it was written"
        raise DamageError(
            f"the file is {kind}: {length} bytes of {header.length} behind the header"
        )
    if digest != header.sha256:
        raise DamageError("the content is not what was written: its sha256 differs")
    return header


def _digest(file: BinaryIO) -> tuple[bytes, int]:
    """sha256 and length of the rest of an open file."""
    digest, length = hashlib.sha256(), 0
    while piece := file.read(_PIECE):
        digest.update(piece)
        length += len(piece)
    return digest.digest(), length
