"""Standard errors of rates and of spectra of kinetic schemes, against the scatter of 200 fits."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.functions.kinetics import populations

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
  branches: {A: k1, B: k2, start: {A: 1, B: 1}}
  balance: {A -> B: k1, B -> A: k2, B: k3}
sequential:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0.1, True],
          spectra: {free: energy}}
parallel:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  branches: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0.1, True],
             spectra: {free: energy}}
reversible:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  balance: {k1: [2, True, 0.01, 100], k2: ["balance_k1 / 4"], k3: [0.3, True, 0.001, 50],
            t0: [0.1, True], spectra: {free: energy}}
"""
MATRICES = {
    "sequential": np.array([[-2.0, 0], [2.0, -0.3]]),
    "parallel": np.diag([-2.0, -0.3]),
    "reversible": np.array([[-2.0, 0.5], [2.0, -0.8]]),
}
ENERGY = np.linspace(1.5, 3, 10)
TIME = np.concatenate([np.linspace(-1, 2, 61), np.geomspace(2.1, 30, 20)])
SPECTRA = np.array([h * np.exp(-(((ENERGY - x) / 0.4) ** 2)) for x, h in ((1.9, 1), (2.5, 0.7))])
N_SETS, NOISE = 200, 0.03


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
def test_pulls_have_unit_width(tmp_path: Path, name: str) -> None:
    """Each rate within 0.15, and rates and spectra together within 0.07."""
    path = tmp_path / "models.yaml"
    path.write_text(MODELS)
    start = np.ones(2) if name == "parallel" else np.array([1.0, 0.0])
    clean = populations(TIME - 0.1, MATRICES[name], start, 0.15) @ SPECTRA
    rng = np.random.default_rng(14)
    rates: list[list[float]] = []
    spectra = []
    for _ in range(N_SETS):
        data = clean + rng.normal(0, NOISE, clean.shape)
        file = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)
        file.load_model(path, name)
        result = file.fit_2d(name)
        assert result.success
        free = [par for key, par in result.params.items() if "_k" in key and par.vary]
        rates.append([(p.value - t) / p.stderr for p, t in zip(free, (2.0, 0.3), strict=True)])
        sas = result.amplitudes.sas()
        spectra.append((sas.values - SPECTRA) / sas.stderr)
    each = np.std(rates, axis=0)
    assert np.all(np.abs(each - 1) < 0.15), each
    pooled = np.sqrt(np.mean(np.concatenate([np.ravel(rates), np.ravel(spectra)]) ** 2))
    assert abs(pooled - 1) < 0.07, pooled
