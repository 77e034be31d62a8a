"""Maps: every spectrum fitted, what is written counts, what is not is fitted again."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign.maps import MODEL
from support.later import later

from pyspec import DataError, FitError, Measurement, Model, fit_map, fit_slices, load_model
from pyspec.errors import ModelWarning
from pyspec.workflow.maps import block as block_module
from pyspec.workflow.maps.findings import with_findings
from pyspec.workflow.maps.store import BLOCKS

xarray = later("xarray")
zarr = later("zarr")
dask = later("dask.array")

ENERGY = np.linspace(80.0, 88.0, 60)


@pytest.fixture
def peak() -> Model:
    return load_model(MODEL, "peak")


@pytest.fixture
def scan() -> Any:
    return made()


def made() -> Any:
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


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map's store."""
    store = tmp_path_factory.mktemp("stored") / "map.zarr"
    fit_map(load_model(MODEL, "peak"), made(), store)
    return store


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


@pytest.mark.slow
def test_a_map_says_where_parameters_are_at_their_bounds(
    peak: Model, scan: Any, tmp_path: Path
) -> None:
    """Positions at their bounds were "converged", and only their standard errors were NaN."""
    peak.set("GLP_01_x0", 84.0, min=83.8, max=84.2)
    store = tmp_path / "map.zarr"
    with pytest.warns(ModelWarning, match=r"map of peak: in \d+ of 47 spectra GLP_01_x0 lies at"):
        found = fit_map(peak, scan.where(scan.y + scan.x > 0.0), store)
    low, high = (int((found.GLP_01_x0 == end).sum()) for end in (83.8, 84.2))
    assert min(low, high) > 4
    (said,) = found.attrs["findings"].splitlines()
    assert said.startswith(
        f"in {low + high} of 47 spectra GLP_01_x0 lies at a bound ({low} at its min 83.8, {high} "
        "at its max 84.2)"
    )
    assert found.GLP_01_x0.attrs["finding"] == said
    assert int(found.GLP_01_x0_stderr.isnull().sum()) == low + high + 1
    assert xarray.open_zarr(store).identical(found)  # it had none
    assert xarray.open_zarr(store, consolidated=False).identical(found)
    old = found.drop_attrs()
    old.attrs = {k: text for k, text in found.attrs.items() if k != "findings"}
    with pytest.warns(ModelWarning):  # a store of before says the same
        assert with_findings(old).attrs == found.attrs
    peak.set("GLP_01_x0", 84.0, min=82.0, max=86.0)
    wide = fit_map(peak, scan, tmp_path / "wide.zarr")
    assert wide.attrs["findings"] == ""
    assert "finding" not in wide.GLP_01_x0.attrs
    assert xarray.open_zarr(tmp_path / "wide.zarr").identical(wide)


def test_the_same_call_goes_on(
    peak: Model, scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, scan = tmp_path / "map.zarr", scan[:4]
    whole = fit_map(peak, scan, tmp_path / "whole.zarr", block_size=8).load()
    fit_map(peak, scan, store, block_size=8)
    root = zarr.open_group(str(store), mode="r+")
    root[f"{BLOCKS}/results"][1, 0] = -1  # killed before the marker
    root["GLP_01_A"][0:1, :] = np.nan  # a write that did not reach the disk
    torn = store / "chisqr" / "3.0"
    torn.write_bytes(torn.read_bytes()[:20])
    fitted = []
    real = block_module.fit_rows
    monkeypatch.setattr(
        block_module, "fit_rows", lambda job, rows: fitted.append(1) or real(job, rows)
    )
    seen: list[tuple[int, int]] = []
    again = fit_map(peak, scan, store, progress=lambda *at: seen.append(at)).load()
    assert len(fitted) == 3
    assert seen == [(8, 32), (16, 32), (24, 32), (32, 32)]
    assert again.identical(whole)


def test_a_spectrum_that_fails_has_its_message(peak: Model, scan: Any, tmp_path: Path) -> None:
    scan[1, 2, 30] = np.nan
    scan[4, 7] = np.inf
    sigma = xarray.full_like(scan, 0.3)
    sigma[2, 3] = 0.0
    mask = xarray.zeros_like(scan, dtype=bool)
    mask[5, 5] = True  # a dead pixel
    mask[1, 2, 30] = True
    found = fit_map(peak, scan, tmp_path / "map.zarr", sigma=sigma, mask=mask)
    failed = found.status.values == "failed"
    assert sorted(zip(*np.nonzero(failed), strict=True)) == [(2, 3), (4, 7), (5, 5)]
    assert "NaN or infinite" in str(found.message.values[4, 7])
    assert "weight is not finite" in str(found.message.values[2, 3])
    assert "mask" in str(found.message.values[5, 5])
    assert np.isnan(found.GLP_01_A.values[failed]).all()
    assert (found.status.values[~failed] == "converged").all()
    assert found.redchi.values[0, 0] < 2.0


def test_axes_may_have_any_order(peak: Model, scan: Any, stored: Path, tmp_path: Path) -> None:
    first = xarray.open_zarr(stored).load()
    turned = fit_map(peak, scan.transpose("energy", "y", "x"), tmp_path / "turned.zarr").load()
    assert turned.identical(first)


def test_counts_windows_and_start_values(peak: Model, tmp_path: Path) -> None:
    clean = 30.0 + 180.0 * np.exp(-(((ENERGY - 84.0) / 0.6) ** 2))
    data = np.random.default_rng(1).poisson(clean, (2, 5, 60)).astype(np.uint16)
    scan = xarray.DataArray(data, dims=("a", "b", "e"), coords={"e": ENERGY})
    starts = xarray.DataArray(np.linspace(83.0, 85.0, 5), dims="b")
    options: dict[str, Any] = {"counts": True, "energy_limits": [82, None]}
    seeds = {"GLP_01_x0": starts, "GLP_01_m": 0.2}
    found = fit_map(peak, scan, tmp_path / "map.zarr", seed_values=seeds, **options)
    peak.set_axes(energy=ENERGY)
    begin = int(np.argmax(ENERGY >= 82))
    plain = fit_slices(
        peak,
        Measurement(data[1], columns=(begin, 60), loss="poisson"),
        seeds=[{"GLP_01_x0": x0, "GLP_01_m": 0.2} for x0 in starts.values],
        scale_covar=False,
    )
    np.testing.assert_array_equal(found.GLP_01_A.values[1], plain.values["GLP_01_A"])
    np.testing.assert_array_equal(found.GLP_01_A_stderr.values[1], plain.stderr["GLP_01_A"])
    assert (found.GLP_01_m == 0.2).all()


def test_a_store_of_something_else_is_refused(
    peak: Model, scan: Any, stored: Path, tmp_path: Path
) -> None:
    store = shutil.copytree(stored, tmp_path / "map.zarr")
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    other = peak.copy()
    other.set("GLP_01_A", 21.0)
    with pytest.raises(DataError, match=r"of another model: .*18.* there, .*21.* now"):
        fit_map(other, scan, store)
    with pytest.raises(DataError, match=r"of other settings of the fit: columns"):
        fit_map(peak, scan, store, energy_limits=[82, 86])
    with pytest.raises(DataError, match=r"of other settings of the fit: tolerance"):
        fit_map(peak, scan, store, tolerance=1e-3)
    with pytest.raises(DataError, match=r"of other data: axes x"):
        fit_map(peak, scan.assign_coords(x=scan.x + 1), store)
    other = scan.copy(deep=True)
    other[5, 3, 5] += 1e-9  # of some written blocks alone the data were read again
    with pytest.raises(DataError, match=r"of other data: those at y 3:6, x 0:8"):
        fit_map(peak, other, store)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"folder exists and is no store of a map"):
        fit_map(peak, scan, tmp_path / "folder")
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "map.zarr"]


def test_wrong_calls(peak: Model, scan: Any, tmp_path: Path) -> None:
    store = tmp_path / "map.zarr"

    def refused(match: str, error: Any = DataError, *args: Any, **options: Any) -> None:
        with pytest.raises(error, match=match):
            fit_map(*(args or (peak, scan)), store, **options)

    refused(r"not ndarray; write xarray.DataArray\(", DataError, peak, scan.values)
    refused("has no energies; write data = ", DataError, peak, scan.drop_vars("energy"))
    refused("has no axis 'e'", energy="e")
    refused("energy is no axis of .*; keep all energies", DataError, peak, scan.isel(energy=0))
    along = scan.rename(energy="channel").assign_coords(energy=("channel", scan.energy.values))
    refused(r"data.swap_dims\(channel='energy'\)", DataError, peak, along)
    refused("see fit_model", DataError, peak, scan[0, 0])
    refused("holds complex128", DataError, peak, scan.astype(complex))
    refused("cannot be opened as a map", DataError, peak, tmp_path / "none.nc")
    refused("not both", sigma=1.0, counts=True)
    refused("counts is 0; give True, or the counts", counts=0)
    refused("give positive numbers", sigma=np.zeros(60))
    refused("does not have the axes of the map", sigma=scan[:3])
    refused("the axis 'energy', which the map lacks", seed_values={"GLP_01_A": scan})
    refused("have no axes", FitError, seed_values={"GLP_01_A": [1.0, 2.0]})
    refused("GLP_1_A", Exception, seed_values={"GLP_1_A": 1.0})
    refused("'argmax_shift' or None", FitError, seed_adapt="max")
    refused("sigma has type <U4; give real numbers", sigma="wide")
    refused("no argument 'energy_limit'; did you mean 'energy_limits'", FitError, energy_limit=[1])
    refused("n_workers", FitError, n_workers=2)
    refused("block_size", FitError, block_size=2.5)
    refused("mask has type int64; give booleans", mask=(scan > 1e9).astype(np.int64))
    refused("mask has type int64; give booleans", mask=np.zeros(60, np.int64))
    refused("client", FitError, client="tcp://localhost:8786")
    with pytest.raises(DataError, match="no address"):
        fit_map(peak, scan, "s3://bucket/map.zarr")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"map.zarr cannot be made: .*; give another store="):
        fit_map(peak, scan, tmp_path / "file" / "map.zarr")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_chunk_that_cannot_be_read(peak: Model, scan: Any, stored: Path, tmp_path: Path) -> None:
    scan.chunk({"y": 2}).to_dataset(name="counts").to_zarr(tmp_path / "data.zarr", zarr_format=2)
    bad = tmp_path / "data.zarr" / "counts" / "1.0.0"
    kept = bad.read_bytes()
    bad.write_bytes(kept[:50])
    store = tmp_path / "map.zarr"
    with pytest.raises(DataError, match=r"the block y 2:4, x 0:8 could not be read.*tries again"):
        fit_map(peak, tmp_path / "data.zarr", store, block_size=16)
    found = xarray.open_zarr(store)
    assert (found.status[2:4] == "").all()
    assert (found.status[:2] == "converged").all()
    assert (found.status[4:] == "converged").all()
    bad.write_bytes(kept)
    whole = fit_map(peak, tmp_path / "data.zarr", store).load()
    assert whole.drop_attrs().identical(xarray.open_zarr(stored).load().drop_attrs())


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_written(peak: Model, scan: Any, tmp_path: Path) -> None:
    store = tmp_path / "map.zarr"

    def interrupt(done: int, total: int) -> None:
        if done == 16:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="the same call goes on"):
        fit_map(peak, scan, store, block_size=8, progress=interrupt)
    assert (xarray.open_zarr(store).status != "").sum() == 16
    seen: list[int] = []
    found = fit_map(peak, scan, store, progress=lambda done, total: seen.append(done)).load()
    assert seen == [16, 24, 32, 40, 48]
    assert found.identical(fit_map(peak, scan, tmp_path / "whole.zarr", block_size=8).load())


@pytest.mark.parametrize("library", ["zarr", "dask", "xarray"])
def test_without_the_libraries(
    peak: Model, scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataError, match=rf"needs {library}.*pip install 'pyspec-fit\[zarr\]'"):
        fit_map(peak, scan, tmp_path / "map.zarr")
