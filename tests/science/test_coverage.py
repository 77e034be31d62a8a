"""Intervals hold the truth as often as they say, and tests of models reject as often as they say.

Each number is a share of simulated experiments; it may be off by four of its standard deviations,
so that one share of 15,000 is by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chi2, f, kstest

from pyspec import Measurement, Model, bootstrap, fit_model, load_model

pytestmark = pytest.mark.slow
Array = npt.NDArray[np.float64]

ENERGY = np.linspace(80.0, 90.0, 61)
NOISE = 1.0
LINE = """
parameters:
  area: ["Gauss_01_A * Gauss_01_SD * sqrt(2 * pi)"]
m:
  Offset: {y0: [10, true, 0, 1000]}
  Gauss: {A: [12, true, 0, 1000], x0: [85, true, 80, 90], SD: [0.6, true, 0.05, 5]}
"""
SLOPE = "  LinBack: {m: [0, true], b: [0, false], xStart: [80, false], xStop: [90, false]}\n"
HELD = "  Gauss: {A: [0.1, true, 0, 100], x0: [88, false], SD: [0.5, false]}\n"
SECOND = '  Gauss: {A: [8, true, 0, 1000], x0: [86.6, true, 80, 90], SD: ["Gauss_01_SD"]}\n'
KINDS = ("declared", "unknown", "counts")


def model_of(text: str = LINE, energy: Array = ENERGY) -> Model:
    model = load_model(text, "m")
    model.set_axes(energy=energy)
    return model


def line(energy: Array = ENERGY) -> Array:
    return np.asarray(model_of(LINE, energy).evaluate(), np.float64)


def drawn(kind: str, seed: int, clean: Array) -> Measurement:
    generator = np.random.default_rng([29, seed])
    if kind == "counts":
        return Measurement(generator.poisson(3 * clean) / 3.0, loss="poisson", loss_scale=3.0)
    data = clean + generator.normal(0, NOISE, clean.shape)
    return Measurement(data, weight=1 / NOISE if kind == "declared" else None)


def fitted(model: Model, measurement: Measurement, **options: Any) -> Any:
    known = measurement.weight is not None
    return fit_model(model, measurement, scale_covar=False if known else None, **options)


def assert_share(found: Any, expected: float, label: str = "") -> None:
    hits = np.asarray(found, bool).ravel()
    limit = 4 * np.sqrt(expected * (1 - expected) / len(found))
    assert hits.mean() == pytest.approx(expected, abs=limit), f"{label}: {hits.mean():.3f}"


# tests of models


def gains(kind: str, more: str, n: int, **options: Any) -> tuple[Array, Any, Any]:
    """What a larger model gains in chi² over the true one, and two fits by both."""
    smaller, larger, clean = model_of(), model_of(LINE + more), line()
    found = []
    for seed in range(n):
        measurement = drawn(kind, seed, clean)
        one, two = fitted(smaller, measurement), fitted(larger, measurement, **options)
        unit = two.redchi if kind == "unknown" else 1.0
        found.append((one.chisqr - two.chisqr) / unit)
    return np.array(found), one, two


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_of_a_slope_that_is_not_there_are_uniform(kind: str) -> None:
    found, one, two = gains(kind, SLOPE, 1000)
    added = two.n_free - one.n_free
    assert added == 1
    left = two.n_data - two.n_free
    probability = f.sf(found, 1, left) if kind == "unknown" else chi2.sf(found, 1)
    assert kstest(probability, "uniform").pvalue > 1e-4
    for level in (0.05, 0.01):
        assert_share(probability < level, level)
    if kind != "unknown":  # AIC takes 2 off for each parameter, BIC ln(n)
        assert_share(found > 2, chi2.sf(2, 1), "AIC")
        assert_share(found > np.log(61), chi2.sf(np.log(61), 1), "BIC")


def test_a_height_on_its_bound_halves_the_probability() -> None:
    found, _, _ = gains("declared", HELD, 1000)
    assert_share(found < 1e-6, 0.5)
    assert_share(chi2.sf(found, 1) / 2 < 0.05, 0.05)


# intervals


@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_intervals(kind: str) -> None:
    model, clean = model_of(), line()
    truth = dict(model.values)
    held: dict[str, list[list[bool]]] = {"errors": [], "68": [], "95": []}
    for seed in range(400):
        one = fitted(model, drawn(kind, seed, clean))
        found = one.conf_interval()
        inside = [abs(one.values[k] - v) <= one.stderr[k] for k, v in truth.items()]
        held["errors"].append(inside)
        for n, label in enumerate(("68", "95")):
            ends = {k: (rows[2 - n][1], rows[4 + n][1]) for k, rows in found.items()}
            held[label].append([low <= truth[k] <= high for k, (low, high) in ends.items()])
    for label, expected in {"errors": 0.6827, "68": 0.6827, "95": 0.9545}.items():
        for column in np.array(held[label]).T:
            assert_share(column, expected, label)


@pytest.mark.parametrize(
    ("kind", "by"), [(kind, "noise") for kind in KINDS] + [("unknown", "residuals")]
)
def test_bootstrap(kind: str, by: str) -> None:
    """Of 100 fits the middle 68.27 % are found by interpolation, and hold 67 %."""
    model, clean = model_of(), line()
    truth = dict(model.values)
    held, spreads = [], []
    for seed in range(120):
        one = fitted(model, drawn(kind, seed, clean))
        fits = bootstrap(one, 100, kind=by, seed=seed)
        ends = [fits.interval(name) for name in truth]
        held.append([a <= v <= b for (a, b), v in zip(ends, truth.values(), strict=True)])
        spreads.append([fits.spread(name) / one.stderr[name] for name in truth])
    for column in np.array(held).T:
        assert_share(column, 0.6827 * 99 / 101)
    assert np.mean(spreads, axis=0) == pytest.approx(np.ones(len(truth)), abs=0.06)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("Gauss_01_x0", "Gauss_02_x0"), ("Gauss_01_A", "Gauss_01_SD")])
def test_two_parameters_together(kind: str, names: tuple[str, str]) -> None:
    """The table of docs/howto/uncertainties.md, of two lines that overlap."""
    model = model_of(LINE + SECOND)
    clean = np.asarray(model.evaluate(), np.float64)
    held = model.copy()
    for name in names:
        held.set(name, value=model.values[name], vary=False)
    rises = []
    for seed in range(400):
        measurement = drawn(kind, seed, clean)
        best = fitted(model, measurement)
        rise = fitted(held, measurement).chisqr - best.chisqr
        rises.append(rise / best.redchi if kind == "unknown" else rise)
    found, left = np.array(rises), best.n_data - best.n_free
    for share, level in ((0.3935, 1.0), (0.6827, 2.30), (0.8647, 4.0), (0.9545, 6.18)):
        limit = 2 * f.ppf(share, 2, left) if kind == "unknown" else level
        assert limit == pytest.approx(level, rel=0.08)
        assert_share(found <= limit, share)


@pytest.mark.parametrize("kind", KINDS)
def test_bands(kind: str) -> None:
    """Within the window, between its points and outside."""
    model, clean, energy = model_of(), line(), np.linspace(79.0, 91.0, 37)
    truth, held = line(energy), []
    for seed in range(300):
        low, high = fitted(model, drawn(kind, seed, clean)).predict(energy=energy).band
        held.append((low <= truth) & (truth <= high))
    assert_share(held, 0.6827)
    for column in np.array(held).T:
        assert_share(column, 0.6827)
