"""Functions by formula: their text, what is derived from it, and the program that C runs."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.executor import make_executor
from pyspec.formula import Definition, define, op_of
from pyspec.formula.program.values import Values
from pyspec.model import load_model

ENERGY = np.linspace(78.0, 90.0, 61)


def own(text: str) -> Definition:
    found = define(text).own
    assert isinstance(found, Definition)
    return found


def test_a_parameter_bounded_from_both_sides() -> None:
    text = (
        "functions:\n  Mix:\n    parameters: 'A, 2 < x0 [eV], 0 <= m [1] <= 1'\n"
        "    formula: A * ((1 - m) * exp(-(x - x0) ** 2) + m / (1 + (x - x0) ** 2))\n"
        "p:\n  Mix: {A: [3, True], x0: [84, True], m: [%s, True]}\n"
    )
    model = load_model(text % 0.5, "p")
    model.set_axes(energy=ENERGY)
    found = [(par.min, par.max) for par in model.components[0].parameters]
    assert found == [(-np.inf, np.inf), (2.0, np.inf), (0.0, 1.0)]
    assert model.components[0].op.units == ("?", "[eV]", "[1]")
    theta = model.theta()
    for m, inside in ((0.0, True), (1.0, True), (-1e-9, False), (1.0 + 1e-9, False)):
        theta[2] = m
        for name in ("tree", "interpreted", "compiled"):
            assert np.isfinite(make_executor(model, None, name).run(theta)).all() == inside, name
    with pytest.raises(ModelError, match=r"the value 1\.5 is outside .*Mix needs m <= 1"):
        load_model(text % 1.5, "p")


#: What is derived from a formula: linear parameters, jumps, and what a slope reads.
TRAITS = {
    "energy F(A, x0, w>0): A * exp(-((x - x0) / w) ** 2)": (("A",), {}, {"A": ("x0", "w")}),
    "energy F(a, b, c): a + b * x + c * x ** 2": (("a", "b", "c"), {}, {"b": ()}),
    "energy F(A, b): A * x + 1 + b": ((), {}, {"A": ()}),
    "energy F(A, b): A * x + A * b": (("A",), {}, {"b": ("A",)}),
    "energy F(A, b): abs(A) * exp(b * x)": ((), {}, {"b": ("A", "b")}),
    "time F(A, tau, t0, y0): where(t >= t0, A * exp(-(t - t0) / tau) + y0, 0)": (
        ("A", "y0"),
        {"t0": "(A + y0)"},
        {"y0": ("t0",)},
    ),
    "time F(m, t0): where(t - t0 > 0, m * (t - t0), 0)": (("m",), {}, {"m": ("t0",)}),
    "time F(m, t0): m * max(t - t0, 0)": (("m",), {}, {"m": ("t0",)}),
    "energy F(A, a): where(0 < x - a, exp(A), -3) * 1": ((), {"a": "(exp(A)  (3.0))"}, {}),
    "energy F(A, a): A * (x - a > 1)": (("A",), {"a": "A"}, {}),
    "energy F(A, a): where(a > x, -A, 0)": (("A",), {"a": "(A)"}, {}),
    # Where the axis meets the rest is not plain: a jump, of unknown height.
    "energy F(A, a): A * (x * a > 1)": (("A",), {"a": "1"}, {}),
    "energy F(A, a): A * (x - x * a > 0)": (("A",), {"a": "1"}, {}),
    "energy F(A, a, b>a): A * (x > a) * (x <= b)": (
        ("A",),
        {"a": "(A * (a <= b))", "b": "(A * (b > a))"},
        {"A": ("a", "b")},
    ),
}


@pytest.mark.parametrize("text", TRAITS)
def test_traits_are_derived(text: str) -> None:
    linear, jumps, reads = TRAITS[text]
    op = define(text)
    assert op.linear == linear
    assert {name: height.replace("-", "") for name, height in op.jumps} == jumps
    assert {name: dict(op.reads)[name] for name in reads} == reads


REFUSED = {
    "energy Gauss(A): A": "'Gauss' is a function of pyspec",
    "energy a_b(A): A": "cannot name a function",
    "energie F(A): A": "unknown domain 'energie'; did you mean 'energy'",
    "energy F(height): heigth": r"names 'heigth', which is no parameter.*did you mean 'height'\?",
    "time F(A): A * x": "the axis of a time function is 't'",
    "energy F(A, B): A": "does not depend on its parameter 'B'",
    "energy F(A, B=2): A * B": "parameters of a formula have no default; remove '='",
    "energy F(x): x": "'x' is the axis already",
    "energy F(A, pi): A * pi": "'pi' has a meaning in formulas",
    "energy F(A): u = A; u = 2; u": "'u' is a line already",
    "energy F(A >> 3): A": "cannot read the parameters",
    "F(A): A": "cannot read the function",
    "energy F(A): " + "A + " * 100 + "A" * 9000: "characters, 8000 is the most",
    "energy F(A): " + "A + " * 200 + "A": "too long",
    f"energy F({', '.join(f'p{k}' for k in range(25))}): p0": "25 parameters, 24 is the most",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_mistakes_are_named(text: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[text]):
        define(text, "models.yaml:3")


def test_programs_that_are_too_large_say_so() -> None:
    names = list("abcdfghijklmnopqrsuvwyz")
    lines = [f"v{k}=sin(x*{names[k % 23]}+{k})" for k in range(260)]
    lines += [f"w{k}={'*'.join(f'v{j}' for j in range(k, k + 65))}" for k in range(0, 260, 65)]
    large = own(f"energy F({', '.join(names)}): {'; '.join(lines)}; w0 * w65 * w130 * w195")
    with pytest.raises(
        ModelError, match=r"the formula needs \d+ registers, of which there are 1024"
    ):
        large.words  # noqa: B018
    values = Values()
    for k in range(4000):
        values.constant(float(k))
    with pytest.raises(ModelError, match="the formula has more than 4000 values with its deriv"):
        values.constant(-1.0)


def test_what_names_no_function_is_refused() -> None:
    with pytest.raises(ModelError, match="there is no function 'Gaus'; did you mean 'Gauss'"):
        op_of("Gaus")
    with pytest.raises(ModelError, match="there is no function None"):
        op_of(None)
