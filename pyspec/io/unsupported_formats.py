"""Formats that pyspec knows and does not read: what to do with them."""

from __future__ import annotations

from pyspec.errors import DataError, several
from pyspec.io.archive.header import MAGIC as ARCHIVE
from pyspec.io.reader import Start, damaged
from pyspec.io.sizes import zip_names

_CSV = "export the table as CSV"

#: Formats that are refused, by their first bytes: what they are, and what to do instead.
UNREAD: tuple[tuple[str, str, tuple[bytes, ...]], ...] = (
    ("an archive of fits", "load it with load_fit()", (ARCHIVE,)),
    ("an old Excel file (.xls)", _CSV, (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",)),
    ("compressed", "unpack it first", (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")),
    ("a PDF", _CSV, (b"%PDF-",)),
    ("a picture", "pyspec needs the numbers, export them as CSV",
     (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF8")),
    ("a database (SQLite; SPECS .sle)", "export it as .xy or .vms in the program that wrote it",
     (b"SQLite format 3",)),
    ("a Python pickle", "save the arrays with numpy.savez", (b"\x80\x04\x95", b"\x80\x05\x95")),
)  # fmt: skip


def refuse_unread(start: Start) -> None:
    """Raises :class:`DataError` with advice for a format that is known and not read."""
    for label, advice, words in UNREAD:
        if start.starts_with(*words):
            raise DataError(f"{start.path}: is {label}, which is not read; {advice}")
    if not start.starts_with(b"PK\x03\x04", b"PK\x05\x06"):
        return
    names = zip_names(start.path)
    is_sheet = start.suffix in (".xlsx", ".xlsm", ".ods") or b"xl/" in start.raw
    if is_sheet or any(name.startswith("xl/") for name in names or ()):
        raise DataError(f"{start.path}: is a spreadsheet; export the table as CSV")
    if names is None:
        raise damaged(start.path, "the zip archive has no directory")
    inside = several([name[:60] for name in names], 6) or "nothing"
    raise DataError(
        f"{start.path}: is a zip archive with {inside}; unpack it and read the file you mean"
    )
