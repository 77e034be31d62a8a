"""What containers hold, and files that claim more than they can."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile, ZipFile

from pyspec.errors import DataError

#: Arrays up to this size are read whatever the file says.
_FREE_BYTES = 1 << 28
#: No real spectrum is compressed by more than this.
_MOST_COMPRESSED = 1000


def check_size(path: Path, subject: str, n_bytes: int) -> None:
    """Refuses an array that is far larger than the file can hold, before memory is filled with
    it: a damaged number of points, or an archive made to do harm.

    Raises :class:`DataError`.
    """
    held = path.stat().st_size
    if n_bytes > _FREE_BYTES and n_bytes > _MOST_COMPRESSED * held:
        raise DataError(
            f"{path}: {subject[:200]} claims {n_bytes / 2**30:.3g} GiB, but the file has {held} "
            "bytes; it is damaged, copy or export it again"
        )


def zip_names(path: Path) -> list[str] | None:
    """The names in a zip archive; None where its directory cannot be read."""
    try:
        with ZipFile(path) as archive:
            return archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError, UnicodeError):
        return None
