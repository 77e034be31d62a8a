"""Arrays that read from a store of zarr which is moved, and such in tiny chunks."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.later import later

from pyspec import File, Measurement, fit_model, load_model
from pyspec.errors import DataError
from pyspec.io.sources.arrays import by_reference

zarr = later("zarr")
if version("zarr") < "3":
    pytest.skip("needs zarr 3", allow_module_level=True)
xarray = later("xarray")
dask_array = later("dask.array")

ENERGY, TIME = np.linspace(80.0, 88.0, 41), np.linspace(-1.0, 5.0, 60)
VALUES = np.full((60, 1), 2.0) * np.exp(-0.5 * (ENERGY - 84.0) ** 2) + 1.0


def store(folder: Path) -> Path:
    data = xarray.DataArray(VALUES, dims=("time", "energy"), name="d").to_dataset()
    data.chunk({"time": 20}).to_zarr(folder, consolidated=False)
    return folder


def by_xarray(path: Path) -> Any:
    return xarray.open_zarr(path, consolidated=False, chunks=None)["d"]


def in_chunks(path: Path) -> Any:
    return xarray.open_zarr(path, consolidated=False)["d"]


def computed(path: Path) -> Any:
    return in_chunks(path) * 2.0 + 1.0


def by_dask(path: Path) -> Any:
    return dask_array.from_zarr(str(path / "d"))


def by_zarr(path: Path) -> Any:
    return zarr.open_array(path / "d", mode="r")


KINDS = pytest.mark.parametrize("opened", [by_xarray, in_chunks, computed, by_dask, by_zarr])


@KINDS
def test_a_store_that_was_moved_is_named(opened: Callable[[Path], Any], tmp_path: Path) -> None:
    """zarr gives fill values for what it does not find: they are not fitted."""
    path = store(tmp_path / "scan.zarr")
    source = by_reference(opened(path))
    model = load_model(
        "m:\n  Offset: {y0: [1, True]}\n  Gauss: {A: [2, True], x0: [84, True], SD: [1, True]}", "m"
    )
    model.set_axes(energy=ENERGY, time=TIME)
    assert fit_model(model, Measurement(data=source)).success
    shutil.move(path, tmp_path / "moved.zarr")
    with pytest.raises(DataError, match=r"is no longer where it was opened .*; open it where"):
        fit_model(model, Measurement(data=source))


@pytest.mark.parametrize("opened", [by_xarray, in_chunks, by_zarr])
def test_a_store_that_is_gone_before_it_is_read(
    opened: Callable[[Path], Any], tmp_path: Path
) -> None:
    """Small data would be loaded, as fill values alone."""
    path = store(tmp_path / "scan.zarr")
    data = opened(path)
    shutil.rmtree(path)
    with pytest.raises(DataError, match="is no longer where it was opened"):
        by_reference(data)
    with pytest.raises(DataError, match="is no longer where it was opened"):
        File(data=data, energy=ENERGY, time=TIME)


def test_tiny_chunks_of_dask_are_warned_of() -> None:
    values = np.ones((3000, 40))
    with pytest.warns(UserWarning, match=r"3000 chunks of 1 row, .*rechunk\(\{0: 3000\}\)"):
        by_reference(dask_array.from_array(values, chunks=(1, -1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_reference(dask_array.from_array(values, chunks=(500, -1)))
        by_reference(dask_array.from_array(values[:100], chunks=(1, -1)))
