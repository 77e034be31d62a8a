"""Formats that pyspec knows and does not read: what to do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspec.errors import DataError
from pyspec.io.header import MAGIC as ARCHIVE
from pyspec.io.reader import Start
from pyspec.io.sizes import zip_names


@dataclass(frozen=True)
class Unread:
    """A format that is recognised, and the advice for those who have such a file."""

    what: str
    advice: str
    sniff: Callable[[Start], bool]


def _magic(*words: bytes) -> Callable[[Start], bool]:
    return lambda start: start.starts_with(*words)


_CSV = "export the table as CSV"

#: Formats that are recognised to be refused with advice.
UNREAD = (
    Unread("an archive of fits", "load it with load_fit()", _magic(ARCHIVE)),
    Unread("an old Excel file (.xls)", _CSV, _magic(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
    Unread(
        "compressed", "unpack it first", _magic(b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")
    ),
    Unread("a PDF", _CSV, _magic(b"%PDF-")),
    Unread(
        "a picture",
        "pyspec needs the numbers, export them as CSV",
        _magic(b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF8"),
    ),
    Unread(
        "a database (SQLite; SPECS .sle)",
        "export it as .xy or .vms in the program that wrote it",
        _magic(b"SQLite format 3"),
    ),
    Unread(
        "a Python pickle",
        "save the arrays with numpy.savez",
        _magic(b"\x80\x04\x95", b"\x80\x05\x95"),
    ),
)


def refuse_unread(start: Start) -> None:
    """Raises :class:`DataError` with advice for a format that is known and not read."""
    for one in UNREAD:
        if one.sniff(start):
            raise DataError(f"{start.path}: is {one.what}, which is not read; {one.advice}")
    if start.starts_with(b"PK\x03\x04", b"PK\x05\x06"):
        _refuse_zip(start)


def _refuse_zip(start: Start) -> None:
    """A zip archive that is none of the formats which are read."""
    sheet = start.suffix in (".xlsx", ".xlsm", ".ods") or b"xl/" in start.raw
    names = zip_names(start.path)
    if names is None:
        then = ", then export the table as CSV" if sheet else ""
        raise DataError(
            f"{start.path}: the archive is damaged or not written completely; copy or write it "
            f"again{then}"
        )
    if sheet or any(name.startswith("xl/") for name in names):
        raise DataError(f"{start.path}: is a spreadsheet; export the table as CSV")
    inside = ", ".join(name[:60] for name in names[:6]) or "nothing"
    raise DataError(
        f"{start.path}: is a zip archive with {inside}; unpack it and read the file you mean"
    )
