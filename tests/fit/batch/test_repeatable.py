"""Methods that draw random numbers: the same call, the same fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_joint, fit_model, load_model
from pyspec.fit import bootstrap
from pyspec.model import Model

TEXT = """
m:
  Offset: {y0: [2, True, 0, 10]}
  Gauss: {A: [5, True, 0, 10], x0: [4.6, True, 0, 10], SD: [1.7, True, 0.1, 10]}
"""
OPTIONS: dict[str, dict[str, Any]] = {
    "differential_evolution": {"max_nfev": 600},
    "basinhopping": {"niter": 2},
    "dual_annealing": {"max_nfev": 600},
}


@pytest.fixture
def pair() -> tuple[Model, Measurement]:
    model = load_model(TEXT, "m")
    model.set_axes(energy=np.linspace(0.0, 10.0, 101))
    return model, Measurement(model.evaluate() + np.random.default_rng(0).normal(0, 0.1, 101))


def way_of(fit: Callable[..., Any], *given: Any, **options: Any) -> list[float]:
    """chi² of each evaluation of a fit: the optimum is the same for every seed, the way is not."""
    way: list[float] = []
    fit(*given, progress=lambda nfev, chisqr, best: way.append(chisqr), **options)
    assert len(way) > 100
    return way


@pytest.mark.parametrize("method", OPTIONS)
def test_the_same_seed_gives_the_same_fit(pair: tuple[Model, Measurement], method: str) -> None:
    """They had no seed: `seed=` went to the random starts alone, and no fit was that of before."""

    def way(**given: Any) -> list[float]:
        return way_of(fit_model, *pair, method=method, **given, **OPTIONS[method])

    assert way() == way() == way(seed=0)
    assert way(seed=1) == way(seed=1) != way()
    joint = [
        way_of(fit_joint, [pair] * 2, method=method, seed=k, **OPTIONS[method]) for k in (1, 1, 2)
    ]
    assert joint[0] == joint[1] != joint[2]


def test_ampgo_takes_it_and_leaves_the_generator_of_numpy(
    pair: tuple[Model, Measurement],
) -> None:
    """It has no seed of its own: it draws from the generator of all of NumPy."""

    def way(**given: Any) -> list[float]:
        return way_of(fit_model, *pair, method="ampgo", max_nfev=3000, **given)

    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    assert way() == way(seed=0) != way(seed=1)
    assert np.random.random() == expected


@pytest.mark.slow
def test_the_first_of_two_stages_has_it_too(pair: tuple[Model, Measurement]) -> None:
    given: dict[str, Any] = {"stages": 2, "fit_alg_1": "basinhopping"}
    ways = [way_of(fit_model, *pair, **given, seed=seed) for seed in (3, 3, 4)]
    assert ways[0] == ways[1] != ways[2]
    fits = [fit_model(*pair, **given, seed=seed) for seed in (3, 4)]
    assert fits[0].settings["seed"] == 3
    assert all(fit.success for fit in fits)
    assert bootstrap(fits[0], 2).success.all()


def test_data_that_bootstrap_draws_are_normal_numbers_of_a_stream_of_their_own() -> None:
    model = load_model("m:\n  Offset: {y0: [3, true]}\n", "m")
    model.set_axes(energy=np.linspace(0, 1, 40))
    data = 3 + np.random.default_rng(0).normal(size=40)
    for columns, weight in ((None, None), ((5, 30), 2.0)):
        measurement = Measurement(data, columns=columns, weight=weight)
        result = fit_model(model, measurement, scale_covar=False if weight else None)
        cases = bootstrap(result, 3, seed=7)._batch.cases
        window = slice(*(columns or (0, 40)))
        sigma = 0.5 if weight else np.sqrt(result.redchi)
        stack, _ = cases.stack([0, 1, 2], result.problem.measurement, 2)
        for k in range(3):
            stream = np.random.Generator(np.random.SFC64([7, k]))
            noise = stream.normal(size=result.fit.shape)
            drawn = cases.case(k)[0].data
            assert np.array_equal(drawn[window], result.fit + sigma * noise)
            assert np.array_equal(np.delete(drawn, np.r_[window]), np.delete(data, np.r_[window]))
            assert np.array_equal(stack.data[k], drawn)
