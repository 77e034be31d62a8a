"""References of lines and backgrounds under a Gaussian resolution of the energies.

``resolution`` is written into a model above what the instrument blurs. The other functions are
what it makes of the function that stands in front in their name, with the same parameters and
``R``, the standard deviation of the resolution, eV, R > 0. No axis limits them: a function is
taken wherever the Gaussian reaches. They are exact where there is a closed form; else the
integral is done in panels, `_smeared`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import energy, special
from pyspec.functions.heights import scaled

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

#: Nodes of a panel, and how far the Gaussian reaches: the density is 1e-18 there.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_REACH = 9.0
#: So many standard deviations from the centre of a line it is smooth, and nodes of its own do.
_FAR = 1e3
_OFFSETS, _SHARES = np.polynomial.hermite_e.hermegauss(16)


def resolution(d: Array, SD: Value) -> Array:
    """Gaussian resolution of the energies, which convolves what stands below it.

    ``exp(-(d / SD)^2 / 2) / (SD sqrt(2 pi))``. Each line and background below is replaced by its
    exact convolution; nothing is convolved on the grid, so that the ends of the axis play no part.
    ``Shirley``, ``StaticShirley`` and ``Tougaard`` below read the convolved spectrum: a sum over
    losses and a convolution can change places.

    Parameters
    ----------
    d : distances, eV
    SD : standard deviation, eV, SD > 0; the full width at half maximum is 2.3548 SD

    Source: the response of an electron analyser, S. Hüfner, Photoelectron Spectroscopy, 3rd ed.,
    Springer 2003.
    """
    return np.asarray(np.exp(-((d / SD) ** 2) / 2) / (SD * np.sqrt(2 * np.pi)))


def Gauss_resolution(x: Array, A: Value, x0: Value, SD: Value, R: Value) -> Array:
    """A wider and lower Gaussian: ``A SD / T exp(-((x - x0) / T)^2 / 2)``, ``T^2 = SD^2 + R^2``."""
    total = np.sqrt(SD**2 + R**2)
    return np.asarray(A * SD / total * np.exp(-(((x - x0) / total) ** 2) / 2))


def Lorentz_resolution(x: Array, A: Value, x0: Value, W: Value, R: Value) -> Array:
    """A Voigt line of the same area: ``A sqrt(pi) v Re w(u + i v)`` with
    ``u = (x - x0) / (R sqrt2)`` and ``v = W / (2 R sqrt2)``."""
    scale = R * np.sqrt(2)
    v = W / 2 / scale
    w = special.wofz((x - x0) / scale + 1j * v)
    return np.asarray(A * np.sqrt(np.pi) * v * w.real)


def Voigt_resolution(x: Array, A: Value, x0: Value, SD: Value, W: Value, R: Value) -> Array:
    """A Voigt line with the Gaussian width ``T``, ``T^2 = SD^2 + R^2``, of the same area:
    ``A SD / T Re w(z) / Re w(z0)`` with ``z = ((x - x0) + i W / 2) / (T sqrt2)``, ``z0`` as in
    Voigt."""
    total = np.sqrt(SD**2 + R**2)
    own = np.maximum(SD, 1e-12 * W)  # as in Voigt
    top = special.wofz(0.5j * np.divide(W, own * np.sqrt(2))).real
    w = special.wofz(((x - x0) + 0.5j * W) / (total * np.sqrt(2)))
    return np.asarray(A * own / total * w.real / top)


def GLS_resolution(x: Array, A: Value, x0: Value, F: Value, m: Value, R: Value) -> Array:
    """``(1 - m) Gauss_resolution(x, A, x0, F / sqrt(8 ln2), R) + m Lorentz_resolution(x, A, x0, F,
    R)``: its Gaussian and its Lorentzian, each convolved."""
    SD = F / np.sqrt(8 * np.log(2))
    gauss = Gauss_resolution(x, 1.0, x0, SD, R)
    return np.asarray(A * ((1 - m) * gauss + m * Lorentz_resolution(x, 1.0, x0, F, R)))


def Offset_resolution(x: Array, y0: Value, R: Value) -> Array:
    """``y0``: a constant stays, whatever R."""
    return np.asarray(np.zeros_like(x) + y0 + 0.0 * R)


def LinBack_resolution(
    x: Array, m: Value, b: Value, xStart: Value, xStop: Value, R: Value
) -> Array:
    """The line with rounded ends: ``b + m [r(x - xStart) - r(x - xStop)]`` with
    ``r(u) = u Phi(u / R) + R phi(u / R)``."""

    def bend(u: Array) -> Array:  # r(u) less max(u, 0)
        z = np.abs(u / R)
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return np.asarray(R * (density - z * special.erfc(z / np.sqrt(2)) / 2))

    line = energy.LinBack(x, m, b, xStart, xStop)
    return np.asarray(line + m * (bend(x - xStart) - bend(x - xStop)))


def ErfStep_resolution(x: Array, A: Value, x0: Value, SD: Value, R: Value) -> Array:
    """``ErfStep(x, A, x0, sqrt(SD^2 + R^2))``, a wider step."""
    return energy.ErfStep(x, A, x0, np.sqrt(SD**2 + R**2))


def FermiEdge_resolution(
    x: Array, A: Value, x0: Value, T: Value, SD: Value, mBelow: Value, mAbove: Value, R: Value
) -> Array:
    """``FermiEdge(x, A, x0, T, sqrt(SD^2 + R^2), mBelow, mAbove)``."""
    return energy.FermiEdge(x, A, x0, T, np.sqrt(SD**2 + R**2), mBelow, mAbove)


def Mahan_resolution(
    x: Array, A: Value, x0: Value, SD: Value, alpha: Value, xi: Value, R: Value
) -> Array:
    """``Mahan(x, A, x0, sqrt(SD^2 + R^2), alpha, xi)``."""
    return energy.Mahan(x, A, x0, np.sqrt(SD**2 + R**2), alpha, xi)


def PolyBack_resolution(x: Array, c1: Value, c2: Value, c3: Value, x0: Value, R: Value) -> Array:
    """``c1 d + c2 (d^2 + R^2) + c3 d (d^2 + 3 R^2)``, ``d = x - x0``."""
    d = x - x0
    return np.asarray(c1 * d + c2 * (d**2 + R**2) + c3 * d * (d**2 + 3 * R**2))


def ExpBack_resolution(x: Array, A: Value, x0: Value, k: Value, R: Value) -> Array:
    """A higher exponential: ``A exp(-k (x - x0) + (k R)^2 / 2)``."""
    return scaled(A, np.exp(-k * (x - x0) + (k * R) ** 2 / 2))


def GaussAsym_resolution(x: Array, A: Value, x0: Value, SD: Value, ratio: Value, R: Value) -> Array:
    """``int GaussAsym(x', A, x0, SD, ratio) N(x - x'; R) dx'``, in panels."""
    scale = SD * np.minimum(ratio, 1.0)
    return _smeared(lambda at: energy.GaussAsym(at, A, 0.0, SD, ratio), x - x0, R, scale)


def SkewGauss_resolution(x: Array, A: Value, x0: Value, w: Value, b: Value, R: Value) -> Array:
    """``int SkewGauss(x', A, x0, w, b) N(x - x'; R) dx'``, in panels that begin where the line
    ends."""
    skew = np.copysign(np.maximum(np.abs(b), 0.02), b)  # below, the end is beyond all digits
    end = -w / (2 * skew)
    scale = np.abs(end) * np.exp(-9 * np.abs(skew))
    return _smeared(lambda at: energy.SkewGauss(at + end, A, 0.0, w, b), x - x0 - end, R, scale)


def GLP_resolution(x: Array, A: Value, x0: Value, F: Value, m: Value, R: Value) -> Array:
    """``int GLP(x', A, x0, F, m) N(x - x'; R) dx'``, in panels; NaN beyond 0 <= m <= 1, where the
    line has poles or no end."""
    inside = np.clip(m, 0.0, 1.0)
    value = _smeared(lambda at: energy.GLP(at, A, 0.0, F, inside), x - x0, R, 0.5 * F)
    return np.asarray(np.where((m < 0) | (m > 1), np.nan, value))


def GLSAsym_resolution(
    x: Array, A: Value, x0: Value, F: Value, m: Value, a: Value, R: Value
) -> Array:
    """``int GLSAsym(x', A, x0, F, m, a) N(x - x'; R) dx'``, in panels."""
    scale = 0.3 / (1 / F + np.abs(a))
    return _smeared(lambda at: energy.GLSAsym(at, A, 0.0, F, m, a), x - x0, R, scale)


def LA_resolution(
    x: Array, A: Value, x0: Value, W: Value, alpha: Value, beta: Value, R: Value
) -> Array:
    """``int LA(x', A, x0, W, alpha, beta) N(x - x'; R) dx'``, in panels."""
    scale = 0.5 * W / np.sqrt(1 + np.maximum(alpha, beta))
    return _smeared(lambda at: energy.LA(at, A, 0.0, W, alpha, beta), x - x0, R, scale)


def LF_resolution(
    x: Array, A: Value, x0: Value, W: Value, alpha: Value, beta: Value, w: Value, R: Value
) -> Array:
    """``int LF(x', A, x0, W, alpha, beta, w) N(x - x'; R) dx'``, in panels."""
    scale = np.minimum(0.5 * W / np.sqrt(1 + np.maximum(alpha, beta)), 0.3 * w)
    return _smeared(lambda at: energy.LF(at, A, 0.0, W, alpha, beta, w), x - x0, R, scale)


def DS_resolution(x: Array, A: Value, x0: Value, F: Value, alpha: Value, R: Value) -> Array:
    """``int DS(x', A, x0, F, alpha) N(x - x'; R) dx'``, in panels."""
    return _smeared(lambda at: energy.DS(at, A, 0.0, F, alpha), x - x0, R, F)


def DSBinding_resolution(x: Array, A: Value, x0: Value, F: Value, alpha: Value, R: Value) -> Array:
    """``int DSBinding(x', A, x0, F, alpha) N(x - x'; R) dx'``, in panels."""
    return DS_resolution(-x, A, -x0, F, alpha, R)


def AtanStep_resolution(x: Array, A: Value, x0: Value, W: Value, R: Value) -> Array:
    """``int AtanStep(x', A, x0, W) N(x - x'; R) dx'``, in panels."""
    return _smeared(lambda at: energy.AtanStep(at, A, 0.0, W), x - x0, R, 0.5 * W)


def _smeared(line: Callable[[Array], Array], away: Array, R: Value, scale: Value) -> Array:
    """The convolution of `line` with a Gaussian, at a distance `away` from its centre.

    The line has features of a size of `scale` at its centre, where it may have a kink, and is the
    smoother the further off. Far off, Gauss-Hermite nodes do, and no end of a panel is lost in the
    rounding of the distance.
    """
    shares = _SHARES / _SHARES.sum()
    far = sum(
        share * line(away + R * offset) for offset, share in zip(_OFFSETS, shares, strict=True)
    )
    return np.where(np.abs(away) > _FAR * R, far, _in_panels(line, away, R, scale))


def _in_panels(line: Callable[[Array], Array], away: Array, R: Value, scale: Value) -> Array:
    """The range that the Gaussian reaches around each point is cut at every standard deviation, at
    the centre, and at distances from the centre that double."""
    away, R, scale = (np.asarray(value, float)[..., None] for value in (away, R, scale))
    low, high = away - _REACH * R, away + _REACH * R
    steps = np.arange(-_REACH, _REACH + 1)
    finest = np.maximum(scale, 1e-40 * R)
    ratio = _REACH * R / finest
    count = int(np.ceil(np.log2(np.max(ratio, initial=1.0, where=np.isfinite(ratio))))) + 3
    doubling = finest * 2.0 ** np.arange(-1, count)
    shape = np.broadcast_shapes(away.shape, (*doubling.shape[:-1], 1), R.shape)[:-1]
    cuts = [away + R * steps, -doubling, doubling, 0.0 * scale]
    edges = np.concatenate([np.broadcast_to(cut, (*shape, cut.shape[-1])) for cut in cuts], axis=-1)
    edges = np.sort(np.clip(edges, low, high), axis=-1)
    total = np.zeros(shape)
    for k in range(edges.shape[-1] - 1):
        half = (edges[..., k + 1] - edges[..., k]) / 2
        if np.all(half == 0):
            continue
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            at = edges[..., k] + half * (1 + node)
            z = (away[..., 0] - at) / R[..., 0]
            density = np.exp(-(z**2) / 2) / (R[..., 0] * np.sqrt(2 * np.pi))
            total = total + weight * half * density * line(at)  # the height may have more rows
    return np.asarray(total)
