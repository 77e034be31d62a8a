"""Formulas that sum over the energies: NumPy runs them, in all executors alike. Their derivatives
are exact wherever the sums stand in a model."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.agreement import BACKENDS, agreed, check_slopes

import pyspec
from pyspec.errors import ModelError, PlanError
from pyspec.executor import CompiledExecutor, make_executor, make_joint_executor, make_plan
from pyspec.formula import Definition, define
from pyspec.functions.external import forget_function
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)
from pyspec.passes import classify_columns

ENERGY = np.linspace(80.0, 88.0, 61)
TIME = np.linspace(-1.0, 5.0, 13)
AUX = np.linspace(0.0, 1.0, 4)

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
along:
  pLinear: {m: [0.7, True], b: [0.1, False]}
"""
SHIRLEY = "  Shirley: {pShirley: [0.02, True]}\n"


# ---- of the formula alone -----------------------------------------------------------------------


def own_of(text: str) -> Definition:
    own = define(text).own
    assert isinstance(own, Definition)
    return own


#: Formulas, and the same in NumPy, for complex numbers.
TEXTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a step": (
        "energy F(B, x0, w): g = exp(-((x - x0) / w) ** 2 / 2); B * (1 - cumsum(g) / sum(g))",
        lambda x, B, x0, w: (
            B
            * (
                1
                - np.cumsum(np.exp(-(((x - x0) / w) ** 2) / 2))
                / np.sum(np.exp(-(((x - x0) / w) ** 2) / 2))
            )
        ),
    ),
    "sums of sums": (
        "energy F(a, b, c): u = cumsum(x * a + b); cumsum(sqrt(u * u + c)) / sum(u + x) + a",
        lambda x, a, b, c: (
            np.cumsum(np.sqrt(np.cumsum(x * a + b) ** 2 + c)) / np.sum(np.cumsum(x * a + b) + x) + a
        ),
    ),
    "what is summed has a slope that is a number": (
        "energy F(a, b): cumsum(x + a) * b + sum(b * x)",
        lambda x, a, b: np.cumsum(x + a) * b + np.sum(b * x),
    ),
    "a power of a sum": (
        "energy F(a, b): (sum(x ** 2) / 4) ** b * a ** 2",
        lambda x, a, b: (np.sum(x**2) / 4) ** b * a**2 + 0 * x,
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_slopes_are_those_of_complex_steps(kind: str) -> None:
    text, function = TEXTS[kind]
    own = own_of(text)
    x = np.linspace(0.2, 3.0, 23)
    params = [1.3, 0.7, 0.9][: len(own.params)]
    np.testing.assert_allclose(own(x, *params), function(x, *params), rtol=1e-13)
    for k, slope in enumerate(own.slopes(x, *params)):
        moved = [value + 1e-200j * (j == k) for j, value in enumerate(params)]
        exact = function(x, *moved).imag * 1e200
        assert slope.shape == x.shape
        np.testing.assert_allclose(slope, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


# ---- in a model ---------------------------------------------------------------------------------


def still(text: str = FILE) -> Model:
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    return model


def moving(text: str = FILE) -> Model:
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    for name in ("Step_01_x0", "Gauss_01_x0"):
        model.add_dynamics(name, load_dynamics(text, "law", name))
    return model


def along_aux() -> Model:
    model = load_model(FILE, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    model.set_axes(aux=AUX)
    model.add_profile("Step_01_x0", load_profile(FILE, "along", "Step_01_x0"))
    model.add_dynamics("Step_01_B", load_dynamics(FILE, "law", "Step_01_B"))
    return model


MODELS: dict[str, Callable[[], Model]] = {
    "one spectrum": still,
    "one spectrum below Shirley": lambda: still(FILE.replace("  Step: {B", SHIRLEY + "  Step: {B")),
    "moving": moving,
    "moving, below Shirley": lambda: moving(FILE.replace("  Step: {B", SHIRLEY + "  Step: {B")),
    "moving, below Tougaard": lambda: moving(
        FILE.replace("  Step: {B", "  Tougaard: {B: [30, True], C: [160, True]}\n  Step: {B")
    ),
    "moving, above Shirley": lambda: moving(FILE.replace("  Gauss", SHIRLEY + "  Gauss")),
    "expressions": lambda: moving(
        FILE.replace("w: [0.5, True, 0.1, 3]", 'w: ["Gauss_01_SD * 1.1 + 0.01 * Gauss_01_x0"]')
    ),
    "two of them": lambda: moving(
        FILE.replace(
            "  Gauss", '  Step: {B: [2, True], x0: ["Step_01_x0 + 1"], w: [1, True]}\n  Gauss'
        )
    ),
    "profile": along_aux,
}


@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_every_column_is_known(kind: str, windowed: bool) -> None:
    """They used to be finite differences."""
    model = MODELS[kind]()
    shape = np.shape(model.evaluate())
    draw = np.random.default_rng(2)
    window: dict[str, Any] = {}
    if windowed:
        window = {
            "columns": (11, 47),
            "weight": draw.uniform(0.5, 2.0, shape),
            "mask": draw.random(shape) < 0.1,
        }
    executor = make_executor(model, Measurement(draw.normal(size=shape), **window))
    assert isinstance(executor, CompiledExecutor)
    assert executor.capabilities.unknown_columns == ()
    check_slopes(model, 1e-9, data=executor.measurement.data, least=1.0, **window)
    assert {column.kind for column in classify_columns(build_graph(model))} <= {
        "constant",
        "structured",
    }


def test_counts_and_several_files() -> None:
    model = moving()
    clean = model.evaluate()
    # far from the model, where differences of the deviance are exact enough
    check_slopes(model, 1e-9, data=1.7 * clean + 1, loss="poisson", loss_scale=0.05, least=1.0)
    other = still()
    pairs = [(model, Measurement(clean)), (other, Measurement(other.evaluate()))]
    joint = make_joint_executor(pairs)
    assert joint.capabilities.unknown_columns == ()
    together = joint.jacobian(None)
    begin = 0
    for pair, gather in zip(pairs, joint.problem.gather, strict=True):
        own = make_executor(*pair).jacobian(None)
        np.testing.assert_array_equal(together[gather, begin : begin + own.shape[1]], own)
        begin += own.shape[1]
    assert begin == together.shape[1]


def test_a_background_that_is_not_linear_leaves_differences() -> None:
    text = FILE.replace(
        "  Step: {B", "  StaticShirley: {left: [2, True], right: [1, True]}\n  Step: {B"
    )
    model = still(text)
    executor = make_executor(model, Measurement(np.zeros(61)))
    names = [model.opt_param_names[k] for k in executor.capabilities.unknown_columns]
    assert names == ["Step_01_B", "Step_01_x0", "Step_01_w"]
    kinds = {column.name: column.kind for column in classify_columns(build_graph(model))}
    assert [name for name, kind in kinds.items() if kind == "fallback"] == names
    with pytest.raises(PlanError, match="has no known derivative"):
        executor.jacobian(model.theta())


def test_beside_a_registered_function_the_sums_are_known() -> None:
    pyspec.register_function("Flat", lambda x, A: A * np.ones(x.size), "A")
    try:
        model = still(FILE.replace("  Offset", "  Flat: {A: [1, True]}\n  Offset"))
        executor = make_executor(model, Measurement(np.zeros(61)))
        unknown = executor.capabilities.unknown_columns
        assert [model.opt_param_names[k] for k in unknown] == ["Flat_01_A"]
        with pytest.raises(PlanError, match="registered function 'Flat' has no known derivative"):
            executor.jacobian(model.theta())
        columns = executor.jacobian(model.theta(), known_only=True)
        known = make_executor(still(), Measurement(np.zeros(61))).jacobian(None)
        np.testing.assert_allclose(columns[1:], known, rtol=1e-13, atol=1e-13)
    finally:
        forget_function("Flat")


# ---- as any other component ---------------------------------------------------------------------


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
