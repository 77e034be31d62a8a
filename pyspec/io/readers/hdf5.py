"""HDF5: data sets by name, axes by name, scale or length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, one_line
from pyspec.io.arrays import Entry, choose
from pyspec.io.found import Found
from pyspec.io.heap import check_heaps
from pyspec.io.optional import need
from pyspec.io.reader import Reader, Request, begins_with
from pyspec.io.sizes import check_size

MAGIC = b"\x89HDF\r\n\x1a\n"


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An HDF5 file, open for reading; what h5py says of a damaged one becomes a DataError."""
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
            yield file
        except (OSError, RuntimeError, KeyError) as error:
            raise DataError(
                f"{path}: the HDF5 file is damaged ({one_line(error)}); copy it once more"
            ) from None


def read(request: Request) -> Found:
    """Data and axes among all data sets of the file; see :func:`pyspec.io.arrays.choose`."""
    path = request.path
    with opened(path) as file:
        if "pyspec" in file.attrs and "schema" in file.attrs:
            raise DataError(f"{path}: is an archive of fits, not of data; load it with load_fit()")
        entries = entries_of(path, file)
        return choose(path, "HDF5", entries, request)


def entries_of(path: Path, file: Any, *, transposed: bool = False) -> list[Entry]:
    """All arrays of numbers in a file; `transposed` for those that MATLAB wrote."""
    h5py = need("h5py", f"{path}: HDF5")
    found: list[Entry] = []

    def visit(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiu" or not item.shape:
            return
        unit = attribute(item, "units") or attribute(item, "unit")
        load = _loader(path, name, item, transposed)
        if transposed:
            if item.size > 1 and not _is_no_array(item):
                found.append(Entry(name, _line(item.shape[::-1]), load, unit))
            return
        scales: list[str | None] = []
        for dim in item.dims:
            scales.append(dim[0].name.strip("/") if len(dim) else dim.label or None)
        found.append(Entry(name, item.shape, load, unit, tuple(scales)))

    file.visititems(visit)
    return found


def _is_no_array(item: Any) -> bool:
    """Whether numbers in a file of MATLAB are those of letters, or the shape of an empty array."""
    return attribute(item, "MATLAB_class") == "char" or "MATLAB_empty" in item.attrs


def _line(shape: tuple[int, ...]) -> tuple[int, ...]:
    """MATLAB's 1 × n and n × 1 are lines of n."""
    return (max(shape),) if len(shape) == 2 and 1 in shape else shape


def _loader(path: Path, name: str, item: Any, transposed: bool) -> Callable[[], npt.NDArray[Any]]:
    def load() -> npt.NDArray[Any]:
        check_size(path, name, item.size * item.dtype.itemsize)
        array = unpacked(np.asarray(item[()]), item)
        return array.T.reshape(_line(array.T.shape)) if transposed else array

    return load


def packing_of(item: Any) -> dict[str, float]:
    """How numbers stand for others, as in NetCDF: value * scale_factor + add_offset."""
    words = ("scale_factor", "add_offset")
    given = {word: np.asarray(item.attrs[word]) for word in words if word in item.attrs}
    return {k: float(v.item()) for k, v in given.items() if v.size == 1 and v.dtype.kind in "fiu"}


def unpacked(array: npt.NDArray[Any], item: Any) -> npt.NDArray[Any]:
    """The numbers that an array stands for, NaN where it says that a value is missing."""
    packing = packing_of(item)
    if not packing:
        return array
    known = array != item.attrs.get("_FillValue", np.nan)
    values = array * packing.get("scale_factor", 1.0) + packing.get("add_offset", 0.0)
    return np.where(known, values, np.nan)


def attribute(item: Any, name: str) -> str:
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
