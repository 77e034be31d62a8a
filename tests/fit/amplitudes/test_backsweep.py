"""Decays seen by a synchroscan streak camera: the recipe of
docs/howto/pump_probe/streak_camera.md, against sums over pulses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec import Measurement, fit_model
from pyspec.functions.response import expFun_gaussIRF
from pyspec.model import Model, load_model, load_time_model

Array = np.ndarray

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "pump_probe" / "streak_camera.md"
PERIOD = 13200.0


def recipe() -> str:
    """The section ``functions`` and the model that the page prints."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "Synchroscan:" in block)


def law(time: Array, tau: float, t0: float, SD: float, T: float, centre: float) -> Array:
    """The recipe as a model of one trace of height 1."""
    functions = recipe().split("fluorescence:", maxsplit=1)[0]
    given = {"A": 1.0, "tau": tau, "t0": t0, "SD": SD, "T": T, "centre": centre}
    values = ", ".join(f"{name}: [{value!r}, False]" for name, value in given.items())
    model = load_time_model(f"{functions}one:\n  Synchroscan: {{{values}}}\n", "one")
    model.set_axes(time=time)
    return model.evaluate()


def pulses(time: Array, tau: float, t0: float, SD: float, T: float, centre: float) -> Array:
    """The sum over all pulses until now of the exact response to each, at the times at which the
    sweep passes a place: `time` forward, and half a period after the centre on its way back."""
    back = 2 * centre + T / 2 - time
    n = np.arange(int(40 * tau / T) + 3)[:, np.newaxis]
    seen = [expFun_gaussIRF(at, 1.0, tau, t0 - n * T, SD).sum(axis=0) for at in (time, back)]
    return np.asarray(seen[0] + seen[1])


TIMES = np.linspace(-300.0, 1800.0, 701)


@pytest.mark.parametrize("tau", [0.5, 8.0, 90.0, 1500.0, 20000.0, 3e5])
@pytest.mark.parametrize(("t0", "SD", "centre"), [(3.0, 4.0, 3.0), (20.0, 60.0, 700.0)])
def test_the_recipe_is_the_sum_over_all_pulses(
    tau: float, t0: float, SD: float, centre: float
) -> None:
    expected = pulses(TIMES, tau, t0, SD, PERIOD, centre)
    found = law(TIMES, tau, t0, SD, PERIOD, centre)
    assert np.abs(found - expected).max() < 1e-11 * expected.max()


def test_a_screen_that_adds_up_many_sweeps_shows_the_recipe() -> None:
    """Light at all times, put where the sweep is then: the deflection is a sine of the period."""
    T, tau, t0 = 100.0, 60.0, -8.0
    step = T / 20000
    phase = (np.arange(20000) + 0.5) * step - T / 4  # of one sweep, forward and back
    light = np.zeros(phase.size)
    for n in range(60):
        since = phase + n * T - t0
        light += np.where(since >= 0, np.exp(-np.abs(since) / tau), 0.0)
    edges = np.linspace(-20.0, 20.0, 41)
    bins, place = (np.sin(2 * np.pi * at / T) for at in (edges, phase))
    seen, _ = np.histogram(place, bins=bins, weights=light * step)
    middle = (edges[1:] + edges[:-1]) / 2
    expected = law(middle, tau, t0, 1e-3, T, 0.0)
    away = np.abs(middle - t0) > 1.0
    assert np.allclose((seen / np.diff(edges))[away], expected[away], rtol=1e-3)
    as_centred = law(middle, tau, t0, 1e-3, T, t0)
    assert not np.allclose(as_centred[away], expected[away], rtol=0.05)


def test_a_fit_finds_decays_and_their_spectra() -> None:
    """Two decays, of which the slow one does not end within a period."""
    energy, time = np.linspace(400.0, 700.0, 20), np.linspace(-150.0, 1700.0, 371)
    truth = {"Synchroscan_01_tau": 120.0, "Synchroscan_02_tau": 4500.0}
    seen = [pulses(time, tau, 5.0, 7.0, PERIOD, 5.0) for tau in truth.values()]
    spectra = np.array([np.cos(energy / 90), 1.5 + np.sin(energy / 50)])
    model: Model = load_model(recipe(), "fluorescence")
    model.set_axes(energy=energy, time=time)
    clean = np.array(seen).T @ spectra
    result = fit_model(model, Measurement(clean))
    assert result.success
    for name, value in truth.items():
        assert result.values[name] == pytest.approx(value, rel=1e-6)
    assert result.values["Synchroscan_01_t0"] == pytest.approx(5.0, abs=1e-5)
    assert result.values["Synchroscan_01_SD"] == pytest.approx(7.0, rel=1e-6)
    for name, spectrum in zip(result.amplitudes, spectra, strict=True):
        np.testing.assert_allclose(result.amplitudes[name], spectrum, atol=1e-6)
