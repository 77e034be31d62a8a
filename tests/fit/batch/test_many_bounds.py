"""Joint fits of many files whose widths end at their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, Model, fit_joint, fit_model, load_model

TEXT = """
m:
  Offset: {y0: [1, True, 0, 10]}
  Gauss: {A: [0.03, True, -5, 100], x0: [84.3, "project", 80, 90], SD: [1, True, 0.9, 1.1]}
"""
ENERGY = np.linspace(80, 90, 60)
NOISE = 0.05


def model() -> Model:
    found = load_model(TEXT, "m")
    found.set_axes(energy=ENERGY)
    return found


def files(n: int) -> list[tuple[Model, Measurement]]:
    rng, line = np.random.default_rng(0), 0.1 * np.exp(-((ENERGY - 84.3) ** 2) / 2)
    data = [1 + line + rng.normal(0, NOISE, ENERGY.size) for _ in range(n)]
    return [(model(), Measurement(one, weight=1 / NOISE)) for one in data]


@pytest.mark.slow
def test_each_file_is_at_its_own_optimum() -> None:
    parts = files(60)
    joint = fit_joint(parts, scale_covar=False)
    assert joint.success
    assert len(joint.at_bound) > 40
    alone = 0.0
    for k, (one, measurement) in enumerate(parts):
        line = one.parameters["Gauss_01_x0"]
        line.value, line.vary = joint.values["Gauss_01_x0"], False
        for name in ("Offset_y0", "Gauss_01_A", "Gauss_01_SD"):
            one.parameters[name].value = joint.values[f"file{k:02d}_{name}"]
        found = fit_model(one, measurement, scale_covar=False)
        assert found.success
        alone += found.chisqr
    assert joint.chisqr == pytest.approx(alone, rel=1e-9)
