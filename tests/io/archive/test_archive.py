"""Archives of fits: there and back, refitted, appended to, refused, whole on every error."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from support.fit_cases import data_1d, data_2d, series, spectrum

from pyspec import FitResults
from pyspec.errors import DataError
from pyspec.fit import FitResult, fit_model
from pyspec.io import (
    digest,
    load_archive,
    load_fit,
    load_fits,
    read,
    save_archive,
    save_fit,
)
from pyspec.io.atomic import replacing
from pyspec.model import Measurement


@pytest.fixture(scope="module")
def one() -> FitResult:
    return fit_model(spectrum(), Measurement(data=data_1d(), columns=(3, 78)))


@pytest.fixture(scope="module")
def two() -> FitResult:
    keep = np.ones((36, 81), dtype=bool)
    keep[3, 4] = False
    measurement = Measurement(data=data_2d(), rows=(1, 35), weight=np.full(81, 2.0), keep=keep)
    result = fit_model(series(), measurement, scale_covar=False)
    result.fit_type, result.file_name = "2d", "sample 7"
    return result


def test_without_data_they_are_asked_for(tmp_path: Path, one: FitResult) -> None:
    path = tmp_path / "fits.h5"
    save_fit(path, one, with_data=False)
    fit = load_fit(path)
    with pytest.raises(DataError, match=r"saved without data; hand them over: load_fit\(path, da"):
        _ = fit.data
    with pytest.raises(DataError, match="saved without data"):
        fit.diagnose()
    with pytest.raises(DataError, match=r"saved without data; hand them over: refit\(data\)"):
        fit.refit()
    again = fit.refit(data_1d())
    assert again.chisqr == pytest.approx(one.chisqr, rel=1e-9)


def test_several_fits_in_one_file_share_their_data(
    tmp_path: Path, one: FitResult, two: FitResult
) -> None:
    path = tmp_path / "fits.h5"
    save_fit(path, [one, one])
    save_fit(path, two)
    assert [fit.fit_type for fit in load_fits(path)] == ["", "", "2d"]
    assert load_fit(path, fit_type="2d").file_name == "sample 7"
    assert set(load_archive(path)[1]) == {digest(data_1d()), digest(data_2d())}
    with pytest.raises(DataError, match="has no such fit; it has: fit of spectrum; "):
        load_fit(path, fit_type="baseline")
    with pytest.raises(DataError, match="exists already; choose another name"):
        save_fit(path, one, mode="new")
    save_fit(path, one, mode="replace")
    assert len(load_fits(path)) == 1
    with pytest.raises(DataError, match="mode must be one of append, new, replace"):
        save_fit(path, one, mode="w")
    with pytest.raises(DataError, match="there is no fit to save yet"):
        save_fit(path, [])
    with pytest.raises(DataError, match="save_fit takes fits, not str"):
        save_fit(path, ["fit"])  # type: ignore[list-item]


def test_many_processes_or_threads_may_append(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    threads = [threading.Thread(target=save_archive, args=(path, {"number": k})) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fits, _, _ = load_archive(path)
    assert sorted(fit["number"] for fit in fits) == list(range(12))
    assert os.listdir(tmp_path) == ["a.h5"]


def test_what_is_no_archive_is_refused_and_kept(tmp_path: Path, one: FitResult) -> None:
    path = tmp_path / "notes.h5"
    path.write_text("my notes")
    for call in (load_fits, lambda p: save_fit(p, one)):
        with pytest.raises(DataError, match=r"notes\.h5: is no archive of fits: not HDF5"):
            call(path)
    assert path.read_text() == "my notes"
    with h5py.File(path, "w") as file:
        file["data"] = [1.0]
    with pytest.raises(
        DataError,
        match="is HDF5, but no archive of fits that this pyspec reads; read",
    ):
        save_fit(path, one)
    with pytest.raises(DataError, match="there is no such archive"):
        load_fits(tmp_path / "none.h5")
    with pytest.raises(DataError, match=r"the folder '.*nowhere' is missing; create it first"):
        save_fit(tmp_path / "nowhere" / "a.h5", one)
    with pytest.raises(DataError, match="is a folder"):
        save_fit(tmp_path, one, mode="replace")
    save_fit(tmp_path / "a.h5", one)
    with pytest.raises(DataError, match="an archive of fits, which is not read; load it with load"):
        read(tmp_path / "a.h5")


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    save_archive(path, {"n": 1})
    with replacing(path) as part:
        part.write_bytes(path.read_bytes())
        stale = part.name
    left, other = (tmp_path / stale.replace(f"-{os.getpid()}-", f"-{n}-") for n in (1, 2))
    left.write_text("half, since two days")
    os.utime(left, (time.time() - 2 * 86400,) * 2)
    other.write_text("of a process that may live")
    save_archive(path, {"n": 2})
    assert not left.exists()
    assert other.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.h5", tmp_path / "link.h5"
    save_archive(target, {"n": 1})
    link.symlink_to(target)
    save_archive(link, {"n": 2})
    assert link.is_symlink()
    assert len(load_archive(target)[0]) == 2


@pytest.fixture(scope="module")
def three() -> list[FitResult]:
    """Of three files, each with its own data."""
    fits = []
    for k in range(3):
        fit = fit_model(spectrum(), Measurement(data=data_1d() + 0.1 * k))
        fit.file_name, fit.fit_type = f"scan_{k}", "spectrum"
        fits.append(fit)
    return fits


def test_fits_are_chosen_by_file_and_model(tmp_path: Path, three: list[FitResult]) -> None:
    path = tmp_path / "a.h5"
    save_fit(path, three)
    np.testing.assert_array_equal(load_fit(path).data, three[2].problem.measurement.data)
    assert load_fit(path, file="scan_1", model="spectrum").file_name == "scan_1"
    found = FitResults.load(path, file=["scan_0", "scan_2"], fit_type="spectrum")
    assert [fit.file_name for fit in found] == ["scan_0", "scan_2"]
    with pytest.raises(DataError, match=r"has no such fit; it has: .* to scan_0; .* to scan_1;"):
        FitResults.load(path, file="scan_7")  # was an empty list
    with pytest.raises(DataError, match="no such fit of file 'scan_7', 'scan_8'; it has: "):
        FitResults.load(path, file=["scan_7", "scan_0", "scan_8"])
