"""Archives: fits in one HDF5 file that is always whole.

a user block     length and sha256 of the HDF5 file behind it: :mod:`pyspec.io.archive.header`
:mod:`pyspec.io.archive.contents` writes and reads the HDF5 file. ``docs/archive_format.md``
describes every field.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, one_of
from pyspec.errors import DataError, one_line, shortened
from pyspec.io.archive import header
from pyspec.io.archive.contents import Arrays, Wanted, load_checked, opened, write_items
from pyspec.io.archive.deferred_error_file import written
from pyspec.io.archive.header import DamageError
from pyspec.io.archive.salvage import Report, salvaged
from pyspec.io.archive.tree import Tree
from pyspec.io.atomic import folder_lock, plain_path, replacing
from pyspec.io.optional import need

MODES = ("append", "new", "replace")


@answered
def save_archive(
    path: str | Path,
    contents: Mapping[str, object] | Sequence[Mapping[str, object]],
    *,
    arrays: Mapping[str, npt.NDArray[np.generic]] | None = None,
    mode: str = "append",
) -> None:
    """Adds fits to an archive; afterwards the file is the new one, or the old one.

    Parameters
    ----------
    path : the file; made where it is missing
    contents : one dict for each fit: text, numbers, arrays, lists and dicts of them
    arrays : digest → array, for data that several fits share, as :func:`digest` gives it
    mode : "append" to what is there, where a fit that it holds already moves to the end, and
        takes its new label; "replace" it, or "new" to refuse a file that exists

    The old file is copied to a temporary one in the same folder, which is checked, added to,
    synced and renamed. Two processes that save at the same time wait for each other.

    Raises :class:`DataError` where the file is no archive, is damaged, or cannot be written.
    """
    h5py = need("h5py", "an archive of fits")
    one_of("mode", mode, MODES, DataError)
    fits = [contents] if isinstance(contents, Mapping) else list(contents)
    for k, fit in enumerate(fits):
        if not isinstance(fit, Mapping):
            raise DataError(
                f"contents[{k}] is {shortened(fit)}; give a dict for each fit; of results "
                "save_fit(path, fits) makes them"
            )
    target = plain_path(path).resolve()
    with folder_lock(target):
        exists = target.exists()
        if exists and mode == "new":
            raise DataError(
                f"{target}: exists already; choose another name, mode='append' to add to it, or "
                "mode='replace'"
            )
        add = exists and mode == "append"
        with replacing(target) as part:
            if add:
                if not target.is_file():
                    raise DataError(f"{target}: is no file; choose another name")
                shutil.copyfile(target, part)
                check_archive(part, target)
                with opened(h5py, part, target):
                    pass
            size = {} if add else {"userblock_size": header.SIZE}
            with written(h5py, part, new=not add, **size) as file:
                write_items(file, fits, arrays or {})
            header.seal(part)


def check_archive(path: Path, shown: Path) -> None:
    """Raises :class:`DamageError` unless every byte is as it was written, and :class:`DataError`
    for what is no archive; errors call it `shown`."""
    with path.open("rb") as file:
        head = file.read(header.SIZE + len(header.HDF5))
    if not head.startswith(header.MAGIC):
        if head[header.SIZE :] == header.HDF5:
            raise DamageError("the header (the first 512 bytes)", shown)
        if not head.startswith(header.HDF5):
            raise DataError(
                f"{shown}: is no archive of fits: not HDF5, or damaged at its beginning"
            )
        raise DataError(
            f"{shown}: is HDF5, but no archive of fits that this pyspec reads; read data with "
            "read(), load fits of an earlier version with the pyspec that saved them"
        )
    try:
        version = header.check_sealed(path).version
    except DamageError as error:
        raise DamageError(error.damage, shown) from None
    except OSError as error:
        raise DataError(f"{shown}: cannot be read ({one_line(error)}); check the disk") from None
    if version != header.VERSION:
        raise header.refused(shown, version)


@answered
def load_archive(
    path: str | Path, *, skip: bool = False
) -> tuple[list[dict[str, Any]], dict[str, npt.NDArray[Any]], Report | None]:
    """All fits of an archive in the order they were saved, the arrays that they share, and a
    report. The report is None unless `skip` is True and the archive is damaged: then a process with
    limited memory and time reads item by item and leaves out the damaged ones.

    Raises :class:`DataError` for other files, for another version, and for a damaged archive (with
    `skip`: if nothing can be read).
    """
    return read_archive(path, skip)


def read_archive(
    path: str | Path, skip: bool, wanted: Wanted | None = None
) -> tuple[list[Tree], Arrays, Report | None]:
    """As :func:`load_archive`; of a whole archive with `wanted` those fits and their data alone."""
    h5py = need("h5py", "an archive of fits")
    file = existing(path)
    try:
        check_archive(file, file)
        return *load_checked(h5py, file, wanted), None
    except DamageError:
        if not skip:
            raise
    return salvaged(file)


def existing(path: str | Path) -> Path:
    """The path of a file that is there."""
    file = plain_path(path)
    if not file.is_file():
        of_project = f"project.load_fits({str(file)!r}) reads one in the folder of the project"
        hint = "" if file.is_absolute() else f"; {of_project}, where file.save_fit writes"
        raise DataError(f"{file}: there is no such archive; save_fit makes one{hint}")
    return file
