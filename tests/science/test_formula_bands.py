"""Two decaying bands, whose shape and law are formulas, against the values that another program
published for the same data: decay rates with spectra that are free at each energy, and shapes with
amplitudes that are free at each time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from support.shared import SHARED

from pyspec import FitResult, Measurement, fit_model, load_dynamics, load_model

Array = npt.NDArray[np.float64]

#: Values and standard errors by name.
Numbers = dict[str, tuple[float, float]]

DATA = SHARED / "data" / "spectrotemporal" / "simData01.ascii"

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
PUBLISHED: dict[str, Numbers] = {
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


#: The same bands, whose heights are sums of both decays: one fit of all numbers.
TOGETHER = (
    MODEL.partition("bands:")[0]
    + """\
parameters:
  k1: [0.06, True, 0, 1]
  k2: [0.004, True, 0, 1]
together:
  Band: {A: [0, False], x0: [21800, True], w: [3800, True], b: [0.05, True]}
  Band: {A: [0, False], x0: [20200, True], w: [3600, True], b: [-0.05, True]}
first:
  Decay: {A: [1, True], k: [k1]}
  Decay: {A: [0, True], k: [k2]}
second:
  Decay: {A: [0, True], k: [k1]}
  Decay: {A: [1, True], k: [k2]}
"""
)

needs_data = pytest.mark.skipif(not DATA.is_file(), reason="the shared data sets are not here")


def data_set() -> tuple[Array, Array, Array]:
    """Wavenumbers, times, data."""
    lines = DATA.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Intervalnr"))
    wavelength = np.array(lines[start + 1].split(), dtype=float)
    rows = np.array([line.split() for line in lines[start + 2 :] if line.strip()], dtype=float)
    return 1e7 / wavelength, rows[:, 0], rows[:, 1:]


def assert_published(result: FitResult, names: dict[str, str], published: Numbers) -> None:
    """Values within 1 % of the standard errors, but for the last digit published; errors within
    1 %, but for that digit, too."""
    assert result.success, result.message
    for name, (value, error) in published.items():
        digit = 0.6 * 10.0 ** -len(repr(value).partition(".")[2])
        found = names.get(name, name)
        assert abs(result.values[found] - value) <= 0.01 * error + digit, name
        assert result.stderr[found] == pytest.approx(error, rel=0.01), name


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values(name: str) -> None:
    energy, time, data = data_set()
    model = load_model(MODEL, name)
    model.set_axes(energy=energy, time=time)
    assert_published(fit_model(model, Measurement(data=data)), {}, PUBLISHED[name])


@needs_data
def test_all_eight_in_one_fit() -> None:
    """No amplitude is free along an axis: shapes and laws are formulas that run in C."""
    energy, time, data = data_set()
    model = load_model(TOGETHER, "together")
    for band, laws in (("Band_01_A", "first"), ("Band_02_A", "second")):
        model.add_dynamics(band, load_dynamics(TOGETHER, laws, band))
    model.set_axes(energy=energy, time=time)
    result = fit_model(model, Measurement(data=data))
    names = {"Decay_01_k": "k1", "Decay_02_k": "k2"}
    assert_published(result, names, PUBLISHED["bands"] | PUBLISHED["decays"])
    assert np.sqrt(result.redchi) == pytest.approx(9.948235e-4, abs=5e-11)
