"""Nested dicts of plain values and arrays as groups and datasets of an HDF5 file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyspec.errors import DataError

#: Arrays from this size on are compressed.
_COMPRESSED = 4096


def write_tree(h5py: Any, group: Any, values: Mapping[str, Any], where: str = "") -> None:
    """Writes strings, numbers, booleans, arrays, lists and dicts; None is left out.

    A list of strings becomes one dataset, any other list a group with numbered members.
    """
    for key, value in values.items():
        place = f"{where}/{key}"
        if not isinstance(key, str) or not key or "/" in key or key == ".":
            raise DataError(f"{where or '/'}: {key!r} cannot be a name in an archive")
        if value is None:
            continue
        if isinstance(value, Mapping):
            write_tree(h5py, group.create_group(key, track_order=True), value, place)
        elif isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
            group.create_dataset(key, data=list(value), shape=(len(value),), dtype=_text(h5py))
        elif isinstance(value, (list, tuple)):
            inner = group.create_group(key, track_order=True)
            inner.attrs["list"] = len(value)
            write_tree(h5py, inner, {str(k): one for k, one in enumerate(value)}, place)
        elif isinstance(value, str):
            group.create_dataset(key, data=value, dtype=_text(h5py))
        else:
            _write_numbers(group, key, value, place)


def _text(h5py: Any) -> Any:
    return h5py.string_dtype("utf-8")


def _write_numbers(group: Any, key: str, value: Any, place: str) -> None:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{place}: {type(value).__name__} cannot be archived; use text, numbers, arrays, "
            "lists and dicts of them"
        )
    large = array.size >= _COMPRESSED
    how = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if large else {}
    group.create_dataset(key, data=array, **how)


def read_tree(h5py: Any, group: Any) -> Any:
    """The same again: dicts, lists, str, bool, int, float and arrays."""
    if "list" in group.attrs:
        size = int(group.attrs["list"])
        return [_read(h5py, group[str(k)]) if str(k) in group else None for k in range(size)]
    return {key: _read(h5py, item) for key, item in group.items()}


def _read(h5py: Any, item: Any) -> Any:
    if isinstance(item, h5py.Group):
        return read_tree(h5py, item)
    if h5py.check_string_dtype(item.dtype) is not None:
        return item.asstr()[()] if item.shape == () else [str(one) for one in item.asstr()[()]]
    value = item[()]
    return value.item() if item.shape == () else np.asarray(value)
