"""Places where a fit may come to rest though the optimum lies elsewhere: the data say nothing there
of some parameters, which go back to where they began."""

from __future__ import annotations

import numpy as np
import pytest

from bench.science import glp
from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, load_model

LINE = """
base:
  LinBack:
    m: [0.1, True, -2, 2]
    b: [1, True, -20, 20]
    xStart: [0, False]
    xStop: [20, False]
  GLP:
    A: [20, True, 0, 100]
    x0: [8.5, True, 5, 15]
    F: [1.5, True, 0.2, 5]
    m: [0.3, True, 0, 1]
"""


def fit_line(seed: int, method: str = "native") -> FitResult:
    """A line on a slope. At m = 1 the slopes by m, F and A and a constant are one: a saddle."""
    energy = np.linspace(4.0, 14.0, 101)
    clean = 0.08 * energy + 2.0 + glp(energy, 11.9, 9.0, 1.0, 0.175)[0]
    model = load_model(LINE)
    model.set_axes(energy=energy)
    noisy = np.random.default_rng(seed).normal(clean, 0.12)
    return fit_model(model, Measurement(data=noisy), method=method)


@pytest.mark.parametrize("seed", range(4))
def test_a_mixing_does_not_jump_to_its_bound(seed: int) -> None:
    result, other = fit_line(seed), fit_line(seed, method="leastsq")
    assert result.success
    assert result.nfev < 40
    assert result.chisqr == pytest.approx(other.chisqr, rel=1e-9)
