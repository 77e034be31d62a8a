"""Exact responses to one Gaussian or several: each law convolved with their sum, in sub-cycles too,
in all executors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from support.agreement import BACKENDS, agreed

from pyspec.executor import make_executor
from pyspec.functions import reference
from pyspec.functions.response import gaussIRF
from pyspec.model import Model, load_dynamics, load_model, load_time_model

Array = np.ndarray

TIME = np.concatenate([np.linspace(-2.5, 2.5, 9), np.geomspace(2.7, 20, 3)])

#: (SD, share, shift) of an instrument with a broad foot and a weak negative lobe.
GAUSSIANS = ((0.3, 0.75, 0.0), (0.9, 0.35, 0.2), (0.6, -0.1, -0.7))

INSTRUMENT = """
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  gaussIRF: {SD: [0.9, True, 0.05, 4], share: [0.35, True], shift: [0.2, True]}
  gaussIRF: {SD: [0.6, False], share: [-0.1, True], shift: [-0.7, False]}
"""

LAWS = {
    "stepFun": {"A": 1.4, "t0": 0.1, "y0": -0.3},
    "linFun": {"m": 0.7, "t0": 0.1, "y0": 0.3},
    "expFun": {"A": 1.4, "tau": 1.7, "t0": 0.1, "y0": 0.3},
    "sinFun": {"A": 1.4, "f": 0.3, "phi": 0.4, "t0": 0.1, "y0": 0.3},
    "dampedSinFun": {"A": 1.4, "f": 0.3, "phi": 0.4, "tau": 1.7, "t0": 0.1, "y0": 0.3},
    "sinDivX": {"A": 1.4, "f": 0.3, "t0": 0.1, "y0": 0.3},
    "erfFun": {"A": 1.4, "SD": 0.8, "t0": 0.1, "y0": 0.3},
    "sqrtFun": {"A": 1.4, "t0": 0.1, "y0": 0.3},
}

SCHEME = """
kinetics:
  cascade:
    S2 -> S1: k1
    S1 -> S2: back
    S1: k2
    start: {S2: 1, S1: share1}
"""
STATES = """
  cascade: {S2: [1.2, True], S1: [-0.7, True], k1: [2, True, 0.1, 9], back: [0.3, True],
            k2: [0.4, True, 0, 9], share1: [0.2, True], t0: [0.1, True]}
"""


def written(values: dict[str, float]) -> str:
    return ", ".join(f"{name}: [{value}, True]" for name, value in values.items())


def trace(laws: str, time: Array = TIME, before: str = "") -> Model:
    model = load_time_model(f"{before}m:{INSTRUMENT}{laws}", "m")
    model.set_axes(time=time)
    return model


def convolution(law: str, t: float) -> float:
    """Of a law with the whole instrument, without a formula of a response."""
    function, values = reference(law), LAWS[law]

    def integrand(s: float) -> float:
        density = sum(share * gaussIRF(s, SD, 0.0, shift) for SD, share, shift in GAUSSIANS)
        return float(function(np.array([t - s]), **values)[0] * density)

    inside = np.clip([t - values["t0"], -1.0, -0.4, 0.0, 0.5, 1.0], -9.0, 9.0)
    breaks = np.unique(np.round(inside, 12))  # no two that differ by rounding
    ends = [-9.0, *breaks, 9.0]
    pieces = pairwise(ends)
    return sum(quad(integrand, a, b, epsabs=1e-12, epsrel=1e-11, limit=200)[0] for a, b in pieces)


@pytest.mark.parametrize("law", LAWS)
def test_the_response_is_the_convolution_with_the_sum_of_the_gaussians(law: str) -> None:
    model = trace(f"  {law}: {{{written(LAWS[law])}}}\n")
    expected = np.array([convolution(law, t) for t in TIME])
    for backend in BACKENDS:
        found = make_executor(model, backend=backend).run(model.theta())
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max(), backend


@pytest.mark.parametrize("state", ["S2", "S1"])
def test_populations_are_sums_over_the_gaussians(state: str) -> None:
    laws = f"  cascade: {{{state}: [1, False]{STATES[STATES.index(', k1') :]}"
    model = trace(laws, before=SCHEME)
    expected = np.zeros(TIME.size)
    for width, share, shift in GAUSSIANS:
        text = f"{SCHEME}m:\n  gaussIRF: {{SD: [{width}, True]}}\n{laws}"
        one = load_time_model(text, "m")
        one.set_axes(time=TIME - shift)
        expected += share * one.evaluate("tree")
    for backend in BACKENDS:
        found = make_executor(model, backend=backend).run(model.theta())
        assert np.abs(found - expected).max() < 1e-12


MOVING = """
m:
  Offset: {y0: [1, true]}
  Gauss: {A: [12, true], x0: [9, true], SD: [1.3, true]}
one:
  gaussIRF: {SD: [0.2, true, 0.01, 2]}
neg:
  expFun: {A: [-1.5, true], tau: [0.7, true], t0: [0.0, false]}
pos:
  expFun: {A: ["-expFun_01_A"], tau: [0.9, true], t0: [0.3, false]}
  sinFun: {A: [0.3, true], f: [0.6, true], phi: [0.2, true], t0: [-0.2, false], y0: [0.1, true]}
lin:
  linFun: {m: [0.3, true], t0: [0.1, true]}
  stepFun: {A: [0.5, true], t0: [3.0, false]}
quadrature:
  gaussCONV: {SD: [0.2, true, 0.001, 2]}
late:
  expFun: {A: [2.0, true], tau: [0.7, true], t0: [9.0, false]}
empty:
  none: {}
"""
DELAYS = np.linspace(-4.0, 15.75, 80)


def moving(names: list[str], time: Array) -> Model:
    model, pace = load_model(MOVING, "m"), 0.25 if len(names) > 1 else -1.0
    model.add_dynamics("Gauss_01_A", load_dynamics(MOVING, names, "Gauss_01_A", pace))
    model.set_axes(energy=np.linspace(4, 14, 11), time=time)
    return model


CYCLES = [["neg", "pos", "lin"], ["lin"]]


@pytest.mark.parametrize("names", [*CYCLES, ["late", "neg"], ["empty", "neg"]])
def test_sub_cycles_against_a_fine_quadrature(names: list[str]) -> None:
    spectra = agreed(moving(["one", *names], DELAYS))
    inside = (DELAYS > -2.5) & (DELAYS < 14.0)
    fine = np.unique(np.concatenate([np.linspace(-6.0, 17.0, 6001), DELAYS[inside]]))
    expected = moving(["quadrature", *names], fine).evaluate()
    # The quadrature is off by the jumps that fall between its samples.
    difference = spectra[inside] - expected[np.searchsorted(fine, DELAYS[inside])]
    assert np.abs(difference).max() < 0.02
