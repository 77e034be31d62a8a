"""Registered Python functions: components and laws of one's own in every executor."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from support.agreement import BACKENDS, agreed

from pyspec.errors import ModelError, PlanError
from pyspec.executor import CompiledExecutor, make_executor, make_plan
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import collect
from pyspec.executor.store import Job
from pyspec.fit import fit_model
from pyspec.functions.external import CALLABLES, forget_function, register_function
from pyspec.io import by_reference
from pyspec.model import Measurement, Model, load_dynamics, load_model

MODEL = """
m:
  Offset:
    y0: [1, true]
  Shirley:
    pShirley: [0.01, true]
  Sech:
    A: [5, true]
    x0: [3, true]
    w: [0.7, true]
  GLP:
    A: ["2 * Sech_01_A"]
    x0: ["Sech_01_x0 + 2"]
    F: [1.1, true]
    m: [0.3, true]
"""
LAWS = """
stretched:
  Stretched: {A: [1.5, true], tau: [4.0, true], beta: [0.6, true]}
  expFun: {A: [0.5, true], tau: [9.0, true], t0: [0, false]}
smeared:
  gaussCONV: {SD: [0.8, true]}
  Stretched: {A: [1.5, true], tau: [4.0, true], beta: [0.6, true]}
"""
ENERGY, TIME = np.linspace(0.0, 8.0, 100), np.linspace(-3.0, 20.0, 37)


def sech(x, A, x0, w):
    return A / np.cosh((x - x0) / w)


def stretched(t, A, tau, beta):
    return np.where(t < 0, 0.0, A * np.exp(-((np.clip(t, 0, None) / tau) ** beta)))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_function("Sech", sech, "A, x0, w>0", formula="A / cosh((x - x0) / w)")
    register_function("Stretched", stretched, "A, tau>0, beta>0", domain="time")
    yield
    for name in [*CALLABLES]:
        forget_function(name)


def make(laws: str | None = "stretched", time: np.ndarray | None = TIME) -> Model:
    model = load_model(MODEL, "m")
    if laws is not None:
        model.add_dynamics("Sech_01_x0", load_dynamics(LAWS, laws, "Sech_01_x0"))
    model.set_axes(energy=ENERGY, time=time)
    return model


@pytest.mark.parametrize(
    ("laws", "time"), [("stretched", TIME), ("smeared", TIME), (None, TIME), (None, None)]
)
def test_three_executors_agree(laws: str | None, time: np.ndarray | None) -> None:
    model = make(laws, time)
    for factor in (1.0, 1.07):
        agreed(model, model.theta() * factor)


def test_all_sums_see_what_python_gives_at_these_values() -> None:
    """Threads beside the first summed with what functions in Python give at the start values."""
    model = make()
    model.set("Sech_01_w", vary=False)
    clean = make_executor(model).run(None)
    executor = make_executor(model, Measurement(clean + 1.0))
    theta, fixed = model.theta() * 1.01, {"Sech_01_w": 0.9}
    expected = executor.normal(theta, fixed, "value").tobytes()
    assert expected != executor.normal(theta, None, "value").tobytes()
    cut = [Chunk(first, (clean + 1.0)[first : first + 8]) for first in range(0, len(TIME), 8)]
    nodes = chunk_nodes(executor, Job(0, theta, fixed, "value", False), cut, threads=3)
    assert collect(nodes, theta.size, "value").tobytes() == expected
    with (
        pytest.raises(PlanError, match="m: registered functions need Python between steps"),
        executor.parts(),
    ):
        pass
    with pytest.raises(PlanError, match=r"the registered function .* needs Python for every"):
        make_executor(model, Measurement(by_reference(clean)))


def test_what_is_left_out_is_zero() -> None:
    register_function("Slope", lambda x, A, b: A * x + b, "A, b=0")
    model = load_model("m: {Slope: {A: [2, True]}}\n", "m")
    model.set_axes(energy=[1.0, 2.0])
    np.testing.assert_array_equal(agreed(model, tolerance=0.0), [2.0, 4.0])


def test_plan_pickles_by_name_and_needs_the_function() -> None:
    plan = pickle.loads(pickle.dumps(make_plan(make())))
    assert plan.external_names == ("Stretched", "Sech")
    expected = CompiledExecutor(plan).run(plan.theta)
    forget_function("Sech")
    with pytest.raises(PlanError, match="'Sech' is not registered"):
        CompiledExecutor(plan)
    register_function("Sech", sech, "A, x0, w>0")
    np.testing.assert_array_equal(CompiledExecutor(plan).run(plan.theta), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("GLP", sech, "A"), "is a function of pyspec"),
        (("my peak", sech, "A"), "cannot name a function"),
        (("my_peak", sech, "A"), "cannot name a function"),
        (("Mine", 3, "A"), "cannot be called"),
        (("Mine", sech, "A; B"), "cannot read the parameters"),
        (("Mine", sech, "A, A"), "occurs twice"),
        (("Mine", sech, "A, x0, w=1"), "cannot .* what may be left out stands last, and is 0 then"),
        (("Mine", sech, "A=0, x0, w"), "what may be left out stands last"),
        (("Mine", sech, "A, x0"), "cannot be called with the axis and 2 param.*def Mine"),
    ],
)
def test_mistakes(arguments: tuple[str, object, str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        register_function(*arguments)  # type: ignore[arg-type]


def _all(function: Callable[..., object]) -> dict[str, np.ndarray]:
    """What each executor makes of two components of a function of A at each energy."""
    register_function("Any", function, "A")
    model = load_model("m:\n  Any: {A: [2, true]}\n  Any: {A: [1, true]}\n", "m")
    model.set_axes(energy=ENERGY)
    return {name: make_executor(model, None, name).run(None).ravel() for name in BACKENDS}


def test_numbers_of_any_type_are_what_they_are() -> None:
    """Those of another type than float64 used to be read as float64, with the bits that they had:
    a fit of them succeeded, at numbers that mean nothing."""
    types: dict[str, Callable[[np.ndarray], object]] = {
        "float32": lambda values: values.astype(np.float32),
        "int64": lambda values: values.astype(np.int64),
        "bool": lambda values: values > 5,
        "big-endian": lambda values: values.astype(">f8"),
        "list": lambda values: values.tolist(),
        "objects": lambda values: np.array([Fraction(one) for one in values.tolist()]),
        "one": lambda values: np.float32(values[3]),
    }
    for name, cast in types.items():
        wanted = sum(np.broadcast_to(cast(A * ENERGY), 100).astype(np.float64) for A in (2, 1))
        for executor, found in _all(lambda x, A, cast=cast: cast(A * x)).items():
            np.testing.assert_array_equal(found, wanted, f"{name}, {executor}")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, A: A / (x - 1j), "Any returns complex numbers; return np.real"),
        (lambda x, A: None, "Any returns NoneType in place of numbers; return one for each point"),
        (lambda x, A: ["a"] * len(x), "Any returns list in place of numbers"),
    ],
)
def test_what_is_no_real_number_is_refused(function: Callable[..., object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        _all(function)
    register_function("Any", function, "A")
    model = load_model("m:\n  Any: {A: [2, true]}\n", "m")
    model.set_axes(energy=ENERGY)
    with pytest.raises(ModelError, match=f"^<text>:2: Any_01: the registered function {message}"):
        fit_model(model, Measurement(ENERGY))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, A, w: A * x / w if w > 0.1 else x, "fails where Any_01_w moves in time: ValueE"),
        (lambda x, A, w: A * x / math.exp(w), "fails where Any_01_w moves in time: TypeError"),
        (
            lambda x, A, w: np.array([A * one / w for one in x]),
            r"returns shape \(100, 3, 1\) for 3",
        ),
        (lambda x, A, w: A * x / np.max(x * w), "gives other values for all times together than "),
    ],
)
def test_what_takes_no_columns_is_refused(function: Callable[..., object], message: str) -> None:
    """The first three used to fail in the fit with an error of NumPy that named nothing; the last
    one was fitted, with the largest of all times in place of that of each."""
    register_function("Any", function, "A, w>0")
    laws = "law:\n  expFun: {A: [1, true], tau: [4, true], t0: [0, false], y0: [0, false]}\n"
    model = load_model("m:\n  Any: {A: [2, true], w: [1, true, 0.5, 2]}\n", "m")
    model.set_axes(energy=ENERGY, time=TIME)
    model.add_dynamics("Any_01_w", load_dynamics(laws, "law", "Any_01_w"))
    with pytest.raises(ModelError, match=f"<text>:2: Any_01: the .* Any {message}.*; it gets col"):
        fit_model(model, Measurement(np.ones((TIME.size, ENERGY.size))))
