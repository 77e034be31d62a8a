"""Formulas that sum over the energies: NumPy runs them, in all executors alike."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import pyspec
from pyspec.errors import ModelError
from pyspec.executor import make_executor, make_plan
from pyspec.formula import define
from pyspec.functions.external import forget_function
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_time_model

ENERGY = np.linspace(80.0, 88.0, 81)
TIME = np.linspace(-1.0, 5.0, 13)
BACKENDS = ("tree", "interpreted", "compiled")

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
  Gauss: {A: [3, True, 0, 50], x0: [84, True, 82, 86], SD: [0.5, True, 0.1, 3]}
law:
  expFun: {A: [1, True], tau: [2, True, 0.1, 30], t0: [0, False], y0: [0, False]}
"""


def step(x: np.ndarray, B: float, x0: float, w: float) -> np.ndarray:
    g = np.exp(-(((x - x0) / w) ** 2) / 2)
    return B * (1 - np.cumsum(g) / g.sum())


def spectrum() -> Model:
    model = load_model(FILE, "m")
    model.set_axes(energy=ENERGY)
    return model


def moving() -> Model:
    """The place of the step and of the peak follow a law."""
    model = load_model(FILE, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    for name in ("Step_01_x0", "Gauss_01_x0"):
        model.add_dynamics(name, load_dynamics(FILE, "law", name))
    return model


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_sums_are_those_of_numpy_at_each_time(backend: str) -> None:
    found = make_executor(moving(), None, backend).run(None)
    for row, t in enumerate(TIME):
        x0 = 84.0 + (np.exp(-t / 2) if t >= 0 else 0.0)
        peak = 3 * np.exp(-(((ENERGY - x0) / 0.5) ** 2) / 2)
        expected = 1 + step(ENERGY, 5.0, x0, 0.5) + peak
        assert np.abs(found[row] - expected).max() <= 1e-13 * expected.max()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("columns", [(30, 50), (0, 20), (60, 81)])
def test_a_window_is_cut_from_the_whole_sum(backend: str, columns: tuple[int, int]) -> None:
    model = moving()
    measurement = Measurement(np.zeros((13, 81)), columns=columns, rows=(2, 9))
    whole = make_executor(model, None, backend).run(None)
    found = make_executor(model, measurement, backend).run(None)
    np.testing.assert_allclose(found, whole[2:9, slice(*columns)], rtol=1e-14)


def test_a_registered_function_sees_the_whole_axis_behind_a_window() -> None:
    """The interpreted executor used to hand it the window alone."""
    pyspec.register_function("Rise", lambda x, A: A * np.cumsum(np.ones(x.size)), "A")
    try:
        model = load_model("m: {Rise: {A: [2, True]}}\n", "m")
        model.set_axes(energy=ENERGY)
        window = Measurement(np.zeros(81), columns=(30, 50))
        for backend in BACKENDS:
            found = make_executor(model, window, backend).run(None)
            np.testing.assert_array_equal(found, 2.0 * np.arange(31, 51))
    finally:
        forget_function("Rise")


def test_it_lives_in_the_graph_the_plan_and_the_text() -> None:
    model = moving()
    graph = build_graph(model)
    assert parse_graph(print_graph(graph)) == graph
    again = load_model(model.to_yaml(), "m")
    assert again.components[1].function == model.components[1].function
    plan = pickle.loads(pickle.dumps(make_plan(model)))
    assert [name.partition("(")[0] for name in plan.external_names] == ["energy Step"]
    copied = copy.deepcopy(model)
    np.testing.assert_array_equal(copied.evaluate(), model.evaluate())
    formula = pickle.loads(pickle.dumps(define("energy F(A): A * cumsum(x)")))
    np.testing.assert_array_equal(formula.own(np.arange(4.0), 2.0), [0.0, 2.0, 6.0, 12.0])


def test_other_energies_are_computed_on_the_axis_of_the_model() -> None:
    """A sum over other samples would be another one."""
    model = spectrum()
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
