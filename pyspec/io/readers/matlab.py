"""MATLAB .mat: named arrays, of versions 5 to 7 through SciPy and 7.3 through h5py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyspec.io.arrays import Entry, choose
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, begins_with
from pyspec.io.readers.hdf5 import entries_of, noted, opened
from pyspec.io.sizes import check_size

#: Structures in structures are looked through this deep.
_DEEPEST = 4


#: Whether a file is of this format, by its first bytes.
sniff = begins_with(b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file")


def read(request: Request) -> RawTable:
    """Arrays by name, fields of structures as "name.field"; nothing in the file is executed."""
    path = request.path
    if Start.of(path).starts_with(b"MATLAB 7.3"):
        with opened(path) as file:
            every = entries_of(path, file, transposed=True)
            entries = [entry for entry in every if not entry.name.startswith("#")]
            return noted(choose(path, "MATLAB 7.3", entries, request), path, file)
    from scipy.io import loadmat, whosmat  # heavy, and few files are of MATLAB

    for name, shape, _ in whosmat(str(path), appendmat=False):
        check_size(path, name, 8 * int(np.prod(shape, dtype=np.float64)))
    entries = []
    for name, value in loadmat(str(path), appendmat=False, chars_as_strings=True).items():
        if not name.startswith("__"):
            entries += list(_entries(name, value, 0))
    return choose(path, "MATLAB", entries, request)


def _entries(name: str, value: object, depth: int) -> Iterator[Entry]:
    if not isinstance(value, np.ndarray) or depth > _DEEPEST:
        return
    if value.dtype.names and value.size == 1:
        for field in value.dtype.names:
            yield from _entries(f"{name}.{field}", value.ravel()[0][field], depth + 1)
    elif value.dtype.kind in "fiu" and value.size > 1:
        lines = value.ndim == 2 and 1 in value.shape
        array = value.ravel() if lines else value
        yield Entry.of(name, array)
