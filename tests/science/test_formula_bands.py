"""Two decaying bands, whose shape and law are formulas, against the values that another program
published for the same data: decay rates with spectra that are free at each energy, and shapes with
amplitudes that are free at each time."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model

DATA = Path(os.environ.get("PYSPEC_SHARED", "")) / "data" / "spectrotemporal" / "simData01.ascii"

MODEL = """\
functions:
  Band:
    parameters: A, x0 [1/cm], w > 0 [1/cm], b
    lines:
      u: 2 * b * (x - x0) / w
      inside: u > -1
      bent: log(where(inside, 1 + u, 1)) / b
    formula: where(inside, A * exp(-log(2) * bent ** 2), 0)
  Decay:
    domain: time
    formula: A * exp(-k * t)
bands:
  Band: {A: {free: time}, x0: [21900, True], w: [4200, True], b: [0.2, True]}
  Band: {A: {free: time}, x0: [20100, True], w: [3300, True], b: [-0.2, True]}
decays:
  Decay: {A: {free: energy}, k: [0.07, True, 0, 1]}
  Decay: {A: {free: energy}, k: [0.004, True, 0, 1]}
"""

#: Published values and standard errors.
PUBLISHED = {
    "bands": {
        "Band_01_x0": (22000.247, 1.037),
        "Band_01_w": (4002.858, 2.111),
        "Band_01_b": (0.09918059, 6.937e-4),
        "Band_02_x0": (20000.444, 0.223),
        "Band_02_w": (3500.279, 0.452),
        "Band_02_b": (-0.10007847, 1.951e-4),
    },
    "decays": {"Decay_01_k": (0.055003546, 2.258e-5), "Decay_02_k": (0.0050007895, 4.466e-6)},
}


@pytest.mark.skipif(not DATA.is_file(), reason="the shared data sets are not here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values(name: str) -> None:
    lines = DATA.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Intervalnr"))
    wavelength = np.array(lines[start + 1].split(), dtype=float)
    rows = np.array([line.split() for line in lines[start + 2 :] if line.strip()], dtype=float)
    model = load_model(MODEL, name)
    model.set_axes(energy=1e7 / wavelength, time=rows[:, 0])
    result = fit_model(model, Measurement(data=rows[:, 1:]))
    assert result.success, result.message
    for parameter, (value, error) in PUBLISHED[name].items():
        digit = 0.6 * 10.0 ** -len(repr(value).partition(".")[2])  # of the last one published
        assert abs(result.values[parameter] - value) <= 0.01 * error + digit, parameter
        assert result.stderr[parameter] == pytest.approx(error, rel=0.01), parameter
