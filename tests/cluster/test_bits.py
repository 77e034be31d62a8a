"""A fit whose rows are summed by several processes: the bits of the fit in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster, long_series
from support.later import later
from support.separable import measured, settled

from pyspec.fit import fit_joint, fit_model
from pyspec.io import by_reference
from pyspec.model import Measurement

later("distributed")

pytestmark = pytest.mark.slow

NAMES = ["a series", "weights and a mask", "a window", "counts", "three files"]


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_give_the_bits_of_one(name: str, two: Any) -> None:
    model, measurement = long_series(name)
    result = fit_model(model, measurement, client=two)
    assert_same(result, fit_model(model, measurement))
    assert result.spent.workers == 2
    assert "outside of the sums" in str(result)


def in_dask(data: Any, rows: int, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(data, chunks=(rows, -1))


def in_zarr(data: Any, rows: int, folder: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    path = str(folder / "data.zarr")
    store = zarr.open(path, mode="w", shape=data.shape, chunks=(rows, 30), dtype=data.dtype)
    store[:] = data
    return zarr.open(path, mode="r")


def in_hdf5(data: Any, rows: int, folder: Path) -> Any:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset("data", data=data, chunks=(rows, data.shape[1]))
    return h5py.File(folder / "data.h5")["data"]


def in_npy(data: Any, rows: int, folder: Path) -> Any:
    np.save(folder / "data.npy", data)
    return np.load(folder / "data.npy", mmap_mode="r")


@pytest.mark.parametrize("store", [in_dask, in_zarr, in_hdf5, in_npy])
@pytest.mark.parametrize("rows", [13, 1001])
@pytest.mark.parametrize("name", ["weights and a mask", "three files"])
def test_chunks_of_any_size(name: str, rows: int, store: Any, two: Any, tmp_path: Path) -> None:
    model, measurement = long_series(name)
    held: Any = by_reference(store(np.asarray(measurement.data), rows, tmp_path))
    result = fit_model(model, replace(measurement, data=held), client=two)
    assert_same(result, fit_model(model, measurement))


@pytest.mark.parametrize("isas", [("AVX2", "BASELINE"), ("AVX2", "", "", "BASELINE")])
def test_workers_of_different_builds_agree_on_the_narrowest(isas: tuple[str, ...]) -> None:
    wide = Measurement(measured(301, 330)[0])
    with cluster(isas) as client, cluster(["BASELINE"]) as alone:
        cases = [*(long_series(name) for name in NAMES), (settled(301, 330), wide)]
        for model, measurement in cases:
            result = fit_model(model, measurement, client=client)
            assert result.spent.isa == "BASELINE"
            assert result.spent.workers == len(isas)
            assert_same(result, alone.submit(fit_model, model, measurement).result())


@pytest.mark.parametrize("store", [None, in_dask, in_zarr])
def test_workers_are_asked_only_where_data_are_read(store: Any, two: Any, tmp_path: Path) -> None:
    """Of spectra that are shapes times traces; one file, and two with sigma by row."""
    data, sigma = measured(301, 330)
    parts = []
    for k in (1, 2):
        weight = np.broadcast_to(1.0 / (k * sigma), data.shape)
        parts.append((settled(301, 330), Measurement(k * data, weight=weight)))
    held = []
    for k, (model, measurement) in enumerate(parts):
        folder = tmp_path / str(k)
        folder.mkdir()
        given = np.asarray(measurement.data)
        own: Any = given if store is None else by_reference(store(given, 31, folder))
        held.append((model, replace(measurement, data=own)))
    expected = fit_model(*parts[0])
    result = fit_model(*held[0], client=two)
    assert_same(result, expected)
    assert 1 < result.spent.evaluations < result.nfev - 2
    joint, again = fit_joint(parts).joint, fit_joint(held, client=two).joint
    assert_same(again, joint)
    assert 1 < again.spent.evaluations < again.nfev - 2
