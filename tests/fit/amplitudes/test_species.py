"""Spectra of states, decays and evolution, with errors that include those of the rates."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.errors import FitError
from pyspec.fit.amplitudes.species import sequence
from pyspec.functions.kinetics import populations
from pyspec.plot import plot_species

MODELS = """
kinetics:
  chain: {A -> B: k1, B -> C: k2, C: k3}
  branches: {A: k1, B: k2, start: {A: 1, B: 1}}
  cycle: {A -> B: k1, B -> C: k2, C -> A: k3, C: k4}
  fusion: {S -> T: k1, T: k2, T + T -> S: k3, start: {S: 1}}
chained:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], k3: [0.02, True, 0, 10],
          t0: [0, True], spectra: {free: energy}}
parallel:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  branches: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
             spectra: {free: energy}}
equal:
  gaussIRF: {SD: [0.15, False]}
  chain: {k1: [0.7, False], k2: [0.7, False], k3: [0.7, False], t0: [0, True],
          spectra: {free: energy}}
cycling:
  cycle: {k1: [1.3, False], k2: [0.5, False], k3: [1.3, False], k4: [0.08, False], t0: [0, True],
          spectra: {free: energy}}
meeting:
  fusion: {k1: [1.3, False], k2: [0.02, False], k3: [0.4, False], t0: [0, True],
           spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 24)
TIME = np.concatenate([np.linspace(-1, 3, 61), np.geomspace(3.2, 200, 40)])
RATES = (3.0, 0.4, 0.03)
SPECTRA = np.array(
    [b * np.exp(-(((ENERGY - a) / 0.3) ** 2)) for a, b in ((1.8, 1), (2.2, 0.7), (2.6, -0.5))]
)


def _data(seed: int) -> np.ndarray:
    k1, k2, k3 = RATES
    K = np.array([[-k1, 0, 0], [k1, -k2, 0], [0, k2, -k3]])
    clean = populations(TIME - 0.1, K, np.array([1.0, 0, 0]), 0.15) @ SPECTRA
    return clean + np.random.default_rng(seed).normal(0, 0.01, clean.shape)


def _fit(folder: Path, name: str, data: np.ndarray):
    path = folder / "models.yaml"
    path.write_text(MODELS)
    file = File(Project(folder, show_output=False), data=data, energy=ENERGY, time=TIME)
    file.load_model(path, name)
    return file.fit_2d(name)


def test_a_sequence_has_its_states_as_evolution(tmp_path: Path) -> None:
    result = _fit(tmp_path, "chained", _data(1))
    sas, eas, das = result.amplitudes.sas(), result.amplitudes.eas(), result.amplitudes.das()
    assert sas.names == ("A", "B", "C")
    np.testing.assert_allclose(eas.values, sas.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(eas.stderr, sas.stderr, rtol=1e-4)
    shares = sequence(das.rates)
    np.testing.assert_allclose(shares.T @ sas.values, das.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(das.values.sum(axis=0), sas["A"], rtol=0, atol=1e-9)
    away = (sas.values - SPECTRA) / sas.stderr
    assert 0.7 < np.std(away) < 1.3


def test_decays_are_those_of_a_fit_with_independent_exponentials(tmp_path: Path) -> None:
    """Values and errors: the spectra of parallel states are those of the decays."""
    k1, k2, _ = RATES
    K = np.diag([-k1, -k2])
    clean = populations(TIME - 0.1, K, np.ones(2), 0.15) @ SPECTRA[:2]
    data = clean + np.random.default_rng(3).normal(0, 0.01, clean.shape)
    result = _fit(tmp_path, "parallel", data)
    sas, das, eas = result.amplitudes.sas(), result.amplitudes.das(), result.amplitudes.eas()
    np.testing.assert_allclose(das.values, sas.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(das.stderr, sas.stderr, rtol=1e-5)
    np.testing.assert_allclose(das.rates, [result.params[f"branches_k{k}"].value for k in (1, 2)])
    np.testing.assert_allclose(sequence(das.rates).T @ eas.values, das.values, rtol=0, atol=1e-9)


def test_equal_rates_have_no_decays_of_their_own(tmp_path: Path) -> None:
    result = _fit(tmp_path, "equal", _data(2))
    assert np.all(np.isfinite(result.amplitudes.sas().values))
    with pytest.raises(FitError, match="two decays have the same rate"):
        result.amplitudes.das()
    with pytest.raises(FitError, match="EAS: two decays have the same rate"):
        result.amplitudes.eas()  # and no warning of a division by their difference
    with pytest.raises(FitError, match="chian"):
        result.amplitudes.sas("chian")


@pytest.mark.parametrize(
    ("name", "says"),
    [("cycling", "populations of this scheme oscillate"), ("meeting", "has no decays")],
)
def test_schemes_with_a_circle_or_of_states_that_meet_have_no_decays(
    name: str, says: str, tmp_path: Path
) -> None:
    result = _fit(tmp_path, name, _data(1))
    for spectra in (result.amplitudes.das, result.amplitudes.eas):
        with pytest.raises(FitError, match=rf"{says}.*sas\(\)"):
            spectra()
    figure = plot_species(result)
    assert [len(ax.lines) for ax in figure.axes] == [len(result.amplitudes.sas().names) + 1]
