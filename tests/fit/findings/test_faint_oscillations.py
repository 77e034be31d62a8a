"""Oscillations that are hardly more than noise: a fit that began 30 to 40 % off the frequency used
to end at that of noise, with an error of a few percent, and without a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.findings import of_kind

from pyspec import Measurement, Model, fit_model, fit_trace, load_dynamics, load_model
from pyspec.fit.findings.kinds import Kind

ENERGY, TIME = np.linspace(82, 86, 41), np.linspace(0, 40, 200)
HEIGHT, FREQUENCY = (f"Gauss_01_x0_sinFun_01_{name}" for name in "Af")

MODELS = """
line:
  Offset: {y0: [20, True]}
  Gauss: {A: [400, True], x0: [84, True, 82, 86], SD: [0.4, True, 0.1, 2]}
moves:
  sinFun:
    A: [0.004, True, 0, 0.1]
    f: [0.25, True, 0.1, 0.5]
    phi: [0.3, True, -6, 6]
    t0: [0, False]
trace:
  constFun: {A: [5, True]}
  sinFun: {A: [1, True], f: [0.25, True], phi: [0.3, True], t0: [0, False]}
damped:
  dampedSinFun: {A: [1, True], f: [0.25, True], phi: [0.3, True], tau: [30, True, 1, 300],
                 t0: [0, False]}
free:
  sinFun: {A: {free: energy}, f: [0.25, True, 0.1, 0.5], phi: [0.3, True], t0: [0, False]}
both:
  sinFun: {A: [1, True], f: [0.25, True], phi: [0.3, True], t0: [0, False]}
  sinFun: {A: [1, True], f: [sinFun_01_f], phi: [0.3, True], t0: [10, False]}
"""


def line(start: float = 0.25) -> Model:
    """A line whose place oscillates."""
    model = load_model(MODELS, "line")
    model.set_axes(energy=ENERGY, time=TIME)
    model.add_dynamics("Gauss_01_x0", load_dynamics(MODELS, "moves", "Gauss_01_x0"))
    model.set(FREQUENCY, start)
    return model


def counts(seed: int, height: float) -> Measurement:
    model = line()
    model.set(HEIGHT, height)
    drawn = np.random.default_rng(seed).poisson(model.evaluate())
    return Measurement(drawn.astype(float), loss="poisson")


said = of_kind(Kind.WEAK_OSCILLATION)


@pytest.mark.parametrize("height", [0.003, 0.008])
def test_a_frequency_that_is_that_of_noise_is_told(height: float) -> None:
    alarms = []
    for seed in range(12):
        factor = (0.6, 0.7, 1.3, 1.4)[seed % 4]
        result = fit_model(line(0.25 * factor), counts(seed, height))
        if abs(result.values[FREQUENCY] - 0.25) > 0.02 and FREQUENCY not in result.at_bound:
            alarms.append(bool(said(result)))
    assert len(alarms) > 7
    assert np.mean(alarms) > 0.8


def test_one_that_is_there_is_not() -> None:
    for seed in range(8):
        result = fit_model(line(0.255), counts(seed, 0.006))
        assert result.values[FREQUENCY] == pytest.approx(0.25, abs=0.005)
        assert not said(result)


def test_starts_elsewhere_find_it() -> None:
    measurement = counts(3, 0.006)
    (found,) = said(fit_model(line(0.35), measurement))
    assert found.places == (HEIGHT, FREQUENCY)
    assert found.numbers["starts"] == 24  # 1.5 for each optimum: 40 long, from 0.1 to 0.5
    result = fit_model(line(0.35), measurement, n_starts=24)
    assert result.values[FREQUENCY] == pytest.approx(0.25, abs=0.005)
    assert not said(result)


def trace(name: str, noise: float) -> Any:
    values = np.sin(2 * np.pi * 0.25 * TIME + 0.3) + 5.0 * (name == "trace")
    return fit_trace(
        MODELS, name, TIME, values + np.random.default_rng(1).normal(0, noise, TIME.size), noise
    )


def test_of_traces() -> None:
    assert not said(trace("trace", 1.0))
    (found,) = said(trace("trace", 12.0))
    assert found.places[0] == "sinFun_01_A"
    assert (found.numbers["starts"], found.numbers["length"]) == (0, 40.0)
