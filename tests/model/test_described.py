"""Models written in Python: the same plans as from a file, and back to a file."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import components as c
from pyspec.executor import make_plan
from pyspec.model import Model, Par, load_model
from pyspec.model.tree import Component
from tests.support.golden import golden_models


def value_of(par: Par) -> Any:
    """A parameter as Python writes it."""
    if par.formula is not None:
        return c.expr(par.formula.text)
    makers = {"file": lambda v, low, high: (v, low, high), "static": c.fixed, "project": c.shared}
    low = None if np.isinf(par.min) else par.min
    high = None if np.isinf(par.max) else par.max
    value = makers[par.scope](par.value, low, high)
    if par.profile is not None:
        value = c.profiled(value, [written(part) for part in par.profile.components])
    if par.dynamics is not None:
        moves = par.dynamics
        turns: list[list[Any]] = [[] for _ in range(moves.n_subcycles + 1)]
        for law in moves.components:
            turns[law.subcycle].append(written(law))
        frequency = moves.frequency if moves.n_subcycles else None
        value = c.moving(value, *turns, frequency=frequency)
    return value


def written(component: Component) -> c.Component:
    values = {par.argument: value_of(par) for par in component.parameters}
    return getattr(c, component.function)(**values)


def in_python(model: Model) -> Model:
    """The same model, written in Python."""
    parts = [written(component) for component in model.components]
    other = Model(model.name, parts, quantities={q.name: value_of(q) for q in model.quantities})
    other.set_axes(model.energy, model.time, model.aux)
    return other


def assert_same(model: Model, other: Model) -> None:
    """The same plan to the bit, and the same bounds and expressions."""
    first, second = make_plan(model), make_plan(other)
    for field in dataclasses.fields(first):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))
    assert list(model.parameters) == list(other.parameters)
    for par, same in zip(model.parameters.values(), other.parameters.values(), strict=True):
        for name in ("name", "vary", "scope", "min", "max", "expr"):
            assert getattr(par, name) == getattr(same, name)
        assert par.value == same.value or par.formula is not None


def reloaded(model: Model) -> Model:
    other = load_model(model.to_yaml(), model.name)
    other.set_axes(model.energy, model.time, model.aux)
    return other


def test_golden_models_in_python_and_back(shared: Path) -> None:
    for _, model, _ in golden_models(shared):
        other = in_python(model)
        assert_same(model, other)
        assert_same(model, reloaded(other))
        assert_same(model, reloaded(model))


def full_model() -> Model:
    """Everything that a description may say."""
    model = Model(
        "au 4f",
        [
            c.Offset((10, 0, None)),
            c.Shirley(c.fixed(1e-4)),
            c.GLP(
                A=c.moving(
                    c.profiled(20, [c.pExpDecay(A=c.moving(3, [c.stepFun(A=1, t0=0)]), tau=2)]),
                    [c.none()],
                    [c.expFun(A=(5, 0, 9), tau=2, t0=0)],
                    [c.expFun(A=c.expr("expFun_01_A / 2"), tau=3, t0=0)],
                    frequency=0.1,
                ),
                x0=c.moving(c.shared(84, 82, 86), [c.gaussCONV(0.5), c.expFun(1, 2, c.fixed(0))]),
                F=c.expr("width * 2"),
                m=c.fixed(0.3, 0, 1),
            ),
            c.GLP(A=c.expr("GLP_01_A / 2"), x0=c.expr("GLP_01_x0 + 3.67"), F=1.5, m=0),
        ],
        quantities={"width": (0.6, 0.1, 3), "area": c.expr("GLP_01_A * width")},
    )
    model.set_axes(np.linspace(78, 92, 71), np.linspace(-5, 30, 36), np.linspace(0, 4, 5))
    return model


def test_everything_survives_the_way_to_a_file_and_back(tmp_path: Path) -> None:
    model = full_model()
    text = model.to_yaml(tmp_path / "au.yaml")
    other = load_model(tmp_path / "au.yaml")
    other.set_axes(model.energy, model.time, model.aux)
    assert_same(model, other)
    assert other.to_yaml() == text


def test_descriptions_are_values() -> None:
    peak = c.Gauss(20, (84, 82, None), SD=1)
    assert peak == c.Gauss(A=20, x0=(84, 82, None), SD=1)
    assert peak != c.Gauss(A=20, x0=84, SD=1)
    assert pickle.loads(pickle.dumps(peak)) == peak
    assert hash(peak) == hash(c.Gauss(20, (84, 82, None), 1))
    assert repr(peak) == "Gauss(A=20, x0=(84, 82.0, None), SD=1)"
    moves = c.moving(c.profiled(1, [c.pLinear(2, 1)]), [c.none()], [c.stepFun(1, 0)], frequency=2)
    assert repr(c.Offset(moves)) == (
        "Offset(y0=moving(profiled(1, [pLinear(m=2, b=1)]), [none()], [stepFun(A=1, t0=0)]))"
    )
    with pytest.raises(AttributeError, match=r"model\.set"):
        peak.function = "GLP"
