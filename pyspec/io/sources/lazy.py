"""Files whose data stay where they are: ``read(path, lazy=True)``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.io.arrays import Entry, choose
from pyspec.io.coding import Coding
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Reader, Request, Start
from pyspec.io.readers import READERS
from pyspec.io.readers.hdf5 import coding_of, entries_of, noted, opened
from pyspec.io.readers.netcdf import open_netcdf, raw_table_of_netcdf
from pyspec.io.sources.arrays import by_reference
from pyspec.model.data.source import Source

#: What marks the folder of a zarr store, of version 2 and 3.
_ZARR = (".zgroup", ".zarray", "zarr.json")


def is_zarr(path: Path) -> bool:
    """Whether a folder is a store of zarr."""
    return any((path / name).is_file() for name in _ZARR)


def lazy_reader(path: Path, format: str | None) -> Reader:
    """The reader of a file whose data can stay there.

    Raises :class:`DataError` for formats whose data are text, or packed otherwise.
    """
    if is_zarr(path):
        if format not in (None, "zarr"):
            raise DataError(f"{path}: is a store of zarr; leave format= out")
        return Reader("zarr", "zarr", (), lambda _: True, _zarr, ("data", "errors"))
    readers = {"netcdf": _netcdf, "hdf5": _hdf5, "npy": _npy}
    start = Start.of(path)
    for name, read in readers.items():
        if format == name or (format is None and READERS[name].sniff(start)):
            return replace(READERS[name], read=read)
    raise DataError(
        f"{path}: data stay in files of {', '.join(readers)} and zarr alone; leave lazy= out, or "
        "store them as one of these"
    )


def _in_place(path: Path, entry: Entry, array: Any, coding: Coding, remedy: str) -> Entry:
    """An array that is loaded where it is a line, and stays where it is else.

    Then loading raises :class:`DataError` for numbers that stand for others: a fit would take them
    as they are."""

    def stored() -> Source:
        if coding.names:
            raise DataError(
                f"{path}:{entry.name}: the values are coded ({', '.join(coding.names)}); {remedy}"
            )
        return by_reference(array)

    return entry if len(entry.shape) < 2 else replace(entry, load=stored)


def _hdf5(request: Request) -> RawTable:
    path = request.path
    with opened(path) as file:
        entries = [
            _in_place(path, entry, item, coding_of(item), "leave lazy= out")
            for entry in entries_of(path, file)
            for item in (file[entry.name],)
        ]
        return noted(choose(path, "HDF5", entries, request), path, file)


def _netcdf(request: Request) -> RawTable:
    return raw_table_of_netcdf(open_netcdf(request.path, cache=False), request, lazy=True)


def _npy(request: Request) -> RawTable:
    array = np.load(request.path, mmap_mode="r", allow_pickle=False)
    return RawTable(
        by_reference(array), [None, None], notes=[f"NPY, {array.dtype}, no axes inside"]
    )


def _zarr(request: Request) -> RawTable:
    path = request.path
    zarr = need("zarr", f"{path}: a store of zarr", "zarr")
    store = zarr.open(str(path), mode="r")
    arrays = [(path.stem, store)] if hasattr(store, "shape") else list(store.arrays())
    entries = [
        _zarr_entry(path, name, array)
        for name, array in arrays
        if np.dtype(array.dtype).kind in "fiub" and array.shape
    ]
    return choose(path, "zarr", entries, request)


def _zarr_entry(path: Path, name: str, array: Any) -> Entry:
    attrs = dict(array.attrs)
    coding = Coding.of(attrs)

    def load() -> npt.NDArray[np.generic]:
        return coding.decode(np.asarray(array[...]))

    dims = attrs.get("_ARRAY_DIMENSIONS") or getattr(array.metadata, "dimension_names", None)
    scales = tuple(dims) if dims else (None,) * len(array.shape)
    entry = Entry(name, tuple(array.shape), load, str(attrs.get("units", "")), scales)
    opened = f"xarray.open_zarr({str(path)!r})[{name!r}]"
    remedy = f"hand over what unpacks them: File(data={opened}, ...)"
    return _in_place(path, entry, array, coding, remedy)
