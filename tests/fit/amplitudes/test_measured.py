"""Fits with a measured instrument: what was put in comes out, with errors that are right; spectra
that are free, an onset that depends on the energy, weights; and archives."""

from __future__ import annotations

import numpy as np
from support.fit_cases import loaded

from pyspec import Measurement, fit_model
from pyspec.executor import make_executor
from pyspec.model import Model
from pyspec.model.build.load import load_time_model

#: A response with a steep rise and a long tail, which no Gaussian is, and what it is far off.
S = np.concatenate([np.linspace(-0.3, 0.3, 25), np.linspace(0.36, 1.5, 20)])
R = np.exp(-((S / 0.1) ** 2)) + 0.4 * np.where(S > 0, np.exp(-S / 0.3), 0) * (1 - S / 1.5)
ROW = f"  measuredIRF: {{time: {S.tolist()}, response: {R.tolist()}}}\n"
TIME = np.concatenate([np.linspace(-1, 3, 81), np.geomspace(3.1, 30, 25)])
ENERGY = np.linspace(400.0, 700.0, 16)


def seen(law: str, *params: float) -> np.ndarray:
    """By Gauss-Legendre on the definition, piece by piece, apart from what is tested."""
    from pyspec.functions import time as laws

    area = np.sum(np.diff(S) * (R[1:] + R[:-1]) / 2)
    onset = params[-1]
    point, weight = np.polynomial.legendre.leggauss(12)
    total = np.zeros(TIME.size)
    for a, b, p, q in zip(S[:-1], S[1:], R[:-1], R[1:], strict=True):
        end = np.clip(TIME - onset, a, b)
        half = (end - a)[:, None] / 2
        s = a + half * (1 + point)
        line = p + (q - p) * (s - a) / (b - a)
        values = getattr(laws, law)(TIME[:, None] - s, *params[:-1], onset, 0.0)
        total += np.sum(half * weight * line * values, axis=1)
    return total / area


DECAY = "decay:\n" + ROW + "  expFun: {A: [1, True], tau: [1.5, True, 0.01, 50], t0: [0.1, True]}\n"
TRUE = {"expFun_01_A": 2.0, "expFun_01_tau": 0.8, "expFun_01_t0": 0.04}


def decay() -> Model:
    model = load_time_model(DECAY, "decay")
    model.set_axes(time=TIME)
    return model


def test_a_fit_recovers_what_was_put_in_within_its_errors() -> None:
    """Over 30 draws of noise the pulls are standard normal; a Gaussian in its place is biased."""
    clean = seen("expFun", 2.0, 0.8, 0.04)
    pulls, biased = [], []
    gaussian = load_time_model(DECAY.replace(ROW, "  gaussIRF: {SD: [0.1, True]}\n"), "decay")
    gaussian.set_axes(time=TIME)
    for seed in range(30):
        noisy = clean + np.random.default_rng(seed).normal(0, 0.01, TIME.size)
        measurement = Measurement(noisy, weight=np.full(TIME.size, 100.0))
        result = fit_model(decay(), measurement)
        pulls.append([(result.values[n] - TRUE[n]) / result.params[n].stderr for n in TRUE])
        if seed < 5:
            other = fit_model(gaussian, measurement)
            biased.append(
                (other.values["expFun_01_tau"] - 0.8) / other.params["expFun_01_tau"].stderr
            )
    assert np.all(np.abs(np.mean(pulls, axis=0)) < 3 / np.sqrt(30))
    assert np.all(np.abs(np.std(pulls, axis=0) - 1) < 0.3)
    assert np.min(np.abs(biased)) > 3


FREE = f"""
parameters:
  onset: [0.1, True]
  chirp: [0.3, True]
  zero: ["onset + chirp * (1 - 550 / energy)"]
free:
  measuredIRF: {{time: {S.tolist()}, response: {R.tolist()}}}
  expFun: {{A: {{free: energy}}, tau: [2, True, 0.1, 30], t0: ["zero"]}}
  stepFun: {{A: {{free: energy}}, t0: ["expFun_01_t0"]}}
"""
TRUTH = {"onset": 0.0513, "chirp": 0.6, "expFun_01_tau": 4.0}


def free_model(text: str = FREE) -> Model:
    return loaded(text, "free", energy=ENERGY, time=TIME)


def at_energy(e: float, tau: float = 4.0) -> np.ndarray:
    onset = 0.0513 + 0.6 * (1 - 550 / e)
    return np.array([seen("expFun", 1.0, tau, onset), seen("stepFun", 1.0, onset)])


def free_data(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    heights = np.array([2 * np.exp(-(((ENERGY - 520) / 60) ** 2)), 0.5 + ENERGY / 700])
    columns = [at_energy(e).T @ h for e, h in zip(ENERGY, heights.T, strict=True)]
    return np.array(columns).T + rng.normal(0, 0.02, (TIME.size, ENERGY.size))


def test_free_spectra_with_an_onset_at_each_energy() -> None:
    model = free_model()
    executor = make_executor(model, Measurement(free_data(1)))
    theta = np.array([TRUTH[name] for name in executor.opt_param_names])
    design = executor.solve(theta).design
    for j in (0, 7, 15):
        np.testing.assert_allclose(design.basis[:, j], at_energy(ENERGY[j]), rtol=0, atol=1e-11)
    found = executor.jacobian(theta)
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = 1e-7
        expected = (executor.residual(theta + h) - executor.residual(theta - h)) / 2e-7
        assert np.abs(found[k] - expected).max() < 1e-6 * np.abs(expected).max()


CHAIN = f"""
kinetics:
  chain: {{A -> B: k1, B: k2}}
free:
  measuredIRF: {{time: {S.tolist()}, response: {R.tolist()}}}
  chain: {{k1: [1, True, 0.01, 50], k2: [0.1, True, 0.001, 50], t0: [0, True],
          spectra: {{free: energy}}}}
"""


def test_spectra_of_states_are_recovered() -> None:
    """A sequence, whose populations are differences of two exponentials."""
    k1, k2, onset = 1.6, 0.21, 0.0513
    slow, fast = (seen("expFun", 1.0, 1 / k, onset) for k in (k2, k1))
    populations = np.array([fast, k1 / (k1 - k2) * (slow - fast)])
    spectra = np.array([np.exp(-(((ENERGY - 500) / 60) ** 2)), 0.3 + ENERGY / 1000])
    noise = np.random.default_rng(2).normal(0, 0.01, (TIME.size, ENERGY.size))
    model = free_model(CHAIN)
    clean = Measurement(populations.T @ spectra)
    executor = make_executor(model, clean)
    basis = executor.solve(
        [k1, onset, k2] if model.opt_param_names[1] == "chain_t0" else [k1, k2, onset]
    )
    np.testing.assert_allclose(basis.design.basis[:, 0], populations, rtol=0, atol=1e-11)
    result = fit_model(model, Measurement(populations.T @ spectra + noise))
    for name, true in (("k1", k1), ("k2", k2), ("t0", onset)):
        found = result.params[f"chain_{name}"]
        assert abs(found.value - true) < 4 * found.stderr
    linear = result.amplitudes
    away = (linear.sas().values - spectra) / linear.sas().stderr
    assert 0.7 < np.std(away) < 1.4
