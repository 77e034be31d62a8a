"""What models of one structure have in common: asked once, and right for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.column_models import DECAY, ENERGY, OFFSET, PEAK, SHIRLEY, energy_model

from pyspec.errors import ModelError
from pyspec.fit import fit_model
from pyspec.functions.external import forget_function, register_function
from pyspec.model import Measurement
from pyspec.model.facts import Outline
from pyspec.plan.compiled import compile_model, forget


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    forget()
    yield
    forget()


def test_values_bounds_and_axes_share_an_outline_and_structures_do_not() -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY})
    outline = compile_model(model).outline
    assert outline is not None
    assert outline.lines == (("GLP_01", "GLP_01_x0"),)
    model.set("GLP_01_A", 8.5, min=1.0, max=90.0)
    model.set_axes(time=np.linspace(-4.0, 5.0, 31))
    assert compile_model(model).outline is outline
    model.set("GLP_01_A", vary=False)
    assert compile_model(model).outline is not outline
    moving = energy_model(OFFSET, PEAK, moves={"GLP_01_x0": DECAY})
    assert Outline(moving).lines == ()
    kernel = energy_model(OFFSET, PEAK, moves={"GLP_01_A": "gaussCONV: {SD: [1.1]}\n" + DECAY})
    assert Outline(kernel).sampled == ("GLP_01_A",)
    assert Outline(energy_model(OFFSET, SHIRLEY, PEAK)).losses == ("Shirley_pShirley",)
    levels = "StaticShirley: {left: [1, true], right: [1, true]}"
    assert Outline(energy_model(levels, PEAK)).losses == ()


def test_a_registered_function_is_tried_at_every_fit() -> None:
    def register(skip: int) -> None:
        register_function("SlopeOfMine", lambda x, a: (a * x)[..., skip:], "a")

    try:
        register(0)
        model = energy_model("SlopeOfMine: {a: [1]}", OFFSET, time=False)
        measurement = Measurement(data=np.linspace(0.9, 2.0, ENERGY.size) * ENERGY)
        assert fit_model(model, measurement).success
        before = compile_model(model).outline
        assert before is not None
        assert before.calls_python
        register(1)
        assert compile_model(model).outline is not before
        with pytest.raises(ModelError, match="returns shape"):
            fit_model(model, measurement)
    finally:
        forget_function("SlopeOfMine")
