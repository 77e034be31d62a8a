"""basis: the functions that free amplitudes are multiplied with, as results of one walk."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, ModelError
from pyspec.executor import make_executor
from pyspec.executor.amplitudes import AmplitudesExecutor
from pyspec.model import Model, load_model

ENERGY, TIME = np.linspace(300.0, 700.0, 37), np.linspace(-3.0, 40.0, 91)

CHIRP = """\
parameters:
  early: [0.1, True]
  chirp: [0.4, True]
  zero: ["early + chirp * (500 / energy - 1)"]
"""
MODELS = {
    "still": """\
m:
  gaussIRF: {SD: [0.25, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: [0.1, True]}
  expFun: {A: {free: energy}, tau: [9, True], t0: ["expFun_01_t0"]}
""",
    "kernel": """\
m:
  gaussCONV: {SD: [0.5, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: [0.1, False]}
  stepFun: {A: {free: energy}, t0: [0.5, False]}
""",
    "artifact": CHIRP + """\
m:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.25, True]}
  erfFun: {A: {free: energy}, SD: [0.3, True], t0: ["zero"]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"], y0: [0.3, True]}
  sinFun: {A: [0.7, True], f: [0.1, True], phi: [0.3, True], t0: ["zero"]}
""",
    "beside a kernel": CHIRP + """\
m:
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"]}
  gaussCONV: {SD: [0.5, True]}
  expFun: {A: {free: energy}, tau: [3, True], t0: [0, True]}
""",
    "two Gaussians": CHIRP + """\
m:
  gaussIRF: {SD: [0.25, True]}
  gaussIRF: {SD: [0.7, True], share: [0.3, True], shift: [0.4, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"]}
  expFun: {A: {free: energy}, tau: [8, True], t0: ["zero"]}
""",
    "scheme": CHIRP + """\
kinetics:
  relax: {A -> B: k1, B -> C: k2, C -> A: k3}
m:
  gaussD2Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.2, True]}
  relax: {k1: [1.5, True], k2: [0.2, True], k3: [0.02, True], t0: ["zero"], spectra: {free: energy}}
""",
    "formula": CHIRP + """\
functions:
  Ring: {domain: time, parameters: "A, f, t0", formula: "A * cos(f * (t - t0))"}
m:
  Ring: {A: {free: energy}, f: [0.4, True], t0: ["zero"]}
""",
    "traces": """\
m:
  Offset: {y0: [2, True]}
  Shirley: {pShirley: [0.001, True]}
  Gauss: {A: [3, True], x0: [450, True], SD: [30, False]}
  Gauss: {A: {free: time}, x0: [600, True], SD: [40, True]}
  GLP: {A: {free: time}, x0: ["Gauss_02_x0 - 90"], F: [33, True], m: [0.3, True]}
""",
}  # fmt: skip


def made(name: str) -> Model:
    model = load_model(MODELS[name], "m")
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def executor(model: Model, backend: str = "compiled", window: bool = True) -> AmplitudesExecutor:
    data = np.random.default_rng(3).normal(3.0, 1.0, (TIME.size, ENERGY.size))
    where = {"rows": (5, 80), "columns": (3, 30)} if window else {}
    found = make_executor(model, Measurement(data, **where), backend)  # type: ignore[arg-type]
    assert isinstance(found, AmplitudesExecutor)
    return found


@pytest.mark.parametrize("name", list(MODELS))
def test_compiled_and_interpreted_plans_agree(name: str) -> None:
    model = made(name)
    theta = 1.02 * model.theta()
    exact, other = executor(model), executor(model, "interpreted")
    first, second = exact.at(theta, {}), other.at(theta, {})
    np.testing.assert_allclose(second.basis, first.basis, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(second.rest, first.rest, rtol=1e-11, atol=1e-14)
    amplitudes = np.random.default_rng(5).normal(size=(exact.designer.along.size, len(first.basis)))
    for place in range(theta.size):
        expected, found = (one.change(amplitudes, place) for one in (first, second))
        assert np.abs(expected).max() > 0.0
        np.testing.assert_allclose(found, expected, atol=2e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["artifact", "scheme", "two Gaussians"])
def test_a_row_of_a_turned_plan_is_the_plan_of_its_energy(name: str) -> None:
    """A model with the time zero of one energy, as a number, has the same functions there."""
    model = made(name)
    whole = executor(model, window=False).at(model.theta(), {})
    for k in (0, 17, 36):
        zero = float(0.1 + 0.4 * (500.0 / ENERGY[k] - 1.0))
        one = load_model(MODELS[name].replace('["zero"]', f"[{zero!r}, False]"), "m")
        one.set_axes(energy=ENERGY, time=TIME)
        still = executor(one, window=False).at(one.theta(), {})
        np.testing.assert_allclose(whole.basis[:, k], still.basis[:, 0], rtol=1e-10, atol=1e-13)


def test_what_cannot_be_turned_is_named() -> None:
    kernel = "m:\n  gaussCONV: {SD: [0.5, True]}\n  expFun: {A: {free: energy}, tau: [1, True], "
    model = load_model(CHIRP + kernel + 't0: ["zero"]}\n', "m")
    model.set_axes(energy=ENERGY, time=TIME)
    reason = "expFun_01_t0 depends on the energy, but gaussCONV is a sum over"
    with pytest.raises(ModelError, match=reason):
        executor(model)
