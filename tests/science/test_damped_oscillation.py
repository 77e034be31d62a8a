"""The damped oscillation that the guide gives, against integrals, and what leaving its instrument
out does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad

from pyspec import Measurement, fit_model, load_dynamics, load_model, load_time_model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "oscillations.md"
FORMULA = re.findall(r"```yaml\n(.*?)line:\n", PAGE.read_text(encoding="utf-8"), re.S)[0]
TEXT = f"""{FORMULA}
  Bare:
    domain: time
    parameters: A, f > 0, tau > 0, phi, t0
    formula: where(t >= t0, A * exp(-(t - t0) / tau) * sin(2 * pi * f * (t - t0) + phi), 0)
line:
  Offset: {{y0: [3, True, 0, 50]}}
  Gauss: {{A: [80, True, 0, 500], x0: [5, True, 3, 7], SD: [0.5, True, 0.1, 3]}}
seen:
  Swing: {{A: [0.05, True, 0, 1], f: [1, True, 0.5, 3], tau: [2, True, 0.2, 50],
          phi: [0, True, -3.2, 3.2], t0: [0, False], SD: [0.08, False]}}
bare:
  Bare: {{A: [0.05, True, 0, 1], f: [1, True, 0.5, 3], tau: [2, True, 0.2, 50],
         phi: [0, True, -3.2, 3.2], t0: [0, False]}}
"""
TRUTH = {"A": 0.1, "f": 1.1, "tau": 1.6, "phi": 0.7}
TIME, ENERGY, SD = np.linspace(-1.0, 8.0, 91), np.linspace(2.0, 8.0, 61), 0.08

Array = npt.NDArray[np.float64]


def blurred(time: Array, phi: float, sd: float) -> Array:
    """The law behind a Gaussian, by quadrature."""

    def integrand(s: float, x: float) -> float:
        law = np.exp(-s / TRUTH["tau"]) * np.sin(2 * np.pi * TRUTH["f"] * s + phi)
        return float(law * np.exp(-(((x - s) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi)))

    ends = ((max(0.0, x - 9 * sd), x + 9 * sd) for x in time)
    return np.array(
        [
            quad(integrand, low, high, (x,), epsabs=1e-13, limit=400)[0] if high > low else 0.0
            for x, (low, high) in zip(time, ends, strict=True)
        ]
    )


@pytest.mark.parametrize("sd", [0.02, 0.08, 0.6])
@pytest.mark.parametrize("phi", [0.0, np.pi / 2, 0.7])
def test_the_formula_of_the_guide_is_the_integral(phi: float, sd: float) -> None:
    model = load_time_model(TEXT, "seen")
    model.set_axes(time=TIME)
    values = {**TRUTH, "A": 1.0, "phi": phi, "SD": sd}
    model.set_values({f"Swing_01_{name}": value for name, value in values.items()})
    np.testing.assert_allclose(model.evaluate(), blurred(TIME, phi, sd), rtol=0, atol=1e-12)


def test_without_its_instrument_the_amplitude_is_too_small() -> None:
    centre = 5 + 0.1 * blurred(TIME, TRUTH["phi"], SD)
    data = 3 + 80 * np.exp(-(((ENERGY - centre[:, None]) / 0.5) ** 2) / 2)
    found = {}
    for name, law in (("seen", "Swing"), ("bare", "Bare")):
        model = load_model(TEXT, "line")
        model.add_dynamics("Gauss_01_x0", load_dynamics(TEXT, name, "Gauss_01_x0"))
        model.set_axes(energy=ENERGY, time=TIME)
        result = fit_model(model, Measurement(data), progress=False)
        found[name] = {key: result.values[f"Gauss_01_x0_{law}_01_{key}"] for key in TRUTH}
    assert found["seen"] == pytest.approx(TRUTH, rel=1e-6)
    assert found["bare"]["A"] == pytest.approx(0.82 * TRUTH["A"], rel=0.01)
