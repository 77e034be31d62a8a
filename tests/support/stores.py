"""Stores of data by reference: as users have them, and one that notes what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


class Rows:
    """A store that notes the rows it is asked for, in order; those of `broken` cannot be read."""

    def __init__(self, array: Any, chunk: int | None = None, broken: range = range(0)) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.asked: list[int] = []
        self.broken = broken
        if chunk:
            self.chunks = (chunk, array.shape[1])

    def __getitem__(self, key: slice) -> Any:
        rows = range(key.start, key.stop)
        self.asked += rows
        if set(rows) & set(self.broken):
            raise OSError("checksum of the chunk is wrong")
        return self.array[key]


def hdf5(path: Path, values: Any, name: str = "data") -> Any:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / f"{name}.h5", "w") as file:
        chunks = (min(10, len(values)), values.shape[1])
        file.create_dataset("entry/data", data=values, chunks=chunks, compression="gzip")
    return h5py.File(path / f"{name}.h5")["entry/data"]


def in_zarr(path: Path, values: Any, name: str = "data") -> Any:
    options = {"shape": values.shape, "chunks": (13, 20), "dtype": values.dtype}
    array = pytest.importorskip("zarr").open(str(path / f"{name}.zarr"), mode="w", **options)
    array[:] = values
    return array


def memmap(path: Path, values: Any, name: str = "data") -> Any:
    np.save(path / f"{name}.npy", values)
    return np.load(path / f"{name}.npy", mmap_mode="r")


def dask(path: Path, values: Any, name: str = "data") -> Any:
    return pytest.importorskip("dask.array").from_array(values, chunks=(17, -1))


def xarray(path: Path, values: Any, name: str = "data") -> Any:
    return pytest.importorskip("xarray").DataArray(values, dims=("time", "energy"))


def chunked_xarray(path: Path, values: Any, name: str = "data") -> Any:
    pytest.importorskip("dask.array")
    return xarray(path, values).chunk({"time": 11})


Store = Callable[..., Any]
#: Puts values of a name into a folder.
STORES: dict[str, Store] = {
    "hdf5": hdf5,
    "zarr": in_zarr,
    "memmap": memmap,
    "dask": dask,
    "xarray": xarray,
    "chunked xarray": chunked_xarray,
}
