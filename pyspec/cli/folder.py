"""The folder that a command writes into."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pyspec.errors import DataError

#: What a fit may write, depending on its kind; a scheme of several has its name after das, eas.
SOMETIMES = (
    "amplitudes.csv", "basis.csv", "das.csv", "das_*.csv", "eas.csv", "eas_*.csv", "fit.png",
    "fits.h5", "report_baseline.html",
)  # fmt: skip


def left_of_earlier(folder: Path, written: Sequence[str]) -> list[str]:
    """Files in a folder that have the name of a result and are not among those just `written`, in
    alphabetical order: those of an earlier fit."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    return [
        name
        for name in names
        if name not in written and any(fnmatchcase(name, pattern) for pattern in SOMETIMES)
    ]


def check_folder(folder: Path) -> None:
    """Raises :class:`DataError` where the output cannot be a folder, before a fit is lost by it."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if there.exists() and not there.is_dir():
        position = "is" if there == folder else f"lies below {there}, which is"
        raise DataError(f"{folder}: {position} a file; the output is a folder, name another one")
    if not os.access(there, os.W_OK):
        raise DataError(f"{folder}: {there} cannot be written to; name another folder, -o DIR")


def leaves(path: Path, folder: Path) -> bool:
    """Whether a path leads out of a folder, by ".." or by symbolic links."""
    return folder.resolve() not in (path.resolve(), *path.resolve().parents)
