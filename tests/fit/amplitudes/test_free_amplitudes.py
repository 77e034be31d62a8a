"""Amplitudes that are free at each energy or time: the same minimum and the same errors as with
each of them a parameter of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from support.fit_cases import loaded

from pyspec import (
    DataError,
    FitError,
    Measurement,
    Model,
    fit_model,
)
from pyspec.components import Gauss, Offset, Shirley, expFun, expr, free, gaussIRF
from pyspec.functions import energy
from pyspec.functions.response import expFun_gaussIRF as decay
from pyspec.functions.response import stepFun_gaussIRF as step
from pyspec.model import load_model

Array = np.ndarray

ENERGY, TIME = np.linspace(1.5, 3.0, 40), np.concatenate([np.linspace(-1, 3, 40), np.arange(4, 24)])

DECAYS = """
decays:
  gaussIRF: {SD: [0.25, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [1.3, True, 0.1, 10], t0: [0.1, True]}
  expFun: {A: {free: energy}, tau: [9, True, 1, 100], t0: ["expFun_01_t0"]}
  stepFun: {A: {free: energy}, t0: ["expFun_01_t0"]}
"""
TRUTH = np.array([0.2, 1.0, 0.05, 7.0])


def traces(theta: Array) -> Array:
    width, fast, onset, slow = theta
    return np.array(
        [
            decay(TIME, 1.0, fast, onset, width),
            decay(TIME, 1.0, slow, onset, width),
            step(TIME, 1.0, onset, width),
        ]
    )


def spectra(offset: float = 0.0) -> Array:
    return (
        np.array([energy.Gauss(ENERGY, h, c, 0.25) for h, c in ((5, 1.9), (-4, 2.2), (2, 2.6))])
        + offset
    )


def signal(noise: float = 0.05, offset: float = 0.0) -> Array:
    rng = np.random.default_rng(7)
    clean = traces(TRUTH).T @ spectra(offset)
    return np.asarray(clean + rng.normal(0.0, noise, clean.shape))


def decays() -> Model:
    return loaded(DECAYS, "decays", energy=ENERGY, time=TIME)


@pytest.mark.parametrize(
    ("option", "tolerance"),
    [
        ({"backend": "interpreted"}, 1e-10),
        ({"backend": "tree"}, 1e-10),
        ({"method": "leastsq"}, 1e-8),
    ],
)
def test_executors_and_methods_agree(option: dict[str, str], tolerance: float) -> None:
    first, other = (fit_model(decays(), Measurement(signal()), **own) for own in ({}, option))
    assert other.chisqr == pytest.approx(first.chisqr, rel=tolerance)
    if "backend" in option:
        assert np.allclose(other.theta, first.theta, rtol=1e-7)
    for name, error in first.stderr.items():
        near = 1e-5 if "backend" in option else 1e-4
        assert error is None or other.stderr[name] == pytest.approx(error, rel=near)


def test_amplitudes_that_are_not_negative_are_those_of_nnls() -> None:
    model = load_model(DECAYS.replace("free: energy", "free: energy, min: 0"), "decays")
    model.set_axes(energy=ENERGY, time=TIME)
    data = signal(noise=0.3)
    result = fit_model(model, Measurement(data))
    linear = result.amplitudes
    basis = np.array([linear.basis[name] for name in linear]).T
    for j, column in enumerate(data.T):
        expected, _ = nnls(basis, column)
        found = [linear[name][j] for name in linear]
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-11)
        held = np.array([not linear.determined[name][j] for name in linear])
        assert np.array_equal(held, expected == 0.0)
        assert np.isnan([linear.stderr[name][j] for name in linear])[held].all()
    assert min(values.min() for values in linear.values.values()) == 0.0
    assert result.chisqr > fit_model(decays(), Measurement(data)).chisqr


def test_a_spectrum_is_held_at_zero_in_a_range() -> None:
    text = DECAYS.replace(
        "stepFun: {A: {free: energy}", "stepFun: {A: {free: energy, zero: [[1, 2]]}"
    )
    model = loaded(text, "decays", energy=ENERGY, time=TIME)
    result = fit_model(model, Measurement(signal()))
    linear = result.amplitudes
    held = ENERGY <= 2
    assert (linear["stepFun_01_A"][held] == 0.0).all()
    assert (linear["stepFun_01_A"][~held] != 0.0).all()
    assert np.isnan(linear.stderr["stepFun_01_A"][held]).all()
    assert result.n_free == 124 - np.count_nonzero(held)


def test_an_amplitude_that_the_data_do_not_determine_is_flagged() -> None:
    text = DECAYS + '  expFun: {A: {free: energy}, tau: ["expFun_02_tau"], t0: ["expFun_01_t0"]}'
    model = loaded(text, "decays", energy=ENERGY, time=TIME)
    mask = np.zeros((TIME.size, ENERGY.size), bool)
    mask[:, 5] = True
    result = fit_model(model, Measurement(signal(), mask=mask))
    linear = result.amplitudes
    twins = [linear.determined[name] for name in ("expFun_02_A", "expFun_03_A")]
    assert not (twins[0] & twins[1]).any()
    assert any("expFun_03_A" in one.places for one in result.findings)
    assert not any(linear.determined[name][5] for name in linear)
    assert all(np.isnan(linear.stderr[name][5]) for name in linear)


LINE = np.linspace(-6, 6, 70)


def lines(theta: Array) -> Array:
    width, center = theta
    return np.array([energy.Gauss(LINE, 1.0, center, width), np.ones(LINE.size)])


def test_traces_that_are_free_at_each_time() -> None:
    rng = np.random.default_rng(2)
    times = np.arange(25.0)
    heights = np.array([5 * np.exp(-times / 8) + 1, 2 + 0.1 * times])
    data = heights.T @ lines(np.array([0.9, 0.4])) + rng.normal(0, 0.1, (25, 70))
    model = Model("lines", [Offset(free("time")), Gauss(free("time"), 0.2, SD=1.1)])
    model.set_axes(energy=LINE, time=times)
    result = fit_model(model, Measurement(data))
    assert result.success
    linear = result.amplitudes
    assert linear.axis == "time"
    expected = np.linalg.lstsq(lines(result.theta[::-1]).T, data.T, rcond=None)[0]
    assert np.allclose(linear["Gauss_01_A"], expected[0], rtol=1e-9)
    assert np.allclose(linear["Offset_y0"], expected[1], rtol=1e-9)
    pulls = (linear["Gauss_01_A"] - heights[0]) / linear.stderr["Gauss_01_A"]
    assert 0.6 < pulls.std() < 1.5


def test_shirley_reads_the_line_whose_trace_is_free() -> None:
    times = np.arange(12.0)
    line = energy.Gauss(LINE, 1.0, 0.3, 0.8)
    seen = line + 0.02 * np.cumsum(line[::-1])[::-1]
    heights = 3 + times
    data = heights[:, None] * seen + np.random.default_rng(4).normal(0, 0.01, (12, 70))
    model = Model("edge", [Shirley(0.01), Gauss(free("time"), 0.2, SD=1.0)])
    model.set_axes(energy=LINE, time=times)
    result = fit_model(model, Measurement(data))
    assert result.success
    assert result.values["Shirley_pShirley"] == pytest.approx(0.02, abs=1e-4)
    assert np.allclose(result.amplitudes["Gauss_01_A"], heights, atol=0.02)
    with pytest.raises(FitError, match=r"Shirley reads the lines.*result\.amplitudes"):
        result.eval_components()


def in_python() -> Model:
    model = Model(
        "decays",
        [
            gaussIRF((0.25, 0.01, 2)),
            expFun(free("energy"), (1.3, 0.1, 10), t0=0.1),
            expFun(free("energy"), (9, 1, 100), t0=expr("expFun_01_t0")),
            expFun(free("energy", positive=True, zero=[(1, 2)]), 30, t0=expr("expFun_01_t0")),
        ],
    )
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def test_a_model_says_in_yaml_what_is_free() -> None:
    text = in_python().to_yaml()
    assert "A: {free: energy}" in text
    assert "A: {free: energy, min: 0, zero: [[1.0, 2.0]]}" in text
    again = load_model(text, "decays")
    assert again.to_yaml() == text
    assert again.parameters["expFun_03_A"].free == in_python().parameters["expFun_03_A"].free
    assert "free along energy" in again.describe()


def test_a_prediction_has_the_errors_of_all_parameters() -> None:
    """Over the data the squared errors add up to s² times the number of all parameters: the trace
    of the projection on what the model can do."""
    result = fit_model(decays(), Measurement(signal()))
    found = result.predict()
    assert np.allclose(found.value, result.fit, rtol=1e-12)
    assert np.sum(found.stderr**2) / result.redchi == pytest.approx(124, rel=1e-9)
    between = result.predict(time=[0.5, 7.5])
    assert between.value.shape == (2, 40)
    expected = decay(np.array([0.5, 7.5]), 1.0, *result.theta[[1, 2, 0]])
    rest = between.value - np.outer(expected, result.amplitudes["expFun_01_A"])
    assert np.linalg.matrix_rank(rest, tol=1e-8) == 2
    with pytest.raises(DataError, match="amplitudes are free along energy"):
        result.predict(energy=[2.0])


def test_what_amplitudes_do_not_have_is_named() -> None:
    linear = fit_model(decays(), Measurement(signal())).amplitudes
    with pytest.raises(FitError, match="no amplitude 'expFun_1_A' is free; did you mean"):
        linear["expFun_1_A"]
    for asked in ("sas", "das", "eas"):  # of decays without a scheme
        with pytest.raises(
            FitError, match=rf"{asked}\(\) needs; .* result.amplitudes\['expFun_01_A'"
        ):
            getattr(linear, asked)()
