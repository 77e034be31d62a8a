"""Batches of fits in C: each ends where and as the single fit does, with the same bits in any order
and on any number of threads. Fits in other company are those of tests/c/random/fuzz_batches.c."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import fit_many, fit_model, fit_slices
from pyspec.errors import DataError
from pyspec.executor.normal import unpack
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.solved import Solved
from pyspec.model import Measurement, Model

N = 7
ENERGY = np.linspace(80.0, 92.0, 70)
ENDS = "xStart: [80, False], xStop: [92, False]"
BACK = f"LinBack: {{m: [0.1, True, -5, 5], b: [2, True, -50, 50], {ENDS}}}"
LINE = "A: [20, True, 0, 500], x0: [84.6, True, 80, 90]"
GLP = f"GLP: {{{LINE}, F: [1, True, 0.1, 5], m: [0.3, False]}}"
MIXED = GLP.replace("0.3, False", "0.05, True, 0, 1")
TIED = "GLP: {A: [GLP_01_A * 0.75], x0: [GLP_01_x0 + 3], F: [GLP_01_F], m: [GLP_01_m]}"
OTHER = GLP.replace("20,", "14,").replace("84.6, True, 80", "87.8, True, 82")
LORENTZ = "Lorentz: {A: [12, True, 0, 500], x0: [87.8, True, 80, 92], W: [0.8, True, 0.1, 5]}"
STEP = "ErfStep: {A: [3, True, 0, 50], x0: [86, True, 81, 91], SD: [0.7, False]}"
TOP = "SD: [0.8, True, 0.1, 0.8]"
TEXTS = {
    "a Gaussian": f"Offset: {{y0: [2, True]}} | Gauss: {{{LINE}, SD: [1.2, True, 0.1, 5]}}",
    "a doublet": f"{BACK} | {GLP} | {TIED}",
    "m at 0": f"{BACK} | {MIXED} | {TIED}",
    "GLS and Lorentz": f"Offset: {{y0: [2, True]}} | {GLP.replace('GLP', 'GLS')} | {LORENTZ}",
    "Voigt on a step": f"{STEP} | Voigt: {{{LINE}, SD: [0.5, True, 0.05, 5], W: [0.4, False]}}",
    "lines on a Shirley": f"{BACK} | Shirley: {{pShirley: [0.002, True, 0, 1]}} | {GLP} | {OTHER}",
    "on a Tougaard": f"Tougaard: {{B: [2, True], C: [5, False]}} | {GLP} | {TIED}",
    "at bounds": f"Offset: {{y0: [2, True, 0, 2.02]}} | Gauss: {{{LINE}, {TOP}}}",
}


def model_of(text: str) -> Model:
    return loaded("line:\n  " + TEXTS[text].replace(" | ", "\n  "), "line", energy=ENERGY)


def series_of(model: Model, n: int = N, sigma: float = 0.4, **given: Any) -> Measurement:
    rng = np.random.default_rng(5)
    if given.get("loss") == "poisson":
        counts = rng.poisson(np.maximum(model.evaluate(), 0.0), (n, ENERGY.size))
        return Measurement(data=counts.astype(np.float64), **given)
    return Measurement(data=model.evaluate() + rng.normal(0.0, sigma, (n, ENERGY.size)), **given)


def gram(factor: np.ndarray | None) -> np.ndarray:
    """[J r]ᵀ[J r] of a factor."""
    whole = unpack(factor, symmetric=False)
    return np.asarray(whole.T @ whole)


def assert_same(one: FitResult, alone: FitResult) -> None:
    """That two fits ended at the same optimum, in the same way, and say the same."""
    ending, other = one.ending, alone.ending
    errors = np.sqrt(np.diagonal(other.covariance))
    held = np.isnan(errors)
    np.testing.assert_array_less(np.abs(ending.theta - other.theta)[~held], 1e-7 * errors[~held])
    np.testing.assert_array_equal(ending.theta[held], other.theta[held])
    assert np.array_equal(np.isnan(ending.covariance), np.isnan(other.covariance))
    off = np.abs(ending.covariance - other.covariance) / np.outer(errors, errors)
    assert np.nanmax(off) < 1e-6
    squares, others = gram(ending.factor), gram(other.factor)
    lengths = np.sqrt(np.diagonal(others))
    assert (np.abs(squares - others) <= 1e-7 * np.outer(lengths, lengths)).all()
    np.testing.assert_array_equal(ending.side, other.side)
    for name in ("chisqr", "variance"):
        assert getattr(ending, name) == pytest.approx(getattr(other, name), 1e-11)
    assert max(ending.distance, other.distance) < 1e-6
    assert (ending.n_points, ending.end[0]) == (other.n_points, other.end[0])
    assert dict(ending.gains).keys() == dict(other.gains).keys()
    assert (one.message, one.success) == (alone.message, alone.success)
    assert [found.kind for found in one.findings] == [found.kind for found in alone.findings]
    assert dict(one.at_bound) == dict(alone.at_bound)
    assert (dict(one.start), one.settings) == (dict(alone.start), alone.settings)
    assert list(one.values) == list(alone.values)
    assert list(one.stderr) == list(alone.stderr)


def made(fits: Any) -> np.ndarray:
    """Which of them C made."""
    assert isinstance(fits.fits, Batch)
    return fits.fits.made


def columns(fits: Any) -> bytes:
    """All arrays over fits."""
    numbers = [fits.redchi, fits.chisqr, fits.nfev, *fits.values.values(), *fits.stderr.values()]
    return b"".join(one.tobytes() for one in numbers)


GIVEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"weight": np.linspace(1.0, 2.0, ENERGY.size)},
    "weights of each": {"weight": np.linspace(1.0, 2.0, N * ENERGY.size).reshape(N, -1)},
    "a mask and a window": {
        "keep": np.arange(N * ENERGY.size).reshape(N, -1) % 5 > 0,
        "columns": (3, 55),
        "rows": (1, 6),
    },
    "some zero weights": {"weight": np.tile(np.arange(ENERGY.size) % 7 > 0, (N, 1)) * 2.5},
    "counts": {"loss": "poisson"},
    "weighted counts": {"loss": "poisson", "weight": np.linspace(1.0, 2.0, ENERGY.size)},
}


@pytest.mark.parametrize(
    ("text", "given"),
    [
        *(("a Gaussian", given) for given in GIVEN),
        *((text, "weights of each") for text in ("a doublet", "at bounds")),
        ("lines on a Shirley", "a mask and a window"),
    ],
)
def test_each_is_the_fit_of_its_spectrum(text: str, given: str) -> None:
    model = model_of(text)
    series = series_of(model, **GIVEN[given])
    slices = fit_slices(model, series)
    assert made(slices).sum() >= len(slices) - 2
    errors, values = slices.stderr, slices.values
    for k, one in enumerate(slices):
        row = slices.rows[k]
        own = {
            name: np.broadcast_to(beside, (N, ENERGY.size))[row]
            for name, beside in GIVEN[given].items()
            if name in ("weight", "keep")
        }
        own |= {"columns": series.columns, "loss": series.loss}
        alone = fit_model(model, Measurement(series.data[row], **own))
        assert_same(one.result, alone)
        assert (one.status, one.message) == (slices.status[k], slices.message[k])
        assert one.message == alone.message
        assert (slices.redchi[k], slices.chisqr[k]) == (one.result.redchi, one.result.chisqr)
        for name in model.parameters:
            wanted = one.result.stderr[name]
            assert values[name][k] == one.result.values[name]
            assert errors[name][k] == pytest.approx(
                np.nan if wanted is None else wanted, 1e-14, nan_ok=True
            )
        for name in model.opt_param_names:
            assert slices.start[name][k] == alone.start[name]


@pytest.mark.parametrize("shape", [(), (ENERGY.size,)])
def test_weights_of_each_measurement(shape: tuple[int, ...]) -> None:
    model = model_of("a Gaussian")
    data = np.asarray(series_of(model).data)
    measured = [Measurement(one, weight=np.full(shape, 2.0 + k)) for k, one in enumerate(data)]
    fits = fit_many(model, measured, scale_covar=False)
    assert made(fits).all()
    for k, given in enumerate(measured):
        assert_same(fits.result(k), fit_model(model, given, scale_covar=False))


def test_own_starts_and_fixed_values() -> None:
    model = model_of("a Gaussian")
    model.set("Offset_y0", 2.0, vary=False)
    series = series_of(model)
    seeds = [{"Gauss_01_x0": 84.0 + 0.2 * k, "Offset_y0": 2.0 + 0.01 * k} for k in range(N)]
    seeds[2] = {}
    seeds[4]["Gauss_01_SD"] = 0.1  # on its bound: the single fit moves it
    slices = fit_slices(model, series, seeds=seeds)
    assert made(slices).tolist() == [k != 4 for k in range(N)]
    assert repr(slices).endswith("on compiled, 1 of them one by one>")
    many = fit_many(model, [Measurement(one) for one in np.asarray(series.data)], seeds)
    for k, seed in enumerate(seeds):
        alone = fit_model(model, Measurement(np.asarray(series.data)[k]), seeds=seed)
        result = slices[k].result
        assert_same(result, alone)
        assert dict(result.values) == dict(many[k].values)
        assert dict(result.stderr) == dict(many[k].stderr)
        assert many[k].message == alone.message
        assert slices.values["Offset_y0"][k] == seed.get("Offset_y0", 2.0)


def test_threads_and_order_change_no_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("a doublet")
    series = series_of(model, 40)
    found = []
    for n in ("1", "2", "4"):
        monkeypatch.setenv("PYSPEC_NUM_THREADS", n)
        found.append(columns(fit_slices(model, series)))
    assert found[0] == found[1] == found[2]
    told = fit_slices(model, series, progress=lambda done, n: None)
    assert columns(told) == found[0]
    data = np.asarray(series.data)
    turned = fit_many(model, [Measurement(one) for one in data[::-1]])
    for name, values in told.values.items():
        np.testing.assert_array_equal(turned.values[name][::-1], values)
        np.testing.assert_array_equal(turned.stderr[name][::-1], told.stderr[name])


def test_what_cannot_be_fitted_is_one_failed_case() -> None:
    model = model_of("a Gaussian")
    series = series_of(model, keep=np.arange(N * ENERGY.size).reshape(N, -1) >= ENERGY.size)
    whole = fit_slices(model, series, max_nfev=90)
    np.asarray(series.data)[3, 4] = np.nan
    slices = fit_slices(
        model, Measurement(np.asarray(whole.series.data)[1:2], keep=None), max_nfev=90
    )
    assert slices.success.all()
    broken = fit_slices(model, series, max_nfev=90)
    assert broken.status[0] == broken.status[3] == "failed"
    assert "0 points cannot determine 4" in broken.message[0]
    assert "NaN or infinite" in broken.message[3]
    good = [1, 2, 4, 5, 6]
    assert broken.success.tolist() == [k in good for k in range(N)]
    for name, values in whole.values.items():
        np.testing.assert_array_equal(broken.values[name][good], values[good])
    few_points, whole_row = Measurement(ENERGY, columns=(1, 3)), Measurement(series.data[1])
    many = fit_many(model, [few_points, whole_row, Measurement(np.ones(3)), whole_row])
    assert many.status == ("failed", "converged", "failed", "converged")
    assert many[1].values == many[3].values
    few = fit_slices(model, series_of(model), max_nfev=3)
    assert set(few.status) == {"stopped"}


def test_results_are_made_when_they_are_asked_for() -> None:
    model = model_of("a doublet")
    series = series_of(model)
    slices = fit_slices(model, series)
    assert len(slices.status) == len(slices.message) == len(slices.rows) == N
    assert columns(slices)
    assert np.isfinite(slices.fit).all()
    assert not slices._objects
    assert slices[2].result is slices[2].result
    assert list(slices._objects) == [2]
    again: SliceResults = pickle.loads(pickle.dumps(slices))
    assert columns(again) == columns(slices)
    assert again.to_dict() == slices.to_dict()
    assert str(again) == str(slices)
    np.asarray(series.data)[5] += 1.0
    late = slices[5].result
    assert late.values["GLP_01_A"] == slices.values["GLP_01_A"][5]
    with pytest.raises(DataError, match="its data were changed after it was fitted"):
        late.data  # noqa: B018


def test_memory_does_not_grow_with_the_series() -> None:
    """Data are read, and values and errors worked out, some thousand spectra at a time. To read the
    errors of 1,000,000 spectra took another 600 MB beside 590 of results."""
    model = model_of("a doublet")
    drawn = np.random.default_rng(1).normal(model.evaluate(), 0.4, (1000, ENERGY.size))
    series = Measurement(np.tile(np.round(100 * drawn + 1000).astype(np.uint16), (12, 1)))
    for name, value in (("LinBack_b", 1200.0), ("GLP_01_A", 2000.0)):
        model.set(name, value, min=0.0, max=65535.0)
    tracemalloc.start()
    slices = fit_slices(model, series)
    fitted = tracemalloc.get_traced_memory()[1]
    fits, before = slices.fits, tracemalloc.get_traced_memory()[0]
    assert fits.made.all()
    tracemalloc.reset_peak()
    columns = slices.values, slices.stderr
    read = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    solved = fits.solved
    arrays = (
        getattr(solved, name) for name in ("fitted", "numbers", "start", "fixed", "checksums")
    )
    assert fitted < sum(one.nbytes for one in arrays) + (4 << 20)
    assert read < sum(one.nbytes for of in columns for one in of.values()) + (4 << 20)


def solved(fits: SliceResults) -> Solved:
    return fits.fits.solved
