"""Exact responses of the laws of motion to a Gaussian instrument (gaussIRF).

Each is the convolution ``integral f(t - s) N(s; SD) ds`` of a law f of
:mod:`pyspec.functions.time` with the normal distribution N of standard deviation SD, the
instrument response. Unlike a sum over the samples it sees an onset between two of them.

Notation: u = t - t0, Phi and phi the normal distribution and density, w the Faddeeva
function. Parameters are those of the law, in its units; SD (of erfFun, which has one of its
own: IRF) is the width of the instrument, in units of the time axis, > 0. ``y0`` adds
``y0 Phi(u / SD)``.

Sources: completed squares; of expFun the exponentially modified Gaussian (E. Grushka, Anal.
Chem. 44, 1733 (1972)); sinDivX and sqrtFun have no closed form and are integrated.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special
from pyspec.functions.normal import (
    NOTHING,
    REACH,
    cumulative,
    density,
    fast_cardinal_sine,
    integrate,
)

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

#: From this omega SD on, sinDivX turns too often for quadrature.
FAST = 1300.0


def gaussIRF(d: Array, SD: Value, share: Value = 0.0, shift: Value = 0.0) -> Array:
    """Gaussian instrument response ``exp(-((d - shift) / SD)^2 / 2) / (SD sqrt(2 pi))``.

    Rows of gaussIRF one directly after the other are one instrument: the sum of their Gaussians,
    each times its share. The first row has neither share nor shift: its share is what the others
    leave to 1, and its centre is the t0 of the laws.

    Parameters
    ----------
    d : (n,) time differences
    SD : standard deviation, in units of the time axis, SD > 0
    share : part of the whole instrument that a further Gaussian has; each of them needs one
    shift : centre of a further Gaussian behind that of the first, in units of the time axis
    """
    return density(d - shift, SD)


def stepFun_gaussIRF(t: Array, A: Value, t0: Value, SD: Value, y0: Value = 0.0) -> Array:
    """Step of height A at t0: ``(A + y0) Phi(u / SD)``."""
    return np.asarray((A + y0) * cumulative(t - t0, SD))


def linFun_gaussIRF(t: Array, m: Value, t0: Value, SD: Value, y0: Value = 0.0) -> Array:
    """Ramp of slope m from t0: ``m (u Phi(u / SD) + SD phi(u / SD)) + y0 Phi(u / SD)``."""
    u = t - t0
    return np.asarray(m * (u * cumulative(u, SD) + SD**2 * density(u, SD)) + y0 * cumulative(u, SD))


def expFun_gaussIRF(t: Array, A: Value, tau: Value, t0: Value, SD: Value, y0: Value = 0.0) -> Array:
    """Decay of height A and time tau from t0:
    ``A/2 exp(SD^2 / (2 tau^2) - u / tau) erfc(z) + y0 Phi(u / SD)``,
    ``z = (SD / tau - u / SD) / sqrt(2)``; for z > 0 as ``exp(-u^2 / (2 SD^2)) erfcx(z)``."""
    u = t - t0
    z = (SD / tau - u / SD) / np.sqrt(2)
    late = z <= 0
    safe = np.where(late, u, SD**2 / tau)
    decay = np.exp(SD**2 / (2 * tau**2) - safe / tau) * special.erfc(np.where(late, z, 0.0))
    rise = np.exp(-((u / SD) ** 2) / 2) * special.erfcx(np.where(late, 0.0, z))
    return np.asarray(A / 2 * np.where(late, decay, rise) + y0 * cumulative(u, SD))


def sinFun_gaussIRF(
    t: Array, A: Value, f: Value, phi: Value, t0: Value, SD: Value, y0: Value = 0.0
) -> Array:
    """Oscillation of amplitude A, frequency f and phase phi from t0:
    ``A Im(exp(i phi) h) + y0 Phi(u / SD)``, h the response of ``exp(i omega u)`` for u >= 0,
    ``exp(-u^2 / (2 SD^2)) w((omega SD - i u / SD) / sqrt(2)) / 2``, omega = 2 pi f."""
    u = t - t0
    h = _oscillation(u, 2 * np.pi * f, 0.0, SD)
    return np.asarray(A * np.imag(np.exp(1j * phi) * h) + y0 * cumulative(u, SD))


def dampedSinFun_gaussIRF(
    t: Array, A: Value, f: Value, phi: Value, tau: Value, t0: Value, SD: Value, y0: Value = 0.0
) -> Array:
    """Damped oscillation of amplitude A, frequency f, phase phi and decay time tau from t0:
    ``A Im(exp(i phi) h) + y0 Phi(u / SD)``, h the response of ``exp((i omega - 1 / tau) u)`` for
    u >= 0, ``exp(-u^2 / (2 SD^2)) w((omega SD + i (SD / tau - u / SD)) / sqrt(2)) / 2``,
    omega = 2 pi f."""
    u = t - t0
    h = _oscillation(u, 2 * np.pi * f, 1 / tau, SD)
    return np.asarray(A * np.imag(np.exp(1j * phi) * h) + y0 * cumulative(u, SD))


def _oscillation(u: Array, omega: Value, rate: Value, SD: Value) -> Any:
    """Response of ``exp((i omega - rate) u)`` for u >= 0."""
    early = np.exp(-((u / SD) ** 2) / 2) / 2
    height = rate * SD - u / SD
    w = special.wofz((omega * SD + 1j * np.abs(height)) / np.sqrt(2))
    # Below the real axis by w(z) = 2 exp(-z^2) - w(-z) and w(-conj z) = conj w(z).
    late = height < 0
    since = np.where(late, u - rate * SD**2, 0.0)
    fade = np.where(late, (rate * SD) ** 2 / 2 - rate * u, 0.0) - (omega * SD) ** 2 / 2
    goes_on = np.exp(1j * omega * since + fade)
    return np.where(late, goes_on - early * np.conj(w), early * w)


def erfFun_gaussIRF(t: Array, A: Value, SD: Value, t0: Value, IRF: Value, y0: Value = 0.0) -> Array:
    """Smooth step of height A and width SD at t0: ``A Phi(u / sqrt(SD^2 + IRF^2)) + y0``,
    widths add in squares."""
    return np.asarray(A * cumulative(t - t0, np.sqrt(SD**2 + IRF**2)) + y0)


def sinDivX_gaussIRF(t: Array, A: Value, f: Value, t0: Value, SD: Value, y0: Value = 0.0) -> Array:
    """Cardinal sine of height A and frequency f from t0:
    ``A integral_0^inf sin(omega s) / (omega s) N(u - s; SD) ds + y0 Phi(u / SD)``,
    omega = 2 pi f, by quadrature over u +- 8.6 SD (before the onset over what counts there); for
    omega SD > 1300 by the asymptotic series in 1 / (omega SD)."""
    u, F, W = np.broadcast_arrays(t - t0, f, SD)
    fast = np.abs(2 * np.pi * F * W) > FAST
    low = np.clip(-u / W, -REACH, NOTHING)
    high = np.hypot(np.maximum(low, 0.0), REACH)
    turns = np.where(fast | np.isnan(F * W), 0.0, np.abs(F) * REACH * W)
    slow = np.where(fast, 0.0, F)
    value = integrate(
        lambda v: (
            np.sinc(2 * slow[..., None] * (u[..., None] + W[..., None] * v)) * density(v, 1.0)
        ),
        low,
        high,
        2 + int(np.ceil(np.max(turns))),
    )
    value = np.where(fast, fast_cardinal_sine(u, 2 * np.pi * F, W), value)
    return np.asarray(A * value + y0 * cumulative(u, SD))


def sqrtFun_gaussIRF(t: Array, A: Value, t0: Value, SD: Value, y0: Value = 0.0) -> Array:
    """Square root with factor A from t0:
    ``A integral_0^inf sqrt(s) N(u - s; SD) ds + y0``, by quadrature in r = sqrt(s / SD) near the
    onset and in v = (s - u) / SD from u = 20 SD on."""
    u, W = np.broadcast_arrays(t - t0, SD)
    early = np.clip(u / W, -NOTHING, 20.0)
    low = np.sqrt(np.maximum(early - REACH, 0.0))
    high = np.sqrt(np.hypot(np.minimum(early, 0.0), REACH) + early)
    near = integrate(lambda r: 2 * r**2 * density(early[..., None] - r**2, 1.0), low, high, 4)
    late = np.where(u / W < 20.0, 20.0 * W, u)
    ends = np.full(u.shape, REACH)
    far = integrate(
        lambda v: np.sqrt(late[..., None] + W[..., None] * v) * density(v, 1.0), -ends, ends, 4
    )
    value = np.where(u / W < 20.0, np.sqrt(W) * near, far)
    return np.asarray(A * value + y0)
