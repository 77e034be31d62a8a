"""HDF5: data sets by name, axes by name, scale or length."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, one_line, several
from pyspec.io.arrays import Entry, choose
from pyspec.io.coding import Coding
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, begins_with
from pyspec.io.sizes import check_size
from pyspec.io.sources.linked_files import files_elsewhere

if TYPE_CHECKING:
    import h5py

MAGIC = b"\x89HDF\r\n\x1a\n"
#: How a heap of words begins; see :func:`check_heaps`.
_HEAP = b"GCOL\x01\x00\x00\x00"


def check_heaps(path: Path) -> None:
    """Raises :class:`DataError` where a heap of the file does not fit its own lengths: the library
    would never end with it.

    A file keeps strings of any length in global heaps (HDF5 file format specification 3.0, section
    III.E). A heap begins with "GCOL", version 1, three bytes of 0 and its length. Then come
    objects: 16 bytes (number, count, 4 unused bytes, length) and the content, padded to 8 bytes.
    Number 0 is the free space at the end.
    """
    if path.stat().st_size < len(_HEAP):
        return
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        at = raw.find(_HEAP)
        while at >= 0:
            if not _heap_fits(raw, at):
                raise DataError(
                    f"{path}: the HDF5 file is damaged (the heap of words at byte {at} does not "
                    "fit its lengths); copy it once more"
                )
            at = raw.find(_HEAP, at + len(_HEAP))


def _heap_fits(raw: mmap.mmap, at: int) -> bool:
    """Whether the objects of one collection lie within it, one after the other."""
    if at + 16 > len(raw):
        return False
    end = at + struct.unpack_from("<Q", raw, at + 8)[0]
    at += 16
    while at + 16 <= end <= len(raw):
        number, length = struct.unpack_from("<H6xQ", raw, at)
        if number == 0:
            return bool(length == end - at)
        at += 16 + (length + 7) // 8 * 8
    return bool(at <= end <= len(raw))


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file, open for reading; what h5py says of a damaged one becomes a DataError.

    Raises :class:`DataError` where it reads from files outside of its folder, too.
    """
    h5py = need("h5py", f"{path}: HDF5")
    check_heaps(path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(
            f"{path}: cannot be opened as HDF5 ({one_line(error)}); copy it once more"
        ) from None
    with file:
        try:
            files_elsewhere(h5py, path, file)
            yield file
        except (OSError, RuntimeError, KeyError) as error:
            raise DataError(
                f"{path}: the HDF5 file is damaged ({one_line(error)}); copy it once more"
            ) from None


#: Whether a file is of this format, by its first bytes.
sniff = begins_with(MAGIC)


def read(request: Request) -> RawTable:
    """Data and axes among all data sets of the file; see :func:`pyspec.io.arrays.choose`."""
    path = request.path
    with opened(path) as file:
        if "pyspec" in file.attrs and "schema" in file.attrs:
            raise DataError(f"{path}: is an archive of fits, not of data; load it with load_fit()")
        entries = entries_of(path, file)
        return noted(choose(path, "HDF5", entries, request), path, file)


def noted(table: RawTable, path: Path, file: object) -> RawTable:
    """What was found, with a note on the other files that were read."""
    if others := files_elsewhere(need("h5py", f"{path}: HDF5"), path, file):
        table.notes.append(f"reads from other files of its folder: {several(others, 6)}")
    return table


def entries_of(path: Path, file: h5py.File, *, transposed: bool = False) -> list[Entry]:
    """All arrays of numbers in a file; `transposed` for those that MATLAB wrote."""
    h5py = need("h5py", f"{path}: HDF5")
    entries: list[Entry] = []

    def visit(name: str, item: object) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiu" or not item.shape:
            return
        unit = attribute(item, "units") or attribute(item, "unit")

        def load() -> npt.NDArray[np.generic]:
            check_size(path, name, item.size * item.dtype.itemsize)
            array = values_of(item)
            return array.T.reshape(_line(array.T.shape)) if transposed else array

        if transposed:
            # Numbers of MATLAB may be those of letters, or the shape of an empty array.
            is_text = attribute(item, "MATLAB_class") == "char"
            if item.size > 1 and not is_text and "MATLAB_empty" not in item.attrs:
                entries.append(Entry(name, _line(item.shape[::-1]), load, unit))
            return
        scales: list[str | None] = []
        for dim in item.dims:
            scales.append(dim[0].name.strip("/") if len(dim) else dim.label or None)
        entries.append(Entry(name, item.shape, load, unit, tuple(scales)))

    file.visititems(visit)
    return entries


def _line(shape: tuple[int, ...]) -> tuple[int, ...]:
    """MATLAB's 1 × n and n × 1 are lines of n."""
    return (max(shape),) if len(shape) == 2 and 1 in shape else shape


def coding_of(item: h5py.Group | h5py.Dataset) -> Coding:
    """What the numbers of a data set stand for: as its attributes say, and the NXdata around it,
    ``NAME_scaling_factor`` or, of the signal, ``scaling_factor``; so with ``offset``."""
    group, name = item.parent, item.name.rsplit("/", 1)[-1]
    coding = {}
    if attribute(group, "NX_class") == "NXdata":
        is_signal = name == (attribute(group, "signal") or "data")
        is_signal = is_signal or attribute(item, "signal") == "1"
        for word in ("scaling_factor", "offset"):
            for key in (f"{name}_{word}", *([word] if is_signal else [])):
                if hasattr(group.get(key), "shape"):
                    coding[word] = group[key]
                    break
    return Coding.of(item.attrs, coding)


def values_of(item: h5py.Group | h5py.Dataset) -> npt.NDArray[np.generic]:
    """The numbers of a data set, decoded."""
    return coding_of(item).decode(np.asarray(item[()]))


def attribute(item: h5py.Group | h5py.Dataset, name: str) -> str:
    """An attribute as text; "" without one."""
    value = item.attrs.get(name, "")
    if isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
