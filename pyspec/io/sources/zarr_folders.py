"""Folders of zarr that an array of dask or xarray reads from.

zarr gives fill values for a folder that was moved or removed. A fit would take them for data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspec.errors import DataError


def library_of(array: object) -> str:
    """The library that an array is of, such as "zarr"."""
    return type(array).__module__.split(".")[0]


def folders_of(data: object) -> tuple[Path, ...]:
    """The local folders that are there now, each once.

    Raises :class:`DataError` where one of a store in local files is not.
    """
    folders: dict[Path, None] = {}
    for array in _stored(data):
        store, root = array.store, root_of(array)
        if root is None:
            continue
        folder = Path(str(root))
        if folder.is_dir():
            folders[folder.resolve()] = None
        elif type(store).__name__ in ("LocalStore", "DirectoryStore"):
            refuse_missing([folder])
    return tuple(folders)


def root_of(array: Any) -> str | Path | None:
    """The folder of the store of a zarr array, `root` in zarr 3, `path` in zarr 2; None where it
    has none."""
    return getattr(array.store, "root", None) or getattr(array.store, "path", None)


def refuse_missing(folders: tuple[Path, ...] | list[Path]) -> None:
    """Raises :class:`DataError` for a folder that is not there any more."""
    for folder in folders:
        if not folder.is_dir():
            raise DataError(
                f"{folder.name}, which the data are read from, is no longer where it was opened "
                f"({folder}), and zarr would give fill values in its place; open it where it is now"
            )


def _stored(data: Any) -> Iterator[Any]:
    """Arrays of zarr that a zarr array, or one of dask or xarray, reads from."""
    kind = library_of(data)
    if kind == "zarr":
        yield data
    elif kind == "dask":
        for layer in getattr(data.__dask_graph__(), "layers", {}).values():
            for entry in layer.values() if len(layer) == 1 else ():  # what a whole array reads from
                yield from _within(entry)
    elif kind == "xarray":
        if data.chunks is not None:
            yield from _stored(data.data)
        else:
            yield from _within(getattr(data.variable, "_data", None))


def _within(array: object) -> Iterator[Any]:
    """What xarray has wrapped, layer by layer."""
    while array is not None and library_of(array) == "xarray":
        inner = getattr(array, "array", None)
        array = getattr(array, "_array", None) if inner is None else inner
    if library_of(array) == "zarr" and hasattr(array, "store"):
        yield array
