"""Fits of schemes in which two states meet, with free spectra and with several intensities."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.errors import FitError
from pyspec.functions.kinetics import reacting

MODELS = """
kinetics:
  fusion: {S -> T: k1, T: k2, T + T -> S: k3, start: {S: 1}}
meeting:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  fusion: {k1: [2, True, 0.01, 100], k2: [0.03, True, 0, 10], k3: [0.1, True, 0, 10],
           t0: [0, True], spectra: {free: energy}}
alone:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  fusion: {k1: [2, True, 0.01, 100], k2: [0.03, True, 0, 10], k3: [0, False],
           t0: [0, True], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 16)
TIME = np.concatenate([np.linspace(-1, 3, 61), np.geomspace(3.2, 300, 40)])
K1, K2, K3 = 1.3, 0.02, 0.4
SPECTRA = np.array([b * np.exp(-(((ENERGY - a) / 0.3) ** 2)) for a, b in ((1.8, 1), (2.4, 0.7))])


def _fit(folder: Path, seed: int, name: str = "meeting"):
    path = folder / "models.yaml"
    path.write_text(MODELS)
    moves = [([0], [1], K1), ([1], [], K2), ([1, 1], [0], K3)]
    clean = reacting(TIME - 0.1, moves, np.array([1.0, 0.0]), 0.15) @ SPECTRA
    data = clean + np.random.default_rng(seed).normal(0, 0.005, clean.shape)
    file = File(Project(folder, show_output=False), data=data, energy=ENERGY, time=TIME)
    file.load_model(path, name)
    return file.fit_2d(name)


def test_rates_and_spectra_are_found_within_their_errors(tmp_path: Path) -> None:
    pulls, spectra = [], []
    for seed in range(12):
        result = _fit(tmp_path, seed)
        assert result.success
        for name, truth in (("k1", K1), ("k2", K2), ("k3", K3)):
            par = result.params[f"fusion_{name}"]
            assert par.stderr < 0.2 * truth
            pulls.append((par.value - truth) / par.stderr)
        sas = result.amplitudes.sas()
        spectra.append((sas.values - SPECTRA) / sas.stderr)
    assert 0.7 < np.sqrt(np.mean(np.square(pulls))) < 1.35
    assert 0.8 < np.sqrt(np.mean(np.square(spectra))) < 1.25


def test_there_are_no_decays(tmp_path: Path) -> None:
    linear = _fit(tmp_path, 1).amplitudes
    for spectra in (linear.das, linear.eas):
        with pytest.raises(FitError, match=r"steps of two states has no decays.*sas\(\)"):
            spectra()
