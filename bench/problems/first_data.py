"""Simulated series with known laws, for :mod:`bench.first`: transient absorption, moving lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.functions.response import expFun_gaussIRF
from pyspec.functions.time import gaussD1Fun, gaussD2Fun, gaussFun

Array = npt.NDArray[np.float64]

DELAYS = np.concatenate([np.arange(-1, 2, 0.05), np.geomspace(2, 1000, 70)])
WAVELENGTHS = np.linspace(400.0, 700.0, 80)

#: Noise in mOD, of bands of some 5 mOD.
NOISES = (0.03, 0.1)


@dataclass(frozen=True)
class Absorption:
    """A set of transient absorption and the truth behind it."""

    data: Array
    taus: tuple[float, ...]
    zero: float
    chirp: float
    sd: float
    has_chirp: bool
    has_artifact: bool
    noise: float


def bands(rng: np.random.Generator, axis: Array) -> Array:
    """Three bands of both signs, anywhere."""
    found = np.zeros(axis.size)
    for _ in range(3):
        place = rng.uniform(axis.min() + 20, axis.max() - 20)
        found += rng.normal(0, 4) * np.exp(-(((axis - place) / rng.uniform(20, 50)) ** 2) / 2)
    return found


def absorption(number: int, seed: int = 1000) -> Absorption:
    """Set `number` of forty: 1 to 4 decays a factor of 4 or more apart, with and without chirp and
    artifact, at two levels of noise."""
    rng = np.random.default_rng(seed + number)
    count = number % 4 + 1
    has_chirp, has_artifact = bool(number // 4 % 2), bool(number // 8 % 2)
    noise = NOISES[(number // 16 + number // 32 * (number % 2)) % 2]
    while True:
        taus = np.sort(np.exp(rng.uniform(np.log(0.4), np.log(300), count)))
        if np.all(taus[1:] > 4 * taus[:-1]):
            break
    sd, chirp = rng.uniform(0.06, 0.12), rng.uniform(0.3, 0.9) if has_chirp else 0.0
    middle = rng.uniform(-0.1, 0.2)
    zero = middle + chirp * (1 - (550 / WAVELENGTHS) ** 2)
    t = DELAYS[:, None]
    data = np.zeros((DELAYS.size, WAVELENGTHS.size))
    for tau in taus:
        data += expFun_gaussIRF(t, 1.0, tau, zero, sd) * bands(rng, WAVELENGTHS)
    if has_artifact:
        for law in (gaussFun, gaussD1Fun, gaussD2Fun):
            data += rng.normal(0, 4) * law(t, 1.0, sd, zero) * (1 + 0.3 * bands(rng, WAVELENGTHS))
    data += rng.normal(0, noise, data.shape)
    truth = tuple(taus.tolist()), middle, -chirp, sd
    return Absorption(data, *truth, has_chirp, has_artifact, noise)


ENERGIES = np.linspace(80.0, 95.0, 151)
TIMES = np.linspace(-5.0, 45.0, 101)

LAWS = ("a decay", "an oscillation", "a step", "a doublet that decays")


@dataclass(frozen=True)
class Moving:
    """A series whose lines move, and the law."""

    data: Array
    law: str
    noise: float


def moving(number: int, seed: int = 2000) -> Moving:
    """Series `number` of twenty: one line or a doublet whose place decays, oscillates or steps."""
    rng = np.random.default_rng(seed + number)
    law = LAWS[number % len(LAWS)]
    noise = float(rng.choice([2.0, 6.0]))
    size, late = rng.uniform(0.3, 1.2) * rng.choice([-1, 1]), np.maximum(TIMES, 0.0)
    after = TIMES >= 0
    shift = {
        "a decay": size * np.exp(-late / rng.uniform(4, 15)) * after,
        "an oscillation": abs(size)
        * np.sin(2 * np.pi * rng.uniform(0.06, 0.2) * late + 0.3)
        * after,
        "a step": size * after,
        "a doublet that decays": size * np.exp(-late / rng.uniform(4, 15)) * after,
    }[law]
    lines = [(300.0, 86.0)]
    if law == LAWS[3]:
        lines.append((220.0, 89.7))
    width = rng.uniform(0.8, 1.4)
    data = np.full((TIMES.size, ENERGIES.size), 40.0)
    for height, place in lines:
        u = (ENERGIES - place - shift[:, None]) / width
        data += height * np.exp(-4 * np.log(2) * 0.7 * u**2) / (1 + 4 * 0.3 * u**2)
    return Moving(data + rng.normal(0, noise, data.shape), law, noise)
