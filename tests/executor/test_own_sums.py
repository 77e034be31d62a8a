"""Formulas that sum over the energies: NumPy runs them, in all executors alike. Derivatives by
their parameters are differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.agreement import BACKENDS, agreed

import pyspec
from pyspec.errors import ModelError, PlanError
from pyspec.executor import make_executor
from pyspec.formula import define
from pyspec.functions.external import forget_function
from pyspec.ir import build_graph
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_time_model,
)
from pyspec.passes import classify_columns

ENERGY = np.linspace(80.0, 88.0, 61)
TIME = np.linspace(-1.0, 5.0, 13)

FILE = """\
functions:
  Step:
    parameters: B, x0 [eV], w > 0 [eV]
    lines: {g: exp(-((x - x0) / w) ** 2 / 2), whole: sum(g)}
    formula: B * (1 - cumsum(g) / whole)
    doc: a background that falls where a line is
m:
  Offset: {y0: [1, True, 0, 10]}
  Step: {B: [5, True, 0, 50], x0: [84, True, 82, 86], w: [0.5, True, 0.1, 3]}
  Gauss: {A: [3, True, 0, 50], x0: [84.5, True, 82, 86], SD: [0.5, True, 0.1, 3]}
law:
  expFun: {A: [1, True], tau: [2, True, 0.1, 30], t0: [0, False], y0: [0.1, True]}
"""


def still() -> Model:
    model = load_model(FILE, "m")
    model.set_axes(energy=ENERGY)
    return model


def moving() -> Model:
    model = load_model(FILE, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    for name in ("Step_01_x0", "Gauss_01_x0"):
        model.add_dynamics(name, load_dynamics(FILE, "law", name))
    return model


NAMES = ["Step_01_B", "Step_01_x0", "Step_01_w"]


@pytest.mark.parametrize("make", [still, moving])
def test_columns_of_what_is_summed_are_differences(make: Callable[[], Model]) -> None:
    model = make()
    shape = np.shape(model.evaluate())
    executor = make_executor(model, Measurement(np.zeros(shape)))
    unknown = [model.opt_param_names[k] for k in executor.capabilities.unknown_columns]
    kinds = {column.name: column.kind for column in classify_columns(build_graph(model))}
    assert unknown == [name for name, kind in kinds.items() if kind == "fallback"]
    assert {*NAMES} <= {*unknown}
    assert not [name for name in unknown if name.startswith("Gauss_01_A")]
    with pytest.raises(PlanError, match="has no known derivative"):
        executor.jacobian(model.theta())


def test_the_sums_are_those_of_numpy_at_each_time() -> None:
    found = agreed(moving())
    for row, t in enumerate(TIME):
        moved = 0.1 + np.exp(-t / 2) if t >= 0 else 0.0
        step, peak = (np.exp(-(((ENERGY - x0 - moved) / 0.5) ** 2) / 2) for x0 in (84.0, 84.5))
        expected = 1 + 5 * (1 - np.cumsum(step) / step.sum()) + 3 * peak
        assert np.abs(found[row] - expected).max() <= 1e-13 * expected.max()


def test_a_registered_function_sees_the_whole_axis_behind_a_window() -> None:
    """The interpreted executor used to hand it the window alone."""
    pyspec.register_function("Rise", lambda x, A: A * np.cumsum(np.ones(x.size)), "A")
    try:
        model = load_model("m: {Rise: {A: [2, True]}}\n", "m")
        model.set_axes(energy=ENERGY)
        window = Measurement(np.zeros(61), columns=(30, 50))
        for backend in BACKENDS:
            found = make_executor(model, window, backend).run(None)
            np.testing.assert_array_equal(found, 2.0 * np.arange(31, 51))
    finally:
        forget_function("Rise")


def test_other_energies_are_computed_on_the_axis_of_the_model() -> None:
    """A sum over other samples would be another one."""
    model = still()
    finer = np.linspace(81.0, 87.0, 301)
    found = model.predict(energy=finer)
    at_samples = np.isclose(finer[:, None], ENERGY).any(axis=1)
    expected = np.interp(finer, ENERGY, model.evaluate())
    np.testing.assert_allclose(found[at_samples], expected[at_samples], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("energy F(A): A * cumsum(A)", "sums what is the same at all energies; sum what depends"),
        ("energy F(A): u = sum(x); A * cumsum(u)", "sums what is the same at all energies"),
        ("energy F(A): A * cumsum(1 - sum(x))", "sums what is the same at all energies"),
        ("energy F(A): u = 2 * sum(x); A * x + sum(u)", "sums what is the same at all energies"),
        ("energy F(A, b): A * cumsum(x)", "does not depend on its parameter 'b'"),
        ("time F(A): A * cumsum(t)", "cumsum runs over all energies"),
        ("kernel F(w): exp(-sum(d) / w)", "sum runs over all energies"),
        ("energy F(A): A * cumsum(x, 2)", "cumsum takes 1 argument"),
    ],
)
def test_what_cannot_be_summed(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        define(text)


def test_an_expression_of_a_parameter_does_not_sum() -> None:
    text = "law: {linFun: {m: [1, True], t0: ['sum(law)']}}\n"
    with pytest.raises(ModelError, match="sum runs over all energies, which only a function of en"):
        load_time_model(text, "law")
