"""Onsets that a fit moves out of the times of the data, or that start there."""

from __future__ import annotations

import numpy as np
import pytest
from support.findings import of_kind

from pyspec import Measurement, Model, fit_joint, fit_model, load_dynamics, load_model
from pyspec.fit.findings.kinds import Kind
from pyspec.model import load_time_model

TIME, ENERGY = np.linspace(-5.0, 20.0, 101), np.linspace(80.0, 90.0, 31)
LAW = """
law:
  gaussIRF: {{SD: [0.15, False]}}
  expFun: {{A: [5, True], tau: [4, True, 0.1, 1000], t0: [{t0}, {vary}]}}
"""
LINE = """
line: {Gauss: {A: [20, True, 0, 99], x0: [85, True, 82, 88], SD: [1, True, 0.2, 3]}}
"""


def _trace(t0: float, vary: bool = True) -> Model:
    model = load_time_model(LAW.format(t0=t0, vary=vary), "law")
    model.set_axes(time=TIME)
    return model


def _series(t0: float) -> Model:
    model = load_model(LINE, "line")
    model.set_axes(energy=ENERGY, time=TIME)
    text = LAW.format(t0=t0, vary=True)
    model.add_dynamics("Gauss_01_A", load_dynamics(text, "law", "Gauss_01_A"))
    return model


def _noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0.0, 0.5, shape)


_onsets = of_kind(Kind.OUTSIDE_AXIS)


@pytest.mark.parametrize("seed", [1, 2])
def test_at_its_bound_after_the_data(seed: int) -> None:
    """All places behind the last time are alike: chi square rises far from the bound only."""
    text = """
    law: {gaussIRF: {SD: [0.15, False]},
          expFun: {A: [1, False], tau: [4, False], t0: [19.4, True, -5, 40]}}
    """
    model = load_time_model(text, "law")
    model.set_axes(time=TIME)
    noise = np.random.default_rng(seed).normal(0.0, 0.5, 101)
    result = fit_model(model, Measurement(noise))
    assert result.at_bound == {"expFun_01_t0": "max"}
    assert not result.success


@pytest.mark.parametrize("data", ["trace", "series", "files"])
def test_after_the_data(data: str) -> None:
    """Nothing depends on it there."""
    if data == "trace":
        result = fit_model(_trace(30.0), Measurement(_noise(101)))
    else:
        model = _series(30.0)
        spectra = 20.0 * np.exp(-((ENERGY - 85.0) ** 2) / 2.0) + _noise(101, 31)
        if data == "series":
            result = fit_model(model, Measurement(spectra))
        else:
            result = fit_joint([(model, Measurement(spectra))] * 2).joint
    told = _onsets(result)
    assert [one.part for one in told] == ([0, 1] if data == "files" else [None])
    assert all(one.numbers["value"] > one.numbers["high"] == 20 for one in told)
    assert not result.success


def test_the_window_counts() -> None:
    clean = _series(6.0).evaluate()
    measured = Measurement(clean + _noise(101, 31), rows=(0, 40))  # to 4.75 ps
    (said,) = _onsets(fit_model(_series(6.0), measured))
    assert said.numbers["high"] == 4.75
    assert not _onsets(fit_model(_series(6.0), Measurement(clean + _noise(101, 31))))
