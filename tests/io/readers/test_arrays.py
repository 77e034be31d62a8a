"""NPY, NPZ, HDF5 and MATLAB: arrays by name and shape; errors in the order of the data."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from pyspec.errors import DataError
from pyspec.io import arrays, read

ENERGY, TIME = np.linspace(80, 90, 11), np.linspace(-1, 5, 7)
DATA = np.random.default_rng(3).normal(size=(7, 11))


def test_npy_takes_its_axes_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, DATA.astype(np.float32))
    found = read(path, energy=ENERGY, time=TIME)
    assert found.data.dtype == np.float32
    np.testing.assert_array_equal(found.data, DATA.astype(np.float32))
    np.save(path, np.zeros((2, 7, 11)))
    assert read(path, energy=ENERGY, time=TIME).dims == ("axis_0", "time", "energy")


@pytest.mark.parametrize("suffix", ["npz", "h5"])
@pytest.mark.parametrize(
    "names",
    [
        ("data", "energy", "time"),
        ("S", "wavelength", "delay"),
        ("counts", "x", "y"),
        ("q", "a", "b"),
    ],
)
def test_names_and_shapes_say_what_is_what(
    tmp_path: Path, suffix: str, names: tuple[str, str, str]
) -> None:
    path = save(tmp_path / f"a.{suffix}", dict(zip(names, (DATA, ENERGY, TIME), strict=True)))
    found = read(path)
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.energy, ENERGY)
    np.testing.assert_array_equal(found.time, TIME)
    np.testing.assert_array_equal(found.data, DATA)


def save(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        with h5py.File(path, "w") as file:
            for name, array in arrays.items():
                file[name] = array
    return path


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_other_orders_and_square_data(tmp_path: Path, suffix: str) -> None:
    path = save(tmp_path / f"a.{suffix}", {"data": DATA.T, "energy": ENERGY, "time": TIME})
    np.testing.assert_array_equal(read(path).data, DATA)
    square = DATA[:, :7]
    path = save(tmp_path / f"b.{suffix}", {"data": square, "energy": ENERGY[:7], "time": TIME})
    np.testing.assert_array_equal(read(path).data, square)
    path = save(tmp_path / f"c.{suffix}", {"data": square, "a": ENERGY[:7], "b": TIME})
    np.testing.assert_array_equal(read(path, energy="a", time="b").energy, ENERGY[:7])
    path = save(tmp_path / f"d.{suffix}", {"x": ENERGY, "y": DATA[0]})
    np.testing.assert_array_equal(read(path).data, DATA[0])
    np.testing.assert_array_equal(read(path).energy, ENERGY)


def test_repeated_scans_of_delays_are_told_to_be_averaged(tmp_path: Path) -> None:
    """It said to choose a block, which only text files have."""
    path = tmp_path / "a.npz"
    delays, energies = np.linspace(-1, 5, 13), np.linspace(60, 70, 20)
    counts = np.arange(39.0)[:, None] + np.zeros(20)
    np.savez(path, counts=counts, delay=np.tile(delays, 3), energy=energies)
    with pytest.raises(DataError, match=r"starts again at position 13.*averaged by read\(.*sort="):
        read(path)
    found = read(path, sort=True)
    np.testing.assert_array_equal(found.time, delays)
    np.testing.assert_array_equal(found.data[:, 0], np.arange(13) + 13)
    np.savez(path, counts=counts[:3], delay=[0.0, 2.0, 1.0], energy=energies)
    with pytest.raises(DataError, match=r"at positions 1 and 2; the file holds counts \(3 × 20\)"):
        read(path)


def matlab_7_3(path: Path, **arrays: object) -> Path:
    """A file as MATLAB writes it with -v7.3: every array has two dimensions at least, the first one
    fastest, text is numbers of letters, and an empty array is its shape."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in arrays.items():
            is_text = isinstance(value, str)
            plain = np.frombuffer(value.encode("utf-16-le"), "u2") if is_text else np.asarray(value)
            kind = "char" if is_text else "double"
            stored = np.atleast_2d(plain).T if plain.size else np.zeros(2, np.uint64)
            item = file.create_dataset(name.replace("__", "/"), data=stored)
            item.attrs["MATLAB_class"] = np.bytes_(kind)
            if not plain.size:
                item.attrs["MATLAB_empty"] = np.uint8(1)
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def test_matlab_of_either_version_holds_the_same(tmp_path: Path) -> None:
    """A spectrum of version 7.3 ended in "tuple index out of range", letters of a title and single
    numbers were arrays beside it, and "name.field" was no name there."""
    spectrum = DATA[0]
    beside = {"title": "Au 4f after", "hv": 21.2, "none": np.zeros((0, 0))}
    new = matlab_7_3(tmp_path / "new.mat", E=ENERGY, spec=spectrum, **beside)
    old = tmp_path / "old.mat"
    savemat(old, {"E": ENERGY, "spec": spectrum, **beside})
    for path in (new, old):
        found = read(path)
        np.testing.assert_array_equal(found.energy, ENERGY)
        np.testing.assert_array_equal(found.data, spectrum)
        assert "not used" not in found.describe()
    matlab_7_3(new, scan__t=TIME, scan__E=ENERGY, scan__map=DATA, scan__old=DATA)
    savemat(old, {"scan": {"t": TIME, "E": ENERGY, "map": DATA, "old": DATA}})
    for path in (new, old):
        found = read(path, data="scan.map", energy="scan.E", time="scan.t")
        np.testing.assert_array_equal(found.data, DATA)
        np.testing.assert_array_equal(found.time, TIME)
    assert read(new, data="scan/map").shape == DATA.shape


TIMES, ENERGIES = np.arange(5.0), np.linspace(80, 83, 7)
COUNTS = np.arange(35.0).reshape(5, 7)
SPREAD = 1 + COUNTS / 100
SQUARE = np.arange(49.0).reshape(7, 7)
NAMES = {"data": "counts", "errors": "sigma"}


def store(
    path: Path, names: tuple[str, ...] = (), *, scales: bool = True, **arrays: object
) -> Path:
    """An HDF5 file; `names` are those of the dimensions of the errors, not of the data."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
        for data, dims in (("counts", ("time", "energy")), ("sigma", names)) if names else ():
            for k, dim in enumerate(dims):
                if scales:
                    file[dim].make_scale(dim)
                    file[data].dims[k].attach_scale(file[dim])
                else:
                    file[data].dims[k].label = dim
    return path


@pytest.mark.parametrize("lazy", [False, True])
def test_lengths_say_the_order(tmp_path: Path, lazy: bool) -> None:
    # These were refused: "the errors have shape (7, 5), the data (5, 7)".
    path = store(tmp_path / "a.h5", counts=COUNTS, sigma=SPREAD.T, time=TIMES, energy=ENERGIES)
    found = read(path, **NAMES, lazy=lazy)
    np.testing.assert_array_equal(found.errors, SPREAD)
    np.testing.assert_array_equal(found.data, COUNTS)
    np.savez(tmp_path / "a.npz", counts=COUNTS, sigma=SPREAD.T, time=TIMES, energy=ENERGIES)
    np.testing.assert_array_equal(read(tmp_path / "a.npz", **NAMES).errors, SPREAD)
    cube = np.arange(105.0).reshape(5, 7, 3)
    lines = {"x": TIMES, "time": ENERGIES, "energy": np.arange(3.0)}
    path = store(tmp_path / "b.h5", counts=cube, sigma=1 + cube.transpose(2, 0, 1), **lines)
    np.testing.assert_array_equal(read(path, **NAMES).errors, 1 + cube)


@pytest.mark.parametrize("scales", [True, False])
def test_names_of_dimensions_say_the_order(tmp_path: Path, scales: bool) -> None:
    # Errors of as many times as energies were taken as they lie: those of other points.
    lines = {"time": np.arange(7.0), "energy": ENERGIES}
    for names, sigma in (
        (("energy", "time"), SQUARE.T + 1),
        (("time", "energy"), SQUARE + 1),
        ((), SQUARE + 1),  # nothing says that it is another order
    ):
        path = store(tmp_path / "a.h5", names, scales=scales, counts=SQUARE, sigma=sigma, **lines)
        found = read(path, **NAMES)
        np.testing.assert_array_equal(found.errors, SQUARE + 1)
        np.testing.assert_array_equal(found.energy, ENERGIES)


def test_errors_by_reference_are_not_turned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "LOADED", 8)
    path = store(tmp_path / "c.h5", counts=COUNTS, sigma=SPREAD.T, time=TIMES, energy=ENERGIES)
    with pytest.raises(DataError, match="too large to be loaded; store them in that of the data"):
        read(path, **NAMES, lazy=True)


def test_a_store_of_zarr_says_the_order(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    if not hasattr(zarr.Group, "create_array"):
        pytest.skip("zarr 2")
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w")
    for name, values, dims in (
        ("counts", SQUARE, ["time", "energy"]),
        ("sigma", SQUARE.T + 1, ["energy", "time"]),
        ("time", np.arange(7.0), ["time"]),
        ("energy", ENERGIES, ["energy"]),
    ):
        array = group.create_array(name, shape=values.shape, dtype=values.dtype)
        array[...] = values
        array.attrs["_ARRAY_DIMENSIONS"] = dims
    found = read(tmp_path / "a.zarr", **NAMES, lazy=True)
    np.testing.assert_array_equal(np.asarray(found.errors), SQUARE + 1)
