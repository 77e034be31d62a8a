"""The value is computed in the same way with and without derivatives: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES

from pyspec.executor import make_executor
from pyspec.model import Measurement, load_dynamics, load_model, load_profile


@pytest.mark.parametrize("name", [name for name in CASES if name != "three files"])
def test_chi_square_has_the_same_bits_with_and_without_derivatives(name: str) -> None:
    model, measurement = CASES[name]()[0]
    executor: Any = make_executor(model, measurement)
    theta = model.theta() * 1.01
    alone = executor.normal(theta, None, "value")[-1]
    assert np.isfinite(alone)
    assert {executor.normal(theta, None, form)[-1] for form in ("gram", "fisher")} == {alone}


#: Steps that stand still beside one that is a mean over auxiliary points, above and below it.
BESIDE_A_MEAN = """\
m:
  ErfStep: {A: [5.7, true], x0: [0.27, true], SD: [1.3, true]}
  ErfStep: {A: [1.7, true], x0: [-0.27, true], SD: [0.6, true]}
  ErfStep: {A: [2.1, true], x0: [1.4, true], SD: [0.9, true]}
  Gauss: {A: [3, true], x0: [0.3, true], SD: [1.1, true]}
"""


@pytest.mark.parametrize("target", ["ErfStep_A", "ErfStep_02_A", "ErfStep_03_x0"])
def test_lines_beside_a_mean_are_added_in_one_order(target: str) -> None:
    """Without derivatives the line of a mean over auxiliary points joined those beside it, and
    the last digits of chi^2 were others than with them."""
    model = load_model(BESIDE_A_MEAN, "m")
    profile = "p:\n  pExpDecay: {A: [2.1, true], tau: [3, true]}\n"
    law = "d:\n  expFun: {A: [0.4, true], tau: [3, true], t0: [0.1, true]}\n"
    model.add_profile(target, load_profile(profile, "p", model.parameters[target]))
    model.add_dynamics("Gauss_01_x0", load_dynamics(law, "d", model.parameters["Gauss_01_x0"]))
    axes = {"energy": np.linspace(-5, 5, 41), "aux": np.array([0.3, 1.1, 4.0])}
    model.set_axes(**axes, time=np.linspace(-1, 9, 24))
    clean = model.evaluate()
    for seed in range(8):
        data = clean + np.random.default_rng(seed).normal(size=clean.shape)
        executor: Any = make_executor(model, Measurement(data))
        alone = executor.normal(None, None, "value")[-1]
        assert executor.normal(None)[-1] == alone
