"""Missing values and packed numbers: one rule for all readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read
from pyspec.io.coding import Coding

ENERGY = np.linspace(80.0, 90.0, 6)
TIME = np.arange(4.0)

#: What is stored, its attributes, and what it stands for.
CASES: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "fill": (np.array([1.0, -9999, 3]), {"_FillValue": -9999.0}, [1, np.nan, 3]),
    "missing": (np.array([1, -9999, 3]), {"missing_value": -9999}, [1, np.nan, 3]),
    "single": (np.array([1, 1e20, 3], np.float32), {"_FillValue": 1e20}, [1, np.nan, 3]),
    "several": (np.array([1, -1, -2.0]), {"missing_value": [-1.0, -2.0]}, [1, np.nan, np.nan]),
    "both": (np.array([1, -1, -2]), {"_FillValue": -1, "missing_value": -2}, [1, np.nan, np.nan]),
    "packed": (
        np.array([1, -9, 3], np.int16),
        {"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(-9)},
        [10.5, np.nan, 11.5],
    ),
    "text": (np.array([1, -9999.0]), {"_FillValue": "-9999"}, [1, np.nan]),
    "one": (np.array([1, -9999.0]), {"_FillValue": np.array([-9999.0])}, [1, np.nan]),
    "none": (np.array([1, 2]), {"_FillValue": np.nan}, [1, 2]),
    "other": (np.array([1, 2], np.uint8), {"_FillValue": -9999}, [1, 2]),
    "words": (np.array([1, 2]), {"_FillValue": "none"}, [1, 2]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rule(case: str) -> None:
    stored, attributes, expected = CASES[case]
    found = Coding.of(attributes).decode(stored)
    assert np.array_equal(found, np.asarray(expected, np.float64), equal_nan=True)
    if case in ("none", "other", "words"):
        assert found is stored


def stored_map() -> Any:
    values = np.arange(24, dtype=np.int32).reshape(4, 6)
    values[1, 2] = -9999
    return values


def expected_map(factor: float = 1.0, offset: float = 0.0) -> Any:
    values = stored_map().astype(float)
    values[1, 2] = np.nan
    return values * factor + offset


MARKS = [{"_FillValue": np.int32(-9999)}, {"missing_value": np.int32(-9999)}]
PACKED = {"scale_factor": 0.5, "add_offset": 3.0}


def write_h5(path: Path, attributes: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        file["energy"], file["time"] = ENERGY, TIME
        file["data"] = stored_map()
        file["data"].attrs.update(attributes)


def write_nxs(path: Path, attributes: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        entry = file.create_group("entry/data")
        file["entry"].attrs["NX_class"] = "NXentry"
        entry.attrs.update(NX_class="NXdata", signal="counts", axes=["time", "energy"])
        entry["energy"], entry["time"], entry["counts"] = ENERGY, TIME, stored_map()
        entry["counts"].attrs.update(attributes)


def write_nc(path: Path, attributes: dict[str, Any]) -> None:
    xarray = pytest.importorskip("xarray")
    coords = {"time": TIME, "energy": ENERGY}
    array = xarray.DataArray(stored_map(), coords=coords, dims=("time", "energy"), name="data")
    array.attrs.update(attributes)
    array.to_netcdf(path, engine="h5netcdf")


def write_mat(path: Path, attributes: dict[str, Any]) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file["energy"], file["time"], file["data"] = ENERGY, TIME, stored_map().T
        file["data"].attrs.update(attributes)
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")


WRITERS = {"h5": write_h5, "nxs": write_nxs, "nc": write_nc, "mat": write_mat}


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("packing", [{}, PACKED])
def test_all_readers_have_it(
    tmp_path: Path, ending: str, marks: dict[str, Any], packing: dict[str, float]
) -> None:
    """A cell of -9999 was data in .h5 and .nxs, and missing in .nc."""
    path = tmp_path / f"a.{ending}"
    WRITERS[ending](path, {**marks, **packing})
    expected = expected_map(0.5, 3.0) if packing else expected_map()
    dataset = read(path)
    data = dataset.data if dataset.dims == ("time", "energy") else dataset.data.T
    assert np.array_equal(data, expected, equal_nan=True)
    assert dataset.n_bad == 1


@pytest.mark.parametrize("marks", [*MARKS, PACKED])
def test_what_is_coded_does_not_stay_in_its_file(tmp_path: Path, marks: dict[str, Any]) -> None:
    write_h5(tmp_path / "a.h5", marks)
    with pytest.raises(DataError, match=f"are coded \\({next(iter(marks))}.*leave lazy= out"):
        read(tmp_path / "a.h5", lazy=True)


def test_axes_and_errors_are_decoded_too(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["energy"] = np.arange(6, dtype=np.int16)
        file["energy"].attrs.update(scale_factor=0.1, add_offset=80.0)
        file["data"], file["sigma"] = np.ones(6), np.arange(1, 7)
        file["sigma"].attrs.update(scale_factor=0.5, missing_value=3)
    dataset = read(tmp_path / "a.h5", data="data", errors="sigma")
    assert dataset.energy is not None
    assert dataset.errors is not None
    assert np.allclose(dataset.energy, 80 + 0.1 * np.arange(6))
    assert np.array_equal(dataset.errors, [0.5, 1, np.nan, 2, 2.5, 3], equal_nan=True)
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["data"].attrs["units"], file["sigma"].attrs["units"] = "V", "mV"
    with pytest.raises(DataError, match="errors='sigma' are in mV, the data in V"):
        read(tmp_path / "a.h5", data="data", errors="sigma")


@pytest.mark.parametrize("ending", ["nxs", "h5"])
@pytest.mark.parametrize("own", [True, False])
def test_factor_and_offset_of_nxdata(tmp_path: Path, ending: str, own: bool) -> None:
    """NeXus: (value + offset) * scaling_factor, of the field named, or else of the signal."""
    path = tmp_path / f"a.{ending}"
    write_nxs(path, MARKS[0])
    with h5py.File(path, "a") as file:
        group, name = file["entry/data"], "counts_" * own
        group[f"{name}scaling_factor"], group[f"{name}offset"] = 0.25, 8.0
        group["energy_scaling_factor"] = 2.0
    dataset = read(path)
    assert np.array_equal(dataset.data, (expected_map() + 8) * 0.25, equal_nan=True)
    assert dataset.energy is not None
    assert np.array_equal(dataset.energy, 2 * ENERGY)
    assert any("decoded by _FillValue, scaling_factor, offset" in one for one in dataset.notes)


@pytest.mark.parametrize("order", ["C", "Fortran", "primary"])
def test_axes_by_number_of_older_nexus(tmp_path: Path, order: str) -> None:
    """``@axis=1`` and ``@axis=2`` were not looked at: no axis was found."""
    numbers = (2, 1) if order == "Fortran" else (1, 2)
    with h5py.File(tmp_path / "a.nxs", "w") as file:
        group = file.create_group("entry/data")
        file["entry"].attrs["NX_class"], group.attrs["NX_class"] = "NXentry", "NXdata"
        group["counts"], group["delay"], group["energy"] = expected_map(), TIME, ENERGY
        group["counts"].attrs["signal"] = 1
        group["delay"].attrs["axis"] = numbers[0] if order != "primary" else "1"
        group["energy"].attrs["axis"], group["energy"].attrs["units"] = numbers[1], "eV"
        if order == "primary":
            group["channel"] = np.arange(6.0)
            group["channel"].attrs["axis"], group["energy"].attrs["primary"] = 2, 1
    dataset = read(tmp_path / "a.nxs")
    assert dataset.dims == ("time", "energy")
    assert np.array_equal(dataset.axes["time"], TIME)
    assert np.array_equal(dataset.axes["energy"], ENERGY)
