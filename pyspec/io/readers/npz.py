"""NPZ: NumPy arrays by name."""

from __future__ import annotations

from zipfile import ZipFile

import numpy as np

from pyspec.io.arrays import Entry, choose
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start
from pyspec.io.sizes import check_size


def sniff(start: Start) -> bool:
    """A zip archive whose first member is a ``.npy`` file."""
    return start.starts_with(b"PK\x03\x04") and b".npy" in start.raw[:300]


def read(request: Request) -> RawTable:
    """Arrays of numbers by name; objects are never unpickled."""
    path = request.path
    with ZipFile(path) as archive:
        check_size(path, "the archive", sum(entry.file_size for entry in archive.infolist()))
    with np.load(path, allow_pickle=False) as arrays:
        entries = []
        for name in arrays.files:
            array = arrays[name]
            if isinstance(array, np.ndarray) and array.dtype.kind in "fiuc" and array.ndim:
                entries.append(Entry.of(name, array))
    return choose(path, "NPZ", entries, request)
