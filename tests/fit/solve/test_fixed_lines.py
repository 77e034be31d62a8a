"""Lines that nothing free moves are computed once for a fit."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import Measurement, fit_model

X = np.linspace(80.0, 90.0, 201)
TEXT = """
m:
  Offset: {y0: [1, true]}
  GLP: {A: [1, false], x0: [82, false], F: [0.7, false], m: [0.3, false]}
  Gauss: {A: [2, false], x0: [85, false], SD: [0.4, false]}
"""


def test_a_fit_sees_fixed_values_that_have_changed() -> None:
    """Between two fits of one model, and on another axis of the same size."""
    noise = np.random.default_rng(0).normal(0.0, 0.1, X.size)
    data = loaded(TEXT, "m", energy=X).evaluate() + noise
    for axis in (X, X + 0.01):
        model = loaded(TEXT, "m", energy=axis)
        for k in range(2):
            model.set_values({"GLP_01_A": 1.0 + k, "Gauss_01_x0": 83.0 + 0.2 * k})
            found = fit_model(model, Measurement(data))
            lines = model.evaluate("tree", None) - 1.0
            expected = float((data - lines).mean())
            assert found.values["Offset_y0"] == pytest.approx(expected, rel=1e-9)
