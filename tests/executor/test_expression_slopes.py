"""One rule for the slopes of expressions: what a fit minimises with (C) and what the standard
errors of its followers are propagated with (Python)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.zoo import ENERGY

from pyspec._library import RPN
from pyspec.executor import make_executor
from pyspec.formula import parse
from pyspec.model import Measurement, Model, load_model
from pyspec.plan.following import Following

MODEL = """
m:
  Offset:
    y0: ["{text}"]
parameters:
  a: [{a!r}, true]
  b: [{b!r}, true]
"""


def expression_model(text: str, a: float, b: float) -> Model:
    made = load_model(MODEL.format(text=text, a=a, b=b), "m")
    made.set_axes(energy=ENERGY[:4])
    return made


class Slopes:
    """Slopes of a text at any a and b, of one model."""

    def __init__(self, text: str, a: float = 0.5, b: float = 0.5) -> None:
        self.model = expression_model(text, a, b)
        self.executor = make_executor(self.model, Measurement(data=np.zeros(4)))

    def fitted(self, a: float, b: float) -> dict[str, float]:
        """Those that the compiled Jacobian holds."""
        names = self.model.opt_param_names
        theta = np.array([{"a": a, "b": b}[name] for name in names])
        columns = -self.executor.jacobian(theta)
        np.testing.assert_array_equal(columns, np.repeat(columns[:, :1], 4, axis=1))
        return dict(zip(names, columns[:, 0].tolist(), strict=True))

    def of_follower(self, a: float, b: float) -> dict[str, float]:
        """Those that a follower's standard error is propagated with."""
        slopes = slopes_of_followers(self.model, a, b)["Offset_y0"]
        return {name: slopes.get(name, 0.0) for name in ("a", "b")}


def slopes_of_followers(model: Model, a: float, b: float) -> dict[str, dict[str, float]]:
    order = [par.name for par in model.resolution_order()]
    return Following.of(model.parameters, order).gradients({"a": a, "b": b})


def fitted_slopes(text: str, a: float, b: float) -> dict[str, float]:
    return Slopes(text, a, b).fitted(a, b)


def follower_slopes(text: str, a: float, b: float) -> dict[str, float]:
    return Slopes(text, a, b).of_follower(a, b)


#: Places where a derivative is infinite, one-sided or not a number, and what it is taken for.
#: Python used to give infinity for the roots and NaN for the exponents of negative bases.
DIFFICULT = {
    "sqrt(a) + b": (0.0, 1.0, (0.0, 1.0)),
    "sqrt(a * b)": (0.0, 3.0, (0.0, 0.0)),
    "a ** b": (-2.0, 3.0, (12.0, 0.0)),
    "a ** b + 1": (0.0, 0.5, (0.0, 0.0)),
    "a ** b + 2": (0.0, 0.0, (0.0, 0.0)),
    "(a - 2) ** b": (0.0, 2.0, (-4.0, 0.0)),
    "0 * log(a) + b": (0.0, 1.0, (0.0, 1.0)),
    "exp(a * 1e9) * b": (-1.0, 1.0, (0.0, 0.0)),
    "abs(a) * b": (0.0, 2.0, (0.0, 0.0)),
    "max(a, b)": (1.0, 1.0, (1.0, 0.0)),
    "min(a, b)": (1.0, 1.0, (1.0, 0.0)),
    "a ** 2 * b": (-3.0, 1.0, (-6.0, 9.0)),
    "(a - a) * b + a": (1.0, 1.0, (1.0, 0.0)),
}


@pytest.mark.parametrize("text", DIFFICULT)
def test_where_the_derivative_is_in_doubt(text: str) -> None:
    a, b, expected = DIFFICULT[text]
    for slopes in (fitted_slopes(text, a, b), follower_slopes(text, a, b)):
        assert (slopes["a"], slopes["b"]) == expected


def written(name: str) -> str:
    row = RPN[name]
    if row.symbol.isidentifier():
        return f"{row.symbol}({', '.join(['a', 'b', 'a * b'][: row.arity])})"
    return f"{row.symbol} a" if row.arity == 1 else f"a {row.symbol} b"


VALUES = [-1e200, -3.0, -1.0, -1e-3, -0.0, 0.0, 1e-300, 0.25, 1.0, 2.0, 7.5, 1e200]


#: Functions that C and Python compute in ways of their own; beyond these values they overflow.
SPECIAL = ("ERF", "ERFC", "ERFCX", "W_RE", "W_IM", "W_REX", "W_REY")
MODERATE = [value for value in VALUES if abs(value) < 10]


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_have_one_slope(name: str) -> None:
    slopes = Slopes(written(name) + " + 0 * b")
    for a in MODERATE:
        for b in MODERATE:
            fit, error = slopes.fitted(a, b), slopes.of_follower(a, b)
            size = abs(error["a"]) + abs(error["b"]) + 1.0
            for par in ("a", "b"):
                assert abs(fit[par] - error[par]) <= 2e-12 * size, (a, b, par)


@pytest.mark.parametrize(
    "name", [row.name for row in RPN.values() if row.symbol and row.name not in SPECIAL]
)
def test_every_instruction_has_one_slope(name: str) -> None:
    """The fit and the standard errors agree at every pair of these values, to rounding."""
    slopes = Slopes(written(name) + " + 0 * b")
    for a in VALUES:
        for b in VALUES:
            fit, error = slopes.fitted(a, b), slopes.of_follower(a, b)
            for par in ("a", "b"):
                same = math.isclose(fit[par], error[par], rel_tol=1e-14)
                assert same or (math.isnan(fit[par]) and math.isnan(error[par])), (a, b, par)


def test_all_slopes_in_one_sweep_are_those_of_each_use() -> None:
    """Parameters that are used several times, and values that no constant is a factor of."""
    text = "(a + b) * sin(a * b) / (1 + a ** 2) - b ** a + max(a, b) * min(a, b)"
    a, b = 0.7, 1.9
    fit, error = fitted_slopes(text, a, b), follower_slopes(text, a, b)
    formula, h = parse(text), 1e-6
    for name in ("a", "b"):
        up, down = ({"a": a, "b": b} for _ in range(2))
        up[name] += h
        down[name] -= h
        expected = (formula.evaluate(up) - formula.evaluate(down)) / (2 * h)
        assert math.isclose(fit[name], error[name], rel_tol=1e-14)
        assert math.isclose(fit[name], expected, rel_tol=1e-8)
