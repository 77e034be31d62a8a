"""The same fit in any units: axes in seconds, volts or joules, data in counts of 1e9.

A fit in other units, scaled back, is off by less than 1e-6 standard errors, and its standard
errors by less than 1e-6 of themselves. The fit itself stops where its differences do: MINPACK's
Jacobian is good to some 1e-8.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from pyspec.fit import FitResult, fit_model
from pyspec.fit.units import UnitParameter
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.model.sizes import Sizes, unit_of

ENERGY = np.linspace(80.0, 92.0, 49)
TIME = np.linspace(-10.0, 40.0, 51)
TRUTH = {"y0": 2.0, "pShirley": 0.004, "A": 12.0, "x0": 84.0, "F": 1.6}
TRUTH |= {"SD": 2.5, "move": 0.9, "tau": 9.0, "t0": 0.3}
START = {"y0": 2.3, "pShirley": 0.003, "A": 11.0, "x0": 84.2, "F": 1.5}
START |= {"SD": 1.8, "move": 0.7, "tau": 6.0, "t0": 0.5}


@dataclass(frozen=True)
class Units:
    """What one eV, one ps and one count are in other units."""

    energy: float = 1.0
    time: float = 1.0
    counts: float = 1.0

    def of(self, name: str) -> float:
        """The factor of a parameter, by its name in the model or in TRUTH."""
        if name.endswith(("move", "expFun_01_A", "x0", "_F")) or name == "F":
            return self.energy
        if name.endswith(("SD", "tau", "t0")):
            return self.time
        return 1.0 if name.endswith(("pShirley", "_m")) else self.counts


def make(units: Units, values: dict[str, float], irf: str, bounded: bool) -> Model:
    v = {name: value * units.of(name) for name, value in values.items()}

    def free(name: str, low: float, high: float) -> str:
        limits = f", {low * units.of(name)!r}, {high * units.of(name)!r}" if bounded else ""
        return f"[{v[name]!r}, True{limits}]"

    model = load_model(
        f"""
doublet:
  Offset:
    y0: [{v["y0"]!r}, True]
  Shirley:
    pShirley: {free("pShirley", 0, 1)}
  GLP:
    A: {free("A", 0, 100)}
    x0: {free("x0", 80, 92)}
    F: {free("F", 0.1, 5)}
    m: [0.3, True]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + {3.67 * units.energy!r}"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
""",
        "doublet",
    )
    law = f"""
motion:
  {irf}:
    SD: {free("SD", 0.1, 10)}
  expFun:
    A: [{v["move"]!r}, True]
    tau: {free("tau", 0.1, 100)}
    t0: [{v["t0"]!r}, {irf == "gaussIRF"}]
"""
    model.add_dynamics("GLP_01_x0", load_dynamics(law, "motion", "GLP_01_x0"))
    model.set_axes(energy=ENERGY * units.energy, time=TIME * units.time)
    return model


UNITS = {
    "seconds": Units(time=1e-12),
    "attoseconds in seconds": Units(time=1e-18),
    "volts": Units(energy=1e-3),
    "millivolts": Units(energy=1e3),
    "joules": Units(energy=1.602e-19),
    "counts of 1e9": Units(counts=1e9),
    "absorbance": Units(counts=1e-9),
    "all": Units(1e3, 1e-12, 1e9),
}
NO_UNITS = Units()


def noisy(irf: str, noise: float = 0.1, **other: float) -> np.ndarray:
    clean = make(NO_UNITS, {**TRUTH, **other}, irf, False).evaluate("tree")
    return clean + np.random.default_rng(0).normal(0.0, noise, clean.shape)


def assert_same(found: FitResult, expected: FitResult, units: Units) -> None:
    assert found.success
    assert expected.success
    assert list(found.values) == list(expected.values)
    for name in expected.problem.names:
        error, factor = expected.stderr[name], units.of(name)
        assert error is not None, name
        assert found.stderr[name] is not None, name
        assert abs(found.values[name] / factor - expected.values[name]) <= 1e-6 * error, name
        assert found.stderr[name] / factor == pytest.approx(error, rel=1e-6, abs=0), name


@pytest.mark.parametrize(("irf", "bounded"), [("gaussIRF", True), ("gaussCONV", False)])
@pytest.mark.parametrize("name", UNITS)
def test_the_same_fit(name: str, irf: str, bounded: bool) -> None:
    units, data = UNITS[name], noisy(irf)
    expected = fit_model(make(NO_UNITS, START, irf, bounded), Measurement(data=data))
    found = fit_model(make(units, START, irf, bounded), Measurement(data=data * units.counts))
    assert_same(found, expected, units)
    assert found.redchi == pytest.approx(expected.redchi * units.counts**2, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["attoseconds in seconds", "joules", "all"])
def test_starts_at_zero(name: str) -> None:
    """0 has no size; that of an axis or of the data is taken."""
    units, data = UNITS[name], noisy("gaussIRF", y0=0.1)
    start = {**START, "t0": 0.0, "y0": 0.0, "pShirley": 0.0}
    expected = fit_model(make(NO_UNITS, start, "gaussIRF", False), Measurement(data=data))
    model = make(units, start, "gaussIRF", False)
    assert_same(fit_model(model, Measurement(data=data * units.counts)), expected, units)


@pytest.mark.parametrize("name", ["attoseconds in seconds", "joules", "all"])
def test_errors_beside_a_bound(name: str) -> None:
    """Where a parameter ends at a bound, the errors of the others come from differences."""
    units, data = UNITS[name], noisy("gaussIRF", pShirley=-0.003)
    found, expected = (
        fit_model(make(u, START, "gaussIRF", True), Measurement(data=data * u.counts))
        for u in (units, NO_UNITS)
    )
    assert list(found.at_bound) == list(expected.at_bound) == ["Shirley_pShirley"]
    for par, error in expected.stderr.items():
        if error is not None:
            factor = units.of(par)
            assert found.stderr[par] / factor == pytest.approx(error, rel=1e-5, abs=0), par
            assert abs(found.values[par] / factor - expected.values[par]) <= 1e-4 * error, par


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (3e-12, 0.0, np.inf),
        (-3e-12, -np.inf, 0.0),
        (1e-18, -np.inf, np.inf),
        (2e-15, 1e-15, 9e-15),
        (7e9, 1.0, np.inf),
    ],
)
def test_a_parameter_with_a_unit(value: float, low: float, high: float) -> None:
    """Its variable is of the order of 1; there and back loses nothing; copies keep the unit."""
    unit = unit_of(value, low, high, 1.0)
    par = UnitParameter("p", value, unit, min=low, max=high)
    for one in (par, copy.deepcopy(par), copy.copy(par), pickle.loads(pickle.dumps(par))):
        variable = one.setup_bounds()
        assert 1e-2 < abs(variable) < 1e2
        assert one.from_internal(variable) == pytest.approx(value, rel=1e-15, abs=0)
        step = 1e-6 * variable
        rise = one.from_internal(variable + step) - one.from_internal(variable - step)
        assert rise / (2 * step) == pytest.approx(one.scale_gradient(variable), rel=1e-8, abs=0)
        assert one.unit == unit


def test_sizes_of_what_starts_at_zero() -> None:
    start = dict.fromkeys(START, 0.0) | {"F": 1.5, "SD": 1.8, "tau": 6.0}
    model = make(Units(1e3, 1e-12, 1e9), start, "gaussIRF", False)
    sizes = Sizes(model, lambda: np.array([np.nan, -3e9]))
    assert sizes["Offset_y0"] == sizes["GLP_01_A"] == 3e9
    assert sizes["GLP_01_x0"] == pytest.approx(12e3)
    assert sizes["GLP_01_x0_expFun_01_A"] == pytest.approx(12e3)
    assert sizes["GLP_01_x0_expFun_01_t0"] == pytest.approx(50e-12)
    assert sizes["GLP_01_x0_expFun_01_tau"] == pytest.approx(6e-12)
