"""The file formats that pyspec reads, one file each.

A new format is a file here that defines ``READER``, and a line in `NAMES`.
"""

from __future__ import annotations

from importlib import import_module

from pyspec.io.reader import Reader

#: Asked in this order whether a file is theirs; `text` takes every text, so it comes last.
NAMES = (
    "npy",
    "npz",
    "scienta_zip",
    "netcdf",
    "nexus",
    "matlab",
    "hdf5",
    "igor_ibw",
    "opus",
    "phi",
    "vamas",
    "igor_itx",
    "specs_xy",
    "scienta_txt",
    "jcamp",
    "emsa",
    "xdi",
    "glotaran",
    "sia",
    "text",
)

#: Name → reader, in that order.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (import_module(f"pyspec.io.readers.{name}").READER for name in NAMES)
}

#: What `format=` takes: names, and endings.
WORDS = list(dict.fromkeys([*READERS, *(end for one in READERS.values() for end in one.endings)]))

__all__ = ["NAMES", "READERS", "WORDS"]
