"""Reference of Mahan's line: the living definition, by sums that the C kernel does not use."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

#: Where the line has a value: far more than any metal has, and a little below 0 for fits to pass.
LEAST, MOST = -0.5, 4.0

#: Nodes v of the sum near the edge, at s = exp(v - exp(-v)), and of the one along the tail.
_NEAR = np.arange(-4.75, 4.25, 1 / 32)
_LOG_S = _NEAR - np.exp(-_NEAR)
_FAR = np.arange(-9.0, 9.25, 0.5)
_FROM = 12.0


def Mahan(x: Array, A: Value, x0: Value, SD: Value, alpha: Value, xi: Value) -> Array:
    """Line of a metal after Mahan, convolved with a Gaussian.

    ``A int_0^inf g(s) N(x - x0 + sign(xi) s; SD) ds`` with ``g(s) = s^(alpha - 1) exp(-s / |xi|)
    / (Gamma(alpha) |xi|^alpha)``, which has the area 1, and N the normal density. The electron
    loses an energy s to electrons at the Fermi edge: on an axis of kinetic energies the tail lies
    below x0. On an axis of binding energies give xi < 0, and it lies above. Bare, the line
    diverges at x0. alpha = 0 and xi = 0 give a Gaussian, alpha = 1 an exponential tail. It has a
    value for -0.5 <= alpha <= 4: a fit may pass 0, below which there is no line.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : area, in units of the data times eV; the height is near A / (2.5 SD) for a small alpha
    x0 : position of the edge that the line has without losses, eV
    SD : standard deviation of the Gaussian, eV, SD > 0
    alpha : singularity index, 0 (Gaussian) to 1
    xi : length of the tail, about the width of the conduction band, eV; its sign is the side

    Source: G. D. Mahan, Phys. Rev. B 11, 4814 (1975); G. K. Wertheim & P. H. Citrin in
    Photoemission in Solids I, Springer 1978, chapter 5.
    """
    inside = (alpha >= LEAST) & (alpha <= MOST)
    index = np.where(inside, alpha, 0.0)
    side = np.where(np.asarray(xi) < 0, -1.0, 1.0)
    with np.errstate(divide="ignore"):
        r = np.clip(SD / np.abs(xi), 1e-300, 1e150)
    z = np.clip(side * (x0 - x) / SD, -1e150, 1e150)
    w = z - r
    near = _near_the_edge(z, np.minimum(w, _FROM), r, index)
    far = _along_the_tail(np.maximum(w, _FROM), r, index)
    line = np.where(w > _FROM, far, near)
    return np.asarray(A / SD * np.where(inside, line, np.nan))


def _near_the_edge(z: Array, w: Array, r: Array, alpha: Array) -> Array:
    """``r^alpha exp(-z^2 / 2) / sqrt(2 pi)`` times the integral of
    ``s^(alpha - 1) exp(w s - s^2 / 2) / Gamma(alpha)``, by parts: then alpha may be 0 and below.
    ``w s - (s^2 + z^2) / 2`` is also ``-((s - w)^2 + r (z + w)) / 2``, which keeps its digits where
    w > 0."""
    unit, above, below = 1 / (1 + np.maximum(-w, 0.0)), np.maximum(w, 0.0), np.minimum(w, 0.0)
    same = alpha * (np.log(r) + np.log(unit)) - np.where(w > 0, r * (z + w), z**2) / 2
    total = np.zeros_like(same)
    for log_s, s_1, step in zip(_LOG_S, np.exp(_LOG_S), 1 + np.exp(-_NEAR), strict=True):
        s = unit * s_1
        size = same + alpha * log_s + s * below - (s - above) ** 2 / 2
        total += np.exp(size) * (s - w) * (s * step)
    height = (_NEAR[1] - _NEAR[0]) * special.rgamma(1 + alpha) / np.sqrt(2 * np.pi)
    return np.asarray(height * total)


def _along_the_tail(w: Array, r: Array, alpha: Array) -> Array:
    """The mean of ``(w + v)^(alpha - 1)`` over a Gaussian, which the exponential moves by r."""
    total = 0.0 * (w + r + alpha)
    for v in _FAR:
        size = alpha * np.log(r * (w + v)) - r * (w + r / 2) - v**2 / 2
        total = total + np.exp(size) / (w + v)
    height = (_FAR[1] - _FAR[0]) * special.rgamma(alpha) / np.sqrt(2 * np.pi)
    return np.asarray(height * total)
