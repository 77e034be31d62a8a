"""xarray and NetCDF: dimensions guessed by name and unit, in and out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.later import later

from pyspec import File, Project
from pyspec.errors import DataError
from pyspec.io import Dataset, from_xarray, read, to_xarray

xr = later("xarray")

E, T, Y = np.linspace(1, 2, 5), np.array([-1.0, 0.0, 2.0]), np.array([7.0, 8.0])
DATA = np.random.default_rng(5).normal(size=(2, 3, 5))


def series(dims: tuple[str, str] = ("time", "energy"), **coords: Any) -> xr.DataArray:
    """Three times of five energies; coordinates as they are given, or those of both dimensions."""
    known = coords or dict(zip(dims, (T, E), strict=True))
    return xr.DataArray(DATA[0], dims=dims, coords=known, name="S")


def variables(**more: Any) -> xr.Dataset:
    """The same with others beside it."""
    return xr.Dataset({"S": series(), **more})


SPREAD = np.abs(DATA[0]) + 1
CUBE = xr.DataArray(DATA, dims=("y", "p", "q"), coords={"y": Y, "p": T, "q": E})
SUM = variables(sum=("time", DATA[0].sum(1)))
MEASURED = variables(sigma=(("energy", "time"), SPREAD.T), flux=("time", T))
PIXELS = xr.Dataset(
    {"S": (("time", "pixel"), DATA[0])},
    coords={"time": T, "wavelength": ("pixel", E), "eV": ("pixel", 1 / E)},
)
#: A shift along the times, and which scans are good.
SHIFTED = xr.Dataset(
    {"S": (("scan", "energy"), DATA[0]), "energy_shift": ("scan", T)},
    coords={"energy": E, "is_good": ("scan", T[1] < T)},
)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (CUBE, {"energy": "qq"}, "energy='qq' is no dimension of the data; they have y, p, q"),
        (series(("wavelength", "eV")), {}, "wavelength and eV both look like energy"),
        (DATA, {}, "not ndarray"),
        (xr.DataArray(E, dims=("energy",)), {}, "no energy axis.*has no coordinate"),
        (series(time=list("abc"), energy=E), {}, "coordinate 'time' has type <U1, not numbers"),
        (SUM, {"data": "s"}, "no variable 's'; it has S, sum"),
        (variables(R=series()), {}, r"which variable holds the data\?.*S \(time × energy\)"),
        (MEASURED, {}, "with errors= that of its"),
        (MEASURED, {"data": "S", "errors": "sigm"}, "'sigm' is no variable; .*mean 'sigma'"),
        (MEASURED, {"data": "S", "errors": "flux"}, "'flux' has the dimensions time, the data"),
        (MEASURED["S"], {"errors": "sigma"}, "errors='sigma' is no variable; give a Dataset"),
        (
            MEASURED.assign(
                S=MEASURED["S"].assign_attrs(units="V"),
                sigma=MEASURED["sigma"].assign_attrs(units="mV"),
            ),
            {"data": "S", "errors": "sigma"},
            "errors='sigma' are in mV, the data in V",
        ),
        (PIXELS, {}, "no energy axis.*The dimension 'pixel' has no coordinate"),
        # The values of the data were their energies; a shift was a second energy.
        (xr.Dataset({"spectral_weight": ("energy", E)}), {}, "'energy' has no coordinate"),
        (SHIFTED.rename(scan="time"), {}, "no time axis.*The dimension 'time' has no coordinate"),
    ],
)
def test_what_is_not_clear_is_refused(array: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_xarray(array, **options)  # type: ignore[arg-type]


def test_names_choose_dimensions_and_variables() -> None:
    found = from_xarray(CUBE, energy="q", time="p", name="mine")
    assert (found.dims, found.name) == (("y", "time", "energy"), "mine")
    back = to_xarray(found)
    assert (back.dims, back.name) == (found.dims, "mine")
    np.testing.assert_array_equal(from_xarray(back).data, DATA)
    assert back.coords["y"].values.tolist() == Y.tolist()
    np.testing.assert_array_equal(from_xarray(SUM).data, DATA[0])
    assert from_xarray(SUM, data="sum").dims == ("time",)
    np.testing.assert_array_equal(from_xarray(PIXELS, energy="eV").energy, 1 / E)


def test_dimensions_without_numbers_are_counted() -> None:
    found = from_xarray(series(("sample", "energy"), sample=list("abc"), energy=E))
    np.testing.assert_array_equal(found.axes["sample"], [0, 1, 2])
    assert "sample is numbered; its labels are a, b, c" in found.notes
    found = from_xarray(series(("row", "energy"), energy=E))
    np.testing.assert_array_equal(found.axes["row"], [0, 1, 2])


@pytest.mark.parametrize(
    ("names", "units", "expected"),
    [
        (("delay", "wavelength"), ("", ""), ("time", "energy")),
        (("t", "eV"), ("", ""), ("time", "energy")),
        (("a", "b"), ("fs", "nm"), ("time", "energy")),
        (("b", "a"), ("ps", "cm-1"), ("time", "energy")),
        (("dim_0", "dim_1"), ("", ""), ("time", "energy")),
        (("position", "Energy"), ("mm", "eV"), ("position", "energy")),
        (("delay", "kx"), ("ps", ""), ("time", "energy")),
    ],
)
def test_dimensions_are_recognised(
    names: tuple[str, str], units: tuple[str, str], expected: tuple[str, str]
) -> None:
    array = series(names)
    for name, unit in zip(names, units, strict=True):
        array.coords[name].attrs["units"] = unit
    for given in (array, array.T) if names[0] != "dim_0" else (array,):
        found = from_xarray(given)
        assert found.dims == expected
        np.testing.assert_array_equal(found.data, DATA[0])
        assert found.labels["energy"] == names[1]


@pytest.mark.filterwarnings("ignore:Converting non-nanosecond:UserWarning")
def test_dates_and_durations_count_in_seconds() -> None:
    start = np.datetime64("2024-01-01T00:00:00", "ns")
    steps = np.array([0, 1, 90], dtype="timedelta64[s]")
    for axis in (start + steps, steps):
        found = from_xarray(series(("scan", "energy"), scan=axis, energy=E))
        np.testing.assert_allclose(found.time, [0, 1, 90])
        assert found.units["time"] == "s"
    tenths = xr.DataArray(
        np.zeros((8, 3)),
        dims=("scan", "energy"),
        coords={"scan": np.arange(0, 800, 100, dtype="timedelta64[ms]"), "energy": E[:3]},
    )
    assert from_xarray(tenths).time.tolist() == (np.arange(8) / 10).tolist()  # 0.3 was 0.30…04


@pytest.mark.parametrize("name", ["scan", "energy"])
def test_standard_errors_go_there_and_back(tmp_path: Path, name: str) -> None:
    """They were lost: to_xarray had the values alone."""
    axes = {"time": np.array(T, dtype=float), "energy": np.array(E, dtype=float)}
    units = {"energy": "eV", "data": "counts"}
    own = np.abs(DATA[0]) + 1
    found = Dataset(DATA[0], ("time", "energy"), axes, units=units, errors=own, name=name)
    back = to_xarray(found)
    key = "data" if name == "energy" else name
    assert list(back.data_vars) == [key, f"{key}_stderr"]
    assert [back[one].attrs["units"] for one in back.data_vars] == ["counts", "counts"]
    again = [from_xarray(back), from_xarray(back, data=key)]
    if importlib.util.find_spec("h5netcdf"):
        back.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
        again.append(read(tmp_path / "a.nc"))
    for one in again:
        np.testing.assert_array_equal(one.data, found.data)
        np.testing.assert_array_equal(one.errors, own)
        assert dict(one.units) == units
        assert "others" not in " ".join(one.notes)  # the errors, called another variable of data
    assert from_xarray(back[key]).errors is None


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_netcdf_of_both_kinds(tmp_path: Path, engine: str) -> None:
    pytest.importorskip(engine)
    path = tmp_path / "a.nc"
    array = xr.DataArray(DATA, dims=("y", "delay", "eV"), coords={"y": Y, "delay": T, "eV": E})
    array.to_netcdf(path, engine=engine)
    found = read(path)
    assert found.dims == ("y", "time", "energy")
    assert found.name == "a"
    np.testing.assert_array_equal(found.data, DATA)
    np.testing.assert_array_equal(
        read(path, energy="eV", time="y").dims, ("delay", "time", "energy")
    )
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DataError, match=r"cannot be opened as (NetCDF|HDF5)"):
        read(path)


def test_standard_errors_are_a_variable_too(tmp_path: Path) -> None:
    """NetCDF was the one format of arrays whose errors could not be read."""
    pytest.importorskip("h5netcdf")
    MEASURED.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    for found in (from_xarray(MEASURED, errors="sigma"), read(tmp_path / "a.nc", errors="sigma")):
        np.testing.assert_array_equal(found.data, DATA[0])
        np.testing.assert_array_equal(found.errors, SPREAD)
    file = File.from_xarray(MEASURED, Project(tmp_path), errors="sigma")
    np.testing.assert_array_equal(file.noise.sigma, SPREAD)


@pytest.mark.parametrize("options", [{}, {"energy": "wavelength"}, {"time": "time"}])
@pytest.mark.parametrize("as_variable", [False, True])
def test_axes_along_a_dimension_of_another_name(options: dict[str, str], as_variable: bool) -> None:
    """Energies along pixels: the answer was that there is no axis, or that it is no dimension."""
    line = ("pixel", E, {"units": "nm"})
    dataset = xr.Dataset({"S": (("time", "pixel"), DATA[0])}, coords={"time": T})
    dataset = (
        dataset.assign(wavelength=line) if as_variable else dataset.assign_coords(wavelength=line)
    )
    found = from_xarray(dataset, **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found.energy, E)
    assert (found.units["energy"], found.labels["energy"]) == ("nm", "wavelength")
    assert "wavelength lies along the dimension pixel" in found.notes


MODEL = """
peak:
  Offset: {y0: [1, True, -10, 10]}
  Gauss: {A: [5, True, 0, 50], x0: [1.5, True, 1, 2], SD: [0.1, True, 0.01, 1]}
"""


def test_fits_as_datasets_keep_labels_and_units(tmp_path: Path) -> None:
    """Axes and values came out as bare numbers, of data that said what they are."""
    energy, delay = np.linspace(1.0, 2.0, 41), np.array([-1.0, 0.0, 2.0])
    line = 1 + 5 * np.exp(-(((energy - 1.5) / 0.1) ** 2) / 2)
    data = line + np.random.default_rng(2).normal(0, 0.1, (3, 41))
    data[1, 2] = np.nan
    axes = {
        "delay": ("delay", delay, {"units": "ps"}),
        "energy": ("energy", energy, {"units": "eV", "long_name": "binding energy"}),
    }
    given = xr.DataArray(data, axes, ("delay", "energy"), attrs={"units": "counts"})
    file = File.from_xarray(given, Project(tmp_path, show_output=False), name="scan")
    file.load_model(MODEL, "peak")
    slices, fit = file.fit_slice_by_slice("peak"), file.fit_2d("peak")
    assert fit.n_data == 3 * 41 - 1
    for made in (slices.to_xarray(), fit.to_xarray()):
        made.to_netcdf(tmp_path / "fit.nc")
        with xr.open_dataset(tmp_path / "fit.nc") as again:
            found = from_xarray(again["residual"])
        known = {what: file.units[what] for what in ("energy", "time", "data")}
        assert known == {"energy": "eV", "time": "ps", "data": "counts"}
        assert {what: found.units[what] for what in known} == known
        assert found.labels["energy"] == "binding energy"
        (tmp_path / "fit.nc").unlink()
    made = slices.to_xarray()
    units = [made[name].attrs.get("units") for name in ("Gauss_01_A", "Gauss_01_x0_stderr")]
    assert units == ["counts", "eV"]
    assert made.attrs["findings"].splitlines() == list(map(str, slices.findings))
    np.testing.assert_array_equal(made["residual"], slices.residual)
    assert list(made["message"].values) == list(slices.message)
