"""Laws of slices whose errors follow their values: a height of 15 counts came out two standard
errors too low on average, a width 2.6, with nothing said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec import fit_slices
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Measurement, load_model

ENERGY = np.linspace(80, 90, 101)
N_SLICES = 100
MODELS = """
m:
  Offset: {{y0: [{1}, True, 0, 1000]}}
  Gauss: {{A: [{0}, True, 0, 1000], x0: [83.5, {2}, 80, 90], SD: [0.6, {2}, 0.1, 3]}}
law:
  constFun: {{A: [1, True]}}
"""


def law(height: float, free: bool, seed: int, name: str) -> Any:
    """A constant, fitted to the values of slices that are all the same but for chance."""
    made = load_model(MODELS.format(height, 0.3 * height, free), "m")
    made.set_axes(energy=ENERGY)
    clean = np.tile(np.asarray(made.evaluate()), (N_SLICES, 1))
    drawn = np.random.default_rng([5, seed]).poisson(clean).astype(float)
    slices = fit_slices(made, Measurement(drawn, loss="poisson"))
    return slices.fit_parameter(name, MODELS.format(1, 1, True), "law")


@pytest.mark.parametrize(
    ("height", "free", "name", "truth"),
    [
        (1, False, "Gauss_01_A", 1.0),
        pytest.param(10, True, "Gauss_01_SD", 0.6, marks=pytest.mark.slow),
    ],
)
def test_it_says_by_how_much(height: float, free: bool, name: str, truth: float) -> None:
    pulls, foretold = [], []
    for seed in range(8):
        result = law(height, free, seed, name)
        (found,) = [one for one in result.findings if one.kind is Kind.ERRORS_FOLLOW_VALUES]
        assert found.places == (name,)
        assert found.numbers["off"] > 0.0  # low ones count more
        foretold.append(found.numbers["off"])
        error = result.stderr["constFun_01_A"]
        pulls.append((result.values["constFun_01_A"] - truth) / error)
    assert np.mean(pulls) < -1.5
    assert np.mean(foretold) == pytest.approx(-np.mean(pulls), abs=0.8)
