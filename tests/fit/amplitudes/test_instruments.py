"""Fits behind instruments of one or several Gaussians, whose onset and width may follow the energy:
what they find, its errors, and free amplitudes against the fit in which each is a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.fit_cases import agree, loaded

from pyspec import FitResult, Measurement, Model, ModelError, fit_model, load_model
from pyspec.errors import PlanError
from pyspec.executor import make_executor
from pyspec.functions import time as laws
from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.ir import build_graph, parse_graph, print_graph

Array = np.ndarray

ENERGY = np.linspace(400.0, 700.0, 25)
TIME = np.concatenate([np.linspace(-2, 3, 81), np.geomspace(3.2, 60, 25)])

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


PULSES = """
parameters:
  onset: [0.1, True]
  chirp: [0.5, True]
  zero: ["onset + chirp * (1 - (550 / energy) ** 2)"]
  width: [0.3, True, 0.01, 2]
  wider: [0.1, True]
pulses:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["gaussFun_01_t0"]}
  constFun: {A: {free: energy}}
  gaussIRF: {SD: ["width + wider * (energy / 550 - 1)"]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 30], t0: ["gaussFun_01_t0"]}
  stepFun: {A: {free: energy}, t0: ["gaussFun_01_t0"]}
"""
PULSES_TRUTH = {"onset": 0.2, "chirp": 0.9, "width": 0.25, "wider": 0.15, "expFun_01_tau": 4.0}


def mixed(law: Callable[..., Array], gaussians: list[tuple[float, ...]], *values: float) -> Array:
    """A law with t0 last, behind Gaussians of (SD, share, shift)."""
    *first, onset = values
    traces = [p * law(TIME, 1.0, *first, onset + d, w) for w, p, d in gaussians]
    return np.sum(traces, axis=0)


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


def pulses_traces(values: dict[str, float], energy: float) -> Array:
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


CASES = {
    "pulses": (PULSES, PULSES_TRUTH, pulses_traces),
    "chirped": (CHIRPED, CHIRPED_TRUTH, chirped_traces),
}
each = pytest.mark.parametrize("case", list(CASES))


def model_of(case: str) -> Model:
    return loaded(CASES[case][0], case, energy=ENERGY, time=TIME)


def data_of(case: str) -> Array:
    _, truth, traces = CASES[case]
    rng = np.random.default_rng(11)
    heights = rng.normal(0, 2, (traces(truth, 550).shape[0], ENERGY.size)) + 1.0
    columns = [traces(truth, e).T @ h for e, h in zip(ENERGY, heights.T, strict=True)]
    return np.array(columns).T + rng.normal(0, 0.01, (TIME.size, ENERGY.size))


@pytest.fixture(scope="module")
def results() -> dict[str, FitResult]:
    return {case: fit_model(model_of(case), Measurement(data_of(case))) for case in CASES}


@each
def test_the_basis_functions_are_those_of_each_energy(case: str) -> None:
    _, truth, traces = CASES[case]
    executor = make_executor(model_of(case), Measurement(data_of(case)))
    design = executor.solve([truth[name] for name in executor.opt_param_names]).design
    for j in (0, 11, 24):
        found = design.basis[:, j]
        assert np.allclose(found, traces(truth, ENERGY[j]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("case", "backend"),
    [*((case, "compiled") for case in CASES), ("pulses", "interpreted")],
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


@pytest.mark.parametrize(
    ("case", "dress"), [*((case, "") for case in CASES), ("pulses", "a line"), ("pulses", "a map")]
)
def test_values_and_errors_are_those_of_all_parameters_together(
    case: str, dress: str, results: dict[str, FitResult]
) -> None:
    """The inverse of the whole normal matrix, with 75 or 125 amplitudes, at the optimum."""
    _, truth, traces = CASES[case]
    result, data, weight = results[case], data_of(case), np.ones(ENERGY.size)
    if dress:
        rng = np.random.default_rng(3)
        weight = rng.uniform(5.0, 30.0, ENERGY.size if dress == "a line" else data.shape)
        mask = (rng.uniform(size=data.shape) < 0.1) & (dress == "a map")
        given = Measurement(np.where(mask, np.nan, data), weight=weight, mask=mask)
        result, weight = fit_model(model_of(case), given), np.where(mask, 0.0, weight)
    weight = np.broadcast_to(weight, data.shape).T.ravel()
    assert result.success
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
    matrix, residual = weight * columns, weight * (data.T.ravel() - signal(values))
    assert result.chisqr == pytest.approx(residual @ residual, rel=1e-10)
    assert result.n_free == len(columns)
    variance = result.chisqr / (np.count_nonzero(weight) - len(columns))
    assert result.redchi == pytest.approx(variance, rel=1e-12)
    covariance = variance * np.linalg.inv(matrix @ matrix.T)
    errors = np.sqrt(np.diag(covariance))
    assert np.abs(matrix @ residual * errors).max() / variance < 1e-5
    for name, error in zip(names, errors, strict=False):
        assert result.stderr[name] == pytest.approx(error, rel=1e-6)
        assert abs(values[name] - truth[name]) < 4 * error
        assert error < 0.1 * max(abs(truth[name]), 0.1)  # shares, shift and widths are determined
    expected = errors[len(names) :].reshape(ENERGY.size, -1).T
    assert np.allclose(np.array(list(result.amplitudes.stderr.values())), expected, rtol=1e-6)
    first, *_, last = result.amplitudes
    total, error = result.amplitudes.combined({first: 1.0, last: -2.0})
    assert np.allclose(total, amplitudes[0] - 2 * amplitudes[-1])
    row = np.zeros((ENERGY.size, len(columns)))
    for j, begin in enumerate(range(len(names), len(columns), len(amplitudes))):
        row[j, begin], row[j, begin + len(amplitudes) - 1] = 1.0, -2.0
    assert np.allclose(error, np.sqrt(np.einsum("ij,jk,ik->i", row, covariance, row)), rtol=1e-6)


def test_an_instrument_that_depends_on_the_energy_is_interpreted_too() -> None:
    _, truth, _ = CASES["chirped"]
    made = [
        make_executor(model_of("chirped"), Measurement(data_of("chirped")), backend)
        for backend in ("compiled", "interpreted")
    ]
    theta = np.array([truth[name] for name in made[0].opt_param_names]) * 1.03
    compiled, interpreted = (executor.residual(theta) for executor in made)
    assert np.abs(interpreted - compiled).max() < 1e-10 * np.abs(data_of("chirped")).max()
    with pytest.raises(ModelError, match=r"depends on the energy.*compiled backend"):
        make_executor(model_of("chirped"), Measurement(data_of("chirped")), "tree")


def test_a_graph_alone_is_fitted_unless_it_breaks_a_rule(results: dict[str, FitResult]) -> None:
    graph = parse_graph(print_graph(build_graph(model_of("pulses"))))
    agree(fit_model(graph, Measurement(data_of("pulses"))), results["pulses"])
    last = graph.edges[-1].target
    edges = tuple([edge for edge in graph.edges if edge.target != last])
    with pytest.raises(PlanError, match=r"graph pulses:\n  .*: has no trace"):
        fit_model(replace(graph, edges=edges), Measurement(data_of("pulses")))


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


def test_a_kernel_on_the_samples_cannot_be_dispersed() -> None:
    text = PULSES.replace("gaussIRF: {", "gaussCONV: {").replace("gaussIRF_SD", "gaussCONV_SD")
    model = loaded(text, "pulses", energy=ENERGY, time=TIME)
    with pytest.raises(ModelError, match="gaussCONV_SD depends on the energy"):
        fit_model(model, Measurement(data_of("pulses")))


def test_what_the_data_do_not_determine_is_named() -> None:
    """The fit ended with an error in place of a result: there is no one graph of such a model."""
    idle = PULSES.replace("width + wider", "width + 0 * idle + wider")
    model = load_model(
        idle.replace("parameters:", "parameters:\n  idle: [1, True, 0, 2]"), "pulses"
    )
    model.set_axes(energy=ENERGY, time=TIME)
    found = fit_model(model, Measurement(data_of("pulses")))
    assert not found.success
    assert found.without_effect == ("idle",)
    assert np.isclose(found.values["width"], PULSES_TRUTH["width"], rtol=0, atol=0.02)
