"""The op table's functions as formulas: `bench.inside.formulas` runs both."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspec._library import OPS

#: Kinds of the table that a model may write a formula in the place of.
KINDS = ("PEAK", "BACKGROUND", "DYNAMICS", "PROFILE")


@dataclass(frozen=True)
class Text:
    """A formula, its lines, the values of the parameters, and whether it is arithmetic alone."""

    formula: str
    values: dict[str, float]
    lines: tuple[tuple[str, str], ...] = ()
    arithmetic: bool = False

    def in_one(self) -> str:
        """The formula with its lines in place."""
        text = self.formula
        for key, line in reversed(self.lines):
            text = re.sub(rf"\b{key}\b", f"({line})", text)
        return text


_GAUSS, _WIDTH = "exp(-4 * log(2) * u ** 2)", ("u", "(x - x0) / F")
_PEAK = {"A": 9.0, "x0": 84.0}
_LATER = (("s", "t - t0"),)
_BELL = (("u", "(t - t0) / SD"),)

#: The name of a function of the table: the same as a formula.
TEXTS: dict[str, Text] = {
    "Gauss": Text("A * exp(-0.5 * ((x - x0) / SD) ** 2)", {**_PEAK, "SD": 1.2}),
    "GaussAsym": Text(
        "A * exp(-0.5 * ((x - x0) / where(x < x0, SD, SD * ratio)) ** 2)",
        {**_PEAK, "SD": 1.2, "ratio": 1.6},
    ),
    "SkewGauss": Text(
        "where(z > 0, A * exp(-log(2) * (log(z) / b) ** 2), 0)",
        {**_PEAK, "w": 1.9, "b": 0.3},
        (("z", "1 + 2 * b * (x - x0) / w"),),
    ),
    "Lorentz": Text("A / (1 + 4 * ((x - x0) / W) ** 2)", {**_PEAK, "W": 1.2}, arithmetic=True),
    "Voigt": Text(
        "A * wofz_real((x - x0) * s, W / 2 * s) / wofz_real(0, W / 2 * s)",
        {**_PEAK, "SD": 0.8, "W": 0.7},
        (("s", "sqrt(0.5) / SD"),),
    ),
    "GLS": Text(
        f"A * ((1 - m) * {_GAUSS} + m / (1 + 4 * u ** 2))", {**_PEAK, "F": 1.2, "m": 0.3}, (_WIDTH,)
    ),
    "GLP": Text(
        "A * exp(-4 * log(2) * (1 - m) * u ** 2) / (1 + 4 * m * u ** 2)",
        {**_PEAK, "F": 1.2, "m": 0.3},
        (_WIDTH,),
    ),
    "DS": Text(
        "A * cos(pi * alpha / 2 + (1 - alpha) * arctan(d / F)) / (F ** 2 + d ** 2)"
        " ** ((1 - alpha) / 2)",
        {**_PEAK, "F": 0.6, "alpha": 0.1},
        (("d", "x - x0"),),
    ),
    "DSBinding": Text(
        "A * cos(pi * alpha / 2 + (1 - alpha) * arctan(d / F)) / (F ** 2 + d ** 2)"
        " ** ((1 - alpha) / 2)",
        {**_PEAK, "F": 0.6, "alpha": 0.1},
        (("d", "x0 - x"),),
    ),
    "GLSAsym": Text(
        f"A * ((1 - m) * {_GAUSS} + m / (1 + 4 * u ** 2))",
        {**_PEAK, "F": 1.2, "m": 0.3, "a": 0.2},
        (("d", "x - x0"), ("u", "d * (1 + exp(a * d)) / (2 * F)")),
    ),
    "LA": Text(
        "A / (1 + 4 * ((x - x0) / W) ** 2) ** where(x <= x0, alpha, beta)",
        {**_PEAK, "W": 1.2, "alpha": 1.3, "beta": 0.9},
    ),
    "LF": Text(
        "A / (1 + 4 * (d / W) ** 2) ** (where(d <= 0, alpha, beta) + (d / w) ** 2)",
        {**_PEAK, "W": 1.2, "alpha": 1.3, "beta": 0.9, "w": 9.0},
        (("d", "x - x0"),),
    ),
    "Offset": Text("y0", {"y0": 2.0}, arithmetic=True),
    "LinBack": Text(
        "b + m * (min(max(x, xStart), xStop) - xStart)",
        {"m": 0.3, "b": 2.0, "xStart": 79.0, "xStop": 90.0},
        arithmetic=True,
    ),
    "ErfStep": Text("A / 2 * erfc(-(x - x0) / (SD * sqrt(2)))", {**_PEAK, "SD": 1.2}),
    "AtanStep": Text("A * (0.5 + arctan(2 * (x - x0) / W) / pi)", {**_PEAK, "W": 1.2}),
    "PolyBack": Text(
        "c1 * d + c2 * d ** 2 + c3 * d ** 3",
        {"c1": 0.3, "c2": 0.02, "c3": 0.001, "x0": 84.0},
        (("d", "x - x0"),),
        arithmetic=True,
    ),
    "ExpBack": Text("A * exp(-k * (x - x0))", {**_PEAK, "k": 0.1}),
    "PowerBack": Text("A * (x / x0) ** -r", {**_PEAK, "r": 1.5}),
    "stepFun": Text("where(t >= t0, A + y0, 0)", {"A": 2.0, "t0": 0.3, "y0": 0.2}, arithmetic=True),
    "linFun": Text(
        "where(t >= t0, m * (t - t0) + y0, 0)", {"m": 0.4, "t0": 0.3, "y0": 0.2}, arithmetic=True
    ),
    "expFun": Text(
        "where(t >= t0, A * exp(-(t - t0) / tau) + y0, 0)",
        {"A": 2.0, "tau": 3.0, "t0": 0.3, "y0": 0.2},
    ),
    "sinFun": Text(
        "where(t >= t0, A * sin(2 * pi * f * (t - t0) + phi) + y0, 0)",
        {"A": 2.0, "f": 0.4, "phi": 0.7, "t0": 0.3, "y0": 0.2},
    ),
    "dampedSinFun": Text(
        "where(t >= t0, A * exp(-(t - t0) / tau) * sin(2 * pi * f * (t - t0) + phi) + y0, 0)",
        {"A": 2.0, "f": 0.4, "phi": 0.7, "tau": 3.0, "t0": 0.3, "y0": 0.2},
    ),
    "sinDivX": Text(
        "where(t >= t0, A * where(u == 0, 1, sin(u) / u) + y0, 0)",
        {"A": 2.0, "f": 0.4, "t0": 0.3, "y0": 0.2},
        (("u", "2 * pi * f * (t - t0)"),),
    ),
    "erfFun": Text(
        "A / 2 * erfc(-(t - t0) / (SD * sqrt(2))) + y0",
        {"A": 2.0, "SD": 0.8, "t0": 0.3, "y0": 0.2},
    ),
    "sqrtFun": Text("A * sqrt(max(s, 0)) + y0", {"A": 2.0, "t0": 0.3, "y0": 0.2}, _LATER),
    "constFun": Text("A", {"A": 2.0}, arithmetic=True),
    "gaussFun": Text("A * exp(-0.5 * u ** 2)", {"A": 2.0, "SD": 0.8, "t0": 0.3}, _BELL),
    "gaussD1Fun": Text("-A * u * exp(-0.5 * u ** 2)", {"A": 2.0, "SD": 0.8, "t0": 0.3}, _BELL),
    "gaussD2Fun": Text(
        "A * (u ** 2 - 1) * exp(-0.5 * u ** 2)", {"A": 2.0, "SD": 0.8, "t0": 0.3}, _BELL
    ),
    "pExpDecay": Text("A * exp(-x / tau)", {"A": 2.0, "tau": 3.0}),
    "pLinear": Text("m * x + b", {"m": 0.4, "b": 0.3}, arithmetic=True),
    "pGauss": Text("A * exp(-0.5 * ((x - x0) / SD) ** 2)", {"A": 2.0, "x0": 4.0, "SD": 1.2}),
}

#: Why the others of these kinds are no formula.
NOT_FORMULAS = {
    "Mahan": "an integral without a closed form in the functions of formulas",
    "FermiEdge": "an integral, unless SD is 0",
    "none": "no value",
}


def missing() -> list[str]:
    """Functions of the table that are neither a formula here nor known to be none."""
    return [
        name
        for name, op in OPS.items()
        if op.kind in KINDS and not op.external and name not in TEXTS and name not in NOT_FORMULAS
    ]
