"""Free spectra that may not be negative: where they are 0, noise makes them too high only, and the
times of decays came out two standard errors wrong on average, with nothing said."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from support.findings import of_kind
from support.fit_cases import loaded

from pyspec import Measurement, Model, fit_model
from pyspec.fit.findings.kinds import Kind

Array = npt.NDArray[np.float64]
TIME = np.linspace(0, 60, 61)
TRUTH = np.array([3.0, 20.0])
SIGMA = 0.5
MODELS = """
decays:
  expFun: {{A: {{free: energy{0}}}, tau: [3, True, 0.1, 50], t0: [0, False]}}
  expFun: {{A: {{free: energy{1}}}, tau: [20, True, 1, 500], t0: [0, False]}}
"""
LOW = ", min: 0"


def energy(n: int) -> Array:
    return np.linspace(0, 1, n)


def model(n: int = 100, first: str = LOW, second: str = LOW) -> Model:
    return loaded(MODELS.format(first, second), "decays", energy=energy(n), time=TIME)


def drawn(seed: int, n: int = 100, offset: float = 0.0) -> Array:
    """Two decays with a line each, upon a spectrum that is 0 or `offset` everywhere else."""
    lines = [(3, 0.3, 0.1), (2, 0.6, 0.12)]
    spectra = [offset + a * np.exp(-(((energy(n) - x) / w) ** 2)) for a, x, w in lines]
    clean = np.exp(-TIME[:, None] / TRUTH).reshape(-1, 2) @ np.array(spectra)
    return np.asarray(clean + SIGMA * np.random.default_rng([1, seed]).normal(size=clean.shape))


def fit(made: Model, data: Array) -> Any:
    return fit_model(made, Measurement(data, weight=1 / SIGMA), scale_covar=False)


said = of_kind(Kind.BIASED_BY_SIGN, level=2)


def pulls(results: list[Any]) -> Array:
    errors = [[one.stderr[name] for name in one.free_names] for one in results]
    return (np.array([one.theta for one in results]) - TRUTH) / np.array(errors)


def test_spectra_that_are_zero_bias_the_times() -> None:
    data = [drawn(seed) for seed in range(12)]
    bound = [fit(model(), one) for one in data]
    assert (np.abs(pulls(bound).mean(axis=0)) > 0.8).all()
    assert sum(len(said(one)) for one in bound) >= 11
    free = [fit(model(first="", second=""), one) for one in data]
    assert (np.abs(pulls(free).mean(axis=0)) < 0.7).all()
    assert not any(map(said, free))


def test_a_fit_without_the_bound_that_is_far_by_chance_is_no_alarm() -> None:
    """Times that are close together: most of these are more than 0.75 errors away without the
    bound, which helps there, and biases nothing."""
    places, times, pulls = energy(20), np.array([5.0, 9.0]), []
    lines = [(3, 0.3, 0.3), (2, 0.6, 0.36)]
    spectra = [0.3 + a * np.exp(-(((places - x) / w) ** 2)) for a, x, w in lines]
    clean = np.exp(-TIME[:, None] / times) @ np.array(spectra)
    for seed in range(20):
        made = model(20)
        made.set_values({"expFun_01_tau": 5.0, "expFun_02_tau": 9.0})
        noise = 0.3 * np.random.default_rng([1, seed]).normal(size=clean.shape)
        result = fit_model(made, Measurement(clean + noise, weight=1 / 0.3), scale_covar=False)
        assert not said(result)
        errors = [result.stderr[name] or np.nan for name in result.free_names]
        pulls.append((result.theta - times) / errors)
    assert (np.abs(np.nanmean(pulls, axis=0)) < 0.7).all()


def test_where_they_are_known_to_be_zero_there_is_no_bias() -> None:
    first, second = ", min: 0, zero: [[0.52, 1]]", ", min: 0, zero: [[0, 0.33], [0.87, 1]]"
    found = [fit(model(100, first, second), drawn(seed)) for seed in range(12)]
    assert (np.abs(pulls(found).mean(axis=0)) < 0.7).all()
    assert sum(len(said(one)) for one in found) <= 1
