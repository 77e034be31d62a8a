"""Sub-cycles under an exact instrument response: against a fine quadrature, in three executors."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.executor import AGREEMENT, make_executor, worst_difference
from pyspec.model import Model, load_dynamics, load_model

LAWS = """
irf:
  gaussIRF:
    SD: [0.2, true, 0.001, 2]
quadrature:
  gaussCONV:
    SD: [0.2, true, 0.001, 2]
neg:
  expFun: {A: [-1.5, true], tau: [0.7, true], t0: [0.0, false]}
pos:
  expFun: {A: ["-expFun_01_A"], tau: [0.9, true], t0: [0.3, false]}
  sinFun: {A: [0.3, true], f: [0.6, true], phi: [0.2, true], t0: [-0.2, false], y0: [0.1, true]}
lin:
  linFun: {m: [0.3, true], t0: [0.1, true]}
  stepFun: {A: [0.5, true], t0: [3.0, false]}
late:
  expFun: {A: [2.0, true], tau: [0.7, true], t0: [9.0, false]}
empty:
  none: {}
erf:
  erfFun: {A: [2.0, true], SD: [0.7, true], t0: [0.0, false]}
"""

MODEL = """
m:
  Offset:
    y0: [1, true]
  GLP:
    A: [12, true]
    x0: [9, true]
    F: [3.1, true]
    m: [0.3, true]
"""


def make(names: list[str], time: np.ndarray) -> Model:
    model = load_model(MODEL, "m")
    model.add_dynamics("GLP_01_A", load_dynamics(LAWS, names, "GLP_01_A", 0.25))
    model.set_axes(energy=np.linspace(4, 14, 21), time=time)
    return model


TIME = np.linspace(-4.0, 15.75, 80)


@pytest.mark.parametrize(
    "names", [["neg", "pos"], ["neg", "pos", "lin"], ["lin"], ["late", "neg"], ["empty", "neg"]]
)
def test_exact_response_of_cycles(names: list[str]) -> None:
    model = make(["irf", *names], TIME)
    spectra = [
        make_executor(model, None, backend).run(model.theta())
        for backend in ("tree", "interpreted", "compiled")
    ]
    assert worst_difference(spectra[0], spectra[2]) <= AGREEMENT
    assert worst_difference(spectra[1], spectra[2]) <= AGREEMENT
    inside = (TIME > -2.5) & (TIME < 14.0)
    fine = np.unique(np.concatenate([np.linspace(-6.0, 17.0, 6001), TIME[inside]]))
    sampled = make(["quadrature", *names], fine)
    expected = make_executor(sampled).run(sampled.theta())[np.searchsorted(fine, TIME[inside])]
    # The quadrature is off by the jumps that fall between its samples.
    assert np.abs(spectra[2][inside] - expected).max() < 0.02


def test_a_law_that_does_not_go_on_as_itself_is_refused() -> None:
    with pytest.raises(ModelError, match=r"erfFun in a sub-cycle has no exact response.*gaussCONV"):
        load_dynamics(LAWS, ["irf", "erf"], "GLP_01_A", 0.25)
