"""The folder that a command writes into."""

from __future__ import annotations

import os
from pathlib import Path

from pyspec.errors import DataError


def check_folder(folder: Path) -> None:
    """Raises :class:`DataError` where the output cannot be a folder, before a fit is lost by it."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if there.exists() and not there.is_dir():
        what = "is" if there == folder else f"lies below {there}, which is"
        raise DataError(f"{folder}: {what} a file; the output is a folder, name another one")
    if not os.access(there, os.W_OK):
        raise DataError(f"{folder}: {there} cannot be written to; name another folder, -o DIR")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:  # what permissions do not tell: made, and taken away again
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            path.rmdir()
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); -o DIR names another") from (
            error
        )
