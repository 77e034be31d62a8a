"""Exact responses of the laws of motion to a Gaussian instrument (gaussIRF).

Each is the convolution ``integral f(t - s) N(s; SD) ds`` of a law f of
:mod:`pyspec.functions.time` with the normal distribution N of standard deviation SD, the
instrument response. Unlike a sum over the samples it sees an onset between two of them.

Notation: u = t - t0, Phi and phi the normal distribution and density, w the Faddeeva
function. Closed forms: completed squares (expFun: the exponentially modified Gaussian,
E. Grushka, Anal. Chem. 44, 1733 (1972)); sinDivX and sqrtFun have none and are integrated.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import erf, erfc, erfcx, roots_legendre, wofz

Array: TypeAlias = npt.NDArray[np.float64]

_NODES, _WEIGHTS = roots_legendre(40)

#: Beyond this many standard deviations a Gaussian is below 1e-16 of its peak.
REACH = 8.6


def _step(u: Array, SD: float) -> Array:
    """Phi(u / SD)."""
    return np.asarray(erfc(-u / (SD * np.sqrt(2))) / 2)


def gaussIRF(d: Array, SD: float) -> Array:
    """Gaussian instrument response ``exp(-(d / SD)^2 / 2) / (SD sqrt(2 pi))``.

    Parameters
    ----------
    d : time differences
    SD : standard deviation, in units of the time axis, SD > 0
    """
    return np.asarray(np.exp(-((d / SD) ** 2) / 2) / (SD * np.sqrt(2 * np.pi)))


def stepFun_gaussIRF(t: Array, A: float, t0: float, SD: float, y0: float = 0.0) -> Array:
    """``(A + y0) Phi(u / SD)``."""
    return (A + y0) * _step(t - t0, SD)


def linFun_gaussIRF(t: Array, m: float, t0: float, SD: float, y0: float = 0.0) -> Array:
    """``m (u Phi(u / SD) + SD phi(u / SD)) + y0 Phi(u / SD)``."""
    u = t - t0
    density = np.exp(-((u / SD) ** 2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(m * (u * _step(u, SD) + SD * density) + y0 * _step(u, SD))


def expFun_gaussIRF(t: Array, A: float, tau: float, t0: float, SD: float, y0: float = 0.0) -> Array:
    """``A/2 exp(SD^2 / (2 tau^2) - u / tau) erfc(z) + y0 Phi(u / SD)``,
    ``z = (SD / tau - u / SD) / sqrt(2)``; for z > 0 as ``exp(-u^2 / (2 SD^2)) erfcx(z)``."""
    u = t - t0
    z = (SD / tau - u / SD) / np.sqrt(2)
    late = z <= 0
    safe = np.where(late, u, SD**2 / tau)
    decay = np.exp(SD**2 / (2 * tau**2) - safe / tau) * erfc(np.where(late, z, 0.0))
    rise = np.exp(-((u / SD) ** 2) / 2) * erfcx(np.where(late, 0.0, z))
    return np.asarray(A / 2 * np.where(late, decay, rise) + y0 * _step(u, SD))


def sinFun_gaussIRF(
    t: Array, A: float, f: float, phi: float, t0: float, SD: float, y0: float = 0.0
) -> Array:
    """``A Im(exp(i phi) h) + y0 Phi(u / SD)``, h the response of ``exp(i omega u)`` for u >= 0:
    ``exp(-u^2 / (2 SD^2)) w((omega SD - i u / SD) / sqrt(2)) / 2``, omega = 2 pi f."""
    u = t - t0
    omega = 2 * np.pi * f
    early = np.exp(-((u / SD) ** 2) / 2) / 2
    z = (omega * SD + 1j * np.abs(u) / SD) / np.sqrt(2)
    before = early * wofz(z)
    # For u > 0 by w(z) = 2 exp(-z^2) - w(-z), with -z = -conj(z') in the upper half plane.
    after = np.exp(1j * omega * u - (omega * SD) ** 2 / 2) - early * np.conj(wofz(z))
    h = np.where(u > 0, after, before)
    return np.asarray(A * np.imag(np.exp(1j * phi) * h) + y0 * _step(u, SD))


def erfFun_gaussIRF(t: Array, A: float, SD: float, t0: float, IRF: float, y0: float = 0.0) -> Array:
    """``A/2 (1 + erf(u / sqrt(2 (SD^2 + IRF^2)))) + y0``: widths add in squares."""
    return np.asarray(A / 2 * (1 + erf((t - t0) / np.sqrt(2 * (SD**2 + IRF**2)))) + y0)


def _integrate(f: Callable[[Array], Array], low: Array, high: Array, n_panels: int) -> Array:
    """Gauss-Legendre over panels of equal width, for each element of low and high."""
    edges = np.linspace(0.0, 1.0, n_panels + 1)
    total = np.zeros(np.shape(low))
    for begin, end in pairwise(edges):
        half = (high - low) * (end - begin) / 2
        middle = low + (high - low) * (begin + end) / 2
        points = middle[..., np.newaxis] + half[..., np.newaxis] * _NODES
        total += half * np.sum(_WEIGHTS * f(points), axis=-1)
    return total


def sinDivX_gaussIRF(t: Array, A: float, f: float, t0: float, SD: float, y0: float = 0.0) -> Array:
    """``A integral_0^inf sin(omega s) / (omega s) N(u - s; SD) ds + y0 Phi(u / SD)``,
    omega = 2 pi f, by quadrature over u +- 8.6 SD."""
    u = np.atleast_1d(np.asarray(t, dtype=np.float64) - t0)
    low, high = np.maximum(u - REACH * SD, 0.0), np.maximum(u + REACH * SD, 0.0)
    n_panels = 2 + int(np.ceil(abs(f) * REACH * SD))
    value = _integrate(
        lambda s: np.sinc(2 * f * s) * gaussIRF(u[..., np.newaxis] - s, SD), low, high, n_panels
    )
    return np.asarray(A * value + y0 * _step(u, SD))


def sqrtFun_gaussIRF(t: Array, A: float, t0: float, SD: float, y0: float = 0.0) -> Array:
    """``A integral_0^inf sqrt(s) N(u - s; SD) ds + y0``, by quadrature in v = sqrt(s)."""
    u = np.atleast_1d(np.asarray(t, dtype=np.float64) - t0)
    low = np.sqrt(np.maximum(u - REACH * SD, 0.0))
    high = np.sqrt(np.maximum(u + REACH * SD, 0.0))
    value = _integrate(lambda v: 2 * v**2 * gaussIRF(u[..., np.newaxis] - v**2, SD), low, high, 4)
    return np.asarray(A * value + y0)
