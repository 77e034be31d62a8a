"""What is whole in a damaged archive, read by a process with limited memory and time.

Damage can make the HDF5 library crash, hang, or ask for any amount of memory. A child reads
fits and arrays one by one, keeps those whose sha256 holds, and writes them to a new
archive. It prints what it reads next, so that the child after a crash leaves that out.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspec.errors import DataError, one_line
from pyspec.io.archive import contents as records
from pyspec.io.archive import header
from pyspec.io.archive.tree import Reader, Tree
from pyspec.io.optional import need
from pyspec.io.sandbox import PATIENCE, run_apart

if TYPE_CHECKING:
    import h5py

#: Memory of the child in bytes beyond that at its start, and more for each byte of the file: some
#: data are compressed to a thirtieth.
_MEMORY, _MEMORY_RATIO = 512 << 20, 64
#: Seconds of a processor for one child, and more for each megabyte; all children together get four
#: times that.
_SECONDS, _SECONDS_PER_MB, _CHILDREN = 30.0, 0.5, 4

#: A file that was cut off is filled up to at most so many times its length.
_LONGEST = 1000

#: A place that is not one item: the file cannot be opened, or holds no archive.
_WHOLE = "the file"


@dataclass(frozen=True)
class Report:
    """What was found in an archive, item by item.

    Attributes
    ----------
    whole : names of the fits and arrays that are as they were written
    damaged : name → what is wrong with it
    """

    whole: tuple[str, ...]
    damaged: dict[str, str]

    def __str__(self) -> str:
        """The damaged items in one line."""
        shown = [f"{name}: {why}" for name, why in list(self.damaged.items())[:5]]
        more = len(self.damaged) - len(shown)
        return "; ".join(shown) + (f"; and {more} more" if more else "")


def salvaged(path: Path) -> tuple[list[Tree], records.Arrays, Report]:
    """The fits and arrays of an archive that are whole, and what is not.

    Raises :class:`DataError` where nothing can be read.
    """
    h5py = need("h5py", "an archive of fits")
    with tempfile.TemporaryDirectory(prefix="pyspec-") as folder:
        target = Path(folder) / "whole.h5"
        report = salvage(path, target, _completed(path, Path(folder)))
        fits, arrays = records.load_checked(h5py, target)
    return fits, arrays, report


def salvage_report(path: Path) -> Report:
    """Lists the items of an archive, whole and damaged.

    Raises :class:`DataError` where nothing can be read.
    """
    with tempfile.TemporaryDirectory(prefix="pyspec-") as folder:
        return salvage(path, Path(folder) / "whole.h5", _completed(path, Path(folder)))


def _completed(path: Path, folder: Path) -> Path:
    """The archive itself, or if it was cut off a copy, padded with zero bytes to the length in its
    header: HDF5 opens no file that is too short."""
    with path.open("rb") as file, suppress(header.DamageError):
        length = header.read_header(file).length + header.SIZE
        if path.stat().st_size < length <= _LONGEST * path.stat().st_size:
            copy = folder / "completed.h5"
            shutil.copyfile(path, copy)
            os.truncate(copy, length)
            return copy
    return path


def salvage(path: Path, target: Path, source: Path | None = None) -> Report:
    """Writes what is whole in the archive `path` to a new one; `source` is read in its place.

    Raises :class:`DataError` where nothing can be read.
    """
    n_bytes = path.stat().st_size
    seconds = _SECONDS + _SECONDS_PER_MB * n_bytes / (1 << 20)
    begin, end = _spent(), time.monotonic() + _CHILDREN * PATIENCE * seconds
    damaged: dict[str, str] = {}
    while time.monotonic() < end and (left := begin + _CHILDREN * seconds - _spent()) > 0:
        lines = _run_child(source or path, target, damaged, n_bytes, min(seconds, left))
        last: str | None = _WHOLE
        whole: list[str] = []
        for line in lines:
            last = None if "end" in line else line.get("item", last)
            if "refused" in line:
                raise DataError(line["refused"])
            if "why" in line:
                damaged[line["item"]] = line["why"]
            elif "whole" in line:
                whole.append(line["item"])
        if last is None:
            return Report(tuple(whole), damaged)
        if last == _WHOLE or last in damaged or last in whole:
            break
        damaged[last] = "reading it crashed, took too long, or asked for too much memory"
    raise header.DamageError("nothing in it can be read", path)


def _spent() -> float:
    """Seconds of a processor that the processes started by this one have taken."""
    times = os.times()
    return times.children_user + times.children_system


def _run_child(
    path: Path, target: Path, skipped: Collection[str], n_bytes: int, seconds: float
) -> list[dict[str, Any]]:
    """The lines that one child printed until it ended, crashed, or its time was over."""
    work = partial(_read_items, path, target, set(skipped))
    try:
        _, printed = run_apart(work, seconds, _MEMORY + _MEMORY_RATIO * n_bytes)
    except OSError as error:
        raise DataError(
            f"{path}: needs a Python process of its own to be read safely, which cannot be started "
            f"({one_line(error)})"
        ) from None
    lines = []
    for text in printed.splitlines():
        with suppress(ValueError):
            lines.append(json.loads(text))
    return [line for line in lines if isinstance(line, dict)]


def _say(**line: object) -> None:
    print(json.dumps(line), flush=True)


def _read_items(path: Path, target: Path, skipped: Collection[str]) -> None:
    """What the child does. It prints one line of JSON before and after each item."""
    import h5py

    _say(item=_WHOLE)
    file = h5py.File(path, "r")
    try:
        records.check_root(file, path)
    except DataError as error:
        _say(refused=str(error))
        return
    reader = Reader(h5py, path.stat().st_size)
    kept: dict[str, dict[str, Any]] = {"fits": {}, "arrays": {}}
    for kind, read in (("fits", records.fit_of), ("arrays", records.array_of)):
        for name in _names(file, kind, skipped):
            place = f"{kind}/{name}"
            _say(item=place)
            try:
                kept[kind][name] = read(reader, file, name)
                _say(item=place, whole=True)
            except Exception as error:
                _say(item=place, why=one_line(error))
    _say(item=_WHOLE)
    with h5py.File(target, "w", userblock_size=header.SIZE) as made:
        records.write_items(made, list(kept["fits"].values()), kept["arrays"])
    header.seal(target)
    _say(end=True)
    # Closing a damaged file may hang or crash; nothing is lost by not closing it.
    os._exit(0)


def _names(file: h5py.File, kind: str, skipped: Collection[str]) -> list[str]:
    """Names of the fits or arrays; what is missing, or cannot be listed, is said to be damaged."""
    if kind in skipped:
        return []
    _say(item=kind)
    try:
        names = records.fit_names(file) if kind == "fits" else list(file[kind])
        missing = records.missing_items(file, kind, names)
    except Exception as error:
        _say(item=kind, why=one_line(error))
        return []
    for place, why in missing.items():
        _say(item=place, why=why)
    return [name for name in names if f"{kind}/{name}" not in skipped]
