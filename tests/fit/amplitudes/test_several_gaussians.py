"""Fits behind instruments of several Gaussians: what they find, its errors, and free amplitudes
against the fit in which each of them is a parameter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pyspec import (
    FitResult,
    Measurement,
    Model,
    fit_model,
    load_model,
)
from pyspec.executor import make_executor
from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.model import load_dynamics

Array = np.ndarray

ENERGY = np.linspace(400.0, 700.0, 25)
TIME = np.concatenate([np.linspace(-2, 3, 81), np.geomspace(3.2, 60, 25)])

PLAIN = """
decays:
  gaussIRF: {SD: [0.2, True, 0.01, 1]}
  gaussIRF: {SD: [0.5, True, 0.05, 3], share: [0.3, True, 0, 1], shift: [0.1, True, -1, 1]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 10], t0: [0.1, True]}
  expFun: {A: {free: energy}, tau: [20, True, 1, 100], t0: ["expFun_01_t0"]}
  stepFun: {A: {free: energy}, t0: ["expFun_01_t0"]}
"""
PLAIN_TRUTH = {
    "gaussIRF_SD": 0.15, "gaussIRF_02_SD": 0.7, "gaussIRF_02_share": 0.4,
    "gaussIRF_02_shift": 0.25, "expFun_01_tau": 1.5, "expFun_01_t0": 0.05, "expFun_02_tau": 12.0,
}  # fmt: skip

CHIRPED = """
parameters:
  onset: [0.1, True]
  chirp: [0.5, True]
  zero: ["onset + chirp * (1 - (550 / energy) ** 2)"]
  width: [0.3, True, 0.01, 2]
  wider: [0.1, True]
  foot: [0.3, True]
  more: [0.1, True]
chirped:
  constFun: {A: {free: energy}}
  gaussIRF: {SD: ["width + wider * (energy / 550 - 1)"]}
  gaussIRF: {SD: ["3 * gaussIRF_SD"], share: ["foot + more * (energy / 550 - 1)"],
             shift: ["late * energy / 550"]}
  gaussIRF: {SD: [0.2, False], share: [0.1, False], shift: [-0.3, True]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 30], t0: ["zero"]}
  stepFun: {A: {free: energy}, t0: ["zero"]}
"""
CHIRPED = CHIRPED.replace("\nchirped:", "\n  late: [0.1, True]\nchirped:")
CHIRPED_TRUTH = {
    "onset": 0.2, "chirp": 0.9, "width": 0.25, "wider": 0.15, "foot": 0.4, "more": 0.2,
    "late": 0.15, "gaussIRF_03_shift": -0.5, "expFun_01_tau": 4.0,
}  # fmt: skip


def mixed(law: Callable[..., Array], gaussians: list[tuple[float, ...]], *values: float) -> Array:
    """A law with t0 last, behind Gaussians of (SD, share, shift)."""
    *first, onset = values
    traces = [p * law(TIME, 1.0, *first, onset + d, w) for w, p, d in gaussians]
    return np.sum(traces, axis=0)


def plain_traces(values: dict[str, float], energy: float) -> Array:
    share, onset = values["gaussIRF_02_share"], values["expFun_01_t0"]
    seen = [
        (values["gaussIRF_SD"], 1 - share, 0.0),
        (values["gaussIRF_02_SD"], share, values["gaussIRF_02_shift"]),
    ]
    return np.array(
        [
            mixed(expFun_gaussIRF, seen, values["expFun_01_tau"], onset),
            mixed(expFun_gaussIRF, seen, values["expFun_02_tau"], onset),
            mixed(stepFun_gaussIRF, seen, onset),
        ]
    )


def chirped_traces(values: dict[str, float], energy: float) -> Array:
    onset = values["onset"] + values["chirp"] * (1 - (550 / energy) ** 2)
    width = values["width"] + values["wider"] * (energy / 550 - 1)
    share = values["foot"] + values["more"] * (energy / 550 - 1)
    seen = [
        (width, 1 - share - 0.1, 0.0),
        (3 * width, share, values["late"] * energy / 550),
        (0.2, 0.1, values["gaussIRF_03_shift"]),
    ]
    return np.array(
        [
            np.ones(TIME.size),
            mixed(expFun_gaussIRF, seen, values["expFun_01_tau"], onset),
            mixed(stepFun_gaussIRF, seen, onset),
        ]
    )


CASES = {
    "plain": (PLAIN, PLAIN_TRUTH, plain_traces),
    "chirped": (CHIRPED, CHIRPED_TRUTH, chirped_traces),
}
both = pytest.mark.parametrize("case", list(CASES))


def model_of(case: str) -> Model:
    model = load_model(CASES[case][0], "decays" if case == "plain" else "chirped")
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def data_of(case: str) -> Array:
    _, truth, traces = CASES[case]
    rng = np.random.default_rng(11)
    heights = rng.normal(0, 2, (3, ENERGY.size)) + 1.0
    columns = [traces(truth, e).T @ h for e, h in zip(ENERGY, heights.T, strict=True)]
    return np.array(columns).T + rng.normal(0, 0.01, (TIME.size, ENERGY.size))


@pytest.fixture(scope="module")
def results() -> dict[str, FitResult]:
    return {case: fit_model(model_of(case), Measurement(data_of(case))) for case in CASES}


@both
def test_the_basis_functions_are_sums_over_the_gaussians(case: str) -> None:
    _, truth, traces = CASES[case]
    executor = make_executor(model_of(case), Measurement(data_of(case)))
    design = executor.solve([truth[name] for name in executor.opt_param_names]).design
    for j in (0, 11, 24):
        found = design.basis[:, j if case == "chirped" else 0]
        assert np.allclose(found, traces(truth, ENERGY[j]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("case", "backend"),
    [(case, backend) for case in CASES for backend in ("compiled", "interpreted")],
)
def test_derivatives_are_those_of_the_residual(case: str, backend: str) -> None:
    _, truth, _ = CASES[case]
    executor = make_executor(model_of(case), Measurement(data_of(case)), backend)
    theta = np.array([truth[name] for name in executor.opt_param_names]) * 1.03
    found = executor.jacobian(theta)
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = 1e-5
        expected = (executor.residual(theta + h) - executor.residual(theta - h)) / 2e-5
        assert np.abs(found[k] - expected).max() < 1e-7 * np.abs(expected).max()


@both
def test_values_and_errors_are_those_of_all_parameters_together(
    case: str, results: dict[str, FitResult]
) -> None:
    """The inverse of the whole normal matrix, with 75 amplitudes, at the optimum."""
    _, truth, traces = CASES[case]
    result, data = results[case], data_of(case)
    assert result.success
    assert result.amplitudes is not None
    values, names = result.values, list(result.free_names)
    amplitudes = np.array([result.amplitudes[name] for name in result.amplitudes])

    def signal(at: dict[str, float]) -> Array:
        pairs = zip(ENERGY, amplitudes.T, strict=True)
        return np.array([traces(at, e).T @ c for e, c in pairs]).ravel()

    columns = []
    for name in names:
        up, down = values | {name: values[name] + 1e-5}, values | {name: values[name] - 1e-5}
        columns.append((signal(up) - signal(down)) / 2e-5)
    for j, e in enumerate(ENERGY):
        for row in traces(values, e):
            column = np.zeros((ENERGY.size, TIME.size))
            column[j] = row
            columns.append(column.ravel())
    matrix, residual = np.array(columns), data.T.ravel() - signal(values)
    assert result.chisqr == pytest.approx(residual @ residual, rel=1e-10)
    variance = result.chisqr / (residual.size - len(columns))
    assert result.redchi == pytest.approx(variance, rel=1e-12)
    errors = np.sqrt(np.diag(variance * np.linalg.inv(matrix @ matrix.T)))
    assert np.abs(matrix @ residual * errors).max() / variance < 1e-5
    for name, error in zip(names, errors, strict=False):
        assert result.stderr[name] == pytest.approx(error, rel=1e-6)
        assert abs(values[name] - truth[name]) < 4 * error
        assert error < 0.1 * max(abs(truth[name]), 0.1)  # shares, shift and widths are determined
    expected = errors[len(names) :].reshape(ENERGY.size, 3).T
    assert np.allclose(np.array(list(result.amplitudes.stderr.values())), expected, rtol=1e-6)


KINETICS = """
kinetics:
  chain: {A -> B: k1, B: k2}
decays:
  gaussIRF: {SD: [0.2, True, 0.01, 1]}
  gaussIRF: {SD: [0.5, True, 0.05, 3], share: [0.3, True, 0, 1], shift: [0.1, True, -1, 1]}
  chain: {k1: [0.6, True, 0.1, 10], k2: [0.06, True, 0.001, 1], t0: [0, True],
          spectra: {free: energy}}
"""


def test_states_of_a_scheme_have_the_spectra_of_the_decays(results: dict[str, FitResult]) -> None:
    """Two decays in a row are two decays at once with other spectra: the same minimum."""
    text = PLAIN.replace(PLAIN.splitlines(keepends=True)[-1], "")
    decays = load_model(text, "decays")
    chain = load_model(KINETICS, "decays")
    found = []
    truth = PLAIN_TRUTH
    clean = [plain_traces(truth, e)[:2].T @ (np.sin(e / 50), 1.5) for e in ENERGY]
    data = np.array(clean).T + np.random.default_rng(2).normal(0, 0.01, (TIME.size, ENERGY.size))
    for model in (decays, chain):
        model.set_axes(energy=ENERGY, time=TIME)
        found.append(fit_model(model, Measurement(data)))
    first, second = found
    assert second.chisqr == pytest.approx(first.chisqr, rel=1e-9)
    for name in ("gaussIRF_SD", "gaussIRF_02_SD", "gaussIRF_02_share", "gaussIRF_02_shift"):
        assert second.values[name] == pytest.approx(first.values[name], rel=1e-5)
        assert second.stderr[name] == pytest.approx(first.stderr[name], rel=1e-5)
        assert abs(first.values[name] - truth[name]) < 4 * first.stderr[name]
    assert 1 / second.values["chain_k1"] == pytest.approx(first.values["expFun_01_tau"], rel=1e-5)
    other = fit_model(chain, Measurement(data), backend="interpreted")
    assert other.chisqr == pytest.approx(second.chisqr, rel=1e-10)


MOVING = """
line:
  Offset: {y0: [1, True]}
  Gauss: {A: [15, True], x0: [10, True], SD: [1, True]}
motion:
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  gaussIRF: {SD: [1.0, True, 0.05, 5], share: [0.3, True, 0, 1], shift: [0.3, True, -2, 2]}
  expFun: {A: [-3, True], tau: [6, True, 0.5, 50], t0: [0.2, True]}
"""


def test_a_height_that_moves_gives_shares_shift_and_widths_within_their_errors() -> None:
    """Ordinary dynamics in 2D; the scatter of twelve fits is that of their errors."""
    energy, time = np.linspace(5, 15, 41), np.linspace(-4, 20, 161)
    truth = {"gaussIRF_SD": 0.25, "gaussIRF_02_SD": 1.2, "gaussIRF_02_share": 0.35,
             "gaussIRF_02_shift": 0.6, "expFun_01_tau": 5.0, "expFun_01_t0": 0.1}  # fmt: skip
    model = load_model(MOVING, "line")
    model.add_dynamics("Gauss_01_A", load_dynamics(MOVING, "motion", "Gauss_01_A"))
    model.set_axes(energy=energy, time=time)
    true = model.copy()
    true.set_values({f"Gauss_01_A_{name}": value for name, value in truth.items()})
    clean = true.evaluate("tree")
    rng = np.random.default_rng(3)
    pulls = []
    for _ in range(12):
        result = fit_model(model, Measurement(clean + rng.normal(0, 0.02, clean.shape)))
        assert result.success
        for name, value in truth.items():
            full = f"Gauss_01_A_{name}"
            pulls.append((result.values[full] - value) / result.stderr[full])
    assert np.abs(pulls).max() < 4.5
    assert np.sqrt(np.mean(np.square(pulls))) == pytest.approx(1.0, abs=0.3)


def test_outside_of_its_domain_an_energy_has_no_value() -> None:
    """A width that falls below 0 on one side of the spectrum."""
    executor = make_executor(model_of("chirped"), Measurement(data_of("chirped")))
    values = CHIRPED_TRUTH | {"wider": 1.3}
    theta = [values[name] for name in executor.opt_param_names]
    design = executor.solve(theta).design
    below = values["width"] + values["wider"] * (ENERGY / 550 - 1) <= 0
    assert 2 < np.count_nonzero(below) < 20
    assert np.isnan(design.basis[1][below]).all()
    assert np.isfinite(design.basis[1][~below]).all()
