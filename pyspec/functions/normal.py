"""The normal distribution and integrals against it, for :mod:`pyspec.functions.response`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special

Array: TypeAlias = npt.NDArray[np.float64]

#: Beyond this many standard deviations a Gaussian is below 1e-16 of its peak.
REACH = 8.6

#: Beyond this many it is 0 in doubles.
NOTHING = 40.0

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def density(d: Array, SD: float | Array) -> Array:
    """``exp(-(d / SD)^2 / 2) / (SD sqrt(2 pi))``."""
    return np.asarray(np.exp(-((d / SD) ** 2) / 2) / (SD * np.sqrt(2 * np.pi)))


def cumulative(u: Array, SD: float | Array) -> Array:
    """Phi(u / SD), the integral of the density up to u."""
    return np.asarray(special.erfc(-u / (SD * np.sqrt(2))) / 2)


def integrate(f: Callable[[Array], Array], low: Array, high: Array, n_panels: int) -> Array:
    """Integral of f from low to high, for each of their elements, by Gauss-Legendre with 40
    nodes in each of `n_panels` panels of equal width. f takes (..., 40)."""
    edges = np.linspace(0.0, 1.0, n_panels + 1)
    total = np.zeros(np.shape(low))
    for begin, end in pairwise(edges):
        half = (high - low) * (end - begin) / 2
        middle = low + (high - low) * (begin + end) / 2
        points = middle[..., np.newaxis] + half[..., np.newaxis] * _NODES
        total += half * np.sum(_WEIGHTS * f(points), axis=-1)
    return total


def fast_cardinal_sine(u: Array, omega: Array, SD: Array) -> Array:
    """Integral of ``sin(omega s) / (omega s) N(u - s; SD)`` over s > 0 for large omega SD, by
    parts: ``N(u) / omega (pi/2 + a He1 - a^3 He3 / 3 + a^5 He5 / 5)``, a = 1 / (omega SD), with
    the Hermite polynomials He_n of u / SD. At omega SD = 1300 the next term is 1e-17."""
    z = np.clip(u / SD, -40.0, 40.0)  # N is 0 beyond
    with np.errstate(divide="ignore", invalid="ignore"):
        a = 1 / (np.abs(omega) * SD)
        series = np.pi / 2 + a * z - a**3 * (z**3 - 3 * z) / 3
        series += a**5 * (z**5 - 10 * z**3 + 15 * z) / 5
        return np.asarray(density(u, SD) / np.abs(omega) * series)
