"""Two species, three simulated files (time x wavelength): rates and their errors.

Each file is fitted with two skewed Gaussians on wavenumbers, whose heights move. The published
rates are those of free spectra: every wavelength has two amplitudes of its own.

The reference leaves both bands both exponentials. That gives a band any share of either
species, as a scheme of reactions would, and is what decouples the rates from the bands: their
errors are then those of free spectra. One exponential for each band is a stronger assumption.

File 01 is also fitted with shape and law as formulas, whose amplitudes are free at each time, or at
each energy. All of these end at the numbers that another program published.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec.fit import FitResult, fit_model
from pyspec.io import Dataset, read
from pyspec.model import Measurement, Model, load_dynamics, load_model

#: Value, standard error.
Number = tuple[float, float]

FREE: dict[int, dict[str, Number]] = {
    1: {"k1": (0.05500354, 2257e-8), "k2": (0.00500079, 4465e-9)},
    2: {"k1": (0.05497928, 2604e-8), "k2": (0.00499517, 4455e-9)},
    3: {"k1": (0.02499247, 698e-8), "k2": (0.00099981662, 2541e-10)},
}

#: File 01 with bands.
RATES: dict[str, Number] = {"k1": (0.055003546, 2.258e-5), "k2": (0.0050007895, 4.466e-6)}
BANDS: dict[str, Number] = {
    "SkewGauss_01_x0": (22000.247, 1.037),
    "SkewGauss_01_w": (4002.858, 2.111),
    "SkewGauss_01_b": (0.09918059, 6.937e-4),
    "SkewGauss_02_x0": (20000.444, 0.223),
    "SkewGauss_02_w": (3500.279, 0.452),
    "SkewGauss_02_b": (-0.10007847, 1.951e-4),
}

#: Start values of the rates, off the truth.
START = {1: (0.06, 0.004), 2: (0.06, 0.004), 3: (0.028, 0.0011)}

#: Only file 02 has an instrument; its onset and width are free.
INSTRUMENT = "\n  onset: [1.9, True]\n  width: [1.1, True, 0, 10]"

QUANTITIES = """
parameters:
  k1: [{k1}, True, 0, 10]
  k2: [{k2}, True, 0, 10]{instrument}
"""
DECAYS = """
decays:{irf}
  expFun:
    A: [{first}, True]
    tau: ["1 / k1"]
    t0: [{onset}]
  expFun:
    A: [{second}, True]
    tau: ["1 / k2"]
    t0: [{onset}]
"""
FORMULAS = """
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
heights:
  Band: {A: {free: time}, x0: [21900, True], w: [4200, True], b: [0.2, True]}
  Band: {A: {free: time}, x0: [20100, True], w: [3300, True], b: [-0.2, True]}
spectra:
  Decay: {A: {free: energy}, k: [k1]}
  Decay: {A: {free: energy}, k: [k2]}
"""
BAND = """
  SkewGauss:
    A: [0, False]
    x0: [{0}, True]
    w: [{1}, True]
    b: [{2}, True]
"""


def quantities(number: int) -> str:
    k1, k2 = START[number]
    return QUANTITIES.format(k1=k1, k2=k2, instrument=INSTRUMENT if number == 2 else "")


def decays(number: int, first: float, second: float) -> str:
    irf = '\n  gaussIRF:\n    SD: ["width"]' if number == 2 else ""
    onset = '"onset"' if number == 2 else "0, False"
    return DECAYS.format(first=first, second=second, irf=irf, onset=onset)


def dataset(shared: Path, number: int) -> Dataset:
    return read(shared / "data" / "spectrotemporal" / f"simData0{number}.ascii")


def assert_number(value: float, error: float, expected: Number, what: str) -> None:
    """Both within 5 % of a standard error, or to the last digit that is printed."""
    assert abs(value - expected[0]) <= 0.05 * expected[1], what
    assert abs(error - expected[1]) <= 0.05 * expected[1], what


#: Start values of the bands (x0, w, b), and the share of either decay in each height.
SHAPES = {
    1: ((21800, 3800, 0.05), (20200, 3600, -0.05)),
    2: ((22300, 3800, 0.05), (20200, 3600, -0.05)),
    3: ((14200, 500, 0.05), (13700, 500, 0.05)),
}
SHARES = {1: ((1, 0), (0, 1)), 2: ((1, 0), (-1, 1)), 3: ((1, 0), (0, 1))}


def bands(number: int, found: Dataset) -> Model:
    """Two bands; both heights are sums of both decays."""
    text = quantities(number) + "bands:" + "".join(BAND.format(*s) for s in SHAPES[number])
    model = load_model(text, "bands")
    for component, shares in zip(model.components, SHARES[number], strict=True):
        target, laws = f"{component.name}_A", decays(number, *shares)
        model.add_dynamics(target, load_dynamics(laws, "decays", target))
    model.set_axes(energy=1e7 / np.asarray(found.energy), time=found.time)
    return model


def fit_bands(shared: Path, number: int) -> FitResult:
    found = dataset(shared, number)
    result = fit_model(bands(number, found), Measurement(data=found.data))
    assert result.success
    return result


@pytest.mark.parametrize("number", [1, 2, 3])
def test_bands_give_the_rates_of_free_spectra(shared: Path, number: int) -> None:
    result = fit_bands(shared, number)
    for name, expected in FREE[number].items():
        assert_number(result.values[name], result.stderr[name], expected, name)


def assert_published(result: FitResult, published: dict[str, Number]) -> None:
    """Values and errors within 1 % of the standard errors, but for the last digit published."""
    assert result.success, result.message
    for name, (value, error) in published.items():
        digit = 0.6 * 10.0 ** -len(repr(value).partition(".")[2])
        assert abs(result.values[name] - value) <= 0.01 * error + digit, name
        assert result.stderr[name] == pytest.approx(error, rel=0.01), name


def test_every_number_of_the_bands(shared: Path) -> None:
    result = fit_bands(shared, 1)
    assert_published(result, RATES | BANDS)
    assert np.sqrt(result.redchi) == pytest.approx(9.948235e-4, abs=5e-11)


@pytest.mark.parametrize("name", ["heights", "spectra"])
def test_formulas_with_amplitudes_that_are_free(shared: Path, name: str) -> None:
    found = dataset(shared, 1)
    model = load_model(quantities(1) + FORMULAS, name)
    model.set_axes(energy=1e7 / np.asarray(found.energy), time=found.time)
    shapes = {one.replace("SkewGauss", "Band"): number for one, number in BANDS.items()}
    published = shapes if name == "heights" else RATES
    assert_published(fit_model(model, Measurement(data=found.data)), published)
