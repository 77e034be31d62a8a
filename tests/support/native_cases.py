"""Whole fits of every kind, and an optimum of each that owes nothing to the native solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pyspec.fit import FitResult, fit_joint, fit_model
from pyspec.model import Measurement, Model, load_model, load_profile, load_time_model
from support.fit_cases import ENERGY, data_1d, data_2d, series, spectrum
from support.zoo import make_model

#: MINPACK as tight as it goes.
TIGHT = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}

Parts = list[tuple[Model, Measurement]]

LAYERS = """
layers:
  Offset: {y0: [2, true]}
  Gauss:
    A: [10, true]
    x0: [84.0, true, 80, 90]
    SD: [0.8, true, 0.1, 3]
ramp:
  pLinear: {m: [0.5, true], b: [0.0, false]}
"""
TIES = """
ties:
  Offset: {y0: [2, true]}
  GLP:
    A: [12.0, true, 0, 100]
    x0: [84.0, true, 80, 92]
    F: [1.2, true, 0.1, 5]
    m: [0.3, false]
  Voigt:
    A: ["GLP_01_A * ratio"]
    x0: ["GLP_01_x0 + sqrt(split)"]
    SD: ["max(GLP_01_F / 3, 0.05)"]
    W: [0.4, true, 0.01, 3]
parameters:
  ratio: [0.7, true, 0, 2]
  split: [13.5, true, 1, 40]
"""
TRACE = """
trace:
  gaussIRF: {SD: [1.3, true, 0.1, 5]}
  expFun: {A: [3.0, true], tau: [6.0, true, 0.5, 50], t0: [0.4, true, -3, 3]}
  linFun: {m: [0.02, true], t0: [0.4, false]}
"""


def shifted(model: Model, by: float = 0.03) -> Model:
    """The model, away from the truth: free values up and down by a few percent, positions by a
    little. Onsets stay."""
    for index, par in enumerate(model.parameters.values()):
        if par.vary and par.argument == "x0":
            par.value += 0.1
        elif par.vary and par.argument != "t0":
            par.value *= 1.0 + by * (-1) ** index
    return model


def noisy(model: Model, sd: float = 0.1, seed: int = 4) -> np.ndarray:
    clean = model.evaluate()
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def from_zoo(name: str, seed: int = 4) -> Parts:
    model = make_model(name, np.linspace(78.0, 94.0, 81), np.linspace(-10.0, 50.0, 40))
    for par in model.parameters.values():  # on a sample, an onset has no derivative
        if par.argument == "t0":
            par.vary = False
    data = noisy(model, seed=seed)
    return [(shifted(model), Measurement(data=data))]


def weighted(masked: bool = False) -> Parts:
    rng, data = np.random.default_rng(8), data_2d()
    keep = rng.uniform(size=data.shape) > 0.3 if masked else None
    weight = rng.uniform(5.0, 40.0, data.shape)
    return [(series(), Measurement(data=data, weight=weight, keep=keep))]


def window() -> Parts:
    spoiled = data_2d()
    spoiled[:, :12] = 1e4
    return [(series(), Measurement(data=spoiled, rows=(2, 31), columns=(12, 75)))]


def counts() -> Parts:
    ((model, measurement),) = from_zoo("doublet_sin")
    clean = make_model("doublet_sin", model.energy, model.time).evaluate()
    drawn = np.random.default_rng(2).poisson(4.0 * clean) / 4.0
    return [(model, replace(measurement, data=drawn, loss="poisson", loss_scale=4.0))]


def integers() -> Parts:
    model = spectrum()
    model.parameters["GLP_01_A"].max = 1e5
    model.set_values({"Offset_y0": 240.0, "GLP_01_A": 1000.0})
    return [(model, Measurement(data=np.round(100 * data_1d()).astype(np.uint16)))]


def shirley() -> Parts:
    model = spectrum()
    par = model.parameters["Shirley_pShirley"]
    par.vary, par.min, par.max, par.value = True, 0.0, 1.0, 0.006
    return [(model, Measurement(data=data_1d()))]


def profile() -> Parts:
    model = load_model(LAYERS, "layers")
    model.add_profile("Gauss_01_x0", load_profile(LAYERS, "ramp", "Gauss_01_x0"))
    model.set_axes(energy=ENERGY, aux=np.linspace(0.0, 2.0, 5))
    data = noisy(model, 0.02)
    return [(shifted(model), Measurement(data=data))]


def ties() -> Parts:
    model = load_model(TIES, "ties")
    model.set_axes(energy=ENERGY)
    data = noisy(model, 0.05)
    return [(shifted(model), Measurement(data=data))]


def trace() -> Parts:
    model = load_time_model(TRACE, "trace")
    model.set_axes(time=np.linspace(-6.0, 40.0, 200))
    data = noisy(model, 0.03)
    return [(shifted(model, 0.1), Measurement(data=data))]


def joint() -> Parts:
    parts = []
    for index in range(3):
        ((model, measurement),) = from_zoo("biexponential", seed=index)
        for name in ("GLP_01_A_expFun_01_tau", "GLP_01_m"):
            model.parameters[name].scope = "project"
            model.parameters[name].value = 0.25 if name.endswith("m") else 3.3
        parts.append((model, measurement))
    return parts


CASES: dict[str, Callable[[], Parts]] = {
    "one spectrum": lambda: [(spectrum(), Measurement(data=data_1d()))],
    "a series": lambda: [(series(), Measurement(data=data_2d()))],
    "weights": weighted,
    "weights and a mask": lambda: weighted(masked=True),
    "a window": window,
    "counts": counts,
    "integers": integers,
    "a Shirley": shirley,
    "two oscillating peaks": lambda: from_zoo("doublet_sin"),
    "a width that moves": lambda: from_zoo("gauss_moved"),
    "a profile": profile,
    "expressions": ties,
    "a time trace": trace,
    "three files": joint,
}


def fit(parts: Parts, **options: Any) -> FitResult:
    """The fit of one file, or the joint fit of several."""
    if len(parts) > 1:
        return fit_joint(parts, **options).joint
    return fit_model(*parts[0], **options)


class Optimum(NamedTuple):
    """Values, and Gauss-Newton covariance, by name."""

    names: tuple[str, ...]
    values: np.ndarray
    covariance: np.ndarray
    chisqr: float


def optimum(parts: Parts) -> Optimum:
    """By MINPACK with tight tolerances, then Gauss-Newton steps by a QR factorisation of the whole
    Jacobian. Covariance from the same, with the expected curvature for counts."""
    result: FitResult = fit(parts, method="leastsq", **TIGHT)
    problem = result.problem
    executor: Any = problem.executor
    theta = np.array([result.values[name] for name in problem.names])
    for _ in range(3):
        jacobian, residual = executor.jacobian(theta).T, executor.residual(theta)
        size = np.linalg.norm(jacobian, axis=0)
        theta = theta - np.linalg.lstsq(jacobian / size, residual, rcond=None)[0] / size
    residual = executor.residual(theta)
    chisqr = float(residual @ residual)
    jacobian = executor.jacobian(theta).T
    scale = chisqr / (problem.n_points - theta.size)
    if problem.is_poisson:
        measurement = problem.measurement
        model = executor.run(theta).ravel()
        slope = (measurement.window(measurement.data).ravel() - model) / model
        # d residual / d model is that of the deviance: take it out, put sqrt(variance) in.
        scale, ratio = 1.0, _deviance_slope(slope, model, residual, measurement.loss_scale)
        jacobian = jacobian / ratio[:, None] * np.sqrt(measurement.loss_scale / model)[:, None]
    size = np.linalg.norm(jacobian, axis=0)
    _, r = np.linalg.qr(jacobian / size)
    inverse = np.linalg.inv(r)
    covariance = scale * inverse @ inverse.T / np.outer(size, size)
    return Optimum(problem.names, theta, covariance, chisqr)


def _deviance_slope(
    excess: np.ndarray, model: np.ndarray, residual: np.ndarray, scale: float
) -> np.ndarray:
    """d/dm of sign(d - m) sqrt(2 scale (d ln(d / m) - d + m)): -scale (d - m) / m / residual, and
    its limit -sqrt(scale / m) where d = m."""
    limit = -np.sqrt(scale / model)
    near = np.abs(residual) < 1e-6
    return np.where(near, limit, -scale * excess / np.where(near, 1.0, residual))
