"""Parameters that depend on the energy where spectra are free: onset and width of the instrument
along the spectrum, and what moves with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson

from pyspec import (
    FitResult,
    Measurement,
    Model,
    ModelError,
    fit_model,
)
from pyspec.executor import make_executor
from pyspec.functions import time as laws
from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.model import load_model

Array = np.ndarray

ENERGY = np.linspace(400.0, 700.0, 31)
TIME = np.concatenate([np.linspace(-2, 3, 51), np.geomspace(3.2, 60, 25)])

CHIRPED = """
parameters:
  onset: [0.1, True]
  chirp: [0.5, True]
  zero: ["onset + chirp * (1 - (550 / energy) ** 2)"]
  width: [0.3, True, 0.01, 2]
  wider: [0.1, True]
chirped:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["gaussFun_01_t0"]}
  constFun: {A: {free: energy}}
  gaussIRF: {SD: ["width + wider * (energy / 550 - 1)"]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 30], t0: ["gaussFun_01_t0"]}
  stepFun: {A: {free: energy}, t0: ["gaussFun_01_t0"]}
"""
TRUTH = {"onset": 0.2, "chirp": 0.9, "width": 0.25, "wider": 0.15, "expFun_01_tau": 4.0}


def traces(values: dict[str, float], energy: float) -> Array:
    onset = values["onset"] + values["chirp"] * (1 - (550 / energy) ** 2)
    width = values["width"] + values["wider"] * (energy / 550 - 1)
    return np.array(
        [
            laws.gaussFun(TIME, 1.0, width, onset),
            laws.gaussD1Fun(TIME, 1.0, width, onset),
            laws.constFun(TIME, 1.0),
            expFun_gaussIRF(TIME, 1.0, values["expFun_01_tau"], onset, width),
            stepFun_gaussIRF(TIME, 1.0, onset, width),
        ]
    )


def chirped() -> Model:
    model = load_model(CHIRPED, "chirped")
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def data() -> Array:
    rng = np.random.default_rng(11)
    heights = rng.normal(0, 2, (5, ENERGY.size)) + 1.0
    columns = [traces(TRUTH, e).T @ h for e, h in zip(ENERGY, heights.T, strict=True)]
    return np.array(columns).T + rng.normal(0, 0.05, (TIME.size, ENERGY.size))


@pytest.fixture(scope="module")
def result() -> FitResult:
    return fit_model(chirped(), Measurement(data()))


def test_the_basis_functions_are_those_of_each_energy() -> None:
    executor = make_executor(chirped(), Measurement(data()))
    theta = [TRUTH[name] for name in executor.opt_param_names]
    design = executor.solve(theta).design
    for j in (0, 13, 30):
        assert np.allclose(design.basis[:, j], traces(TRUTH, ENERGY[j]), rtol=1e-12, atol=1e-14)


def test_derivatives_are_those_of_the_residual() -> None:
    executor = make_executor(chirped(), Measurement(data()))
    theta = np.array([TRUTH[name] for name in executor.opt_param_names]) * 1.03
    found = executor.jacobian(theta)
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = 1e-5
        expected = (executor.residual(theta + h) - executor.residual(theta - h)) / 2e-5
        assert np.abs(found[k] - expected).max() < 1e-7 * np.abs(expected).max()


def test_values_and_errors_are_those_of_all_parameters_together(result: FitResult) -> None:
    """The inverse of the whole normal matrix, with 155 amplitudes, at the optimum."""
    assert result.success
    linear = result.amplitudes
    assert linear is not None
    values = result.values
    names = list(result.free_names)
    n_basis, n = 5, ENERGY.size
    amplitudes = np.array([linear[name] for name in linear])
    columns = []
    for name in names:
        up, down = dict(values), dict(values)
        up[name] += 1e-5
        down[name] -= 1e-5
        slope = [
            (traces(up, e) - traces(down, e)).T @ c / 2e-5
            for e, c in zip(ENERGY, amplitudes.T, strict=True)
        ]
        columns.append(np.array(slope).ravel())
    for j, e in enumerate(ENERGY):
        for row in traces(values, e):
            column = np.zeros((n, TIME.size))
            column[j] = row
            columns.append(column.ravel())
    matrix = np.array(columns)
    residual = (
        data().T.ravel()
        - (
            np.array([traces(values, e).T @ c for e, c in zip(ENERGY, amplitudes.T, strict=True)])
        ).ravel()
    )
    assert result.chisqr == pytest.approx(residual @ residual, rel=1e-10)
    variance = result.chisqr / (residual.size - len(columns))
    assert result.redchi == pytest.approx(variance, rel=1e-12)
    covariance = variance * np.linalg.inv(matrix @ matrix.T)
    errors = np.sqrt(np.diag(covariance))
    assert np.abs(matrix @ residual * errors).max() / variance < 1e-5
    for name, error in zip(names, errors, strict=False):
        assert result.stderr[name] == pytest.approx(error, rel=1e-6)
        assert abs(values[name] - TRUTH[name]) < 5 * error
    expected = errors[len(names) :].reshape(n, n_basis).T
    assert np.allclose(np.array(list(linear.stderr.values())), expected, rtol=1e-6)


def test_what_depends_on_the_energy_has_no_row_in_the_table(result: FitResult) -> None:
    assert set(result.values) == {*TRUTH}
    assert "gaussFun_01_t0" not in result.params


def test_a_kernel_on_the_samples_cannot_be_dispersed() -> None:
    text = CHIRPED.replace("gaussIRF: {", "gaussCONV: {").replace("gaussIRF_SD", "gaussCONV_SD")
    model = load_model(text, "chirped")
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(ModelError, match="gaussCONV_SD depends on the energy"):
        fit_model(model, Measurement(data()))


def test_energy_means_nothing_without_free_spectra() -> None:
    text = CHIRPED.replace("{free: energy}", "[1, True]")
    with pytest.raises(ModelError, match="unknown parameter 'energy'"):
        load_model(text + "\nbeside: {Offset: {y0: ['energy']}}", "beside")


RINGING = """
functions:
  Ringing:
    domain: time
    parameters: A, B, f > 0, tau > 0, t0, SD > 0
    lines:
      w: 2 * pi * f
      u: (t - t0) / SD
      early: min(u, 8)
      x: w * SD / sqrt(2)
      y: (SD / tau - early) / sqrt(2)
      P: exp(-early ** 2 / 2) * wofz_real(x, y) / 2
      Q: exp(-early ** 2 / 2) * wofz_imag(x, y) / 2
      v: SD * (u - early)
      c: exp(-v / tau) * cos(w * v)
      s: exp(-v / tau) * sin(w * v)
    formula: A * (P * c - Q * s) + B * (Q * c + P * s)
parameters:
  chirp: [0.5, True]
  zero: ["chirp * (1 - (550 / energy) ** 2)"]
ringing:
  Ringing: {A: {free: energy}, B: {free: energy}, f: [0.4, True, 0.1, 2], tau: [4, True, 0.1, 20],
            t0: ["expFun_01_t0"], SD: ["gaussIRF_SD"]}
  gaussIRF: {SD: [0.4, True, 0.05, 2]}
  expFun: {A: {free: energy}, tau: [20, True, 1, 100], t0: [0, True, -1, 1]}
"""


FORMULAS = RINGING.replace('t0: ["expFun_01_t0"]', 't0: ["zero"]').replace(
    "t0: [0, True, -1, 1]", 't0: ["zero"]'
)


def ringing_traces(values: dict[str, float], energy: float) -> Array:
    """By quadrature; the onset of each energy is its own."""
    onset = values["chirp"] * (1 - (550 / energy) ** 2)
    lag, width = np.linspace(0, 80, 16001), values["gaussIRF_SD"]
    pulse = np.exp(-(((TIME[:, None] - onset - lag) / width) ** 2) / 2)
    rate = 1 / values["Ringing_01_tau"] - 2j * np.pi * values["Ringing_01_f"]
    rings = simpson(pulse * np.exp(-rate * lag), x=lag) / (width * np.sqrt(2 * np.pi))
    decay = expFun_gaussIRF(TIME, 1.0, values["expFun_01_tau"], onset, width)
    return np.array([rings.real, rings.imag, decay])


@pytest.mark.slow
def test_formulas_follow_the_energy_too() -> None:
    """A formula runs in C with one row of parameters for each energy, with exact slopes."""
    truth = {"Ringing_01_f": 0.45, "Ringing_01_tau": 5.0, "gaussIRF_SD": 0.3,
             "expFun_01_tau": 15.0, "chirp": 0.8}  # fmt: skip
    spectra = np.array([np.cos(ENERGY / 90), np.sin(ENERGY / 50), np.ones(ENERGY.size)])
    columns = [ringing_traces(truth, e).T @ s for e, s in zip(ENERGY, spectra.T, strict=True)]
    model = load_model(FORMULAS, "ringing")
    model.set_axes(energy=ENERGY, time=TIME)
    measurement = Measurement(np.array(columns).T)
    executor = make_executor(model, measurement)
    theta = np.array([truth[name] for name in executor.opt_param_names])
    design = executor.solve(theta).design
    for j in (0, 17, 30):
        assert np.allclose(design.basis[:, j], ringing_traces(truth, ENERGY[j]), atol=1e-7)
    theta *= 1.03
    found = executor.jacobian(theta)
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = 1e-5
        expected = (executor.residual(theta + h) - executor.residual(theta - h)) / 2e-5
        assert np.abs(found[k] - expected).max() < 1e-6 * np.abs(expected).max()
    result = fit_model(model, measurement)
    for name, value in truth.items():
        assert result.values[name] == pytest.approx(value, rel=1e-5)
    linear = result.amplitudes
    assert linear is not None
    for name, spectrum in zip(linear, spectra, strict=True):
        np.testing.assert_allclose(linear[name], spectrum, atol=1e-5)
    at = TIME[[3, 30, 60]]  # a formula is known at other times
    assert np.allclose(result.predict(time=at).value, result.fit[[3, 30, 60]], rtol=1e-10)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_what_the_data_do_not_determine_is_named(method: str) -> None:
    """The fit ended with an error in place of a result: there is no one graph of such a model."""
    idle = CHIRPED.replace("width + wider", "width + 0 * idle + wider")
    model = load_model(
        idle.replace("parameters:", "parameters:\n  idle: [1, True, 0, 2]"), "chirped"
    )
    model.set_axes(energy=ENERGY, time=TIME)
    found = fit_model(model, Measurement(data()), method=method)
    assert not found.success
    assert found.without_effect == ("idle",)
    assert "The data do not determine idle" in found.message
    assert np.isclose(found.values["width"], TRUTH["width"], rtol=0, atol=0.02)
