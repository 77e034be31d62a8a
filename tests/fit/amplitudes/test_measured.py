"""Free spectra behind a measured instrument, with an onset that depends on the energy."""

from __future__ import annotations

import numpy as np
from support.fit_cases import loaded

from pyspec import Measurement
from pyspec.executor import make_executor

#: A response with a steep rise and a long tail, which no Gaussian is.
S = np.concatenate([np.linspace(-0.3, 0.3, 25), np.linspace(0.36, 1.5, 20)])
R = np.exp(-((S / 0.1) ** 2)) + 0.4 * np.where(S > 0, np.exp(-S / 0.3), 0) * (1 - S / 1.5)
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


def test_free_spectra_with_an_onset_at_each_energy() -> None:
    model = loaded(FREE, "free", energy=ENERGY, time=TIME)
    laws = []
    for onset in 0.0513 + 0.6 * (1 - 550 / ENERGY):
        laws.append([seen("expFun", 1.0, 4.0, onset), seen("stepFun", 1.0, onset)])
    heights = np.array([2 * np.exp(-(((ENERGY - 520) / 60) ** 2)), 0.5 + ENERGY / 700])
    data = np.einsum("ekt,ke->te", laws, heights)
    data += np.random.default_rng(1).normal(0, 0.02, data.shape)
    executor = make_executor(model, Measurement(data))
    theta = np.array([TRUTH[name] for name in executor.opt_param_names])
    design = executor.solve(theta).design
    for j in (0, 7, 15):
        np.testing.assert_allclose(design.basis[:, j], laws[j], rtol=0, atol=1e-11)
    found = executor.jacobian(theta)
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = 1e-7
        expected = (executor.residual(theta + h) - executor.residual(theta - h)) / 2e-7
        assert np.abs(found[k] - expected).max() < 1e-6 * np.abs(expected).max()
