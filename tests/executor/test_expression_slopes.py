"""One rule for the slopes of expressions: what a fit minimises with (C) and what the standard
errors of its followers are propagated with (Python)."""

from __future__ import annotations

import math
import operator
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.zoo import ENERGY

from pyspec._library import RPN
from pyspec.executor import make_executor
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
        order = [par.name for par in self.model.resolution_order()]
        following = Following.of(self.model.parameters, order)
        slopes = following.gradients({"a": a, "b": b})["Offset_y0"]
        return {name: slopes.get(name, 0.0) for name in ("a", "b")}


#: Where a derivative is infinite, one-sided or not a number: what it is taken for, and why.
#: Python used to give infinity for the roots and NaN for the exponents of negative bases.
DIFFICULT = [
    ("abs(a) + b", (0.0, 1.0), (0.0, 1.0), "kink: the mean of both sides"),
    ("abs(a) * b", (0.0, 2.0), (0.0, 0.0), "kink: the mean of both sides"),
    ("min(a, b)", (2.0, 2.0), (1.0, 0.0), "kink: the first one's"),
    ("max(a, b)", (2.0, 2.0), (1.0, 0.0), "kink: the first one's"),
    ("sqrt(a) + b", (0.0, 1.0), (0.0, 1.0), "infinite: 0"),
    ("sqrt(a * b)", (0.0, 3.0), (0.0, 0.0), "infinite: 0"),
    ("a ** b", (0.0, 0.5), (0.0, 0.0), "infinite: 0"),
    ("0 * log(a) + b", (0.0, 1.0), (0.0, 1.0), "infinite: 0"),
    ("a ** b", (0.0, 1.0), (1.0, 0.0), "from the right"),
    ("a ** b", (0.0, 2.0), (0.0, 0.0), "from the right"),
    ("a ** b", (0.0, 0.0), (0.0, 0.0), "jump: 0"),
    ("a ** b", (-2.0, 3.0), (12.0, 0.0), "by b only whole numbers have a value: 0"),
    ("(a - 2) ** b", (0.0, 2.0), (-4.0, 0.0), "by b only whole numbers have a value: 0"),
    ("a ** 2 * b", (-3.0, 1.0), (-6.0, 9.0), "a whole number is one"),
    ("(a - a) * b + a", (1.0, 1.0), (1.0, 0.0), "what is 0 scales what is added"),
    ("exp(a * 1e9) * b", (-1.0, 1.0), (0.0, 0.0), "below the range"),
    ("1 / (1 + exp(a)) + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
    ("exp(-exp(a)) + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
    ("min(exp(a), b)", (800.0, 1.0), (0.0, 1.0), "what is not chosen is beyond the range"),
    ("exp(a) ** -1 + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
]


@pytest.mark.parametrize(("text", "at", "expected", "reason"), DIFFICULT)
def test_where_the_derivative_is_in_doubt(
    text: str, at: tuple[float, float], expected: tuple[float, float], reason: str
) -> None:
    with np.errstate(over="ignore"):
        slopes = Slopes(text, *at)
        both = slopes.fitted(*at), slopes.of_follower(*at)
    for one in both:
        assert (one["a"], one["b"]) == expected, reason


#: Formulas for a row of the table, and points (a, b) at which they are differentiated.
SMOOTH = [(0.7, 1.3), (-0.7, 2.6), (12.0, -3.5), (1e-9, 1e9), (-1e5, 1e-5), (0.7, -0.7)]
POSITIVE = [(0.7, 1.3), (12.0, -3.5), (1e-9, 0.5), (1e9, 2.0), (1e-5, 7.0), (3.0, 0.0), (1.0, 9.0)]
EXPRESSIONS: dict[str, tuple[str, Any, list[tuple[float, float]]]] = {
    "CONST": ("3 + 0 * a", lambda a, b: mp.mpf(3), SMOOTH),
    "PARAM": ("a", lambda a, b: a, SMOOTH),
    "ADD": ("a + b", lambda a, b: a + b, SMOOTH),
    "SUB": ("a - b", lambda a, b: a - b, SMOOTH),
    "MUL": ("a * b", lambda a, b: a * b, [*SMOOTH, (0.0, 2.0), (0.0, 0.0)]),
    "DIV": ("a / b", lambda a, b: a / b, [*SMOOTH, (0.0, 2.0)]),
    "NEG": ("-a", lambda a, b: -a, SMOOTH),
    "POW": ("a ** b", lambda a, b: mp.power(a, b), POSITIVE),
    "EXP": ("exp(a)", lambda a, b: mp.exp(a), [p for p in SMOOTH if p[0] > -700]),
    "LOG": ("log(a)", lambda a, b: mp.log(a), POSITIVE),
    "SQRT": ("sqrt(a)", lambda a, b: mp.sqrt(a), POSITIVE),
    "SIN": ("sin(a)", lambda a, b: mp.sin(a), SMOOTH),
    "COS": ("cos(a)", lambda a, b: mp.cos(a), SMOOTH),
    "TAN": ("tan(a)", lambda a, b: mp.tan(a), SMOOTH),
    "ABS": ("abs(a)", lambda a, b: abs(a), SMOOTH),
    "MIN": ("min(a, b)", lambda a, b: min(a, b), SMOOTH),
    "MAX": ("max(a, b)", lambda a, b: max(a, b), SMOOTH),
    "ATAN": ("arctan(a)", lambda a, b: mp.atan(a), SMOOTH),
    "ERFCX": (
        "erfcx(a)",
        lambda a, b: mp.exp(a * a) * mp.erfc(a),
        [(0.7, 1.0), (-2.6, 1.0), (11.9, 1.0), (12.0, 1.0), (40.0, 1.0), (3000.0, 1.0)],
    ),
    "WHERE": ("where(a > 0, a * b, a - b)", lambda a, b: a * b if a > 0 else a - b, SMOOTH),
}


def faddeeva(x: Any, y: Any) -> Any:
    """w(x + i y) = exp(-z^2) erfc(-i z)."""
    z = mp.mpc(x, y)
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def by_x(x: Any, y: Any) -> Any:
    """Its derivative, w' = 2 i / sqrt(pi) - 2 z w."""
    z = mp.mpc(x, y)
    return 2j / mp.sqrt(mp.pi) - 2 * z * faddeeva(x, y)


UPPER = [(0.7, 1.3), (-0.7, 2.6), (0.3, 0.5)]
EXPRESSIONS |= {
    "W_RE": ("wofz_real(a, b)", lambda a, b: faddeeva(a, b).real, UPPER),
    "W_IM": ("wofz_imag(a, b)", lambda a, b: faddeeva(a, b).imag, UPPER),
    "W_REX": ("wofz_real_x(a, b)", lambda a, b: by_x(a, b).real, UPPER),
    "W_REY": ("wofz_real_y(a, b)", lambda a, b: (1j * by_x(a, b)).real, UPPER),
}
#: A comparison chooses: its own slopes are 0 on both sides of the jump.
COMPARISONS = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
EXPRESSIONS |= {
    name: (
        f"(a {RPN[name].symbol} b) * 3 * a + b",
        lambda a, b, holds=holds: 3 * a * int(holds(a, b)) + b,
        SMOOTH,
    )
    for name, holds in COMPARISONS.items()
}

#: A function that is not listed: mpmath's of that name, where its operands are positive.
EXPRESSIONS |= {
    row.name: (
        f"{row.symbol}({', '.join('ab'[: row.arity])})",
        lambda a, b, row=row: getattr(mp, row.symbol)(*(a, b)[: row.arity]),
        [(0.7, 1.3), (0.02, 0.4), (0.999, 3.0)],
    )
    for row in RPN.values()
    if row.symbol.isidentifier() and row.name not in EXPRESSIONS
}


def test_every_instruction_has_a_formula() -> None:
    """CHAIN is the product along the chain rule, which no formula writes."""
    assert set(EXPRESSIONS) | {"CHAIN"} == set(RPN)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_slopes_against_60_digits(name: str) -> None:
    formula, function, points = EXPRESSIONS[name]
    slopes = Slopes(f"{formula} + 0 * a * b")
    for a, b in points:
        found = slopes.fitted(a, b)
        with mp.workdps(60):
            A, B = mp.mpf(a), mp.mpf(b)
            for argument, h in (("a", (1, 0)), ("b", (0, 1))):
                step = mp.mpf(10) ** -25 * (abs(A if h[0] else B) or 1)
                ends = [function(A + s * h[0] * step, B + s * h[1] * step) for s in (-1, 1)]
                exact = float((ends[1] - ends[0]) / (2 * step))
                error = abs(found[argument] - exact)
                assert error <= 1e-12 * abs(exact) + 1e-290, f"{formula} by {argument} at {a}, {b}"


def written(name: str) -> str:
    row = RPN[name]
    if row.symbol.isidentifier():
        return f"{row.symbol}({', '.join(['a', 'b', 'a * b'][: row.arity])})"
    return f"{row.symbol} a" if row.arity == 1 else f"a {row.symbol} b"


VALUES = [-1e200, -3.0, -1.0, -1e-3, -0.0, 0.0, 1e-300, 0.25, 1.0, 2.0, 7.5, 1e200]


#: Functions that C and Python compute in ways of their own; beyond these values they overflow.
SPECIAL = ("ERF", "ERFC", "ERFCX", "W_RE", "W_IM", "W_REX", "W_REY")
MODERATE = [value for value in VALUES if abs(value) < 10]


@pytest.mark.parametrize("name", [row.name for row in RPN.values() if row.symbol])
def test_every_instruction_has_one_slope(name: str) -> None:
    """The fit and the standard errors agree at every pair of these values, to rounding."""
    slopes = Slopes(written(name) + " + 0 * b")
    values = MODERATE if name in SPECIAL else VALUES
    for a, b in product(values, values):
        fit, error = slopes.fitted(a, b), slopes.of_follower(a, b)
        size = 2e-12 * (abs(error["a"]) + abs(error["b"]) + 1.0) if name in SPECIAL else 0.0
        for par in ("a", "b"):
            same = math.isclose(fit[par], error[par], rel_tol=1e-14, abs_tol=size)
            assert same or (math.isnan(fit[par]) and math.isnan(error[par])), (a, b, par)
