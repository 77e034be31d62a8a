"""Stores that change while they are fitted: one error that names the chunk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES

from pyspec.errors import DataError
from pyspec.fit import fit_model
from pyspec.io import by_reference
from pyspec.model import Measurement
from pyspec.model.data import source as sources

N_ROWS, CHUNK = 48, 6


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK", 20_000)
    monkeypatch.setattr(sources, "SEEN", 1)


def series() -> tuple[Any, Any]:
    model, _ = CASES["a series"]()[0]
    model.set_axes(energy=model.energy, time=np.linspace(-10.0, 50.0, N_ROWS))
    return model, np.random.default_rng(5).normal(model.evaluate(), 0.1)


def fit_while(change: Callable[[], object], store: Any, **given: Any) -> Any:
    """A fit, in the fourth evaluation of which the store changes."""
    model, _ = series()
    held: Any = by_reference(store, **given)

    def report(nfev: int, chisqr: float, best: float) -> None:
        if nfev == 4:
            change()

    return fit_model(model, Measurement(data=held), progress=report)


def hdf5(path: Path, data: Any) -> Any:
    h5py = pytest.importorskip("h5py")
    file = h5py.File(path / "run.h5", "w", libver="latest")
    shape = (None, data.shape[1])
    file.create_dataset("data", data=data, maxshape=shape, chunks=(CHUNK, data.shape[1]))
    file.flush()
    return file


def other_process(code: str, path: Path) -> None:
    env = {**os.environ, "HDF5_USE_FILE_LOCKING": "FALSE"}
    subprocess.run([sys.executable, "-c", code, str(path)], env=env, check=True)


GROWS = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "r+") as file:
    data = file["data"]
    data.resize(60, axis=0)
    data[48:] = np.ones((12, data.shape[1]))
"""

CHANGES = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as file:
    file["data"][31] += 1
"""

GREW = "run.h5:/data grows while it is fitted: it had 48 rows .* now 60, with chunks 8 to 9, rows"
CHANGED = r"chunk 5, rows 30 to 35, changed while the data were fitted"


@pytest.mark.parametrize(
    ("code", "message", "is_held"), [(GROWS, GREW, True), (CHANGES, CHANGED, False)]
)
def test_a_file_of_hdf5_that_another_process_writes_to(
    is_held: bool, code: str, message: str, tmp_path: Path
) -> None:
    h5py = pytest.importorskip("h5py")
    hdf5(tmp_path, series()[1]).close()
    path = tmp_path / "run.h5"
    file = h5py.File(path, "r")
    held = by_reference(file["data"])
    if not is_held:
        file.close()
    with pytest.raises(DataError, match=message):
        fit_while(lambda: other_process(code, path), held)


def in_zarr(path: Path, data: Any) -> Any:
    zarr = pytest.importorskip("zarr")
    given = {"shape": data.shape, "chunks": (CHUNK, 30), "dtype": data.dtype}
    store = zarr.open(str(path / "run.zarr"), mode="w", **given)
    store[:] = data
    return store


def test_a_store_of_zarr(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    _, data = series()
    store = in_zarr(tmp_path, data)
    held = zarr.open(str(tmp_path / "run.zarr"), mode="r")
    name = "run.zarr grows while it is fitted: it had 48 rows .* now 60, with chunks 8 to 9, rows"
    with pytest.raises(DataError, match=name):
        fit_while(lambda: store.append(np.ones((12, data.shape[1]))), held)
    store.resize(data.shape)

    def change() -> None:
        store[31, 4] = 7.0

    with pytest.raises(DataError, match=f"run.zarr: {CHANGED}"):
        fit_while(change, held)
    with pytest.raises(DataError, match=r"run.zarr has shape \(40, 81\), it had \(48, 81\)"):
        fit_while(lambda: store.resize((40, data.shape[1])), held)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_mapped_file(mode: Any, tmp_path: Path) -> None:
    """A file that was cut off ended the process: its pages were mapped to nothing."""
    _, data = series()
    path = tmp_path / "run.dat"
    data.tofile(path)

    def mapped() -> Any:
        return np.memmap(path, data.dtype, mode, shape=data.shape)

    def append(n_bytes: int) -> None:
        with path.open("ab") as file:
            file.write(bytes(n_bytes))

    def change() -> None:
        with path.open("r+b") as file:
            file.seek(data[:31].nbytes)
            file.write(np.ones(4).tobytes())

    assert fit_while(lambda: append(10), mapped()).success  # not yet a row
    grew = "run.dat grows while it is fitted: .* now 49, with chunk 8, row 48;"
    with pytest.raises(DataError, match=grew):
        fit_while(lambda: append(data[0].nbytes), mapped(), rows=CHUNK)
    os.truncate(path, data.nbytes)
    with pytest.raises(DataError, match=f"run.dat: {CHANGED}"):
        fit_while(change, mapped(), rows=CHUNK)
    data.tofile(path)
    with pytest.raises(DataError, match=r"run.dat has shape \(40, 81\), it had \(48, 81\)"):
        fit_while(lambda: os.truncate(path, data[:40].nbytes), mapped())
