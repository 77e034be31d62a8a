"""Python functions that become formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import pyspec
from pyspec import Measurement, Model, fit_model, load_dynamics, load_model, load_profile
from pyspec.components import Offset, registered
from pyspec.errors import ModelError, NoSuchNameError
from pyspec.executor import make_executor
from pyspec.formula import FORMULAS, Definition, graph
from pyspec.formula.graph import placeholder
from pyspec.model import load_time_model

ENERGY, TIME = np.linspace(80.0, 88.0, 81), np.linspace(-1.0, 5.0, 13)
AUX = np.linspace(0.0, 1.0, 3)


def skewed(x: Any, A: Any, x0: Any, w: Any, b: Any) -> Any:
    """A Gaussian with one flank -- steeper than the other.

    More of it.
    """
    u = (x - x0) / w
    return A * np.exp(-4 * np.log(2) * u**2) * (1 + special.erf(b * u))


FILE = """\
peak:
  Offset: {y0: [1, True]}
  Skew: {A: [15, True, 0, 1000], x0: [84, True, 82, 86], w: [1.5, True], b: [2, True]}
law:
  Grow: {A: [3, True], tau: [2, True], t0: [0.3, True]}
depth:
  Fade: {A: [1, True], reach: [0.8, True]}
"""


def test_a_traced_function_is_a_formula_that_runs_in_c() -> None:
    skew = pyspec.function(name="Skew", params="A, x0 [eV], w>0, b")(skewed)
    assert skew.formula == (
        "energy Skew(A, x0 [eV], w>0, b): u1 = (x - x0) / w; (A * exp(((-2.772588722239781) * "
        "(u1 ** 2)))) * (1 + erf((b * u1))) -- A Gaussian with one flank - steeper than the other."
    )
    assert repr(skew) == f"<function by formula: {skew.formula}>"
    assert (skew.__name__, skew.op.linear) == ("skewed", ("A",))

    @pyspec.function(domain="time", params="A, tau>0, t0")
    def Grow(t: Any, A: Any, tau: Any, t0: Any) -> Any:
        return np.where(t >= t0, A * (1 - np.exp(-(t - t0) / tau)), 0)

    @pyspec.function(domain="profile")
    def Fade(x: Any, A: Any, reach: Any) -> Any:
        return A * np.exp(-x / reach)

    model = load_model(FILE, "peak")
    model.set_axes(energy=ENERGY, time=TIME, aux=AUX)
    model.add_dynamics("Skew_01_x0", load_dynamics(FILE, "law", "Skew_01_x0"))
    model.add_profile("Skew_01_A", load_profile(FILE, "depth", "Skew_01_A"))
    centre = 84 + Grow(TIME[:, None], 3, 2, 0.3)
    layers = [skew(ENERGY, 15 + Fade(z, 1, 0.8), centre, 1.5, 2) for z in AUX]
    expected = 1 + np.mean(layers, axis=0)
    for backend in ("compiled", "interpreted", "tree"):
        found = make_executor(model, None, backend).run(None)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=backend)
    assert make_executor(model, Measurement(data=expected)).capabilities.in_c


def test_it_is_written_described_fitted_and_saved() -> None:
    skew = pyspec.function(skewed, name="Skew", params="A, x0, w>0, b")
    model = Model("peak", [Offset(1), registered("Skew", A=15, x0=(84, 82, 86), w=1.5, b=2)])
    model.set_axes(energy=ENERGY)
    text = model.to_yaml()
    expected = model.evaluate()
    data = expected + np.random.default_rng(0).normal(0, 0.01, ENERGY.size)
    result = fit_model(model, Measurement(data=data))
    assert result.success
    assert result.params["Skew_01_b"].value == pytest.approx(2, rel=0.05)
    del FORMULAS["Skew"]  # what was made with it, and its file, do not need it
    again = load_model(text, "peak")
    again.set_axes(energy=ENERGY)
    np.testing.assert_array_equal(again.evaluate(), expected)
    np.testing.assert_allclose(expected, 1 + skew(ENERGY, 15, 84, 1.5, 2), rtol=1e-13)
    with pytest.raises(ModelError, match="there is no function 'Skew'"):
        registered("Skew", A=1)


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda x, A: A * x if A > 1 else x, "nothing can be decided by it; write where"),
        (lambda x, A: A * x.max(), "cannot be traced: 'placeholder' object has no attribute 'max'"),
        (lambda x, A: A * np.expm1(x), "expm1 has no formula; write exp(a) - 1; there are abs"),
        (lambda x, A: A * max(x, 0), "and np.maximum in place of max"),
        (lambda x, A: A * (x > 0 & x < 1), "& | ~ are for comparisons, each in parentheses: (x >"),
        (lambda x, A: (A / (x - 1j)).real, "1j is no real number; write real and imaginary part"),
        (lambda x, A: math.exp(A) * x, "cannot be traced: must be real number"),
        (lambda x, A: graph.function_call("f", x) * A, "function_call has no formula"),
        (lambda x, A: 3.0, "returns float in place of a value of its arguments"),
        (lambda x: x, "write its parameters one by one"),
        (lambda x, *A: x * A[0], "write its parameters one by one"),
        (lambda x, A, B: A * x, "does not depend on its parameter 'B'"),
        (lambda x, A: A * x + (len(str(A)) > 9), "the formula traced from it gives"),
        (lambda x, A: A * x + placeholder[Any]("y"), "'y': no input of the formula"),
        ("no function", "give a Python function"),
    ],
)  # fmt: skip
def test_what_has_no_formula_is_refused(function: Callable[..., Any], answer: str) -> None:
    with pytest.raises(ModelError) as error:
        pyspec.function(function, name="Mine")
    assert answer in str(error.value)
    assert not FORMULAS


CONDITIONS: list[Callable[..., Any]] = [
    lambda x, A, b: A * ((x > 0) & (x < b)),
    lambda x, A, b: A * ((x < 0) | (x >= b) | (x == 1.3)),
    lambda x, A, b: A * np.where(~((x > 0) & ~(x > b)), x, b),
    lambda x, A, b: A * (x > b).astype(float),
    lambda x, A, b: A * ((x > b) & (x > 0)).astype(int),
    lambda x, A, b: np.where(np.logical_and(x, x < b), A, np.zeros_like(x)),
    lambda x, A, b: A * np.logical_or(x < 0, x > b) + b * np.logical_not(x),
    lambda x, A, b: A * np.sign(x - b) * np.ones_like(x),
    lambda x, A, b: np.full_like(x, A) * np.heaviside(x, 0.5) + b,
    lambda x, A, b: A * np.asarray(x) + b,
    lambda x, A, b: np.asarray(A * np.asarray(x) + b * np.ones_like(x, dtype=float)),
    lambda x, A, b: A * special.expit(-x / b),
    lambda x, A, b: A * special.voigt_profile(x, b, 0.3 * b),
    lambda x, A, b: A / (x * b),
]


@pytest.mark.parametrize("function", CONDITIONS, ids=range(len(CONDITIONS)))
def test_what_numpy_runs_without_an_if_is_traced(function: Callable[..., Any]) -> None:
    """& and | used to be refused with the advice to write what NumPy can do, and a function that
    is infinite somewhere to warn."""
    op = pyspec.function(function, name="Mine").op
    x = np.array([-3.1, -0.7, 0.0, 0.4, 1.3, 2.9])
    own = op.own
    assert isinstance(own, Definition)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(own(x, 1.5, 0.8), function(x, 1.5, 0.8), rtol=1e-14)


def test_names_domains_and_parameters_are_checked() -> None:
    line = lambda x, A, b: A * x + b  # noqa: E731
    for options, answer in (
        ({"name": "Gauss"}, "is a function of pyspec"),
        ({"name": "my_line"}, "cannot name a function"),
        ({"name": "Line", "domain": "space"}, "unknown domain 'space'; there are energy, time"),
        ({"name": "Line", "params": "A"}, "must name A, b, in this order"),
        ({"name": "Line", "params": "b, A"}, "must name A, b, in this order"),
    ):
        with pytest.raises(ModelError, match=answer):
            pyspec.function(line, **options)
    pyspec.register_function("Line", line, "A, b")
    with pytest.raises(ModelError, match="'Line' is a registered function"):
        pyspec.function(line, name="Line")
    pyspec.function(line, name="Other")
    with pytest.raises(NoSuchNameError, match="is written registered"):
        pyspec.components.Other  # noqa: B018


# ---- what a kernel declares ----------------------------------------------------------------------


def bell(d: Any, w: Any) -> Any:
    u = np.exp(d / w)
    return 4 / (u + 1 / u) ** 2


def bell_tail(d: Any, w: Any) -> Any:
    v = np.exp(d / w)
    return 2 * w / (v * v + 1)


BELL = """\
functions:
  Sech:
    domain: kernel
    parameters: w > 0 [ps]
    lines: {u: exp(d / w), v: exp(d / w)}
    formula: 4 / (u + 1 / u) ** 2
    reach: 20 * w
    tail: 2 * w / (v * v + 1)
"""
SEEN = """\
seen:
  Sech: {w: [0.5, True, 0.1, 3]}
  expFun: {A: [5, True], tau: [3, True], t0: [0.1, False], y0: [0, False]}
"""


@pytest.mark.parametrize("declared", ["functions", "text", "sides"])
def test_a_kernel_declares_reach_and_tail_in_python(declared: str) -> None:
    """Only files could say them."""
    given: dict[str, Any] = {
        "functions": {"reach": lambda w: 20 * w, "tail": bell_tail},
        "text": {"reach": "20 * w", "tail": "2 * w / (exp(2 * d / w) + 1)"},
        "sides": {"reach": (lambda w: 20 * w, "20 * w"), "tail": [bell_tail, bell_tail]},
    }[declared]
    pyspec.function(domain="kernel", name="Sech", params="w > 0 [ps]", **given)(bell)
    own = FORMULAS["Sech"].own
    assert isinstance(own, Definition)
    names = [f"{part}{side}" for part in ("reach", "tail") for side in ("_before", "_after")]
    assert [name for name, _ in own.parts] == (names if declared == "sides" else ["reach", "tail"])
    assert own.reaches(0.7) == (14.0, 14.0)
    away = np.array([0.0, 0.4, 3.0])
    for side in (0, 1):
        np.testing.assert_allclose(own.mass(side, away, 0.7), bell_tail(away, 0.7), rtol=1e-14)
    time = np.linspace(-3.0, 9.0, 97)
    found = []
    for head in ("", BELL):
        model = load_time_model(head + SEEN, "seen")
        model.set_axes(time=time)
        executor = make_executor(model, Measurement(np.zeros(97)))
        found.append((executor.run(None), executor.jacobian(model.theta())))
        again = load_time_model(model.to_yaml(), "seen")
        assert again.components[0].function == model.components[0].function
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


def parameters_of_nothing(w: Any, b: Any) -> Any:
    return w


def changes_with_its_type(d: Any, w: Any) -> Any:
    return w * np.exp(-d / w) * (2 if isinstance(w, float) else 1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"domain": "energy", "reach": "3"}, "K: reach belongs to a kernel; write domain='kernel'"),
        ({"reach": ("w", "w", "w")}, "K: reach: give one, or two: for earlier and for later"),
        ({"reach": "3 * d"}, "K: reach says how far K extends; it cannot depend on 'd'"),
        ({"reach": parameters_of_nothing}, "K: reach: cannot be traced: .* or a formula as text"),
        ({"tail": lambda d, w: "w"}, "K: tail: returns str in place of .* or a formula as text"),
        ({"tail": changes_with_its_type}, "K: tail: the formula traced from it gives"),
    ],
)
def test_what_a_kernel_cannot_declare(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        pyspec.function(name="K", **{"domain": "kernel", **given})(bell)
    assert "K" not in FORMULAS


def test_long_formulas_are_cut_into_lines() -> None:
    def comb(x: Any, A: Any, u1: Any) -> Any:
        total = 0 * x
        for k in range(70):
            total = total + A * np.exp(-((x - k * u1) ** 2))
        return total

    made = pyspec.function(comb, name="Comb")
    lines = [line for line, _ in made.op.own.lines]
    assert len(lines) >= 2
    assert "u1_" in lines, "u1 is a parameter"
    np.testing.assert_allclose(made.op.own(AUX, 2.0, 0.1), comb(AUX, 2.0, 0.1), rtol=1e-13)
