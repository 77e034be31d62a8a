"""Changing a model: set, copy, and what refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyspec.executor  # noqa: F401  # a model can then be evaluated
from pyspec import components as c
from pyspec.errors import DataError, ModelError
from pyspec.model import Model, load_dynamics, load_model, load_profile
from tests.model.test_described import full_model


def peaks() -> Model:
    return Model(
        "two", [c.Offset(1), c.Gauss((20, 0, 50), 84, 1), c.Gauss(c.expr("Gauss_01_A / 2"), 88, 1)]
    )


def test_set_changes_what_is_given() -> None:
    model = peaks()
    model.set("Gauss_01_x0", 85, min=80, max=None)
    par = model.parameters["Gauss_01_x0"]
    assert (par.value, par.min, par.max, par.vary) == (85.0, 80.0, math.inf, True)
    model.set("Gauss_01_x0", vary=False)
    assert (par.value, par.min, par.vary) == (85.0, 80.0, False)
    model.set("Gauss_01_SD", expr="Gauss_02_SD * 2")
    assert model.values["Gauss_01_SD"] == 2.0
    model.set("Gauss_01_SD", 3, expr="")
    assert model.values["Gauss_01_SD"] == 3.0
    assert "Gauss_01_SD" in model.opt_param_names
    model.set("Gauss_01_A", vary="project")
    assert model.parameters["Gauss_01_A"].scope == "project"
    assert load_model(model.text).describe() == model.describe()  # archives keep the text


def test_set_reaches_laws_and_quantities() -> None:
    model = full_model()
    model.set("GLP_01_x0_expFun_01_tau", 7, max=9)
    model.set("width", 0.7)
    again = load_model(model.to_yaml())
    assert again.parameters["GLP_01_x0_expFun_01_tau"].max == 9.0
    assert again.parameters["width"].value == 0.7
    moves = model.parameters["GLP_01_x0"].dynamics
    assert "tau: [7.0, True, 0.0, 9.0]" in moves.text


@pytest.mark.parametrize(
    ("name", "given", "answer"),
    [
        ("Gauss_01_xO", {"value": 1}, "did you mean 'Gauss_01_x0'"),
        ("Gauss_01_A", {"value": 60}, "Gauss_01.A: value 60 is outside of its bounds [0, 50]"),
        ("Gauss_01_A", {"value": "much"}, "Gauss_01.A: the value is 'much', not a number"),
        ("Gauss_01_SD", {"value": -1, "vary": False}, "Gauss_01.SD: the value -1 is outside"),
        ("Gauss_01_A", {"expr": "Gauss_02_A"}, "circle"),
        ("Gauss_01_A", {"value": 1, "expr": "2"}, "leave value, vary, min and max out"),
        ("Gauss_02_A", {"value": 1}, "write set(name, value, expr='')"),
    ],
)
def test_set_refuses_and_changes_nothing(name: str, given: dict[str, Any], answer: str) -> None:
    model = peaks()
    before = model.describe()
    with pytest.raises(ModelError) as caught:
        model.set(name, **given)
    assert answer in str(caught.value)
    assert model.describe() == before


def test_set_writes_the_laws_of_each_turn_and_the_profile_anew() -> None:
    text = "rest: {none: {}}\nlaw: {stepFun: {A: [2, True], t0: [0, True]}}\n"
    depth = "depth: {pExpDecay: {A: [3, True], tau: [2, True]}}\n"
    model = load_model("m: {Offset: {y0: [1, True]}}\n")
    turns = load_dynamics(text, ["rest", "law", "law"], "Offset_y0", 0.5)
    model.add_dynamics("Offset_y0", turns)
    model.add_profile("Offset_y0", load_profile(depth, "depth", "Offset_y0"))
    first, second = [name for name in model.parameters if name.endswith("_A") and "step" in name]
    model.set(second, 7)
    model.set("Offset_y0_pExpDecay_01_A", 5)
    again = load_model(model.to_yaml())
    assert again.values == model.values
    assert [again.values[name] for name in (first, second)] == [2, 7]
    assert again.values["Offset_y0_pExpDecay_01_A"] == 5


def test_what_moves_follows_no_expression() -> None:
    model = full_model()
    with pytest.raises(ModelError, match="has dynamics or a profile and cannot follow an expr"):
        model.set("GLP_01_A", expr="width")


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (lambda: Model("m", [c.GLP(1, 2, 1, 0.3, f=2)]), "GLP_01.f: GLP has no parameter 'f'; it"),
        (lambda: c.Offset(1, 2), "Offset: takes 1 values (y0), not 2"),
        (lambda: c.Offset(1, y0=2), "Offset.y0: given twice"),
        (lambda: c.Offset("1"), "Offset.y0: '1' is text; write expr('1')"),
        (lambda: c.Offset((1, 2)), "Offset.y0: (1, 2) has 2 entries; write (value, min, max)"),
        (lambda: Model("m", [c.Offset((5, 1, 2))]), "value 5 is outside of its bounds [1, 2]"),
        (lambda: c.Offset(c.expFun(1, 2, 0)), "Offset.y0: the value is expFun("),
        (lambda: c.moving(1, c.expFun(1, 2, 0)), "give components in a list"),
        (lambda: c.moving(c.expr("a"), [c.expFun(1, 2, 0)]), "the value must be a number"),
        (lambda: c.registered("Bumb", 1), "there is no function 'Bumb'"),
        (lambda: Model("m", [c.expFun(1, 2, 0), c.Offset(1)]), "m: expFun: expFun is a time law"),
        (lambda: Model("m", [c.Offset]), "is no component; write components of"),
        (lambda: Model("m", [c.Offset(c.moving(1, [c.Offset(1)]))]), "belongs in an energy model"),
        (
            lambda: Model("m", [c.Offset(c.moving(1, [c.stepFun(1, c.moving(0, [c.none()]))]))]),
            "m: Offset_y0_stepFun_01.t0: belongs to a time law and cannot move",
        ),
        (lambda: Model("empty", []), "at least one component"),
        (lambda: Model("parameters", [c.Offset(1)]), "cannot name a model"),
        (
            lambda: Model("m", [c.Offset(1)], quantities={"q": c.profiled(1, [c.none()])}),
            "m: q: cannot have a profile; give one to a component's value",
        ),
        (lambda: Model("m", [c.Offset(1), *peaks().components]), "of a loaded model; not both"),
        (
            lambda: Model("m", [*peaks().components, *peaks().components]),
            "m: two components are called Offset; write them in one model file or with",
        ),
        (lambda: c.free("energi"), "free takes 'energy' or 'time', not 'energi'"),
        (lambda: c.free("time", zero=[(2, 1)]), "zero is [(2, 1)]; give ranges (begin, end) with"),
        (
            lambda: Model("m", [c.Gauss(c.free("time"), 1, 2)]).add_dynamics(
                "Gauss_01_A",
                load_dynamics("law: {none: {}}\n", "law", "Gauss_01_A"),
            ),
            "Gauss_01.A: is free along time and cannot move too",
        ),
    ],
)
def test_mistakes_name_the_component_and_the_argument(make: Any, answer: str) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    assert answer in str(caught.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("attached:\n  n: {Offset_y0: {dynamics: [law]}}\n", "attached.n: there is no model"),
        ("attached:\n  m: {Offset_y: {dynamics: [law]}}\n", "did you mean 'Offset_y0'"),
        ("attached:\n  m: {Offset_y0: [law]}\n", "write what moves the parameter"),
        ("attached:\n  m: {Offset_y0: {dynamics: []}}\n", "must be the name of a model"),
        ("attached:\n  m: {Offset_y0: {dynamics: law, frequency: x}}\n", "must be a number"),
    ],
)
def test_what_is_attached_is_checked(text: str, answer: str) -> None:
    laws = (
        "m:\n  Offset:\n    y0: [1, True]\nlaw:\n  stepFun:\n    A: [1, True]\n    t0: [0, True]\n"
    )
    with pytest.raises(ModelError) as caught:
        load_model(laws + text)
    assert str(caught.value).startswith("<text>:")
    assert answer in str(caught.value)


def shirley() -> Model:
    sharp = c.Gauss(A=c.moving(20, [c.gaussCONV(2.5), c.expFun(5, 4, 0)]), x0=84, SD=0.6)
    model = Model("s", [c.Offset(1), c.Shirley(1e-2), sharp])
    model.set_axes(np.linspace(80, 90, 41), np.linspace(-5, 15, 21))
    return model


def test_predictions_agree_where_grids_share_points() -> None:
    model = shirley()
    whole = model.evaluate()
    scale = np.ptp(whole)
    half = model.predict(model.energy[::2], model.time[::2])
    np.testing.assert_allclose(half, whole[::2, ::2], rtol=0, atol=1e-14 * scale)
    double = model.predict(np.linspace(80, 90, 81), np.linspace(-5, 15, 41))
    np.testing.assert_allclose(double[::2, ::2], whole, rtol=0, atol=1e-14 * scale)
    np.testing.assert_array_equal(model.predict(), whole)
    falling = model.predict(model.energy[::-2], model.time[::2])
    np.testing.assert_allclose(falling, half[:, ::-1], rtol=0, atol=1e-14 * scale)


def test_what_needs_no_sum_is_exact_between_the_points() -> None:
    """Of a peak on a Shirley background only the background is interpolated."""
    model = shirley().at_rest()
    model.set_axes(time=None)
    assert model.energy is not None
    fine = np.linspace(80, 90, 401)
    total = model.predict(fine)
    peak = 1 + 20 * np.exp(-(((fine - 84) / 0.6) ** 2) / 2)
    own = 1 + 20 * np.exp(-(((model.energy - 84) / 0.6) ** 2) / 2)
    ground = np.interp(fine, model.energy, model.evaluate() - own)
    np.testing.assert_allclose(total, peak + ground, rtol=0, atol=1e-12)


def test_what_cannot_be_taken_out_is_interpolated_as_a_whole() -> None:
    """A background with a profile, and one that stands alone in a model of peaks without height."""
    sharp = c.Gauss(20, 84, 0.6)
    alone = Model("alone", [c.Tougaard(3.0, c.fixed(1643)), c.Gauss(0, 84, 0.6)])
    deep = Model("deep", [c.Shirley(c.profiled(1e-2, [c.pLinear(1e-3, 0)])), sharp])
    energy, fine = np.linspace(80, 90, 41), np.linspace(80, 90, 201)
    deep.set_axes(energy, aux=[0.0, 1.0])
    alone.set_axes(energy)
    for model in (deep, alone):
        expected = np.interp(fine, energy, model.evaluate())
        np.testing.assert_allclose(model.predict(fine), expected, rtol=1e-12, atol=1e-14)


def test_outside_of_the_data_only_what_needs_no_sum() -> None:
    model = shirley()
    with pytest.raises(DataError, match="sums over the energy axis of the data, from 80 to 90"):
        model.predict(np.linspace(70, 90, 11))
    with pytest.raises(DataError, match="sums over the time axis of the data, from -5 to 15"):
        model.predict(time=[0.0, 16.0])
    trace = Model("trace", [c.expFun(1, 2, 0)])
    with pytest.raises(DataError, match="trace is a trace against time, without energies"):
        trace.predict([84.0], [0.0, 1.0])
    plain = peaks()
    with pytest.raises(DataError, match="has no energy axis; give energy="):
        plain.predict()
    with pytest.raises(DataError, match="is the model of one spectrum; leave time= out"):
        plain.predict([84.0], time=[0.0])
