"""NIST StRD Eckerle4: a Gaussian whose certified b1 is a derived parameter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model

MODEL = """
eckerle:
  Gauss:
    A: [{A}, True]
    x0: [{x0}, True]
    SD: [{SD}, True]
parameters:
  b1: ["Gauss_01_A * Gauss_01_SD"]    # y = b1 / b2 exp(-((x - b3) / b2)^2 / 2)
"""
#: Certified value and standard deviation.
CERTIFIED = {
    "b1": (1.5543827178, 1.5408051163e-02),
    "Gauss_01_SD": (4.0888321754, 4.6803020753e-02),
    "Gauss_01_x0": (4.5154121844e02, 4.6800518816e-02),
}


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled"])
@pytest.mark.parametrize("method", ["native", "leastsq"])
@pytest.mark.parametrize("start", [(1.0, 10.0, 500.0), (1.5, 5.0, 450.0)])
def test_eckerle4(
    shared: Path, start: tuple[float, float, float], method: str, backend: str
) -> None:
    """At least 6 digits in values and standard errors; 9.6 and 6.9 were measured."""
    table = np.loadtxt(shared / "data" / "nist_strd" / "Eckerle4.dat", skiprows=60)
    y, x = table[np.argsort(table[:, 1])].T
    assert x.size == 35
    b1, b2, b3 = start
    model = load_model(MODEL.format(A=b1 / b2, x0=b3, SD=b2), "eckerle")
    model.set_axes(energy=x)
    tolerances = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14} if method == "leastsq" else {}
    result = fit_model(model, Measurement(data=y), backend, method, **tolerances)
    assert result.success
    for name, (value, error) in CERTIFIED.items():
        assert result.values[name] == pytest.approx(value, rel=1e-9), name
        assert result.stderr[name] == pytest.approx(error, rel=1e-6), name
    assert result.chisqr == pytest.approx(1.4635887487e-03, rel=1e-9)
