"""Fits of schemes with a circle, whose populations oscillate, with free spectra."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.errors import FitError
from pyspec.functions.kinetics import populations
from pyspec.plot import plot_species

MODELS = """
kinetics:
  cycle: {A -> B: k1, B -> C: k2, C -> A: k3, C: k4}
cycling:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  cycle: {k1: [1.5, True, 0.01, 100], k2: [0.4, True, 0.001, 50], k3: ["cycle_k1"],
          k4: [0.1, True, 0, 10], t0: [0, True], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 24)
TIME = np.concatenate([np.linspace(-1, 3, 61), np.geomspace(3.2, 100, 40)])
K1, K2, K4 = 1.3, 0.5, 0.08
SPECTRA = np.array(
    [b * np.exp(-(((ENERGY - a) / 0.3) ** 2)) for a, b in ((1.8, 1), (2.2, 0.7), (2.6, -0.5))]
)
#: A measured instrument in place of the Gaussian.
SINCE, RESPONSE = [-0.3, -0.1, 0.0, 0.4, 0.9], [0.0, 1.0, 0.8, 0.3, 0.0]
MEASURED = f"measuredIRF: {{time: {SINCE}, response: {RESPONSE}}}"
GAUSSIAN = "gaussIRF: {SD: [0.2, True, 0.01, 2]}"


def _fit(folder: Path, seed: int):
    path = folder / "models.yaml"
    path.write_text(MODELS)
    K = np.array([[-K1, 0, K1], [K1, -K2, 0], [0, K2, -K1 - K4]])
    clean = populations(TIME - 0.1, K, np.array([1.0, 0, 0]), 0.15) @ SPECTRA
    data = clean + np.random.default_rng(seed).normal(0, 0.01, clean.shape)
    file = File(Project(folder, show_output=False), data=data, energy=ENERGY, time=TIME)
    file.load_model(path, "cycling")
    return file.fit_2d("cycling")


def test_a_photocycle_gives_its_rates_and_spectra(tmp_path: Path) -> None:
    pulls = []
    for seed in range(8):
        result = _fit(tmp_path, seed)
        assert result.success
        for name, truth in (("k1", K1), ("k2", K2), ("k4", K4)):
            par = result.params[f"cycle_{name}"]
            pulls.append((par.value - truth) / par.stderr)
        sas = result.amplitudes.sas()
        away = (sas.values - SPECTRA) / sas.stderr
        assert 0.5 < np.std(away) < 1.7
    assert 0.6 < np.sqrt(np.mean(np.square(pulls))) < 1.4


@pytest.mark.slow
def test_a_measured_instrument_sees_a_photocycle(tmp_path: Path) -> None:
    """It used to be refused. The response of the data is summed at 4,001 points."""
    path = tmp_path / "models.yaml"
    path.write_text(MODELS.replace(GAUSSIAN, MEASURED))
    K = np.array([[-K1, 0, K1], [K1, -K2, 0], [0, K2, -K1 - K4]])
    at = np.linspace(SINCE[0], SINCE[-1], 4001)
    weight = np.interp(at, SINCE, RESPONSE)
    weight /= weight.sum()
    states = populations((TIME[:, None] - at) - 0.1, K, np.array([1.0, 0, 0]), None)
    clean = np.einsum("s,tsk->tk", weight, states) @ SPECTRA
    pulls = []
    for seed in range(4):
        data = clean + np.random.default_rng(seed).normal(0, 0.01, clean.shape)
        file = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)
        file.load_model(path, "cycling")
        result = file.fit_2d("cycling")
        assert result.success
        for name, truth in (("cycle_k1", K1), ("cycle_k2", K2), ("cycle_k4", K4)):
            pulls.append((result.values[name] - truth) / result.stderr[name])
        away = (result.amplitudes.sas().values - SPECTRA) / result.amplitudes.sas().stderr
        assert 0.5 < np.std(away) < 1.7
    assert 0.5 < np.sqrt(np.mean(np.square(pulls))) < 1.5
    again = file.fit_2d("cycling", backend="interpreted")
    np.testing.assert_allclose(list(again.values.values()), list(result.values.values()), rtol=1e-6)


def test_oscillations_have_no_decays_and_the_picture_has_the_states(tmp_path: Path) -> None:
    result = _fit(tmp_path, 1)
    for spectra in (result.amplitudes.das, result.amplitudes.eas):
        with pytest.raises(FitError, match=r"populations of this scheme oscillate.*sas\(\)"):
            spectra()
    figure = plot_species(result)
    assert [len(ax.lines) for ax in figure.axes] == [4]
