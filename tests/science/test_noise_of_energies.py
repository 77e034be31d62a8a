"""Noise that differs along the spectrum and is not known: what σ of each energy errors need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import File, FitResult, Project
from pyspec.functions.response import expFun_gaussIRF

Array = npt.NDArray[np.float64]

MODEL = """
decays:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [1, True, 0.01, 100], t0: [0, True]}
  expFun: {A: {free: energy}, tau: [10, True, 0.1, 1000], t0: ["expFun_01_t0"]}
"""
ENERGY = np.linspace(1.5, 3, 60)
TIME = np.concatenate([np.linspace(-1, 3, 81), np.arange(4, 40)])
NOISE = 0.01 * (1 + 4 * np.exp(-(((ENERGY - 1.5) / 0.2) ** 2)))
TRUTH = {"gaussIRF_SD": 0.25, "expFun_01_tau": 1.4, "expFun_01_t0": 0.1, "expFun_02_tau": 12.0}
BANDS = np.array([np.exp(-(((ENERGY - 1.9) / 0.2) ** 2)), -np.exp(-(((ENERGY - 2.3) / 0.3) ** 2))])
N_FITS = 60


def simulated(seed: int) -> Array:
    laws = [
        expFun_gaussIRF(TIME, 1.0, TRUTH[tau], TRUTH["expFun_01_t0"], TRUTH["gaussIRF_SD"])
        for tau in ("expFun_01_tau", "expFun_02_tau")
    ]
    noise = np.random.default_rng(seed).normal(0, 1, (TIME.size, ENERGY.size)) * NOISE
    return np.asarray(np.array(laws).T @ BANDS + noise)


def fit(data: Array, sigma: Array | None) -> FitResult:
    file = File(Project(show_output=False), data=data, energy=ENERGY, time=TIME)
    if sigma is not None:
        file.set_noise("gaussian", sigma=sigma)
    file.load_model(MODEL, "decays")
    return file.fit_2d("decays")


def of_residual(data: Array) -> Array:
    return np.asarray(fit(data, None).residual.std(axis=0, ddof=2))


def before(n: int, data: Array) -> Array:
    return np.asarray(data[:n].std(axis=0, ddof=1))


def pulls(how: str) -> tuple[float, float]:
    """The root mean square of deviations in standard errors: of parameters, and of spectra."""
    found, spectra = [], []
    for seed in range(N_FITS):
        data = simulated(seed)
        sigma = of_residual(data) if how == "residual" else before(int(how), data)
        result = fit(data, sigma)
        for name, value in TRUTH.items():
            error = result.stderr[name]
            assert error is not None
            found.append((result.values[name] - value) / error)
        linear = result.amplitudes
        assert linear is not None
        for name, band in zip(linear, BANDS, strict=True):
            spectra.append((linear[name] - band) / linear.stderr[name])
    return float(np.sqrt(np.mean(np.square(found)))), float(np.sqrt(np.mean(np.square(spectra))))


def test_the_residual_of_a_first_fit_says_it() -> None:
    of_parameters, of_spectra = pulls("residual")
    assert abs(of_parameters - 1) < 0.2
    assert abs(of_spectra - 1) < 0.05


@pytest.mark.parametrize(
    ("delays", "factor"), [("8", 1.3), pytest.param("5", 1.9, marks=pytest.mark.slow)]
)
def test_a_few_delays_do_not(delays: str, factor: float) -> None:
    """The page on transient absorption said to take these."""
    assert pulls(delays)[0] > factor
