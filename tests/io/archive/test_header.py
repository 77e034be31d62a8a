"""The user block of an archive, byte by byte: what is refused, and what lies at the edge of it."""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from pyspec.errors import DataError
from pyspec.io.archive import header
from pyspec.io.archive.header import DamageError, Header

CONTENT = bytes(range(256)) * 5000  # more than one piece of a megabyte
DIGEST = hashlib.sha256(CONTENT).digest()
NOTE = b"Fits saved by pyspec, behind 512 bytes an HDF5 file. Check: pyspec verify FILE\n"


def block(
    magic: bytes = b"\x89PYSPEC\n",
    version: int = 4,
    size: int = 512,
    length: int = len(CONTENT),
    digest: bytes = DIGEST,
) -> bytes:
    """As docs/archive_format.md says, its own digest right."""
    head = magic + struct.pack("<IIQ", version, size, length) + digest + NOTE.ljust(424, b"\0")
    assert len(head) == 480
    return head + hashlib.sha256(head).digest()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    def written(data: bytes) -> Path:
        path = tmp_path / "a.h5"
        path.write_bytes(data)
        return path

    return written


def said(path: Path) -> str:
    """What check_sealed finds, "" if nothing."""
    try:
        found = header.check_sealed(path)
    except DamageError as error:
        return error.damage
    assert found == Header(4, len(CONTENT), DIGEST)
    return ""


def test_sealing_writes_these_bytes(write: Callable[[bytes], Path]) -> None:
    path = write(bytes(512) + CONTENT)
    header.seal(path)
    assert path.read_bytes() == block() + CONTENT
    assert (header.VERSION, header.SIZE) == (4, 512)
    header.seal(path)
    assert path.read_bytes() == block() + CONTENT, "what is sealed may be sealed again"


def test_a_whole_file_is_taken(write: Callable[[bytes], Path]) -> None:
    assert said(write(block() + CONTENT)) == ""
    empty = block(length=0, digest=hashlib.sha256().digest())
    assert header.check_sealed(write(empty)).length == 0


@pytest.mark.parametrize("kept", [0, 8, 511])
def test_a_header_that_is_cut_off(write: Callable[[bytes], Path], kept: int) -> None:
    text = f"the file ends after {kept} bytes, within its header"
    assert said(write(block()[:kept])) == text


@pytest.mark.parametrize("magic", [b"\x89PYSPEX\n", b"\x89HDF\r\n\x1a\n"])
def test_a_header_of_another_kind(write: Callable[[bytes], Path], magic: bytes) -> None:
    text = "the header (the first 512 bytes) is damaged"
    assert said(write(block(magic=magic) + CONTENT)) == text
    assert said(write(block(size=511) + CONTENT)) == text
    assert said(write(block()[:-1] + b"\0" + CONTENT)) == text


def test_every_bit_of_the_header_is_guarded(write: Callable[[bytes], Path]) -> None:
    for at in range(512):
        changed = bytearray(block())
        changed[at] ^= 1 << at % 8
        assert said(write(bytes(changed))) == "the header (the first 512 bytes) is damaged"


def test_content_that_is_not_what_was_written(write: Callable[[bytes], Path]) -> None:
    n = len(CONTENT)
    path = write(block() + CONTENT[:-1])
    text = f"the file is cut off: {n - 1} bytes of {n} behind the header"
    assert said(path) == text
    path = write(block() + CONTENT + b"\0")
    text = f"the file is longer than it was written: {n + 1} bytes of {n} behind the header"
    assert said(path) == text
    for at in (0, n // 2, n - 1):
        changed = bytearray(CONTENT)
        changed[at] ^= 1
        path = write(block() + changed)
        text = "the content is not what was written: its sha256 differs"
        assert said(path) == text


@pytest.mark.parametrize("version", [0, 3, 5])
def test_another_version_is_left_to_who_knows_it(
    write: Callable[[bytes], Path], version: int
) -> None:
    path = write(block(version=version) + b"of another kind")
    assert header.check_sealed(path).version == version


def test_errors_name_the_file_and_the_remedy_where_there_is_one(tmp_path: Path) -> None:
    assert str(DamageError("it burned")) == "it burned"
    shown = str(DamageError("it burned", tmp_path))
    assert shown == f"{tmp_path}: is damaged: it burned; {header.REMEDY}"
    again = pickle.loads(pickle.dumps(DamageError("it burned", tmp_path)))
    assert (type(again), str(again)) == (DataError, shown)
