"""Noise that is not the same everywhere, and was not declared, is a caution: standard errors are
wrong then. False alarms were counted by simulation: 10 of 53,000 fits of up to eight parameters to
40 to 6,100 points, with normal, uniform, exponential, Student's, correlated and rounded noise, and
with outliers. So is a residual that is no noise of independent points: 1 of 43,000."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter
from support.findings import of_kind
from support.fit_cases import loaded

from pyspec import (
    Measurement,
    Model,
    fit_joint,
    fit_model,
)
from pyspec.fit.findings.counted import gathered
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.functions.response import expFun_gaussIRF as decay
from tests.support.findings import looked

Array = np.ndarray

LINE = """
m:
  Offset: {y0: [20, True]}
  GLP: {A: [250, True], x0: [83, "project"], F: [1.2, True], m: [0.3, False]}
"""
DECAYS = """
m:
  gaussIRF: {SD: [0.25, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [1.5, True, 0.01, 100], t0: [0.1, True]}
  expFun: {A: {free: energy}, tau: [12, True, 0.1, 1000], t0: ["expFun_01_t0"]}
"""
ENERGY, TIME = np.linspace(80, 90, 201), np.linspace(0, 9, 40)
WAVES, DELAYS = np.linspace(1.5, 3, 40), np.r_[np.linspace(-1, 3, 41), np.geomspace(3.2, 60, 20)]
#: One end of the spectrum is three times as noisy.
EDGE = 1 + 2 * np.exp(-(((ENERGY - 80) / 2) ** 2))
NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "of heavy tails": lambda rng, shape: rng.standard_t(3, shape),
    "with outliers": lambda rng, shape: (
        rng.normal(size=shape) * np.where(rng.random(shape) < 0.02, 20, 1)
    ),
}


def line(time: Array | None = None) -> tuple[Model, Array]:
    model = loaded(LINE, "m", energy=ENERGY, time=time)
    return model, np.asarray(model.evaluate())


def decays() -> tuple[Model, Array]:
    model = loaded(DECAYS, "m", energy=WAVES, time=DELAYS)
    spectra = [np.exp(-(((WAVES - x) / 0.25) ** 2)) for x in (1.9, 2.4)]
    laws = [decay(DELAYS, 1.0, tau, 0.1, 0.25) for tau in (1.5, 12.0)]
    return model, np.array(laws).T @ np.array(spectra)


def noisy(clean: Array, sigma: Array | float, seed: int = 1) -> Measurement:
    return Measurement(clean + sigma * np.random.default_rng(seed).normal(size=clean.shape))


about_noise = of_kind(Kind.NOISE_VARIES, level=1)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_that_is_the_same_and_independent_is_no_caution(noise: str) -> None:
    rng = np.random.default_rng(5)
    for model, clean, size, n in (
        (*line(), 2.0, 30),
        (*line(TIME), 2.0, 3),
        (*decays(), 0.02, 3),
    ):
        for _ in range(n):
            data = clean + size * NOISES[noise](rng, clean.shape)
            result = fit_model(model, Measurement(data))
            assert not about_noise(result)
            assert not about_residual(result)


def test_a_missing_line_is_no_noise() -> None:
    """What a model misses is smooth beside the distance of points."""
    model, clean = line(TIME)
    clean = clean + 60 * np.exp(-(((ENERGY - 87) / 0.6) ** 2))
    assert not about_noise(fit_model(model, noisy(clean, 2.0)))


about_residual = of_kind(Kind.RESIDUAL_STRUCTURED, level=1)


@pytest.mark.parametrize(
    "sigma",
    [
        np.where(np.abs(ENERGY - 86) < 0.6, 20.0, 0.3),
        0.02 + 20 * np.exp(-0.5 * ((ENERGY - 83) / 0.05) ** 2),
    ],
    ids=["several points", "three points"],
)
def test_noise_of_few_points_is_not_alike(sigma: Any) -> None:
    """Noise of a line that stands far above its background: few points make the sums. Of fits to
    the first 6 % said that it is correlated, of those to the second a fifth."""
    model, clean = line()
    told = [about_residual(fit_model(model, noisy(clean, sigma, seed))) for seed in range(30)]
    assert sum(map(len, told)) == 0


def test_from_file_to_file() -> None:
    model, clean = line()
    joint = fit_joint([(model, noisy(clean, s, k)) for k, s in enumerate((0.5, 2.0))])
    (found,) = looked(joint)
    assert [found.numbers[name] for name in ("axis", "at", "from")] == ["file", 1, 0]
    same = fit_joint([(model, noisy(clean, 0.5, k)) for k in range(2)])
    assert not looked(same)
    one = fit_joint([(model, noisy(clean, 0.5)), (model, noisy(clean, 0.5 * EDGE**2, 2))])
    one = one.diagnose()
    assert any(found.part == 1 and found.numbers["axis"] == "energy" for found in about_noise(one))
    assert about_noise(one[1])
    assert not any(found.numbers["axis"] == "energy" for found in about_noise(one[0]))


def test_slices_that_chance_alone_makes_cautious_are_no_alarm() -> None:
    """Of 3000 slices of mere noise the one that had a caution made the whole series suspect."""
    model, clean = line(TIME)
    uneven = fit_model(model, noisy(clean, 2.0 * EDGE))
    missed = 10 * np.exp(-(((ENERGY - 87) / 0.6) ** 2))
    smooth = fit_model(model, noisy(clean + missed, 2.0))
    one, other = about_noise(uneven)[0], about_residual(smooth)[0]
    cases = ((2, 9, False), (1, 3000, True), (8, 3000, False))
    for finding, (count, n_slices, is_chance) in product((one, other), cases):
        found = [(float(k), (finding,) if k < count else ()) for k in range(n_slices)]
        (counted,) = gathered(found, n_slices)
        assert (counted.count, counted.total, counted.is_chance) == (count, n_slices, is_chance)
    (plain,) = gathered([(0.0, (Finding(Kind.NOTHING_LINEAR),))], 3000)
    assert (plain.count, plain.first, plain.is_chance) == (1, 0.0, False)


@pytest.mark.parametrize(("likeness", "factor"), [(0.3, 1.36), (0.6, 2.0)])
def test_it_says_by_what_factor_errors_are_too_small(likeness: float, factor: float) -> None:
    """Noise whose correlation falls off from point to point, of 2,000 of them."""
    energy = np.linspace(80, 90, 2000)
    model = loaded(LINE, "m", energy=energy)
    truth, clean, pulls, told = model.theta(), model.evaluate(), [], []
    for seed in range(30):
        white = np.random.default_rng(seed).normal(size=energy.size) * np.sqrt(1 - likeness**2)
        noise = lfilter([1.0], [1.0, -likeness], white)
        result = fit_model(model, Measurement(clean + noise))
        pulls.append((result.theta - truth) / [result.stderr[name] for name in result.free_names])
        told.append(about_residual(result)[0].numbers["factor"])
    assert np.std(pulls) == pytest.approx(factor, rel=0.15)
    assert np.mean(told) == pytest.approx(factor, rel=0.05)
