"""First models of series: decays with free spectra, and lines that move."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.fit import fit_model
from pyspec.fit.findings.verdict import missed, verdict_of
from pyspec.functions.response import expFun_gaussIRF
from pyspec.model import Measurement, load_time_model
from pyspec.model.guess.humps import resolved
from pyspec.model.guess.kinetic import guess_kinetics
from pyspec.model.guess.look import Scan, Wanted, first_model

DELAYS = np.concatenate([np.arange(-1, 2, 0.05), np.geomspace(2, 300, 40)])
NM = np.linspace(400.0, 700.0, 40)


def bands(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(
        sum(
            rng.normal(0, 4) * np.exp(-(((NM - rng.uniform(420, 680)) / 40) ** 2)) for _ in range(3)
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("chirp", [0.0, 0.5])
def test_decays_instrument_and_dispersion_are_found(chirp: float) -> None:
    """Two Gaussian lines that merged into one were written."""
    zero = 0.1 + chirp * (1 - (550 / NM) ** 2)
    data = sum(
        expFun_gaussIRF(DELAYS[:, None], 1.0, tau, zero, 0.1) * bands(k)
        for k, tau in enumerate((1.5, 40.0))
    )
    data = data + np.random.default_rng(1).normal(0, 0.05, (DELAYS.size, NM.size))
    laws = guess_kinetics(DELAYS, NM, data, True)
    assert np.allclose(laws.taus, (1.5, 40.0), rtol=0.05)
    assert (len(laws.zero) > 1) == (chirp > 0)
    assert laws.SD is not None
    assert abs(laws.SD - 0.1) < 0.02
    assert not laws.has_artifact
    assert abs(laws.whiteness) < 0.1
    first = first_model(Scan(data, NM, DELAYS, {}, {"energy": "nm"}), Wanted())
    assert first.kind == "a series of spectra that decay"
    assert first.text.count("expFun:") == 2
    assert ("chirp:" in first.text) == (chirp > 0)
    assert any(one.option == "--decays N" for one in first.unsure)
    model = load_time_model(first.text, first.name)
    model.set_axes(energy=NM, time=DELAYS)
    result = fit_model(model, Measurement(data)).diagnose()
    assert verdict_of(result) == "converged"
    assert missed(result) is None


@pytest.mark.slow
def test_a_line_that_moves_gets_a_law() -> None:
    energy, time = np.linspace(80.0, 92.0, 121), np.linspace(-5.0, 40.0, 61)
    shift = np.where(time >= 0, 0.8 * np.exp(-np.maximum(time, 0) / 8.0), 0.0)
    data = 20 + 300 * np.exp(-4 * np.log(2) * ((energy - 86 - shift[:, None]) / 1.2) ** 2)
    data += np.random.default_rng(2).normal(0, 3, data.shape)
    first = first_model(Scan(data, energy, time, {}, {"energy": "eV"}), Wanted())
    assert first.kind == "a series of lines that move"
    assert [parameter for parameter, _ in first.dynamics] == ["GLP_01_x0"]
    assert "expFun" in first.text
    still = np.broadcast_to(data[:5].mean(axis=0), data.shape) + np.random.default_rng(3).normal(
        0, 3, data.shape
    )
    assert not first_model(Scan(still, energy, time, {}, {"energy": "eV"}), Wanted()).dynamics


@pytest.mark.slow
def test_an_artifact_at_time_zero_is_told_from_a_decay() -> None:
    pulse = np.exp(-((DELAYS[:, None] - 0.1) ** 2) / (2 * 0.08**2))
    data = expFun_gaussIRF(DELAYS[:, None], 1.0, 12.0, 0.1, 0.08) * bands(0) + 6 * pulse * bands(1)
    data = data + np.random.default_rng(4).normal(0, 0.05, data.shape)
    laws = guess_kinetics(DELAYS, NM, data, True)
    assert laws.has_artifact
    assert np.allclose(laws.taus, (12.0,), rtol=0.05)
    text = first_model(Scan(data, NM, DELAYS, {}, {"energy": "nm"}), Wanted()).text
    assert "gaussD2Fun:" in text


ENERGY, TIME = np.linspace(80.0, 92.0, 121), np.linspace(-5.0, 40.0, 91)


def moving(shift: np.ndarray, noise: np.ndarray) -> np.ndarray:
    line = 300 * np.exp(-4 * np.log(2) * ((ENERGY - 86 - shift[:, None]) / 1.2) ** 2)
    return np.asarray(20 + line + noise)


@pytest.mark.slow
def test_noise_of_a_detector_that_is_read_too_finely_makes_no_lines() -> None:
    """Noise that neighbouring energies share was taken for two more lines."""
    rng = np.random.default_rng(6)
    white = rng.normal(0, 8, (TIME.size, ENERGY.size + 5))
    noise = sum(white[:, k : k + ENERGY.size] for k in range(6)) / np.sqrt(6)
    shift = np.where(TIME >= 0, 0.8, 0.0)
    assert resolved(white) == 1
    assert 4 <= resolved(moving(shift, noise)) <= 6
    first = first_model(Scan(moving(shift, noise), ENERGY, TIME, {}, {"energy": "eV"}), Wanted())
    assert first.text.count("GLP:") == 1
    assert "stepFun" in first.text
