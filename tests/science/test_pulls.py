"""Standard errors are right: pulls of many simulated fits have mean 0 and standard deviation 1.

``python -m bench.pulls`` runs 1,000 fits of more models.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.problems.cases import six_files
from bench.pulls import CASES, limits, run_case
from bench.science import FreeOnset, TiedDoublet
from pyspec import File, Project
from pyspec.fit import fit_joint
from pyspec.functions.kinetics import populations

#: A fit by lmfit has the same Jacobian and covariance; the usual path is native.
METHODS = ["native", pytest.param("leastsq", marks=pytest.mark.slow)]
BY_NAME = {case.name: case for case in CASES}
FITS = 200


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["doublet on a Shirley", "counts", "decay under an instrument"])
def test_mean_0_and_sd_1(name: str, method: str) -> None:
    pulls = run_case(BY_NAME[name], FITS, method)
    assert len(pulls.good) == FITS, pulls.messages
    # 30 numbers in all: one of them is beyond by chance in one of 500 runs.
    mean_limit, sd_limit = limits(FITS, 4.0)
    assert dict(zip(pulls.names, pulls.means, strict=True)) == pytest.approx(
        dict.fromkeys(pulls.names, 0.0), abs=mean_limit
    )
    assert dict(zip(pulls.names, pulls.sds, strict=True)) == pytest.approx(
        dict.fromkeys(pulls.names, 1.0), abs=sd_limit
    )


@pytest.mark.parametrize("samples", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_a_free_onset_is_unbiased(samples: float) -> None:
    """An onset between two samples, under an exact Gaussian response."""
    pulls = FreeOnset(samples).pulls(200)
    assert abs(np.mean(pulls)) < 0.3
    # The errors are honest too: three standard deviations of the spread of 200 draws.
    assert np.std(pulls, ddof=1) == pytest.approx(1.0, abs=0.15)


#: A spin-orbit doublet tied by expressions, whose first line moves under an instrument.
MOVED = pytest.mark.parametrize("moved", ["x0", "A"])
IRF = pytest.mark.parametrize("irf", ["gaussIRF", "gaussCONV"])


@MOVED
@IRF
def test_tau_of_a_tied_doublet(irf: str, moved: str) -> None:
    pulls = TiedDoublet(irf, moved).pulls(20)
    assert np.count_nonzero(np.abs(pulls) < 3) >= 19
    assert abs(np.mean(pulls)) < 3 / np.sqrt(20)


def test_six_files_with_one_decay_time_and_one_instrument() -> None:
    case = six_files()
    result = fit_joint(case.parts)
    assert case.n_points == 6 * 98 * 200
    assert result.success
    assert set(result.joint.problem.names) == set(case.truth)
    assert len(case.truth) == 6 * 6 + 2
    pulls = {n: (result.values[n] - true) / result.stderr[n] for n, true in case.truth.items()}
    assert max(map(abs, pulls.values())) < 3, pulls
    assert np.std(list(pulls.values())) == pytest.approx(1.0, abs=0.35)  # of 38 draws
    assert result.redchi == pytest.approx(0.3**2, rel=0.02)


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
def test_rates_and_spectra_of_kinetic_schemes(tmp_path: Path, name: str) -> None:
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
