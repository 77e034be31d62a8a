"""Free spectra of few counts: a fit ends at the largest likelihood, and in few evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy
from support.fit_cases import loaded

from pyspec import Measurement, fit_model
from pyspec.executor import make_executor
from pyspec.executor.normal import unpack
from pyspec.functions.response import expFun_gaussIRF
from pyspec.model import Model

Array = npt.NDArray[np.float64]

#: A scheme A -> B -> with a baseline; and two decays whose spectra may turn negative.
SCHEME = """
kinetics:
  steps:
    A -> B: k1
    B: k2
scheme:
  constFun: {{A: {{free: energy{0}}}}}
  steps:
    k1: [0.02, True, 0.0001, 1]
    k2: [0.002, True, 0.00001, 1]
    t0: [0, False]
    spectra: {{free: energy{0}}}
"""
DECAYS = """
decays:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [1, True, 0.01, 10], t0: [0, True, -1, 1]}
  expFun: {A: {free: energy}, tau: [10, True, 1, 1000], t0: ["expFun_01_t0"]}
"""


def populations(time: Array, k1: float, k2: float) -> Array:
    """(3, n) a constant, A and B."""
    at, is_on = np.maximum(time, 0.0), time >= 0
    first, second = np.exp(-k1 * at), np.exp(-k2 * at)
    return np.array([np.ones(time.size), is_on * first, is_on * k1 / (k1 - k2) * (second - first)])


def scheme(seed: int, low: str = ", min: 0", size: float = 1.0) -> tuple[Model, Array]:
    energy, time = np.linspace(1.5, 2.8, 24), np.linspace(-100.0, 1500.0, 300)
    spectra = [np.exp(-(((energy - at) / width) ** 2)) for at, width in ((1.9, 0.2), (2.3, 0.25))]
    mean = 0.2 + 2 * populations(time, 0.01, 0.0012)[1:].T @ np.array(spectra)
    model = loaded(SCHEME.format(low), "scheme", energy=energy, time=time)
    return model, np.random.default_rng(seed).poisson(size * mean).astype(float)


def decays(seed: int, size: float = 1.0) -> tuple[Model, Array]:
    energy, time = np.linspace(1.5, 2.8, 12), np.linspace(-1.0, 29.0, 61)
    lines = ((8.0, 1.9, 0.2, 1.4), (4.8, 2.3, 0.3, 12.0))
    mean = np.zeros((time.size, energy.size))
    for height, at, width, tau in lines:
        spectrum = height * np.exp(-(((energy - at) / width) ** 2)) + 1.6
        mean += np.outer(expFun_gaussIRF(time, 1, tau, 0, 0.25), spectrum)
    model = loaded(DECAYS, "decays", energy=energy, time=time)
    return model, np.random.default_rng(seed).poisson(size * mean).astype(float)


CASES = {
    "bounded": lambda: scheme(13),
    "free": lambda: scheme(3, ""),
    "decays": lambda: decays(3),
    "very few": lambda: decays(3, 0.1),
    "many": lambda: decays(3, 30.0),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_fit_of_counts_converges_in_few_evaluations(case: str) -> None:
    """These took 500 evaluations, at the end of which chi² rose and fell by 1e-7."""
    model, counts = CASES[case]()
    result = fit_model(model, Measurement(counts, loss="poisson"))
    assert result.success
    assert result.nfev < 40


@pytest.mark.parametrize("case", list(CASES))
def test_chi_square_gradient_and_derivatives_agree(case: str) -> None:
    model, counts = CASES[case]()
    weight = np.random.default_rng(1).integers(0, 3, counts.shape) / 2
    given = Measurement(counts / 7, loss="poisson", loss_scale=7.0, weight=weight)
    executor: Any = make_executor(model, given)
    theta = model.theta()
    residual, columns = executor.residual(theta), executor.jacobian(theta)
    gram = unpack(executor.normal(theta))
    factor = unpack(executor.normal(theta, None, "factor"), symmetric=False)
    assert gram[-1, -1] == pytest.approx(residual @ residual, rel=1e-12)
    np.testing.assert_allclose((factor.T @ factor)[:, -1], gram[:, -1], rtol=1e-9)
    for k, value in enumerate(theta):
        h = np.zeros(theta.size)
        h[k] = 1e-6 * max(abs(value), 0.1)
        up, down = executor.residual(theta + h), executor.residual(theta - h)
        scale = np.abs(columns[k]).max()
        np.testing.assert_allclose((up - down) / (2 * h[k]), columns[k], atol=1e-5 * scale)
        slope = (up @ up - down @ down) / (2 * h[k])
        assert -2 * gram[k, -1] == pytest.approx(slope, rel=1e-6)


def test_it_is_the_optimum_of_all_parameters_together() -> None:
    """L-BFGS-B over rates and spectra finds the same deviance and the same rates."""
    model, counts = scheme(13)
    assert model.time is not None
    time, n_energy = model.time, counts.shape[1]
    result = fit_model(model, Measurement(counts, loss="poisson"))
    linear = result.amplitudes

    def total(x: Array) -> tuple[float, Array]:
        given = np.exp(x[:2])
        spectra, basis = x[2:].reshape(3, n_energy), populations(time, *given)
        mean = np.maximum(basis.T @ spectra, 1e-12)
        slope = 2 * (1 - counts / mean)
        by_rate = []
        for k in range(2):
            h = 1e-5 * np.eye(2)[k]
            change = populations(time, *np.exp(x[:2] + h)) - populations(time, *np.exp(x[:2] - h))
            by_rate.append(np.sum(slope * (change.T @ spectra)) / 2e-5)
        value = 2 * np.sum(xlogy(counts, counts / mean) - counts + mean)
        return float(value), np.concatenate([by_rate, (basis @ slope).ravel()])

    errors = np.array([result.stderr[name] for name in result.free_names]) / result.theta
    found = np.array([linear[name] for name in linear])
    x = np.concatenate([np.log(result.theta) + 0.5 * errors, 1.1 * found.ravel() + 0.01])
    limits = [(None, None)] * 2 + [(0.0, None)] * found.size
    options = {"maxiter": 5000, "maxfun": 10000, "maxcor": 40, "ftol": 1e-16, "gtol": 1e-8}
    for _ in range(3):
        x = minimize(total, x, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    assert result.chisqr == pytest.approx(total(x)[0], abs=1e-5)
    assert np.all(np.abs(x[:2] - np.log(result.theta)) < 1e-4 * errors)
