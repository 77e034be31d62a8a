"""σ and masks by reference, beside data by reference: the bits of a fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster
from support.native_cases import CASES
from support.stores import STORES, Rows

from pyspec import File, Project
from pyspec.errors import DataError
from pyspec.fit import fit_model
from pyspec.fit.solve.native import NativeSolver
from pyspec.io import by_reference
from pyspec.model import Measurement, Model
from pyspec.model.data import source as sources

MODEL = """
line:
  Offset: {y0: [2, True, 0, 10]}
  Gauss: {A: [9, True, 0, 100], x0: [84, True, 82, 86], SD: [0.6, True, 0.1, 3]}
decay:
  expFun: {A: [1, True, -5, 5], tau: [5, True, 0.1, 100], t0: [0, False]}
"""


#: A store that has chunks of ten rows.
in_chunks = partial(Rows, chunk=10)


def series() -> tuple[Model, Any, Any, Any]:
    """A model, data, σ of each point and a mask: some points, and rows 100 to 159."""
    model, _ = CASES["a series"]()[0]
    model.set_axes(energy=model.energy, time=np.linspace(-10.0, 50.0, 400))
    rng = np.random.default_rng(4)
    sigma = rng.uniform(0.1, 0.3, model.evaluate().shape).astype(np.float32)
    data = rng.normal(model.evaluate(), sigma)
    mask = rng.random(data.shape) < 0.05
    mask[100:160] = True
    data[mask], sigma[mask] = np.nan, np.nan
    return model, data, sigma, mask


@pytest.fixture(autouse=True)
def all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits of data by reference take all rows in every evaluation, and so do those in memory that
    they are compared with."""
    monkeypatch.setattr(NativeSolver, "every", 1)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK", 20_000)


def file_of(folder: Path, data: Any, mask: Any, sigma: Any) -> File:
    """A file of these with the model on it."""
    model, *_ = series()
    (folder / "models.yaml").write_text(MODEL)
    file = File(Project(folder), data=data, energy=model.energy, time=model.time, mask=mask)
    file.load_model("models.yaml", "line")
    file.add_time_dependence("line", "Gauss_01_x0", "models.yaml", "decay")
    if sigma is not None:
        file.set_noise("gaussian", sigma=sigma)
    return file


def stores(kind: str, path: Path) -> Callable[[str, Any], Any]:
    return lambda name, values: STORES[kind](path, values, name)


@pytest.mark.usefixtures("small_blocks")
def test_what_is_masked_as_a_whole_is_not_read() -> None:
    model, data, _, mask = series()
    expected = fit_model(model, Measurement(data=data, mask=mask))
    for hidden in (mask, by_reference(in_chunks(mask.astype(np.uint8)))):
        store = in_chunks(data, broken=range(120, 130))
        held: Any = by_reference(store)
        result = fit_model(model, Measurement(data=held, mask=hidden))
        assert_same(result, expected)
        assert set(store.asked) == {*range(100), *range(160, 400)}


def in_dask(data: Any) -> Any:
    """Chunks of 10 rows; some that a window or a mask leaves out cannot be computed."""
    dask = pytest.importorskip("dask.array")

    def block(piece: Any, block_info: Any = None) -> Any:
        if block_info[0]["chunk-location"][0] in (0, 12, 39):
            raise OSError("this chunk is not there")
        return piece

    return dask.from_array(data, chunks=(10, -1)).map_blocks(block, dtype=data.dtype)


@pytest.mark.usefixtures("small_blocks")
def test_chunks_of_dask_without_a_row_that_counts_are_not_computed() -> None:
    """They were, and one that could not be computed ended the fit."""
    model, data, _, mask = series()
    expected = fit_model(model, Measurement(data=data, rows=(10, 385), mask=mask))
    held: Any = by_reference(in_dask(data))
    for hidden in (mask, by_reference(in_chunks(mask.astype(np.uint8)))):
        given = Measurement(data=held, rows=(10, 385), mask=hidden)
        assert_same(fit_model(model, given), expected)


@pytest.mark.usefixtures("small_blocks")
def test_a_file_with_a_mask_by_reference_excludes_energies(tmp_path: Path) -> None:
    _, data, sigma, mask = series()
    put = stores("hdf5", tmp_path)
    held: Any = by_reference(put("data", data))
    results = []
    for given in (held, put("mask", mask), put("sigma", sigma)), (data, mask, sigma):
        file = file_of(tmp_path, *given)
        file.set_fit_limits(energy_limits=[None, 90], exclude=[(83.2, 83.6), (87, 88)])
        results.append(file.fit_2d("line"))
        file.set_fit_limits()  # all energies count again
        results.append(file.fit_2d("line"))
    assert_same(results[0], results[2])
    assert_same(results[1], results[3])
    assert results[0].chisqr < results[1].chisqr
    with pytest.raises(DataError, match="exclude= leaves no point of the window"):
        file.set_fit_limits(exclude=[(None, None)])


@pytest.mark.usefixtures("small_blocks")
def test_wrong_ones_are_one_error(tmp_path: Path) -> None:
    model, data, sigma, mask = series()
    held: Any = by_reference(in_chunks(data))
    hidden: Any = by_reference(in_chunks(mask.astype(np.uint8)))
    sigma[231, 7] = 0.0
    file = File(Project(tmp_path), data=held, energy=model.energy, time=model.time, mask=hidden)
    file.set_noise("gaussian", sigma=by_reference(in_chunks(sigma)))
    axes = {"energy": model.energy, "time": model.time}
    cut, wrong = (by_reference(in_chunks(one)) for one in (sigma[:-1], data))
    calls: dict[str, Callable[[], Any]] = {
        r"the data \(400, 81\)": lambda: file.set_noise("gaussian", sigma=cut),
        "not in chunk 23, row 231, column 7; mask": lambda: fit_model(model, file._whole()),
        "holds float64; give booleans, or numbers": lambda: File(data=held, mask=wrong, **axes),
        "a fit needs real numbers": lambda: File(data=by_reference(in_chunks(mask)), **axes),
        "belong to data by reference; give them": lambda: Measurement(data=data, mask=hidden),
        "give mask=, which is the opposite": lambda: Measurement(data=held, keep=hidden),
    }
    for says, call in calls.items():
        with pytest.raises(DataError, match=says):
            call()
    sigma[231, 7] = 0.2
    store = in_chunks(sigma)
    weight: Any = by_reference(store)
    given = Measurement(data=held, weight=weight, mask=hidden)
    calls = 0

    def writes(nfev: int, chisqr: float, best: float) -> None:
        nonlocal calls
        calls += 1
        store.array[5, 3] *= 2.0

    with pytest.raises(DataError, match="chunks 0 to 2, rows 0 to 29, changed while"):
        fit_model(model, given, progress=writes)
    assert calls >= 1


@pytest.mark.slow
def test_workers_read_them(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    model, data, sigma, mask = series()
    expected = fit_model(
        model, Measurement(data=data, weight=1 / np.nan_to_num(sigma, nan=1.0), mask=mask)
    )
    with cluster() as client:
        for kind, other in (("hdf5", "dask"), ("zarr", "zarr"), ("dask", "dask")):
            put, put_mask = stores(kind, tmp_path), stores(other, tmp_path)
            held: Any = by_reference(put("data", data))
            weight: Any = by_reference(put("weight", 1 / np.nan_to_num(sigma, nan=1.0)))
            for hidden in (mask, by_reference(put_mask("mask", mask.astype(np.uint8)))):
                given = Measurement(data=held, weight=weight, mask=hidden)
                assert_same(fit_model(model, given, client=client), expected)
