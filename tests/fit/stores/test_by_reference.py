"""Data by reference: the fit of data in memory, bit for bit, from stores that are read by rows."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES
from support.stores import STORES, Rows, chunked_xarray, dask, hdf5, in_zarr, memmap

from pyspec import File, Project
from pyspec.errors import DataError, PyspecError
from pyspec.fit import FitResult, fit_model
from pyspec.io import by_reference, digest, load_fit, save_fit
from pyspec.model import Measurement
from pyspec.model.data import source as sources


def small_blocks(monkeypatch: pytest.MonkeyPatch, n_bytes: int = 4096) -> None:
    monkeypatch.setattr(sources, "BLOCK", n_bytes)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_every_store_gives_the_rows(
    store: Callable[[Path, Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    data = np.random.default_rng(2).normal(5.0, 1.0, (60, 40)).astype(np.float32)
    source = by_reference(store(tmp_path, data))
    np.testing.assert_array_equal(np.asarray(source), data)
    np.testing.assert_array_equal(np.asarray(source[3:47][..., 4:9]), data[3:47, 4:9])
    np.testing.assert_array_equal(source[-1], data[-1])
    np.testing.assert_array_equal(2.0 * source - data, data)
    assert digest(source) == digest(data)
    assert source.dtype == np.float32
    if store not in (dask, chunked_xarray):
        again = pickle.loads(pickle.dumps(source))
        np.testing.assert_array_equal(again.rows(10, 20), data[10:20])


def kinds_of(result: FitResult) -> list[tuple[Any, tuple[str, ...]]]:
    """Its findings without their numbers: their sums run over blocks of data by reference."""
    return [(one.kind, one.places) for one in result._findings]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, np.float64) for name in ("a series", "weights and a mask", "a window")),
        *(("a series", dtype) for dtype in (np.float32, ">f8", np.int32)),
        ("counts", np.int32),
    ],
)
def test_a_fit_has_the_bits_of_one_in_memory(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    model, measurement = CASES[name]()[0]
    data = np.asarray(measurement.data)
    data = np.round(data * 10 if dtype == np.int32 else data, 3).astype(dtype)
    expected = fit_model(model, replace(measurement, data=data))
    for rows in (None, 3):
        source: Any = by_reference(Rows(data), rows=rows)
        result = fit_model(model, replace(measurement, data=source))
        assert result.theta.tobytes() == expected.theta.tobytes(), rows
        assert dict(result.stderr) == dict(expected.stderr)
        assert (result.chisqr, result.nfev) == (expected.chisqr, expected.nfev)
        assert result.success == expected.success
        # Those of the residual are said of data in memory alone.
        assert kinds_of(result) == kinds_of(expected)
        for key, value in expected.statistics.items():
            assert result.statistics[key] == pytest.approx(value, rel=1e-12, nan_ok=True), key


def test_axes_of_another_size_are_refused_before_the_data_are_read() -> None:
    model, measurement = CASES["a series"]()[0]
    store = Rows(np.asarray(measurement.data)[:-1])
    source: Any = by_reference(store)
    with pytest.raises(DataError, match=r"data have shape \(.*\), the axes of"):
        fit_model(model, Measurement(data=source))
    assert not store.asked


def file_of(data: Any, model: Any, **options: Any) -> File:
    file = File(Project(), "scan", data=data, energy=model.energy, time=model.time, **options)
    file.add_model(model)
    return file


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a thousand bytes are too large to be loaded."""
    for room in (
        "model.data.source",
        "fit.results.by_reference",
        "io.archive.fits",
        "io.sources.arrays",
        "io.archive.addresses",
    ):
        monkeypatch.setattr(f"pyspec.{room}.LOADED", 1000)


@pytest.mark.usefixtures("too_large")
def test_what_needs_all_data_at_once_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    model, measurement = CASES["a series"]()[0]
    plain = np.asarray(measurement.data)
    file = file_of(hdf5(tmp_path, plain), model)  # too large to be loaded
    assert "by reference" in repr(file.data)
    result = file.fit_2d(model.name)
    with pytest.raises(DataError, match="are not loaded at once; take a part"):
        np.asarray(result.data)
    expected = fit_model(model, measurement)
    for found, whole in ((result.fit, expected.fit), (result.residual, expected.residual)):
        assert "by reference" in repr(found)
        assert found.shape == whole.shape
        np.testing.assert_array_equal(found[7:12, 3:9], whole[7:12, 3:9])
        np.testing.assert_array_equal(found[-1], whole[-1])
        with pytest.raises(DataError, match="are not loaded at once; take a part"):
            np.asarray(found)
    assert result.predict(time=model.time[:3]).value.shape == (3, plain.shape[1])
    np.testing.assert_array_equal(np.asarray(result.data[2:3]), plain[2:3])
    save_fit(tmp_path / "fit.pyspec.h5", result)
    stored: Any = load_fit(tmp_path / "fit.pyspec.h5")
    assert stored.refit(plain).chisqr == result.chisqr
    assert stored.data_sha256 == digest(file.data)
    assert stored.refit().chisqr == result.chisqr  # the archive has the address of its data
    (tmp_path / "data.h5").rename(tmp_path / "moved.h5")
    with pytest.raises(DataError, match=r"the data stood in .*data.h5, .* hand them over: refit"):
        load_fit(tmp_path / "fit.pyspec.h5").refit()


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("store", [hdf5, in_zarr, memmap])
def test_an_archive_knows_where_data_stand_and_what_they_were(
    store: Callable[[Path, Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    model, measurement = CASES["a series"]()[0]
    plain = np.asarray(measurement.data)
    stands: list[Any] = [by_reference(one) for one in (store(tmp_path, plain), Rows(plain))]
    folder = tmp_path / "beside"
    folder.mkdir()
    sigma: Any = by_reference(store(folder, 0.1 + 0.0 * plain))
    given = Measurement(data=stands[0], weight=sigma, mask=np.zeros(plain.shape, bool))
    result = fit_model(model, given)
    save_fit(tmp_path / "fit.pyspec.h5", result)
    stored: Any = load_fit(tmp_path / "fit.pyspec.h5")
    again = stored.refit(start="initial")
    assert again.theta.tobytes() == result.theta.tobytes()
    assert again.chisqr == result.chisqr
    folder = tmp_path / "changed"
    folder.mkdir()
    changed = plain.copy()
    changed[31, 2] += 1.0
    store(folder, changed)
    name = next(one.name for one in folder.iterdir())
    (tmp_path / name).rename(tmp_path / "old")
    (folder / name).rename(tmp_path / name)
    with pytest.raises(DataError, match=r"rows .*, changed while the data were fitted"):
        load_fit(tmp_path / "fit.pyspec.h5").refit()
    save_fit(tmp_path / "none.h5", fit_model(model, Measurement(data=stands[1])))
    with pytest.raises(DataError, match="no file is known; hand them over"):
        load_fit(tmp_path / "none.h5").refit()


def test_bad_rows_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    model, measurement = CASES["a series"]()[0]
    data = np.array(measurement.data, float)
    data[31, 3] = np.nan
    source: Any = by_reference(Rows(data))
    with pytest.raises(DataError, match=r"row 31, column 3 is NaN or infinite; mask"):
        fit_model(model, Measurement(data=source))
    masked = np.zeros(data.shape, bool)
    masked[31, 3] = True
    assert fit_model(model, Measurement(data=source, mask=masked)).success

    class Broken(Rows):
        def __getitem__(self, key: slice) -> Any:
            if key.stop > 30:
                raise OSError("checksum of the chunk is wrong")
            return super().__getitem__(key)

    source = by_reference(Broken(np.asarray(measurement.data)))
    with pytest.raises(DataError, match=r"rows 30 to 35, cannot be read: checksum of the chunk"):
        fit_model(model, Measurement(data=source))

    store = Rows(np.asarray(measurement.data))
    source = by_reference(store)
    store.array = store.array[:20]
    with pytest.raises(DataError, match="the store has changed since"):
        fit_model(model, Measurement(data=source))


def test_a_file_that_is_gone_cannot_be_opened_again(tmp_path: Path) -> None:
    source: Any = by_reference(hdf5(tmp_path, np.zeros((4, 3))))
    text = pickle.dumps(source)
    (tmp_path / "data.h5").rename(tmp_path / "other.h5")
    with pytest.raises(DataError, match=r"data\.h5:/?entry/data cannot be opened"):
        pickle.loads(text).rows(0, 2)


def test_what_cannot_run_says_so() -> None:
    model, measurement = CASES["a series"]()[0]
    data = np.asarray(measurement.data)
    source: Any = by_reference(Rows(data))
    low: Any = by_reference(Rows(data - 1e6))
    given, axes = Measurement(data=source), {"energy": np.arange(4.0), "time": np.arange(2.0)}
    calls: dict[str, Callable[[], Any]] = {
        "leastsq needs all residuals at once": lambda: fit_model(model, given, method="leastsq"),
        "interpreted backend needs its data in mem": lambda: fit_model(model, given, "interpreted"),
        "counts cannot be": lambda: fit_model(model, Measurement(data=low, loss="poisson")),
        r"have \(n_time, n_energy\)": lambda: by_reference(np.zeros(5)),
        "needs real numbers": lambda: by_reference(np.zeros((2, 2), complex)),
        "list has no shape": lambda: by_reference([[1.0]]),
        "rows is 0": lambda: by_reference(np.zeros((2, 2)), rows=0),
        "'omit' needs data in memory.*mask=": lambda: file_of(source, model, nan_policy="omit"),
        "each row needs its time": lambda: File(data=by_reference(np.zeros((3, 4))), **axes),
    }
    for says, call in calls.items():
        with pytest.raises(PyspecError, match=says):
            call()


@pytest.mark.parametrize("store", [hdf5, dask])
def test_slices_of_data_by_reference(store: Callable[[Path, Any], Any], tmp_path: Path) -> None:
    """They ended in an AttributeError, although the page of large data promises them."""
    energy, time = np.linspace(80.0, 90.0, 81), np.arange(26.0)
    x0 = np.where(time < 18, 84.0, 87.0)[:, None]
    data = 10.0 + 40.0 * np.exp(-((energy - x0) ** 2) / 2.0)
    data += np.random.default_rng(0).normal(0.0, 0.5, data.shape)
    text = (
        "m:\n  Offset: {y0: [9, True, 0, 100]}\n"
        "  Gauss: {A: [35, True, 0, 100], x0: [84, True, 80, 90], SD: [1.1, True, 0.1, 4]}\n"
    )
    found = []
    for given in (data, by_reference(store(tmp_path, data))):
        file = File(Project(show_output=0), data=given, energy=energy, time=time)
        file.load_model(text, "m")
        file.set_fit_limits([81, 89], time_limits=[2, 24])
        found.append(file.fit_slice_by_slice("m"))
    plain, there = found
    assert there.success.all()
    for name in plain.names:
        np.testing.assert_array_equal(there.values[name], plain.values[name])
        np.testing.assert_array_equal(there.stderr[name], plain.stderr[name])
    np.testing.assert_array_equal(there.residual, plain.residual)
    save_fit(tmp_path / "slices.h5", there)
    again = load_fit(tmp_path / "slices.h5").refit()
    np.testing.assert_array_equal(again.redchi, plain.redchi)
