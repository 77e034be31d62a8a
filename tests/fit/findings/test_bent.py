"""Quantities that are far from linear: a ratio of 33 with a divisor of half an error used to come
out as 10 ± 12 or as -40 ± 200, and nothing said so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, Model, fit_model, load_model
from pyspec.fit.findings.kinds import Kind

ENERGY = np.linspace(80, 90, 101)
MODELS = """
parameters:
  area: ["Gauss_01_A * Gauss_01_SD * sqrt(2*pi)"]
  ratio: ["Gauss_02_A / Gauss_01_A"]
  inverse: ["Gauss_01_A / Gauss_02_A"]
m:
  Offset: {y0: [3, True]}
  Gauss: {A: [10, True, 0, 1000], x0: [83.5, True, 80, 90], SD: [0.6, True, 0.05, 5]}
  Gauss: {A: [1, True], x0: ["Gauss_01_x0 + 3"], SD: [0.6, False]}
"""


def model() -> Model:
    made = load_model(MODELS, "m")
    made.set_axes(energy=ENERGY)
    return made


def drawn(height: float, seed: int) -> Measurement:
    made = model()
    made.set("Gauss_02_A", height)
    noise = np.random.default_rng([3, seed]).normal(size=ENERGY.size)
    return Measurement(np.asarray(made.evaluate()) + noise, weight=1.0)


def fit(height: float, seed: int) -> Any:
    return fit_model(model(), drawn(height, seed), scale_covar=False)


def bent(result: Any) -> list[str]:
    """The names of what is said to be far from linear."""
    return [one.places[0] for one in result.findings if one.kind is Kind.NONLINEAR_QUANTITY]


@pytest.mark.parametrize(
    ("height", "least", "most"), [(0.3, 60, 60), (1.0, 50, 60), (3.0, 0, 1), (6.0, 0, 0)]
)
def test_a_ratio_to_a_line_that_is_hardly_there(height: float, least: int, most: int) -> None:
    """The height has an error of 0.69."""
    found = [bent(fit(height, seed)) for seed in range(60)]
    assert least <= found.count(["inverse"]) <= most
    assert found.count(["inverse"]) + found.count([]) == 60
