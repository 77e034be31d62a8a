"""Archives of version 1, as the first pyspec wrote them, are read, and added to."""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from support.fit_cases import TIME, data_1d, data_2d

from pyspec.errors import DataError
from pyspec.io import load_fit, load_fits, read, save_archive, verify_archive

#: Of the data of its spectrum, to the last bit: what `data_1d` gives today may differ in that.
DATA_CHECKSUM = 4039397824


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """One fit of a spectrum and three slices, written by pyspec at version 1 of the format."""
    path = tmp_path / "old.h5"
    path.write_bytes(lzma.decompress(Path(__file__).with_name("version_1.h5.xz").read_bytes()))
    return path


def check_values(path: Path) -> None:
    one, slices = load_fits(path)[:2]
    assert one.fit_type == "spectrum"
    assert one.file_name == slices.file_name == "sample 7"
    assert one.values["GLP_01_x0"] == 84.0012723543315
    assert one.chisqr == 0.12838881208843064
    assert zlib.crc32(one.data.tobytes()) == DATA_CHECKSUM
    np.testing.assert_allclose(one.data, data_1d(), rtol=1e-12)
    np.testing.assert_allclose(slices.data, data_2d()[:3], rtol=1e-12)
    np.testing.assert_array_equal(slices.time, TIME[:3])
    assert slices.status == ("converged",) * 3
    assert one.refit(start="initial").chisqr == pytest.approx(one.chisqr, rel=1e-9)


def test_version_1_is_read(old: Path) -> None:
    check_values(old)
    found = verify_archive(old)
    assert found.intact
    assert found.version == 1
    assert "whole (version 1): all can be read, but this version has no digests" in str(found)
    with pytest.raises(DataError, match="is an archive of fits, not of data"):
        read(old)


def test_adding_to_version_1_makes_it_version_2(old: Path) -> None:
    save_archive(old, {"kind": "note"})
    assert verify_archive(old).version == 2
    with h5py.File(old, "r") as file:
        assert file.userblock_size == 512
        assert list(file["fits"]) == ["0001", "0002", "0003"]
    save_archive(old, [], mode="append")
    assert len(verify_archive(old).whole) == 5


def test_damaged_data_of_version_1_are_found(old: Path) -> None:
    """Its arrays carry their sha256 as their name; its fits have none."""
    with h5py.File(old, "r+") as file:
        for array in file["arrays"].values():
            array[...] += 1.0
    with pytest.raises(DataError, match=r"is damaged: arrays/\w+: .*its sha256 differs"):
        load_fit(old)
    with pytest.raises(DataError, match=r"is damaged: arrays/\w+: .*its sha256 differs"):
        save_archive(old, {"kind": "note"})


@pytest.mark.parametrize(
    "keep", [20, *(pytest.param(n, marks=pytest.mark.slow) for n in (96, 3000)), 30000]
)
def test_version_1_cut_off(old: Path, keep: int) -> None:
    old.write_bytes(old.read_bytes()[:keep])
    with pytest.raises(DataError, match="is damaged: "):
        load_fits(old)
