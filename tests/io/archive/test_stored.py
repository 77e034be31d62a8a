"""What a stored fit shows and computes, and what is said of archives that others changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import data_1d, spectrum

from pyspec.errors import DataError, FitError, ModelError
from pyspec.fit import FitResult, fit_joint, fit_model, fit_slices
from pyspec.functions.external import forget_function, register_function
from pyspec.io import load_archive, load_fit, load_fits, save_archive, save_fit
from pyspec.io.archive import header
from pyspec.io.archive.deferred_error_file import SteadyFile
from pyspec.io.atomic import folder_lock
from pyspec.io.readers.hdf5 import check_heaps
from pyspec.model import Measurement, load_model


@pytest.fixture(scope="module")
def one() -> FitResult:
    return fit_model(spectrum(), Measurement(data=data_1d(), columns=(3, 78)))


def test_a_text_with_other_parameters_is_refused(tmp_path: Path, one: FitResult) -> None:
    save_fit(tmp_path / "a.h5", one)
    with pytest.raises(DataError, match="start must be one of best, initial"):
        load_fit(tmp_path / "a.h5").refit(start="first")
    (kept,), arrays, _ = load_archive(tmp_path / "a.h5")
    kept["texts"]["model"] = "spectrum: {Offset: {y0: [1, True]}}\n"
    save_archive(tmp_path / "b.h5", kept, arrays=arrays)
    with pytest.raises(ModelError, match="its text gives the parameters Offset_y0, the archive ha"):
        _ = load_fit(tmp_path / "b.h5").model


def test_a_changed_model_goes_on_with_the_noise_of_then(tmp_path: Path) -> None:
    """A Measurement with weights alone has its errors scaled: those of declared noise were not."""
    measured = Measurement(data=data_1d(), weight=np.asarray(7.0), columns=(3, 78))
    first = fit_model(spectrum(), measured, scale_covar=False)
    save_fit(tmp_path / "a.h5", first)
    stored = load_fit(tmp_path / "a.h5")
    model = stored.model.copy()
    held = first.free_names[0]
    model.set(held, vary=False)
    again = stored.refit(model=model)
    assert again.values == pytest.approx(first.values, rel=1e-6)
    assert held not in again.free_names
    model.set(held, vary=True)
    again = stored.refit(model=model)
    known = {name: error for name, error in first.stderr.items() if error}
    assert {name: again.stderr[name] for name in known} == pytest.approx(known, rel=1e-5)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parameters", 3.0),
        ("ending", {"theta": np.zeros(2)}),
        ("measurement", [1, 2]),
        ("samples", {"names": ["a"], "chain": np.zeros((2, 3, 2)), "acceptance": np.zeros(3)}),
    ],
)
def test_a_fit_that_others_changed_is_one_error(
    tmp_path: Path, one: FitResult, field: str, value: Any
) -> None:
    path = tmp_path / "a.h5"
    save_fit(path, one)
    contents, arrays, _ = load_archive(path)
    changed = {**contents[0], field: value}
    save_archive(path, changed, arrays=arrays, mode="replace")
    with pytest.raises(DataError, match=r"a fit in it (is not as save_fit writes it|has no)"):
        load_fits(path)


def test_errors_of_the_disk_are_one_error(
    tmp_path: Path, one: FitResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.h5"
    save_fit(path, one)
    before = path.read_bytes()

    def fail(*given: Any) -> Any:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(header, "check_sealed", fail)
        with pytest.raises(DataError, match=r"a\.h5: cannot be read \(.*Input/output error\); che"):
            load_fits(path)
        with pytest.raises(DataError, match=r"a\.h5: cannot be read \(.*Input/output error\); che"):
            save_fit(path, one)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(DataError, match=r"cannot be written \(Input/output error\); choose an"):
            save_fit(path, one)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.h5"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe")
def test_a_pipe_is_no_archive(tmp_path: Path, one: FitResult) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe: is no file; choose another name"):
        save_fit(tmp_path / "pipe", one)


def test_nothing_is_waited_for_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "absent" / "a.h5"):
        assert not (tmp_path / "absent").exists()


def test_a_heap_that_ends_with_the_file_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + b"GCOL\x01\x00\x00\x00")
    with pytest.raises(DataError, match=r"the heap of words at byte 8 does not fit its lengths"):
        check_heaps(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_full_disk_is_kept_as_the_first_error() -> None:
    with SteadyFile(Path("/dev/full"), new=False) as file:
        assert file.readable()
        assert file.writable()
        assert file.seekable()
        assert file.write(b"12345678") == 8
        assert file.error is not None
        assert file.error.strerror == "No space left on device"
        assert file.write(b"9") == 1
        assert file.truncate(100) == 100
    with SteadyFile(Path("/dev/full"), new=False) as file:
        assert file.truncate(7) == 7
        first = file.error
        assert first is not None
        file.write(b"9")
        assert file.error is first


def test_what_writes_that_failed_left_out_reads_as_zeros(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"123")
    buffer = bytearray(8)
    with SteadyFile(path, new=False) as file:
        assert (file.readinto(buffer), buffer[:3]) == (3, b"123")
        file.error = OSError(28, "No space left on device")
        file.seek(1)
        assert (file.readinto(memoryview(buffer)[:4]), buffer[:4]) == (4, b"23\x00\x00")
        assert file.tell() == 3


def test_another_function_of_the_same_name_gives_no_curves(tmp_path: Path) -> None:
    """An archive has the name of a function in Python alone; curves were those of the other one,
    beside the values of the fit."""
    energy = np.linspace(80.0, 90.0, 60)
    text = "m:\n  Bell:\n    A: [9, True, 0, 50]\n    x0: [84.5, True, 80, 90]\n"

    def bell(x: Any, A: Any, x0: Any) -> Any:
        return A * np.exp(-((x - x0) ** 2))

    data = bell(energy, 10.0, 84.6) * np.linspace(1.0, 1.2, 3)[:, None]
    path, pair = tmp_path / "fits.h5", []
    try:
        register_function("Bell", bell, "A, x0")
        for row in data[:2]:
            model = load_model(text, "m")
            model.set_axes(energy=energy)
            model.parameters["Bell_01_x0"].scope = "project"
            pair.append((model, Measurement(data=row + 0.01 * np.sin(9.0 * energy))))
        series = Measurement(data=data + 0.01 * np.cos(9.0 * energy))
        fits = [fit_model(*pair[0]), fit_slices(pair[0][0], series), fit_joint(pair)]
        save_fit(path, fits)
        for fit, then in zip(load_fits(path), fits, strict=True):
            np.testing.assert_array_equal(fit.fit, then.fit)
        register_function("Bell", lambda x, A, x0: 2.0 * bell(x, A, x0), "A, x0")
        for fit, then in zip(load_fits(path), fits, strict=True):
            assert str(fit) == str(then)
            with pytest.raises(FitError, match="m: the archive has the name of the function Bell"):
                _ = fit.fit
        assert load_fits(path)[0].refit().values["Bell_01_A"] == pytest.approx(5.0, rel=0.01)
    finally:
        forget_function("Bell")
    with pytest.raises(ModelError, match=r"unknown component 'Bell'.*\(register_function\)"):
        load_fits(path)
