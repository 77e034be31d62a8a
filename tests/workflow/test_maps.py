"""Maps: every spectrum fitted, what is written counts, what is not is fitted again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, Model, fit_map, fit_slices, load_model
from pyspec.workflow.maps import block as block_module
from pyspec.workflow.maps.store import BLOCKS

xarray = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
dask = pytest.importorskip("dask.array")

MODEL = """
peak:
  Offset:
    y0: [3, True, 0, 100]
  GLP:
    A: [18, True, 0, 1000]
    x0: [84, True, 82, 86]
    F: [1.0, True, 0.1, 5]
    m: [0.3, False]
"""
ENERGY = np.linspace(80.0, 88.0, 60)


@pytest.fixture
def peak() -> Model:
    return load_model(MODEL, "peak")


@pytest.fixture
def scan() -> Any:
    """A map (6, 8) whose peak moves."""
    y, x = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 2.0, 8)
    place = 83.7 + 0.5 * y[:, None] + 0.3 * np.sin(3 * x)
    clean = 3.0 + 18.0 * np.exp(-(((ENERGY - place[..., None]) / 0.6) ** 2))
    data = clean + np.random.default_rng(3).normal(0, 0.3, clean.shape)
    coords = {
        "y": ("y", y, {"units": "mm"}),
        "x": ("x", x),
        "energy": ("energy", ENERGY, {"units": "eV"}),
        "temperature": ("y", 300 + 10 * y),
    }
    units = {"units": "counts/s"}
    return xarray.DataArray(data, dims=("y", "x", "energy"), coords=coords, attrs=units)


def test_a_map_is_the_fits_of_its_spectra(peak: Model, scan: Any, tmp_path: Path) -> None:
    found = fit_map(peak, scan, tmp_path / "map.zarr", seed_adapt=None, block_size=10)
    peak.set_axes(energy=ENERGY)
    plain = fit_slices(peak, Measurement(scan.values.reshape(48, 60)))
    for name in plain.names:
        np.testing.assert_array_equal(found[name].values.ravel(), plain.values[name])
        np.testing.assert_array_equal(found[f"{name}_stderr"].values.ravel(), plain.stderr[name])
    np.testing.assert_array_equal(found.chisqr.values.ravel(), plain.chisqr)
    np.testing.assert_array_equal(found.redchi.values.ravel(), plain.redchi)
    assert found.status.values.ravel().tolist() == list(plain.status)
    assert found.message.values.ravel().tolist() == list(plain.message)
    assert found.GLP_01_x0.dims == ("y", "x")
    assert found.GLP_01_x0.attrs["units"] == "eV"
    assert found.GLP_01_A_stderr.attrs["units"] == "counts/s"
    assert found.y.attrs["units"] == "mm"
    assert found.temperature.dims == ("y",)
    assert "GLP" in found.attrs["model_yaml"]


def test_the_same_call_goes_on(
    peak: Model, scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "map.zarr"
    whole = fit_map(peak, scan, tmp_path / "whole.zarr", block_size=8).load()
    fit_map(peak, scan, store, block_size=8)
    root = zarr.open_group(str(store), mode="r+")
    root[f"{BLOCKS}/results"][1, 0] = -1  # killed before the marker
    root["GLP_01_A"][0:1, :] = np.nan  # a write that did not reach the disk
    torn = store / "chisqr" / "4.0"
    torn.write_bytes(torn.read_bytes()[:20])
    fitted = []
    real = block_module.fit_rows
    monkeypatch.setattr(
        block_module, "fit_rows", lambda job, rows: fitted.append(1) or real(job, rows)
    )
    seen: list[tuple[int, int]] = []
    again = fit_map(peak, scan, store, progress=lambda *at: seen.append(at)).load()
    assert len(fitted) == 3
    assert seen == [(24, 48), (32, 48), (40, 48), (48, 48)]
    assert again.identical(whole)
