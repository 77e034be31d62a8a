"""Lines whose mixing, width and resolution nearly replace one another: a long, bent valley."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, Model, fit_model, load_model

TEXT = """
m:
  Offset: {y0: [10, true]}
  resolution: {SD: [SD_, true, 0.01, 2]}
  GLP:
    A: [A_, true, 0, 1000]
    x0: [X_, true, 80, 90]
    F: [F_, true, 0.1, 3]
    m: [M_, true, 0, 1]
"""
NAMES = ("SD_", "A_", "X_", "F_", "M_")
TRUTH = np.array([0.3, 100, 85, 1.0, 0.3])


def line(values: np.ndarray) -> Model:
    text = TEXT
    for name, value in zip(NAMES, values, strict=True):
        text = text.replace(name, repr(float(value)))
    model = load_model(text, "m")
    model.set_axes(energy=np.linspace(80, 90, 201))
    return model


# chi² of each, from fits that tried the undamped step at each point: 447, 473 and 777 evaluations.
@pytest.mark.parametrize(("seed", "chisqr"), [(0, 182.6348), (9, 203.2222), (34, 171.5571)])
def test_a_bent_valley_is_followed_in_damped_steps(seed: int, chisqr: float) -> None:
    rng = np.random.default_rng(seed)
    data = line(TRUTH).evaluate() + rng.normal(0, 1, 201)
    start = TRUTH * (1 + np.array([rng.uniform(0.1, 0.3) * rng.choice((-1, 1)) for _ in TRUTH]))
    start[2] = TRUTH[2] + rng.uniform(-0.3, 0.3)
    found = fit_model(line(start), Measurement(data, weight=1.0), scale_covar=False)
    assert found.success
    assert found.chisqr == pytest.approx(chisqr, abs=1e-4)
    assert found.nfev < 400
