"""Populations of the states of a kinetic scheme: dc/dt = K c from the onset on.

``c(u) = exp(K u) c0`` for u >= 0, else 0; as an instrument of Gaussian width SD sees it,
``integral_0^inf exp(K s) c0 N(u - s; SD) ds``. K holds rates in reciprocal units of the time axis,
K[to, from], and minus the sum of the rates out of each state on its diagonal; c0 the populations at
the onset.

Source: I. H. M. van Stokkum et al., Biochim. Biophys. Acta 1657, 82 (2004).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

#: Where a normal density is next to nothing, in widths; points of Gauss-Legendre in a panel.
_REACH, _POINTS = 9.0, 20


def populations(u: Array, K: Array, start: Array, SD: float | None) -> Array:
    """The populations (..., n_states) at times u since the onset.

    Parameters
    ----------
    u : times since the onset
    K : (n_states, n_states) rate matrix
    start : (n_states,) populations at the onset
    SD : width of the instrument, in units of u, SD > 0; None for none
    """
    if SD is None:
        free = exponential(np.maximum(u, 0.0)[..., None, None] * K) @ start
        return np.where(u[..., None] < 0.0, 0.0, free)
    point, weight = _points(K, SD)
    fed = (exponential(point[:, None, None] * K) @ start) * weight[:, None]
    end = _REACH * SD
    early = np.minimum(u, end)
    away = (early[..., None] - point) / SD
    seen = np.exp(-(away**2) / 2) / (SD * np.sqrt(2 * np.pi)) @ fed
    later = np.maximum(u - end, 0.0)
    return np.asarray(np.einsum("...ij,...j->...i", exponential(later[..., None, None] * K), seen))


def exponential(matrices: Array) -> Array:
    """exp of matrices (..., n, n), by Taylor's series and squaring (scipy.linalg.expm loses half of
    the digits where eigenvalues of a triangular matrix nearly coincide)."""
    size = np.max(np.abs(matrices), initial=1e-300)
    halvings = max(int(np.ceil(np.log2(size))) + 3, 0)
    small = matrices / 2.0**halvings
    term = total = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for k in range(1, 19):
        term = term @ small / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def _points(K: Array, SD: float) -> tuple[Array, Array]:
    """Points and weights of the integral over s: panels that double from where the fastest state
    empties up to 2 SD."""
    fastest = float(np.max(-np.diag(K)))
    begin, ends = 0.0, [0.0]
    length = min(2 * SD, 1.0 / fastest) if fastest > 0 else 2 * SD
    while begin < 2 * _REACH * SD:
        begin += length
        ends.append(begin)
        length = min(2 * SD, begin)
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    half = np.diff(ends)[:, None] / 2
    return (np.array(ends)[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()
