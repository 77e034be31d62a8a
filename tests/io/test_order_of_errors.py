"""Standard errors whose dimensions are stored in another order than those of the data."""

from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import arrays, read

TIME, ENERGY = np.arange(5.0), np.linspace(80, 83, 7)
DATA = np.arange(35.0).reshape(5, 7)
ERRORS = 1 + DATA / 100
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
    path = store(tmp_path / "a.h5", counts=DATA, sigma=ERRORS.T, time=TIME, energy=ENERGY)
    found = read(path, **NAMES, lazy=lazy)
    np.testing.assert_array_equal(found.errors, ERRORS)
    np.testing.assert_array_equal(found.data, DATA)
    np.savez(tmp_path / "a.npz", counts=DATA, sigma=ERRORS.T, time=TIME, energy=ENERGY)
    np.testing.assert_array_equal(read(tmp_path / "a.npz", **NAMES).errors, ERRORS)
    cube = np.arange(105.0).reshape(5, 7, 3)
    lines = {"x": TIME, "time": ENERGY, "energy": np.arange(3.0)}
    path = store(tmp_path / "b.h5", counts=cube, sigma=1 + cube.transpose(2, 0, 1), **lines)
    np.testing.assert_array_equal(read(path, **NAMES).errors, 1 + cube)


@pytest.mark.parametrize("scales", [True, False])
def test_names_of_dimensions_say_the_order(tmp_path: Path, scales: bool) -> None:
    # Errors of as many times as energies were taken as they lie: those of other points.
    lines = {"time": np.arange(7.0), "energy": ENERGY}
    for names, sigma in (
        (("energy", "time"), SQUARE.T + 1),
        (("time", "energy"), SQUARE + 1),
        ((), SQUARE + 1),  # nothing says that it is another order
    ):
        path = store(tmp_path / "a.h5", names, scales=scales, counts=SQUARE, sigma=sigma, **lines)
        found = read(path, **NAMES)
        np.testing.assert_array_equal(found.errors, SQUARE + 1)
        np.testing.assert_array_equal(found.energy, ENERGY)


def test_a_store_of_zarr_says_the_order(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    if not hasattr(zarr.Group, "create_array"):
        pytest.skip("zarr 2")
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w")
    for name, values, dims in (
        ("counts", SQUARE, ["time", "energy"]),
        ("sigma", SQUARE.T + 1, ["energy", "time"]),
        ("time", np.arange(7.0), ["time"]),
        ("energy", ENERGY, ["energy"]),
    ):
        array = group.create_array(name, shape=values.shape, dtype=values.dtype)
        array[...] = values
        array.attrs["_ARRAY_DIMENSIONS"] = dims
    found = read(tmp_path / "a.zarr", **NAMES, lazy=True)
    np.testing.assert_array_equal(np.asarray(found.errors), SQUARE + 1)


def test_an_order_that_nothing_says_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path / "a.h5", counts=np.ones((5, 7, 7)), sigma=np.ones((7, 7, 5)))
    with pytest.raises(DataError, match="which dimension is which"):
        read(path, **NAMES)
    path = store(tmp_path / "b.h5", counts=np.ones((5, 7)), sigma=np.ones((7, 6)), time=TIME)
    with pytest.raises(DataError, match=r"errors have shape \(7, 6\), the data \(5, 7\)"):
        read(path, **NAMES, energy="index")
    monkeypatch.setattr(arrays, "LOADED", 8)
    path = store(tmp_path / "c.h5", counts=DATA, sigma=ERRORS.T, time=TIME, energy=ENERGY)
    with pytest.raises(DataError, match="too large to be loaded; store them in that of the data"):
        read(path, **NAMES, lazy=True)
