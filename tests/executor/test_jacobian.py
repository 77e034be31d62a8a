"""The analytic Jacobian: against extrapolated central differences of the residual."""

from __future__ import annotations

import numpy as np
import pytest
from support.agreement import check_slopes
from support.zoo import ENERGY, TIME, make_model

from pyspec._library import OPS
from pyspec.executor import make_executor
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
)

PEAK = """
m:
  Offset:
    y0: [1.5, true]
  Shirley:
    pShirley: [0.004, true]
  GLP:
    A: [12.0, true]
    x0: [84.0, true]
    F: [1.1, true]
    m: [0.3, true]
  Voigt:
    A: ["GLP_01_A * ratio"]
    x0: ["GLP_01_x0 + sqrt(13.5) * max(ratio, 0.2)"]
    SD: [0.5, true]
    W: ["abs(GLP_01_m) ** 1.5 + 0.2"]
parameters:
  ratio: [0.7, true]
"""

LAWS = """
irf:
  gaussIRF: {SD: [0.9, true]}
  expFun: {A: [1.4, true], tau: [6.0, true], t0: [0.37, true]}
  sinFun: {A: [0.4, true], f: [0.05, true], phi: [0.3, true], t0: [0.37, false]}
gauss:
  stepFun: {A: [0.3, true], t0: [-2.2, false]}
  gaussCONV: {SD: [1.7, true]}
  expFun: {A: [1.4, true], tau: ["irf_tau * 2"], t0: [0.37, false]}
sym:
  expSymCONV: {tau: [1.7, true]}
  linFun: {m: [0.02, true], t0: [0.37, false]}
decay:
  expDecayCONV: {tau: [1.7, true]}
  erfFun: {A: [1.4, true], SD: [2.0, true], t0: [0.37, true]}
rise:
  expRiseCONV: {tau: [1.7, true]}
  sqrtFun: {A: [0.2, true], t0: [0.37, false]}
neg:
  expFun: {A: [-1.5, true], tau: [4.0, true], t0: [0.0, false]}
pos:
  expFun: {A: ["-expFun_01_A"], tau: [5.0, true], t0: [0.3, false]}
wide:
  gaussIRF: {SD: [0.9, true]}
"""

PROFILE = """
ramp:
  pLinear: {m: [0.4, true], b: [0.0, false]}
  pExpDecay: {A: [0.5, true], tau: [2.0, true]}
"""


def model(*moves: tuple[str, str | list[str]], profiles: tuple[str, ...] = ()) -> Model:
    made = load_model(PEAK.replace("irf_tau", "ratio"), "m")
    for target in profiles:
        made.add_profile(target, load_profile(PROFILE, "ramp", target))
    for target, names in moves:
        frequency = -1.0 if isinstance(names, str) else 0.05
        laws = LAWS.replace("irf_tau", "ratio")
        made.add_dynamics(target, load_dynamics(laws, names, target, frequency))
    aux = np.array([0.0, 0.3, 1.0, 1.4])
    made.set_axes(energy=ENERGY[::4], time=TIME, aux=aux, aux_weights=[1.0, 2.0, 2.0, 0.5])
    return made


CASES = {
    "static": model(),
    "exact response": model(("GLP_01_x0", "irf")),
    "gauss": model(("GLP_01_A", "gauss")),
    "sym": model(("GLP_01_F", "sym")),
    "decay": model(("Offset_y0", "decay")),
    "rise": model(("Shirley_pShirley", "rise")),
    "several": model(("GLP_01_x0", "irf"), ("GLP_01_A", "gauss")),
    "cycles": model(("GLP_01_x0", ["gauss", "neg", "pos"])),
    "cycles, exact": model(("GLP_01_A", ["wide", "neg", "pos"])),
    "profile": model(profiles=("GLP_01_x0",)),
    "profile of a background": model(profiles=("Shirley_pShirley", "Offset_y0")),
    "profile that moves": model(
        ("GLP_01_x0_pLinear_01_m", "gauss"), ("GLP_01_A", "irf"), profiles=("GLP_01_x0",)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_against_differences(name: str) -> None:
    made = CASES[name]
    assert made.energy is not None
    check_slopes(made, data=np.ones((TIME.size, made.energy.size)), rows=(3, 50), columns=(2, 37))


def test_weights_mask_and_counts() -> None:
    made = make_model("biexponential", ENERGY[::3])
    rng = np.random.default_rng(2)
    clean = make_executor(made).run(made.theta())
    counts = rng.poisson(3.0 * clean).astype(float)
    keep = rng.uniform(size=counts.shape) > 0.3
    weight = rng.uniform(0.5, 2.0, counts.shape[1])
    check_slopes(made, data=counts, keep=keep, weight=weight)
    check_slopes(made, data=counts, keep=keep, loss="poisson", loss_scale=2.0)
    check_slopes(made, data=3.0 * clean, loss="poisson", loss_scale=2.0)


def test_never_nan_where_the_model_is_finite() -> None:
    made = model(("GLP_01_x0", "irf"))
    executor = make_executor(made, Measurement(data=np.ones((TIME.size, ENERGY[::4].size))))
    theta = made.theta()
    for name, value in (
        ("GLP_01_F", 1e-9),
        ("GLP_01_F", 1e9),
        ("GLP_01_x0", 1e6),
        ("GLP_01_m", 0.0),
        ("Voigt_01_SD", 1e-6),
        ("GLP_01_x0_expFun_01_tau", 1e-9),
        ("GLP_01_x0_expFun_01_t0", 1e9),
        ("GLP_01_x0_gaussIRF_SD", 1e-12),
    ):
        changed = theta.copy()
        changed[made.opt_param_names.index(name)] = value
        assert np.isfinite(executor.residual(changed)).all(), name
        assert np.isfinite(executor.jacobian(changed)).all(), name


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("Gauss", "SD"),
        ("GaussAsym", "SD"),
        ("Lorentz", "W"),
        ("Voigt", "SD"),
        ("GLP", "F"),
        ("GLS", "F"),
        ("SkewGauss", "w"),
    ],
)
@pytest.mark.parametrize("moves", [False, True])
def test_a_width_that_overflows(line: str, width: str, moves: bool) -> None:
    """Infinitely wide a line is a constant, and its width has no more effect."""
    others = {"ratio": 1.2, "m": 0.3, "b": 0.1, "SD": 0.8, "W": 0.6}
    parameters = {name: others[name] for name in OPS[line].params if name in others}
    values = "".join(f"    {n}: [{v}, false]\n" for n, v in parameters.items() if n != width)
    made = load_model(
        f"m:\n  {line}:\n    A: [2.0, true]\n    x0: [84.0, true]\n{values}"
        f'    {width}: ["exp(wide * wide)"]\nparameters:\n  wide: [30.0, true]\n'
    )
    if moves:
        law = "d:\n  expFun: {A: [1.0, true], tau: [6.0, true], t0: [0.0, false]}"
        made.add_dynamics("wide", load_dynamics(law, "d", "wide"))
    made.set_axes(energy=ENERGY, **({"time": TIME} if moves else {}))
    measured = Measurement(data=np.zeros((TIME.size, ENERGY.size) if moves else ENERGY.size))
    executor = make_executor(made, measured, "compiled")
    theta = np.array(made.theta())
    assert np.isfinite(executor.residual(theta)).all()
    assert np.isfinite(executor.jacobian(theta)).all()
    assert np.isfinite(executor.normal(theta)).all()
