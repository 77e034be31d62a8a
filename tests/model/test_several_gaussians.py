"""Instruments of several Gaussians in models: names, texts, mistakes."""

from __future__ import annotations

import pytest

from pyspec import ModelError
from pyspec.model import load_dynamics, load_model
from pyspec.model.units import parameter_units

SEVERAL = """
parameters:
  foot: [0.2, True, 0, 0.5]
decays:
  constFun: {A: {free: energy}}
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  gaussIRF: {SD: [0.4, True, 0.05, 2], share: ["foot"], shift: [0.05, True, -1, 1]}
  gaussIRF: {SD: [0.9, False], share: [-0.1, project, -1, 1]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 10], t0: [0.1, True]}
peak:
  Gauss: {A: [12, True], x0: [9, True], SD: [1, True]}
motion:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  gaussIRF: {SD: [0.4, True, 0.05, 2], share: [0.2, True, 0, 1], shift: ["gaussIRF_SD / 2"]}
  expFun: {A: [1, True], tau: [2, True, 0.1, 10], t0: [0.1, True]}
"""


def test_each_gaussian_has_its_names_and_bounds() -> None:
    model = load_model(SEVERAL, "decays")
    assert model.opt_param_names == (
        "gaussIRF_SD", "gaussIRF_02_SD", "gaussIRF_02_shift", "gaussIRF_03_share",
        "expFun_01_tau", "expFun_01_t0", "foot",
    )  # fmt: skip
    assert model.parameters["gaussIRF_02_share"].expr == "foot"
    assert model.values["gaussIRF_02_share"] == 0.2
    assert model.parameters["gaussIRF_03_share"].scope == "project"
    assert (model.parameters["gaussIRF_02_shift"].min, model.parameters["foot"].max) == (-1, 0.5)
    units = parameter_units(model, {"energy": "nm", "time": "ps", "value": "mOD"})
    assert units["gaussIRF_02_SD"] == units["gaussIRF_02_shift"] == "ps"
    assert units["gaussIRF_02_share"] == ""


@pytest.mark.parametrize("name", ["decays", "peak"])
def test_the_text_of_a_model_loads_as_the_same_model(name: str) -> None:
    model = load_model(SEVERAL, name)
    if name == "peak":
        model.add_dynamics("Gauss_01_A", load_dynamics(SEVERAL, "motion", "Gauss_01_A"))
        assert "Gauss_01_A_gaussIRF_02_share" in model.opt_param_names
    text = model.to_yaml()
    again = load_model(text, name)
    assert again.to_yaml() == text
    assert again.opt_param_names == model.opt_param_names
    assert "gaussIRF_02_shift" in again.describe()
    for first, second in zip(model.parameters.values(), again.parameters.values(), strict=True):
        assert (first.name, first.value, first.vary, first.min, first.max, first.expr) == (
            second.name, second.value, second.vary, second.min, second.max, second.expr,
        )  # fmt: skip


def test_the_gaussians_of_one_instrument_stand_in_one_of_the_sub_cycles() -> None:
    text = (
        "first:\n  gaussIRF: {SD: [0.1, True]}\n"
        "second:\n  gaussIRF: {SD: [0.4, True], share: [0.2, True]}\n"
        "  expFun: {A: [1, True], tau: [2, True], t0: [0, True]}\n"
    )
    with pytest.raises(ModelError, match=r"gaussIRF_02: does not stand directly below"):
        load_dynamics(text, ["first", "second"], "Gauss_01_A", 0.25)
