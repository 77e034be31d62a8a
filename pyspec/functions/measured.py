"""Exact responses of the laws of motion to an instrument that has been measured.

Each is the convolution ``seen(t) = integral r(s) f(t - t0 - s) ds`` of a law f of
:mod:`pyspec.functions.time`, with onset at 0, and the response r. r is sampled at times s in units
of the time axis. It is a straight line between samples and 0 beyond them, with area 1. The onset t0
of a law is where the 0 of the response's own axis lies.

Notation: u = t - t0; R(u) is the integral of r up to u, and C(u) the response of exp(-k u) for
u >= 0. Parameters are those of the law, in its units; ``y0`` adds ``y0 R(u)``.

Source: the integral over a piece with straight r is elementary; phi1 and phi2 are those of
exponential integrators (M. Hochbruck and A. Ostermann, Acta Numerica 19, 209 (2010)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions.kinetics import brought_in

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

#: Rates, which may turn: numbers or arrays of them.
Rate: TypeAlias = complex | npt.NDArray[np.inexact]

#: |z| below which phi1 and phi2 are computed by their series, and how many terms those have.
_SMALL, _TERMS = 1.0, 20


def stepFun(u: Array, s: Array, r: Array, A: Value, y0: Value) -> Array:
    """Step of height A: ``(A + y0) R(u)``."""
    return np.asarray((A + y0) * area(u, s, r))


def linFun(u: Array, s: Array, r: Array, m: Value, y0: Value) -> Array:
    """Ramp of slope m: ``m integral r(s) (u - s) ds + y0 R(u)``, s up to u."""
    return np.asarray(m * ramp(u, s, r) + y0 * area(u, s, r))


def expFun(u: Array, s: Array, r: Array, A: Value, tau: Value, y0: Value) -> Array:
    """Decay of height A and time tau: ``A C(u) + y0 R(u)``, k = 1 / tau."""
    return np.asarray(A * decay(u, s, r, 1 / tau).real + y0 * area(u, s, r))


def sinFun(u: Array, s: Array, r: Array, A: Value, f: Value, phi: Value, y0: Value) -> Array:
    """Oscillation of amplitude A, frequency f and phase phi: ``A Im(exp(i phi) C(u)) + y0 R(u)``,
    k = -2 pi i f."""
    turned = np.exp(1j * phi) * decay(u, s, r, -2j * np.pi * f)
    return np.asarray(A * turned.imag + y0 * area(u, s, r))


def dampedSinFun(
    u: Array, s: Array, r: Array, A: Value, f: Value, phi: Value, tau: Value, y0: Value
) -> Array:
    """Damped oscillation of amplitude A, frequency f, phase phi and decay time tau:
    ``A Im(exp(i phi) C(u)) + y0 R(u)``, k = 1 / tau - 2 pi i f."""
    turned = np.exp(1j * phi) * decay(u, s, r, 1 / tau - 2j * np.pi * f)
    return np.asarray(A * turned.imag + y0 * area(u, s, r))


#: The laws that have an exact response; each is given its parameters without the onset.
LAWS: dict[str, Callable[..., Array]] = {
    law.__name__: law for law in (stepFun, linFun, expFun, sinFun, dampedSinFun)
}


def seen(law: str, u: Array, s: Array, r: Array, *params: Value) -> Array:
    """What the instrument sees of a law at times u after its onset; 0 before the first sample.

    Parameters
    ----------
    u : times after the onset
    s, r : (n,) times of the samples, ascending, and the response there, of area 1
    params : of the law in their order, without t0
    """
    u = np.asarray(u, np.float64)
    with np.errstate(all="ignore"):
        return np.where(u < s[0], 0.0, LAWS[law](u, s, r, *params))


def populations(u: Array, s: Array, r: Array, K: Array, start: Array) -> Array:
    """Populations (n, n_states) of a kinetic scheme as the instrument sees them, the solution of
    ``dc/du = K c + r(u) start``.

    On a straight piece of r, c follows from the populations at the sample before and the inflow by
    r since (:func:`pyspec.functions.kinetics.brought_in`). Falling pieces are computed from their
    end: all terms are positive, and fast rates lose no digits.

    Parameters
    ----------
    u, s, r : as of :func:`seen`
    K, start : rate matrix and start, as of :func:`pyspec.functions.kinetics.populations`
    """
    slope = np.append(np.diff(r) / np.diff(s), 0.0)
    first = np.append(r[:-1], 0.0)

    def later(place: int | npt.NDArray[np.intp], since: Array, at: Array) -> Array:
        """The populations so long after the samples at `place`, from those there."""
        moved, level, rising, falling = brought_in(K, start, since)
        a, m = first[place][..., None], slope[place][..., None]
        b = a + m * since[..., None]
        brought = np.where(m < 0, b * level - m * falling, a * level + m * rising)
        return np.asarray((moved @ at[..., None])[..., 0] + brought)

    at = np.zeros((s.size, len(start)))
    for k, length in enumerate(np.diff(s)):
        at[k + 1] = later(k, np.asarray(length), at[k])
    sample = np.clip(np.searchsorted(s, u, side="right") - 1, 0, None)
    seen = later(sample, np.maximum(u - s[sample], 0.0), at[sample])
    return np.where((u < s[0])[..., None], 0.0, seen)


def area(u: Array, s: Array, r: Array) -> Array:
    """``R(u) = integral r(s) ds`` over s up to u."""
    return np.asarray(sum(d * (a + b) / 2 for d, _, a, b in _pieces(u, s, r)))


def ramp(u: Array, s: Array, r: Array) -> Array:
    """``integral r(s) (u - s) ds`` over s up to u."""
    pieces = _pieces(u, s, r)
    return np.asarray(
        sum(d * (since * (a + b) / 2 + d * (2 * a + b) / 6) for d, since, a, b in pieces)
    )


def decay(u: Array, s: Array, r: Array, k: Rate) -> Rate:
    """``C(u) = integral r(s) exp(-k (u - s)) ds`` over s up to u, the real part of k >= 0: over a
    piece of length d on which r goes from a to b ``d (phi1(k d) a + phi2(k d) (b - a))`` at its
    end."""
    total: Rate = sum(
        np.exp(-k * since) * d * (phi1(k * d) * a + phi2(k * d) * (b - a))
        for d, since, a, b in _pieces(u, s, r)
    )
    return total


def phi1(z: Rate) -> Rate:
    """``(1 - exp(-z)) / z``, 1 at 0."""
    large = np.where(np.abs(z) < _SMALL, 1.0, z)
    return np.where(np.abs(z) < _SMALL, _series(z, 1), -np.expm1(-large) / large)


def phi2(z: Rate) -> Rate:
    """``(1 - phi1(z)) / z``, 1 / 2 at 0."""
    large = np.where(np.abs(z) < _SMALL, 1.0, z)
    return np.where(np.abs(z) < _SMALL, _series(z, 2), (1 + np.expm1(-large) / large) / large)


def _series(z: Rate, order: int) -> Rate:
    """``sum of (-z)^n / (n + order)!``."""
    z = np.where(np.abs(z) < _SMALL, z, 0.0)
    term = total = 1.0 / order + 0 * z
    for n in range(1, _TERMS):
        term = -term * z / (n + order)
        total = total + term
    return total


def _pieces(u: Array, s: Array, r: Array) -> Iterator[tuple[Array, Array, float, Array]]:
    """The pieces of the response up to u: length, how long ago the end was, and the values at both
    ends."""
    for begin, end, a, b in zip(s[:-1], s[1:], r[:-1], r[1:], strict=True):
        length = np.clip(u, begin, end) - begin
        since = np.maximum(u - end, 0.0)
        yield length, since, a, a + (b - a) * (length / (end - begin))
