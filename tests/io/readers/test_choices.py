"""Which array, column or block of a file is meant, where there are several; axes in disorder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read
from pyspec.io.blocks import Axis, Block, raw_table_of
from pyspec.io.units import show_unit

ENERGY, TIME = np.linspace(80, 90, 7), np.linspace(-1, 5, 7)
DATA = np.random.default_rng(3).normal(size=(7, 7))


def test_arrays_by_their_short_names_and_axes_of_square_data(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **{"run/q": DATA, "run/r": 2 * DATA, "run/a": ENERGY, "run/b": TIME})
    found = read(path, data="q", time="b", energy="a")
    assert any("not used: run/r" in note for note in found.notes)
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.data, DATA)
    np.testing.assert_array_equal(found.time, TIME)
    np.testing.assert_array_equal(found.energy, ENERGY)
    np.savez(path, q=DATA, b=TIME)
    found = read(path, time="b", energy="index")
    np.testing.assert_array_equal(found.data, DATA)
    np.testing.assert_array_equal(found.time, TIME)


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


def block(name: str, *columns: str, first: float = 0.0) -> Block:
    values = [(label, "", np.arange(3.0) + k) for k, label in enumerate(columns)]
    return Block(name, [Axis("energy", np.arange(3.0) + first)], values)


def test_blocks_and_quantities_that_are_meant() -> None:
    path = Path("a.vms")
    two = block("C 1s", "counts", "drain")
    assert raw_table_of(path, [two], None, 1).labels["data"] == "drain"
    np.testing.assert_array_equal(raw_table_of(path, [two], None, ["drain"]).data, [1, 2, 3])
    for columns in ("flux", 2, True):
        with pytest.raises(DataError, match=r"no quantity .*; it has 0: counts, 1: drain"):
            raw_table_of(path, [two], None, columns)
    with pytest.raises(DataError, match=r"a\.vms: block 'O 1s' has an axis but no data"):
        raw_table_of(path, [block("O 1s")], None, None)
    other = block("O 1s", "drain", "counts")
    with pytest.raises(DataError, match="block 'O 1s' has no quantity 'counts' at the same place"):
        raw_table_of(path, [two, other], None, None)
    with pytest.raises(DataError, match="holds 2 blocks with different axes, separate spectra"):
        raw_table_of(path, [two, block("O 1s", "counts", first=5.0)], None, None)
    with pytest.raises(DataError, match="the file holds no block of data; export it again"):
        raw_table_of(path, [], None, None)
