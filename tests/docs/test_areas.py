"""The areas of docs/howto/areas.md, as quantities of a model, against integrals of the lines."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid

from pyspec import Measurement, fit_joint, load_model
from pyspec.functions import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "areas.md"
#: Line, what is said of it, formula.
ROWS = re.findall(r"^\| `(\w+)`(.*?) \| `(.+)` \|$", PAGE.read_text(encoding="utf-8"), flags=re.M)
A, X0 = 3.0, 84.0
#: The other parameters of each line, and what the page says of them.
VALUES: dict[tuple[str, str], list[dict[str, float]]] = {
    ("Gauss", ""): [{"SD": 0.7}],
    ("GaussAsym", ""): [{"SD": 0.7, "ratio": 2.5}, {"SD": 0.7, "ratio": 0.4}],
    ("Lorentz", ""): [{"W": 0.7}],
    ("Voigt", ""): [{"SD": 0.7, "W": 0.0}, {"SD": 0.7, "W": 0.5}, {"SD": 0.1, "W": 3.0}],
    ("GLS", ""): [{"F": 0.7, "m": m} for m in (0.0, 0.3, 1.0)],
    ("GLP", ""): [{"F": 0.7, "m": m} for m in (0.001, 0.3, 0.9, 1.0)],
    ("GLP", ", m held at 0"): [{"F": 0.7, "m": 0.0}],
    ("Mahan", ""): [{"SD": 0.3, "alpha": 0.2, "xi": xi} for xi in (4.0, -4.0)],
}


def test_the_page_has_a_formula_for_each_line() -> None:
    assert {(line, said) for line, said, _ in ROWS} == set(VALUES)


@pytest.mark.parametrize(
    ("line", "formula", "given"),
    [
        pytest.param(line, formula, given, id=f"{line}-{'-'.join(map(str, given.values()))}")
        for line, said, formula in ROWS
        for given in VALUES[line, said]
    ],
)
def test_an_area_is_the_integral(line: str, formula: str, given: dict[str, float]) -> None:
    values = {"A": A, "x0": X0, **given}
    written = ", ".join(f"{name}: [{value}, True]" for name, value in values.items())
    text = f'parameters:\n  area: ["{formula}"]\nmodel:\n  {line}: {{{written}}}\n'
    area = load_model(text, "model").values["area"]

    def curve(x: float) -> float:
        return float(reference(line)(np.array([x]), *values.values())[0])

    if line == "Mahan":  # the rule of Gauss and Legendre: its tail has fallen by exp(-25) at 100
        points, weights = np.polynomial.legendre.leggauss(20)
        x = X0 + (np.arange(-100, 100)[:, None] + (1 + points) / 2).ravel()
        whole = np.tile(weights / 2, 200) @ reference(line)(x, *values.values())
    else:
        sides = (X0 - np.inf, X0), (X0, X0 + np.inf)
        whole = sum(quad(curve, *side, epsabs=1e-11, limit=400)[0] for side in sides)
    assert area == pytest.approx(whole, rel=1e-8)


def test_lines_without_an_area() -> None:
    """A thousand times as far the integral grows by as much again, or more: it has no limit."""
    for line, others in (("DS", (0.5, 0.1)), ("LA", (0.7, 0.5, 2.0))):
        parts = []
        for reach in (1e3, 1e6, 1e9):
            x = X0 - np.geomspace(1e-3, reach, 20001)
            parts.append(-trapezoid(reference(line)(x, A, X0, *others), x))
        assert parts[2] - parts[1] > 0.99 * (parts[1] - parts[0]) > 0, line


def test_the_composition_of_two_spectra() -> None:
    """A share of two models that both have a Gauss_01 is that of each line with itself."""
    (text,) = re.findall(r"```text\n(parameters:.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    parts, rng = [], np.random.default_rng(0)
    for name, x0, height, width in (("C1s", 285.0, 500.0, 0.6), ("O1s", 532.0, 900.0, 0.7)):
        model = load_model(text, name)
        energy = x0 + np.linspace(7, -5, 121)
        clean = 50 + height * np.exp(-(((energy - x0) / width) ** 2) / 2)
        model.set_axes(energy=energy)
        parts.append((model, Measurement(rng.poisson(clean).astype(float), loss="poisson")))
    joint = fit_joint(parts, names=["C", "O"])
    carbon, oxygen = 500 * 0.6, 900 * 0.7 / 2.93
    error = joint.stderr["share"]
    assert error is not None
    # Of the logarithms of both areas, of counts: the error of an area is at least their root.
    assert 0.002 < error < 0.006
    assert abs(joint.values["share"] - carbon / (carbon + oxygen)) < 3 * error
