"""Which array, column or block of a file is meant, where there are several; axes in disorder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read
from pyspec.io.blocks import Axis, Block, found_of
from pyspec.io.units import show_unit

ENERGY, TIME = np.linspace(80, 90, 7), np.linspace(-1, 5, 7)
DATA = np.random.default_rng(3).normal(size=(7, 7))


def write(folder: Path, text: str) -> Path:
    path = folder / "a.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_arrays_by_their_short_names_and_axes_of_square_data(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **{"run/q": DATA, "run/r": 2 * DATA, "run/a": ENERGY, "run/b": TIME})
    found = read(path, data="q", time="b", energy="a")
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.data, DATA)
    np.testing.assert_array_equal(found.time, TIME)
    np.testing.assert_array_equal(found.energy, ENERGY)
    np.savez(path, q=DATA, b=TIME)
    found = read(path, time="b", energy="index")
    np.testing.assert_array_equal(found.data, DATA)
    np.testing.assert_array_equal(found.time, TIME)


def test_an_axis_that_the_data_have_not(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", DATA[0])
    with pytest.raises(DataError, match="time= is given, but the data have the axes energy; leave"):
        read(tmp_path / "a.npy", energy=ENERGY, time=TIME)


def test_a_home_that_is_not_there_is_no_path() -> None:
    with pytest.raises(DataError, match=r"~nobody0/a\.csv: is no path of a file"):
        read("~nobody0/a.csv")


def test_megaelectronvolts_are_no_millielectronvolts() -> None:
    assert (show_unit(" MeV "), show_unit("meV")) == ("MeV", "meV")


def test_two_axes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = DATA[:5]
        for k, axis in enumerate((TIME[:5], ENERGY)):
            scale = file.create_dataset(f"{'ab'[k]}/energy", data=axis)
            scale.make_scale("energy")
            file["data"].dims[k].attach_scale(scale)
    found = read(tmp_path / "a.h5")
    assert sorted(found.dims) == ["axis_1", "energy"]
    np.testing.assert_array_equal(found.axes["axis_1"], ENERGY)


def test_an_axis_of_a_file_is_one_line_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("5\n6\n")
    table = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(
        DataError, match="one column or one row of numbers; this has 2 rows and 2 c"
    ):
        read(path, energy=table)


def test_a_file_whose_bytes_cannot_be_read_says_why() -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("a file of Linux that cannot be read")
    with pytest.raises(DataError, match=r"mem: cannot be read \(Input/output error\)"):
        read("/proc/self/mem")


def block(name: str, *columns: str, first: float = 0.0) -> Block:
    values = [(label, "", np.arange(3.0) + k) for k, label in enumerate(columns)]
    return Block(name, [Axis("energy", np.arange(3.0) + first)], values)


def test_blocks_and_quantities_that_are_meant() -> None:
    path = Path("a.vms")
    two = block("C 1s", "counts", "drain")
    assert found_of(path, [two], None, 1).labels["data"] == "drain"
    np.testing.assert_array_equal(found_of(path, [two], None, ["drain"]).data, [1, 2, 3])
    for columns in ("flux", 2, True):
        with pytest.raises(DataError, match=r"no quantity .*; it has 0: counts, 1: drain"):
            found_of(path, [two], None, columns)
    with pytest.raises(DataError, match=r"a\.vms: block 'O 1s' has an axis but no data"):
        found_of(path, [block("O 1s")], None, None)
    other = block("O 1s", "drain", "counts")
    with pytest.raises(DataError, match="block 'O 1s' has no quantity 'counts' at the same place"):
        found_of(path, [two, other], None, None)
    with pytest.raises(DataError, match="holds 2 blocks with different axes, separate spectra"):
        found_of(path, [two, block("O 1s", "counts", first=5.0)], None, None)
    with pytest.raises(DataError, match="the file holds no block of data; export it again"):
        found_of(path, [], None, None)
