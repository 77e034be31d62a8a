"""The damped oscillation under an instrument: against integrals, what leaving the instrument out
does, and whether fits find it, with errors that say how far off they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad

from pyspec import (
    Measurement,
    Model,
    fit_model,
    load_dynamics,
    load_model,
)

TEXT = """
line:
  Offset: {y0: [3, True, 0, 50]}
  Gauss: {A: [80, True, 0, 500], x0: [5, True, 3, 7], SD: [0.5, True, 0.1, 3]}
seen:
  gaussIRF: {SD: [0.08, False]}
  dampedSinFun: {A: [0.05, True, 0, 1], f: [1, True, 0.5, 3], phi: [0, True, -3.2, 3.2],
                 tau: [2, True, 0.2, 50], t0: [0, False]}
bare:
  dampedSinFun: {A: [0.05, True, 0, 1], f: [1, True, 0.5, 3], phi: [0, True, -3.2, 3.2],
                 tau: [2, True, 0.2, 50], t0: [0, False]}
"""
LAW = "dampedSinFun_01"
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


def line(name: str) -> Model:
    """A line whose place swings."""
    model = load_model(TEXT, "line")
    model.add_dynamics("Gauss_01_x0", load_dynamics(TEXT, name, "Gauss_01_x0"))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def test_without_its_instrument_the_amplitude_is_too_small() -> None:
    centre = 5 + 0.1 * blurred(TIME, TRUTH["phi"], SD)
    data = 3 + 80 * np.exp(-(((ENERGY - centre[:, None]) / 0.5) ** 2) / 2)
    found = {}
    for name in ("seen", "bare"):
        result = fit_model(line(name), Measurement(data), progress=False)
        found[name] = {key: result.values[f"Gauss_01_x0_{LAW}_{key}"] for key in TRUTH}
    assert found["seen"] == pytest.approx(TRUTH, rel=1e-6)
    assert found["bare"]["A"] == pytest.approx(0.82 * TRUTH["A"], rel=0.01)
