"""A doublet with a known truth, for the tests of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec.fit import FitResult
from pyspec.model import Model, load_dynamics, load_model

ENERGY = np.linspace(78.0, 94.0, 81)
TIME = np.linspace(-5.0, 30.0, 36)

STATIC = """
spectrum:
  Offset:
    y0: [{y0}, True]
  Shirley:
    pShirley: [0.004, False]
  GLP:
    A: [{A}, True, 0, 100]
    x0: [{x0}, True, 80, 92]
    F: [{F}, True, 0.1, 5]
    m: [0.3, False]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""
DECAY = """
decay:
  expFun:
    A: [{A}, True]
    tau: [{tau}, True, 0.1, 100]
    t0: [0, False]
"""
#: A line above a constant.
LINE = """
peak:
  Offset: {y0: [1.0, True, -10, 10]}
  GLP: {A: [8.0, True, 0, 100], x0: [4.5, True, 0, 10], F: [1.6, True, 0.1, 5], m: [0.4, False]}
"""
TRUTH = {"y0": 2.0, "A": 12.0, "x0": 84.0, "F": 1.2}
START = {"y0": 2.4, "A": 10.0, "x0": 84.3, "F": 1.6}


def loaded(text: str, name: str | None = None, **axes: Any) -> Model:
    """The model of a text on its axes."""
    model = load_model(text, name)
    model.set_axes(**axes)
    return model


def spectrum(values: dict[str, float] = START) -> Model:
    model = load_model(STATIC.format(**values), "spectrum")
    model.set_axes(energy=ENERGY)
    return model


def series(values: dict[str, float] = START, A: float = 0.7, tau: float = 12.0) -> Model:
    model = spectrum(values)
    law = load_dynamics(DECAY.format(A=A, tau=tau), "decay", model.parameters["GLP_01_x0"])
    model.add_dynamics("GLP_01_x0", law)
    model.set_axes(energy=ENERGY, time=TIME)
    return model


TRUE_1D = {
    "Offset_y0": 2.0,
    "GLP_01_A": 12.0,
    "GLP_01_x0": 84.0,
    "GLP_01_F": 1.2,
}
TRUE_2D = {**TRUE_1D, "GLP_01_x0_expFun_01_A": 1.0, "GLP_01_x0_expFun_01_tau": 8.0}


def data_1d(sd: float = 0.05, seed: int = 1) -> np.ndarray:
    clean = spectrum(TRUTH).evaluate()
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def data_2d(sd: float = 0.05, seed: int = 1) -> np.ndarray:
    clean = series(TRUTH, 1.0, 8.0).evaluate()
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def agree(found: FitResult, wanted: FitResult, off: float = 1e-6, by: float = 1e-6) -> None:
    """That two fits ended at one optimum: values to a share of a standard error, errors to a share
    of themselves. Parameters without an error do not count."""
    for name, error in wanted.stderr.items():
        if error:
            assert abs(found.values[name] - wanted.values[name]) <= off * error, name
            assert found.stderr[name] == pytest.approx(error, rel=by), name


def check_truth(result: FitResult, truth: dict[str, float], pulls: float = 4.0) -> None:
    for name, true in truth.items():
        error = result.stderr[name]
        assert error, name
        assert abs(result.values[name] - true) <= pulls * error, name
