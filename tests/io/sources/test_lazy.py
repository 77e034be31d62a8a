"""read(path, lazy=True): axes are read, data stay in their file until a fit reads their rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, load_model, read
from pyspec.errors import DataError
from pyspec.model.data.source import Source

MODEL = """
line:
  Offset: {y0: [2, True, 0, 10]}
  Gauss: {A: [9, True, 0, 100], x0: [84, True, 82, 86], SD: [0.6, True, 0.1, 3]}
"""
ENERGY, TIME = np.linspace(80.0, 90.0, 61), np.linspace(-1.0, 5.0, 90)


def counts(dtype: Any = np.uint16) -> Any:
    model = load_model(MODEL, "line")
    model.set_axes(energy=ENERGY, time=TIME)
    return np.random.default_rng(1).poisson(model.evaluate()).astype(dtype)


def hdf5(path: Path, data: Any) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "scan.h5", "w") as file:
        stored = file.create_dataset("entry/counts", data=data, chunks=(7, 61), compression="gzip")
        for k, (name, axis) in enumerate((("delay", TIME), ("energy", ENERGY))):
            file[f"entry/{name}"] = axis
            file[f"entry/{name}"].make_scale(name)
            stored.dims[k].attach_scale(file[f"entry/{name}"])
        file["entry/energy"].attrs["units"] = "eV"
        file["entry/sigma"] = np.sqrt(data + 1.0)
    return path / "scan.h5"


def netcdf(engine: str) -> Callable[[Path, Any], Path]:
    def write(path: Path, data: Any) -> Path:
        xarray = pytest.importorskip("xarray")
        pytest.importorskip(engine)
        coords = {"time": ("time", TIME, {"units": "ps"}), "energy": ("energy", ENERGY)}
        array = xarray.DataArray(data, coords, ("time", "energy"), name="counts")
        array.to_dataset().to_netcdf(path / "scan.nc", engine=engine)
        return path / "scan.nc"

    return write


def in_zarr(path: Path, data: Any) -> Path:
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("zarr")
    coords = {"time": TIME, "energy": ("energy", ENERGY, {"units": "eV"})}
    array = xarray.DataArray(data, coords, ("time", "energy"), name="counts")
    found = xarray.Dataset({"counts": array, "sigma": np.sqrt(array + 1.0)})
    found.to_zarr(path / "scan.zarr", encoding={"counts": {"chunks": (8, 30)}}, zarr_format=2)
    return path / "scan.zarr"


def npy(path: Path, data: Any) -> Path:
    np.save(path / "scan.npy", data)
    return path / "scan.npy"


STORES = {
    "hdf5": hdf5,
    "NetCDF 4": netcdf("h5netcdf"),
    "NetCDF 3": netcdf("scipy"),
    "zarr": in_zarr,
    "npy": npy,
}


@pytest.mark.parametrize("name", STORES)
def test_a_file_is_fitted_where_it_is(name: str, tmp_path: Path) -> None:
    data = counts(np.int16 if name == "NetCDF 3" else np.uint16)
    path = STORES[name](tmp_path, data)
    given: dict[str, Any] = {"data": "counts"} if name in ("hdf5", "zarr") else {}
    if name == "npy":
        given = {"energy": ENERGY, "time": TIME}
    scan = read(path, lazy=True, **given)
    assert isinstance(scan.data, Source)
    assert scan.dims == ("time", "energy")
    assert scan.data.dtype == data.dtype
    assert "by reference" in str(scan)
    np.testing.assert_allclose(scan.energy, ENERGY)
    np.testing.assert_array_equal(np.asarray(scan.data), data)
    part = scan.select(time=(0.0, 3.0), energy=(81.0, 89.0))
    assert isinstance(part.data, Source)
    np.testing.assert_array_equal(
        np.asarray(part.data), data[np.ix_((TIME >= 0) & (TIME <= 3), np.abs(ENERGY - 85) <= 4)]
    )
    (tmp_path / "models.yaml").write_text(MODEL)
    results = []
    for values in (scan, data):
        if values is scan:
            file = File.from_dataset(scan, Project(tmp_path))
        else:
            file = File(Project(tmp_path), data=data, energy=ENERGY, time=TIME)
        file.load_model("models.yaml", "line")
        file.set_noise("poisson")
        results.append(file.fit_2d("line"))
    assert results[0].theta.tobytes() == results[1].theta.tobytes()
    assert dict(results[0].stderr) == dict(results[1].stderr)


def test_errors_stay_there_too(tmp_path: Path) -> None:
    for path in (hdf5(tmp_path, counts()), in_zarr(tmp_path, counts())):
        scan = read(path, data="counts", errors="sigma", lazy=True)
        assert isinstance(scan.errors, Source)
        file = File(Project(tmp_path), **scan.for_file() | {"name": "scan"})
        file.set_noise("gaussian", sigma=scan.errors)
        (tmp_path / "models.yaml").write_text(MODEL)
        file.load_model("models.yaml", "line")
        assert file.fit_2d("line").success


def test_what_cannot_stay_is_one_error(tmp_path: Path) -> None:
    data = counts()
    path = hdf5(tmp_path, data)
    # The data were loaded, however large they are, under a note that they stay where they are.
    with pytest.raises(DataError, match="jacobian= needs the data in memory; leave lazy= out"):
        read(path, data="counts", lazy=True, to="nm", jacobian=True)
    store = in_zarr(tmp_path, data)
    with pytest.raises(DataError, match=r"is a store of zarr, .* lazy=True"):
        read(store)
    xarray = pytest.importorskip("xarray")
    coords = {"time": TIME, "energy": ENERGY}
    array = xarray.DataArray(data.astype(float), coords, ("time", "energy"), name="counts")
    array.T.to_dataset().to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(DataError, match=r"stored as \(energy, time\), and cannot be turned"):
        read(tmp_path / "other.nc", lazy=True)
    packing = {"counts": {"scale_factor": 0.5, "dtype": "i4", "_FillValue": -1}}
    array.to_dataset().to_zarr(tmp_path / "packed.zarr", encoding=packing, zarr_format=2)
    with pytest.raises(DataError, match=r"the values are coded \(scale_factor\); hand over"):
        read(tmp_path / "packed.zarr", data="counts", lazy=True)
