"""Damaged archives: never a changed number, a hang or a raw exception; the rest can be read."""

from __future__ import annotations

import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
from support.fit_cases import data_1d, data_2d, series, spectrum

from pyspec import ArchiveWarning, load_fits, save_fit
from pyspec.cli import main
from pyspec.errors import DataError
from pyspec.fit import fit_model
from pyspec.io import digest, load_archive, save_archive, verify_archive
from pyspec.io.archive import header
from pyspec.model import Measurement

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Three fits, two of them of the same data."""
    path = tmp_path_factory.mktemp("whole") / "a.h5"
    one = fit_model(spectrum(), Measurement(data=data_1d()))
    two = fit_model(series(), Measurement(data=data_2d()))
    save_fit(path, [one, two, one])
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    path = tmp_path / "a.h5"
    path.write_bytes(whole)
    return path


def change(path: Path, name: str, index: object = ()) -> None:
    """Another number in a dataset; the digests stay as they were."""
    with h5py.File(path, "r+") as file:
        file[name][index] = 12345.0


def test_one_flipped_bit_used_to_change_a_fitted_value(path: Path, whole: bytes) -> None:
    """It turned 83.99 into 87.99 without an error."""
    fit = load_fits(path)[0]
    where = whole.index(np.float64(fit.values["GLP_01_x0"]).tobytes())
    changed = bytearray(whole)
    changed[where + 6] ^= 1
    path.write_bytes(changed)
    with pytest.raises(DataError, match="the content is not what was written: its sha256 differs"):
        load_fits(path)
    with pytest.warns(ArchiveWarning, match=r"a\.h5: damaged and left out: fits/000\d: fits/000"):
        fits = load_fits(path, damaged="skip")
    assert len(fits) == 2


def test_of_fits_that_were_cut_off_those_before_the_cut_are_read(tmp_path: Path) -> None:
    """The names in the groups of all fits lay at the end of the file: cut at 90 % none was read."""
    path, data = tmp_path / "cut.h5", [data_1d(seed=k) for k in range(4)]
    save_fit(path, [fit_model(spectrum(), Measurement(data=one)) for one in data[:2]])
    save_fit(path, [fit_model(spectrum(), Measurement(data=one)) for one in data[2:]])
    written = path.read_bytes()
    for share, at_least in ((0.9, 3), (0.35, 1)):
        path.write_bytes(written[: int(share * len(written))])
        with pytest.warns(ArchiveWarning, match=r"damaged and left out: fits/000\d: "):
            found = load_fits(path, damaged="skip")
        assert len(found) >= at_least
    path.write_bytes(written[: len(written) // 20])
    with (
        pytest.warns(ArchiveWarning, match="damaged and left out"),
        pytest.raises(DataError, match="it has: none that is whole"),
    ):
        load_fits(path, damaged="skip")


@pytest.mark.slow
def test_a_damaged_header_hides_no_fit(path: Path, whole: bytes) -> None:
    path.write_bytes(bytes(512) + whole[512:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load_fits(path, damaged="skip")) == 3
    found = verify_archive(path)
    assert not found.intact
    assert len(found.whole) == 5
    assert "the header (the first 512 bytes)" in found.trouble


def test_damaged_data_leave_their_fits_without_data(path: Path) -> None:
    change(path, f"arrays/{digest(data_1d())}", 3)
    with pytest.warns(ArchiveWarning, match=r"arrays/\w+: .*its sha256 differs"):
        fits = load_fits(path, damaged="skip")
    assert [fit.measurement.data is None for fit in fits] == [True, False, True]
    assert fits[0].refit(data_1d()).chisqr == pytest.approx(fits[0].chisqr)


def test_verify_names_what_is_damaged(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(path)]) == 0
    assert (
        "whole (version 4): every byte is as it was written; 3 fits, 2" in capsys.readouterr().out
    )
    change(path, "fits/0002/parameters/value", 1)
    with h5py.File(path, "r+") as file:
        del file["fits/0001"]
    assert main(["verify", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "a.h5: DAMAGED (version 4): the " in shown
    assert "  fits/0001: is missing" in shown
    assert "  fits/0002: fits/0002: its sha256 differs" in shown
    assert "  whole: 1 fits, 2 arrays" in shown
    path.write_bytes(b"")
    assert main(["verify", str(path)]) == 1
    assert "is no archive of fits" in capsys.readouterr().err


def test_nothing_can_be_read(path: Path, whole: bytes) -> None:
    path.write_bytes(whole[:512] + bytes(len(whole) - 512))
    with pytest.raises(DataError, match="is damaged: nothing in it can be read"):
        load_fits(path, damaged="skip")
    found = verify_archive(path)
    assert (found.intact, found.whole, found.version) == (False, (), None)


def test_a_text_that_is_a_path_is_never_opened(tmp_path: Path, path: Path) -> None:
    """The model in an archive used to be opened where its text looked like a path."""
    secret = tmp_path / "secret.yaml"
    secret.write_text("spectrum:\n  Gauss: {A: [1, True], x0: [84, True], SD: [1, True]}\n")
    (contents, *_), arrays, _ = load_archive(path)
    contents["texts"]["model"] = str(secret)
    save_archive(path, contents, arrays=arrays, mode="replace")
    with pytest.raises(DataError.__mro__[1], match="<text>:1"):
        _ = load_fits(path)[0].model


def test_nothing_of_an_archive_lies_in_the_global_heap(path: Path, whole: bytes) -> None:
    """Texts of variable length lie there; a damaged heap made reading hang."""
    assert b"GCOL" not in whole
    assert whole.startswith(header.MAGIC)
