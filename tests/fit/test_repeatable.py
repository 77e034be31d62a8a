"""Methods that draw random numbers: the same call, the same fit."""

from __future__ import annotations

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


@pytest.mark.parametrize("method", OPTIONS)
def test_the_same_seed_gives_the_same_fit(pair: tuple[Model, Measurement], method: str) -> None:
    """They had no seed: `seed=` went to the random starts alone, and no fit was that of before."""

    def fit(**given: Any) -> float:
        return fit_model(*pair, method=method, **given, **OPTIONS[method]).chisqr

    assert fit() == fit() == fit(seed=0)
    assert fit(seed=1) == fit(seed=1) != fit()
    joint = [fit_joint([pair] * 2, method=method, seed=k, **OPTIONS[method]) for k in (1, 1, 2)]
    assert joint[0].chisqr == joint[1].chisqr != joint[2].chisqr


def test_ampgo_takes_it_and_leaves_the_generator_of_numpy(
    pair: tuple[Model, Measurement],
) -> None:
    """It has no seed of its own: it draws from the generator of all of NumPy."""

    def fit(**given: Any) -> float:
        return fit_model(*pair, method="ampgo", max_nfev=3000, **given).chisqr

    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    assert fit() == fit(seed=0) != fit(seed=1)
    assert np.random.random() == expected


@pytest.mark.slow
def test_the_first_of_two_stages_has_it_too(pair: tuple[Model, Measurement]) -> None:
    given: dict[str, Any] = {"stages": 2, "fit_alg_1": "basinhopping"}
    fits = [fit_model(*pair, **given, seed=seed) for seed in (3, 3, 4)]
    assert fits[0].nfev == fits[1].nfev != fits[2].nfev
    assert fits[0].settings["seed"] == 3
    assert all(fit.success for fit in fits)
    assert bootstrap(fits[0], 2).success.all()
