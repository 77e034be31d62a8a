"""What models of one structure have in common: asked once, and right for each of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
from support.column_models import DECAY, ENERGY, OFFSET, PEAK, SHIRLEY, TIME, energy_model
from support.zoo import ZOO, make_model

from pyspec.errors import ModelError
from pyspec.fit import fit_model
from pyspec.functions.external import forget_function, register_function
from pyspec.model import Measurement
from pyspec.model.build.inputs import read_inputs
from pyspec.model.facts import Outline
from pyspec.plan.compiled import compile_model, forget


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.mark.parametrize("name", ZOO)
def test_an_outline_says_what_the_model_says(name: str) -> None:
    model = make_model(name)
    outline = Outline(model)
    assert outline.followers == tuple(par.name for par in model.resolution_order())
    assert outline.is_time_model == model.is_time_model
    assert outline.reads == read_inputs(model.components)
    assert outline.has_free == any(par.free for par in model.parameters.values())
    assert not outline.is_idle
    assert vars(Outline(copy.deepcopy(model))) == vars(outline)


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


def test_an_idle_component_is_refused_at_every_fit() -> None:
    model = energy_model(PEAK, SHIRLEY)
    measurement = Measurement(data=np.ones((TIME.size, ENERGY.size)))
    for _ in range(2):
        with pytest.raises(ModelError, match="reads what stands below it, and nothing does"):
            fit_model(model, measurement)


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
