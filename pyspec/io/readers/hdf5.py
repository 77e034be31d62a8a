"""HDF5: data sets by name, axes by name, scale or length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, one_line, several
from pyspec.io.arrays import Entry, choose
from pyspec.io.coding import Coding
from pyspec.io.hdf5_heap_check import check_heaps
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Reader, Request, begins_with
from pyspec.io.sizes import check_size
from pyspec.io.sources.linked_files import files_elsewhere

if TYPE_CHECKING:
    import h5py

MAGIC = b"\x89HDF\r\n\x1a\n"


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
        load = _loader(path, name, item, transposed)
        if transposed:
            if item.size > 1 and not _is_no_array(item):
                entries.append(Entry(name, _line(item.shape[::-1]), load, unit))
            return
        scales: list[str | None] = []
        for dim in item.dims:
            scales.append(dim[0].name.strip("/") if len(dim) else dim.label or None)
        entries.append(Entry(name, item.shape, load, unit, tuple(scales)))

    file.visititems(visit)
    return entries


def _is_no_array(item: h5py.Group | h5py.Dataset) -> bool:
    """Whether numbers in a file of MATLAB are those of letters, or the shape of an empty array."""
    return attribute(item, "MATLAB_class") == "char" or "MATLAB_empty" in item.attrs


def _line(shape: tuple[int, ...]) -> tuple[int, ...]:
    """MATLAB's 1 × n and n × 1 are lines of n."""
    return (max(shape),) if len(shape) == 2 and 1 in shape else shape


def _loader(
    path: Path, name: str, item: h5py.Group | h5py.Dataset, transposed: bool
) -> Callable[[], npt.NDArray[np.generic]]:
    def load() -> npt.NDArray[np.generic]:
        check_size(path, name, item.size * item.dtype.itemsize)
        array = values_of(item)
        return array.T.reshape(_line(array.T.shape)) if transposed else array

    return load


def coding_of(item: h5py.Group | h5py.Dataset) -> Coding:
    """What the numbers of a data set stand for: as its attributes say, and the NXdata around it."""
    return Coding.of(item.attrs, _of_nexus(item.parent, item.name.rsplit("/", 1)[-1]))


def _of_nexus(group: h5py.Group, name: str) -> dict[str, h5py.Dataset]:
    """Scaling factor and offset of a field of NXdata: ``NAME_scaling_factor``, or without a name
    those of the signal."""
    if attribute(group, "NX_class") != "NXdata":
        return {}
    is_signal = name == (attribute(group, "signal") or "data")
    is_signal = is_signal or attribute(group[name], "signal") == "1"
    coding = {}
    for word in ("scaling_factor", "offset"):
        for key in (f"{name}_{word}", *([word] if is_signal else [])):
            if hasattr(group.get(key), "shape"):
                coding[word] = group[key]
                break
    return coding


def values_of(item: h5py.Group | h5py.Dataset) -> npt.NDArray[np.generic]:
    """The numbers of a data set, decoded."""
    return coding_of(item).decode(np.asarray(item[()]))


def attribute(item: h5py.Group | h5py.Dataset, name: str) -> str:
    """An attribute as text; "" without one."""
    value = item.attrs.get(name, "")
    if isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


READER = Reader(
    name="hdf5",
    what="HDF5: data sets by name, axes by name, dimension scale or length",
    endings=("h5", "hdf5", "hdf"),
    sniff=begins_with(MAGIC),
    read=read,
    keywords=("data", "errors"),
    example='read("scan.h5", data="entry/image", energy="ke")',
    checked="files of h5py",
    libraries=("h5py",),
)
