"""Fits of schemes with a circle, whose populations oscillate, and of such in which two states meet,
with free spectra."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model
from pyspec.errors import FitError
from pyspec.fit import FitResult
from pyspec.functions.kinetics import populations, reacting
from pyspec.plot import plot_species

MODELS = """
kinetics:
  cycle: {A -> B: k1, B -> C: k2, C -> A: k3, C: k4}
  fusion: {S -> T: k1, T: k2, T + T -> S: k3, start: {S: 1}}
cycling:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  cycle: {k1: [1.5, True, 0.01, 100], k2: [0.4, True, 0.001, 50], k3: ["cycle_k1"],
          k4: [0.1, True, 0, 10], t0: [0, True], spectra: {free: energy}}
meeting:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  fusion: {k1: [2, True, 0.01, 100], k2: [0.03, True, 0, 10], k3: [0.1, True, 0, 10],
           t0: [0, True], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 24)
TIME = np.concatenate([np.linspace(-1, 3, 61), np.geomspace(3.2, 300, 40)])
SPECTRA = np.array(
    [b * np.exp(-(((ENERGY - a) / 0.3) ** 2)) for a, b in ((1.8, 1), (2.2, 0.7), (2.6, -0.5))]
)
TRUTH = {
    "cycling": {"cycle_k1": 1.3, "cycle_k2": 0.5, "cycle_k4": 0.08},
    "meeting": {"fusion_k1": 1.3, "fusion_k2": 0.02, "fusion_k3": 0.4},
}


def states(name: str) -> np.ndarray:
    """(n_time, n_states) the populations of the truth."""
    k1, k2, k3 = TRUTH[name].values()
    if name == "meeting":
        moves = [([0], [1], k1), ([1], [], k2), ([1, 1], [0], k3)]
        return reacting(TIME - 0.1, moves, np.array([1.0, 0.0]), 0.15)
    K = np.array([[-k1, 0, k1], [k1, -k2, 0], [0, k2, -k1 - k3]])
    return populations(TIME - 0.1, K, np.array([1.0, 0, 0]), 0.15)


def fit(name: str, seed: int) -> FitResult:
    clean = states(name) @ SPECTRA[: 3 if name == "cycling" else 2]
    model = load_model(MODELS, name)
    model.set_axes(energy=ENERGY, time=TIME)
    noise = np.random.default_rng(seed).normal(0, 0.01, clean.shape)
    return fit_model(model, Measurement(clean + noise))


@pytest.mark.parametrize("name", TRUTH)
def test_rates_and_spectra_are_found_within_their_errors(name: str) -> None:
    pulls, spectra = [], []
    for seed in range(4):
        result = fit(name, seed)
        assert result.success
        for rate, truth in TRUTH[name].items():
            pulls.append((result.values[rate] - truth) / result.stderr[rate])
        sas = result.amplitudes.sas()
        spectra.append((sas.values - SPECTRA[: len(sas.values)]) / sas.stderr)
    assert 0.6 < np.sqrt(np.mean(np.square(pulls))) < 1.4
    assert 0.8 < np.sqrt(np.mean(np.square(spectra))) < 1.25


@pytest.mark.parametrize(
    ("name", "says"),
    [("cycling", "populations of this scheme oscillate"), ("meeting", "has no decays")],
)
def test_there_are_no_decays(name: str, says: str) -> None:
    result = fit(name, 1)
    for spectra in (result.amplitudes.das, result.amplitudes.eas):
        with pytest.raises(FitError, match=rf"{says}.*sas\(\)"):
            spectra()
    figure = plot_species(result)
    assert [len(ax.lines) for ax in figure.axes] == [len(result.amplitudes.sas().names) + 1]
