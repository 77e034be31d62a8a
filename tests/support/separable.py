"""A model whose spectra are shapes that stand still times traces, and data of it."""

from __future__ import annotations

import numpy as np

from pyspec.model import Model, load_dynamics, load_model

#: Two decays, a peak that stands still, and a Shirley background of all of them.
MODEL = """\
three:
  Offset: {y0: [4, True, 0, 20]}
  Shirley: {pShirley: [0.002, True, 0, 0.1]}
  GLP: {A: [20, True, 0, 100], x0: [7, True, 0, 20], F: [1.6, True, 0.1, 9], m: [0.3, True, 0, 1]}
  GLP: {A: [12, True, 0, 100], x0: [11, True, 0, 20], F: [2, True, 0.1, 9], m: [GLP_01_m]}
  Gauss: {A: [9, True, 0, 100], x0: [15, True, 0, 20], SD: [0.8, True, 0.1, 9]}
  Gauss: {A: [GLP_02_A / 3], x0: [GLP_02_x0 + 2], SD: [0.8, False]}
"""

LAWS = """\
fade:
  expFun: {A: [-8, True, -50, 50], tau: [12, True, 0.1, 999], t0: [0, False]}
rise:
  gaussCONV: {SD: [2.5, False]}
  expFun: {A: [6, True, -50, 50], tau: [30, True, 0.1, 999], t0: [0.5, True, -3, 3]}
"""


def three(n_energy: int = 201, n_time: int = 101) -> Model:
    """The model on axes of so many points."""
    model = load_model(MODEL, "three")
    for name, law in (("GLP_01_A", "fade"), ("GLP_02_A", "rise")):
        model.add_dynamics(name, load_dynamics(LAWS, law, model.parameters[name]))
    model.set_axes(energy=np.linspace(0, 20, n_energy), time=np.linspace(-10, 90, n_time))
    return model


def measured(n_energy: int = 201, n_time: int = 101) -> tuple[np.ndarray, np.ndarray]:
    """Data of :func:`three`, and sigma by row."""
    random = np.random.default_rng(5)
    clean = three(n_energy, n_time).evaluate()
    sigma = np.linspace(0.3, 0.7, len(clean))[:, None]
    return clean + sigma * random.normal(size=clean.shape), sigma


def off(value: float, n_energy: int = 201, n_time: int = 101) -> Model:
    """:func:`three`, with values that are off by such a share."""
    model = three(n_energy, n_time)
    for name in ("GLP_01_A", "GLP_01_x0", "GLP_02_A_expFun_01_tau"):
        model.parameters[name].value *= 1 + value
    return model


def settled(n_energy: int, n_time: int) -> Model:
    """:func:`off` without an onset that moves, of which a fit tries many."""
    model = off(0.1, n_energy, n_time)
    model.parameters["GLP_02_A_expFun_01_t0"].vary = False
    return model
