"""Fits of a model that has not changed share what is known of it; any change is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any

import numpy as np
import pytest
from support.line_model import DECAY, facts, fresh, line_text, measured

from pyspec.fit import fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_profile
from pyspec.model.state import state_of
from pyspec.model.tree import Component, Dynamics, Free, Par, Profile
from pyspec.plan.compiled import ATTRIBUTES

ENERGY, TIME = np.linspace(80.0, 90.0, 40), np.linspace(-3.0, 9.0, 21)
AUX = np.linspace(0.0, 1.0, 3)
QUANTITY = """parameters:
  free: [2.0, False]
"""
TEXT = line_text('["1.2 + 0 * Offset_y0"]', QUANTITY)
SLOPE = """
slope:
  pLinear:
    m: [0.5, False]
    b: [0, False]
"""


def whole() -> Model:
    """A model with a law, a profile, an expression and a quantity."""
    model = load_model(TEXT, "line")
    moved, shifted = model.parameters["Gauss_01_A"], model.parameters["Gauss_01_x0"]
    model.add_dynamics("Gauss_01_A", load_dynamics(DECAY, "decay", moved))
    model.add_profile("Gauss_01_x0", load_profile(SLOPE, "slope", shifted))
    model.set_axes(energy=ENERGY, time=TIME, aux=AUX)
    return model


PARTS: dict[str, Callable[[Any], Any]] = {
    "parameter": lambda model: model.components[1].pars[0],
    "parameter with a profile": lambda model: model.components[1].pars[1],
    "follower": lambda model: model.components[1].pars[2],
    "quantity": lambda model: model.quantities[0],
    "component": lambda model: model.components[1],
    "dynamics": lambda model: model.components[1].pars[0].dynamics,
    "law": lambda model: model.components[1].pars[0].dynamics.components[0],
    "parameter of a law": lambda model: model.components[1].pars[0].dynamics.components[0].pars[1],
    "profile": lambda model: model.components[1].pars[1].profile,
    "parameter of a profile": lambda model: (
        model.components[1].pars[1].profile.components[0].pars[0]
    ),
}


def other_than(value: object) -> Any:
    """Another value of a field."""
    if isinstance(value, (str, float, int)):
        return "Lorentz" if isinstance(value, str) else 7
    return [] if isinstance(value, list) else () if isinstance(value, tuple) else None


def counted(part: Any) -> list[Field[Any]]:
    """The fields by which two parts are compared: the owner of a component is not one of them."""
    return [field for field in fields(part) if field.compare]


def test_every_field_of_every_part_counts() -> None:
    kinds, seen = set(), set()
    for name, part in PARTS.items():
        model = whole()
        before, changed = state_of(model), part(model)
        kinds.add(type(changed))
        for field in counted(changed):
            old = getattr(changed, field.name)
            other = Free("energy") if field.name == "free" else other_than(old)
            setattr(changed, field.name, other)
            assert (state_of(model) == before) is (old is other is None), (name, field.name)
            setattr(changed, field.name, old)
            assert state_of(model) == before
            seen |= {field.name} - ({field.name} if old is other else set())
    assert kinds == {Par, Component, Dynamics, Profile}
    assert seen == {field.name for kind in kinds for field in counted(kind)}


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_every_attribute_of_a_model_counts(name: str) -> None:
    model = whole()
    before, old = state_of(model), getattr(model, name)
    other: Any = {"note": "other"} if isinstance(old, dict) else old[:1]
    if isinstance(old, np.ndarray):
        other = old.copy()
    elif not old:
        other = {"note": ENERGY} if name == "inputs" else {"energy": "other"}
    if name == "where":
        other = "other.yaml"
    if name == "quantities":
        other = ()
    setattr(model, name, other)
    assert state_of(model) != before
    setattr(model, name, old)
    assert state_of(model) == before


CHANGES: dict[str, Callable[[Model], None]] = {
    "value": lambda model: model.set_values({"Gauss_01_x0": 84.9}),
    "fixed value": lambda model: model.set("Gauss_01_A_expFun_01_tau", 2.0),
    "bound": lambda model: model.set("Gauss_01_A", max=20.5),
    "vary": lambda model: model.set("Offset_y0", vary=False),
    "expression": lambda model: model.set("Gauss_01_SD", expr="1.3 + 0 * Offset_y0"),
    "axis": lambda model: model.set_axes(energy=ENERGY + 0.01),
    "fewer times": lambda model: model.set_axes(time=TIME[:15]),
    "no law": lambda model: setattr(model.parameters["Gauss_01_A"], "dynamics", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_two_fits_is_seen(change: str) -> None:
    model, measurement = whole(), measured(whole())
    fit_model(model, measurement)
    CHANGES[change](model)
    expected = whole()
    CHANGES[change](expected)
    n_time = len(expected.time)
    given = Measurement(np.asarray(measurement.data)[:n_time])
    assert facts(fit_model(model, given)) == fresh(expected, given)
    back = whole()
    back.set_axes(energy=model.energy)
    assert facts(fit_model(back, measurement)) == fresh(back, measurement)
