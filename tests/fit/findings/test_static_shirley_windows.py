"""The ends of a StaticShirley are those of the fit window, as end_means gives them."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec.executor import make_executor
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model

X = np.linspace(700.0, 790.0, 181)
WINDOW = (30, 151)
TEXT = """
m:
  Offset: {y0: [0.5, true]}
  ABOVE
  StaticShirley: {left: [9, true], right: [2, true]}
  Gauss: {A: [50, true], x0: [746, true], SD: [3, true, 0.1, 20]}
"""
ABOVE = {
    "nothing": "",
    "Shirley": "Shirley: {pShirley: [0.003, true]}",
    "Tougaard": "Tougaard: {B: [300, true], C: [1643, false]}",
}
BACKENDS = ("tree", "interpreted", "compiled")


def model_with(above: str = "nothing", x: np.ndarray = X) -> Model:
    return loaded(TEXT.replace("ABOVE", ABOVE[above]), "m", energy=x)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("x", [X, X[::-1].copy(), 700.0 + 90.0 * np.linspace(0, 1, 181) ** 1.4])
def test_the_background_meets_its_ends_at_those_of_the_window(backend: str, x: np.ndarray) -> None:
    """As on an axis that holds no more than the window."""
    model, alone = model_with(x=x), model_with(x=x[slice(*WINDOW)])
    theta = model.theta()
    value = make_executor(model, Measurement(columns=WINDOW), backend).run(theta)
    np.testing.assert_allclose(value, make_executor(alone, None, backend).run(theta), rtol=1e-12)
    theta[3] = 0.0  # no line: a straight one from end to end
    value = make_executor(model, Measurement(columns=WINDOW), backend).run(theta)
    assert (value[0], value[-1]) == (9.5, 2.5)


def test_means_of_the_window_are_the_ends_of_the_fit() -> None:
    """Data whose background goes on beyond the window, fitted within: held at the means of the ends
    it finds the line, and a prediction, components and slices say the same."""
    truth = model_with()
    inside = make_executor(truth, Measurement(columns=WINDOW)).run(truth.theta())
    data = np.concatenate([np.linspace(60.0, 9.5, 30), inside, np.linspace(2.5, 0.0, 30)])
    measured = Measurement(data, columns=WINDOW, weight=np.full(X.size, 10.0))
    left, right = measured.end_means(n=5)
    model = model_with()
    for name, value in (("left", left[0] - 0.5), ("right", right[0] - 0.5)):
        model.parameters[f"StaticShirley_{name}"].vary = False
        model.set_values({f"StaticShirley_{name}": float(value)})
    model.parameters["Offset_y0"].vary = False
    model.set_values({"Gauss_01_A": 40.0, "Gauss_01_x0": 745.0})
    result = fit_model(model, measured)
    assert result.values["Gauss_01_A"] == pytest.approx(50.0, rel=1e-3)
    assert result.fit[0] == pytest.approx(left[0], rel=1e-9)
    assert result.fit[-1] == pytest.approx(right[0], rel=1e-9)
    np.testing.assert_allclose(result.predict(X).value[slice(*WINDOW)], result.fit, rtol=1e-12)
    peaks, grounds = result.components()
    np.testing.assert_allclose(sum([*peaks.values(), *grounds.values()]), result.fit, rtol=1e-12)
    parts = result.eval_components()
    np.testing.assert_allclose(sum(parts.values()), result.fit, rtol=1e-12)
