"""Methods that draw random numbers: the same call, the same fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest
from support.fit_cases import loaded

from pyspec import Measurement, bootstrap, fit_joint, fit_model
from pyspec.model import Model

TEXT = """
m:
  Offset: {y0: [2, True, 0, 10]}
  Gauss: {A: [5, True, 0, 10], x0: [4.6, True, 0, 10], SD: [1.7, True, 0.1, 10]}
"""
SEEDS: tuple[dict[str, Any], ...] = ({}, {"seed": 0}, {"seed": 1})


@pytest.fixture
def pair() -> tuple[Model, Measurement]:
    model = loaded(TEXT, "m", energy=np.linspace(0.0, 10.0, 101))
    return model, Measurement(model.evaluate() + np.random.default_rng(0).normal(0, 0.1, 101))


def way_of(fit: Callable[..., Any], *given: Any, **options: Any) -> list[float]:
    """chi² of each evaluation of a fit: the optimum is the same for every seed, the way is not."""
    way: list[float] = []
    fit(*given, progress=lambda nfev, chisqr, best: way.append(chisqr), **options)
    assert len(way) > 100
    return way


def test_the_same_seed_gives_the_same_fit(pair: tuple[Model, Measurement]) -> None:
    """Global methods had no seed: `seed=` went to the random starts alone."""
    options: Any = {"method": "basinhopping", "niter": 1}
    first, same, other = (way_of(fit_model, *pair, **options, **own) for own in SEEDS)
    assert first == same != other
    joint = [way_of(fit_joint, [pair] * 2, **options, seed=k) for k in (1, 1, 2)]
    assert joint[0] == joint[1] != joint[2]


def test_ampgo_takes_it_and_leaves_the_generator_of_numpy(
    pair: tuple[Model, Measurement],
) -> None:
    """It has no seed of its own: it draws from the generator of all of NumPy."""

    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    options: Any = {"method": "ampgo", "max_nfev": 300}
    first, same, other = (way_of(fit_model, *pair, **options, **own) for own in SEEDS)
    assert first == same != other
    assert np.random.random() == expected


def test_data_that_bootstrap_draws_are_normal_numbers_of_a_stream_of_their_own() -> None:
    n = 20_001
    model = loaded("m:\n  Offset: {y0: [3, true]}\n", "m", energy=np.linspace(0, 1, n))
    data = 3 + np.random.default_rng(0).normal(size=n)
    for columns, weight in ((None, None), ((5, n - 10), 2.0)):
        measurement = Measurement(data, columns=columns, weight=weight)
        result = fit_model(model, measurement, scale_covar=False if weight else None)
        cases = bootstrap(result, 3, seed=7).fits.cases
        window = slice(*(columns or (0, n)))
        sigma = 0.5 if weight else np.sqrt(result.redchi)
        arrays, _ = cases.arrays(range(3), result.problem.measurement)
        noise = []
        for k in range(3):
            drawn = np.asarray(cases.measurement(k).data)
            assert np.array_equal(np.delete(drawn, np.r_[window]), np.delete(data, np.r_[window]))
            assert np.array_equal(arrays.data[k], drawn)
            noise.append((drawn[window] - result.fit) / sigma)
            assert kstest(noise[k], "norm").pvalue > 1e-3
            for lag in (1, 16, 64, 128):
                assert abs(noise[k][lag:] @ noise[k][:-lag]) < 5.0 * np.sqrt(n)
        assert np.abs(np.corrcoef(noise) - np.eye(3)).max() < 5.0 / np.sqrt(n)
        again = bootstrap(result, 3, seed=7).fits.cases
        other = bootstrap(result, 3, seed=8).fits.cases
        assert np.array_equal(again.measurement(2).data, cases.measurement(2).data)
        assert not np.array_equal(other.measurement(2).data, cases.measurement(2).data)
