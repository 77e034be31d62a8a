"""The page for those who come from lmfit: its lines are those of lmfit, its names are there."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lmfit import lineshapes as lines
from lmfit import models

from pyspec import FitResult, Measurement, Model, fit_model
from pyspec import components as parts
from pyspec.components import fixed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from_lmfit.md"
X = np.linspace(0.5, 20, 196)
#: (component of pyspec, function of lmfit with the parameters that the page says)
LINES: list[tuple[Any, Callable[..., Any], dict[str, Any]]] = [
    (parts.ExpBack(3, fixed(0), 0.2), lines.exponential, {"amplitude": 3, "decay": 5}),
    (
        parts.PolyBack(0.5, 0.2, -0.01, fixed(0)),
        models.PolynomialModel(3).func,
        {"c0": 0, "c1": 0.5, "c2": 0.2, "c3": -0.01},
    ),
    (parts.PowerBack(3, fixed(1), 0.7), lines.powerlaw, {"amplitude": 3, "exponent": -0.7}),
    (
        parts.Gauss(4, 9, 1.3),
        lines.gaussian,
        {"amplitude": sqrt(2 * pi) * 4 * 1.3, "center": 9, "sigma": 1.3},
    ),
    (
        parts.Lorentz(4, 9, 1.3),
        lines.lorentzian,
        {"amplitude": pi * 4 * 1.3 / 2, "center": 9, "sigma": 0.65},
    ),
    (parts.DS(4, 9, 1.3, 0.1), lines.doniach, {"center": 9, "sigma": 1.3, "gamma": 0.1}),
    (
        parts.ErfStep(4, 9, 1.3),
        lines.step,
        {"amplitude": 4, "center": 9, "sigma": sqrt(2) * 1.3, "form": "erf"},
    ),
    (
        parts.AtanStep(4, 9, 1.3),
        lines.step,
        {"amplitude": 4, "center": 9, "sigma": 0.65, "form": "arctan"},
    ),
    (
        parts.FermiEdge(1, 9, 300, fixed(0), fixed(0), fixed(0)),
        lines.thermal_distribution,
        {"amplitude": 1, "center": 9, "kt": 8.617333262e-5 * 300, "form": "fermi"},
    ),
]


def seen(component: Any) -> Any:
    model = Model("m", [component, parts.Gauss(fixed(0), fixed(1), fixed(1))])
    model.set_axes(X)
    return model.evaluate()


@pytest.mark.parametrize(
    ("component", "theirs", "given"), LINES, ids=[str(component) for component, _, _ in LINES]
)
def test_lines_are_those_of_lmfit(component: Any, theirs: Any, given: dict[str, Any]) -> None:
    if theirs is lines.doniach:
        given = {**given, "amplitude": 4}
    wanted = theirs(X, **given)
    assert np.allclose(seen(component), wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())


def test_names_that_the_page_says_are_there() -> None:
    model = Model("m", [parts.Offset(2), parts.Gauss(10, 9, 1.3)])
    model.set_axes(X)
    data = 2 + 9 * np.exp(-(((X - 9.1) / 1.2) ** 2) / 2)
    data += np.random.default_rng(0).normal(0, 0.1, X.size)
    result = fit_model(model, Measurement(data, weight=np.full(X.size, 2.0)))
    assert np.allclose(result.lmfit.residual, result.weighted_residual, atol=1e-12)
    assert np.allclose(result.weighted_residual, 2 * result.residual, atol=1e-12)
    assert result.lmfit.nfree == result.n_data - result.n_free
    assert list(result.lmfit.var_names) == list(result.free_names)
    table = PAGE.read_text(encoding="utf-8").split("## Names")[1]
    named = re.findall(r"`(?:result\.)?(\w+)(?:\(\)|\.\w+)?`", table.split("\n")[4])
    assert len(named) >= 8
    assert all(hasattr(FitResult, name) or hasattr(result, name) for name in named)
