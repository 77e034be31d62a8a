"""Functions of the op table once more, in exact arithmetic and in forms of its own.

``FORMULAS[name](x, *params)`` takes and gives mpmath numbers; ``derivatives`` differentiates it.
Forms differ from the table's where another one is known: an asymmetric line as a complex power, a
response to an instrument by the error function of a complex argument, the one of a square root by
a parabolic cylinder function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import mpmath as mp
from mpmath.calculus.quadrature import GaussLegendre

from pyspec._library import OPS

#: Digits of the arithmetic, and of the step relative to the smallest parameter.
DIGITS, STEP = 90, 20

#: The same of a mixing, an asymmetry, a frequency: a far tail multiplies them by 1e12 and more.
SHAPE_STEP = 30

#: Parameters in units of x. Frequencies are in its reciprocal.
LENGTHS = ("x0", "SD", "F", "W", "w", "xStart", "xStop", "tau", "t0", "width", "IRF", "shift")

ZERO = mp.mpf(0)


def skew_gauss(x: Any, A: Any, x0: Any, w: Any, b: Any) -> Any:
    u = (x - x0) / w
    if b == 0:
        return A * mp.power(16, -(u**2))
    inside = 1 + 2 * b * u
    return A * mp.power(2, -((mp.log(inside) / b) ** 2)) if inside > 0 else ZERO


@cache
def faddeeva(x: Any, y: Any) -> Any:
    z = mp.mpc(x, y)
    if abs(z) < 60:
        return mp.exp(-z * z) * mp.erfc(-1j * z)
    term = total = mp.mpc(1)
    for k in range(1, 200):
        term *= (2 * k - 1) / (2 * z * z)
        total += term
        if abs(term) < mp.eps:
            break
    return 1j * total / (mp.sqrt(mp.pi) * z)


def voigt(x: Any, A: Any, x0: Any, SD: Any, W: Any) -> Any:
    scale = mp.sqrt(2) * SD
    top = faddeeva(ZERO, W / 2 / scale)
    return A * mp.re(faddeeva((x - x0) / scale, W / 2 / scale)) / mp.re(top)


def ds(x: Any, A: Any, x0: Any, F: Any, alpha: Any) -> Any:
    turned = mp.expjpi(alpha / 2) * mp.power(mp.mpc(F, x0 - x), alpha - 1)
    return A * mp.re(turned)


def onset(t: Any, t0: Any, value: Callable[[Any], Any]) -> Any:
    return value(t - t0) if t >= t0 else ZERO


def sinc(u: Any) -> Any:
    return mp.sin(u) / u if u else mp.mpf(1)


def rise(u: Any, SD: Any) -> Any:
    return mp.erfc(-u / (mp.sqrt(2) * SD)) / 2


def normal(u: Any, SD: Any) -> Any:
    return mp.exp(-((u / SD) ** 2) / 2) / (mp.sqrt(2 * mp.pi) * SD)


@cache
def exponential(u: Any, SD: Any, rate: Any) -> Any:
    """Response of exp(rate s), s >= 0; `rate` may be complex."""
    shifted = u + rate * SD**2
    return mp.exp(rate * (u + shifted) / 2) * mp.erfc(-shifted / (mp.sqrt(2) * SD)) / 2


def sine_response(t: Any, A: Any, f: Any, phi: Any, t0: Any, SD: Any, y0: Any) -> Any:
    u = t - t0
    turned = mp.expj(phi) * exponential(u, SD, 2j * mp.pi * f)
    return A * mp.im(turned) + y0 * rise(u, SD)


def damped_response(t: Any, A: Any, f: Any, phi: Any, tau: Any, t0: Any, SD: Any, y0: Any) -> Any:
    u = t - t0
    turned = mp.expj(phi) * exponential(u, SD, mp.mpc(-1 / tau, 2 * mp.pi * f))
    return A * mp.im(turned) + y0 * rise(u, SD)


def root_response(t: Any, A: Any, t0: Any, SD: Any, y0: Any) -> Any:
    z = (t - t0) / SD
    if z > 60:  # s = u (1 + v / z): the binomial series against the moments of v
        terms, term = mp.mpf(1), mp.mpf(1)
        for k in range(2, 400, 2):
            term *= (mp.mpf(5) / 2 - k) * (mp.mpf(3) / 2 - k) / (k * z**2)
            terms += term
            if abs(term) < mp.eps:
                break
        return A * mp.sqrt(t - t0) * terms + y0
    cylinder = mp.exp(-(z**2) / 4) * mp.pcfd(mp.mpf(-3) / 2, -z)
    return A * mp.sqrt(SD / 8) * cylinder + y0


#: sinDivX_gaussIRF has no closed form: see :func:`cardinal_sine_response`.
FORMULAS: dict[str, Callable[..., Any]] = {
    "SkewGauss": skew_gauss,
    "Voigt": voigt,
    "DS": ds,
    "sinDivX": lambda t, A, f, t0, y0: onset(t, t0, lambda s: A * sinc(2 * mp.pi * f * s) + y0),
    "gaussIRF": lambda d, SD, share, shift: normal(d - shift, SD),
    "stepFun_gaussIRF": lambda t, A, t0, SD, y0: (A + y0) * rise(t - t0, SD),
    "linFun_gaussIRF": lambda t, m, t0, SD, y0: (
        m * ((t - t0) * rise(t - t0, SD) + SD**2 * normal(t - t0, SD)) + y0 * rise(t - t0, SD)
    ),
    "expFun_gaussIRF": lambda t, A, tau, t0, SD, y0: (
        A * exponential(t - t0, SD, -1 / tau) + y0 * rise(t - t0, SD)
    ),
    "sinFun_gaussIRF": sine_response,
    "dampedSinFun_gaussIRF": damped_response,
    "erfFun_gaussIRF": lambda t, A, SD, t0, IRF, y0: A * rise(t - t0, mp.sqrt(SD**2 + IRF**2)) + y0,
    "sqrtFun_gaussIRF": root_response,
}


def derivatives(name: str, x: float, params: Sequence[float]) -> list[Any]:
    """By each parameter."""
    if name == "sinDivX_gaussIRF":
        return cardinal_sine_response(x, params)
    exponential.cache_clear()  # its values are those of other digits
    faddeeva.cache_clear()
    with mp.workdps(DIGITS):
        given, at, formula = [mp.mpf(p) for p in params], mp.mpf(x), FORMULAS[name]
        found = []
        for k, value in enumerate(given):
            step = _step(name, k, at, given)
            low, high = (
                formula(at, *given[:k], value + sign * step, *given[k + 1 :]) for sign in (-1, 1)
            )
            found.append((high - low) / (2 * step))
        return found


def _step(name: str, k: int, at: Any, given: list[Any]) -> Any:
    """So small beside the parameter, and for a length beside every other and the next kink."""
    op = OPS[name]
    if op.params[k] not in LENGTHS:
        far = abs(at - given[op.params.index("t0")]) if op.params[k] == "f" else 0
        return (abs(given[k]) or 1 / mp.mpf(far or 1)) * mp.mpf(10) ** -SHAPE_STEP
    lengths = [p for p, other in zip(given, op.params, strict=True) if other in LENGTHS]
    sizes = [abs(given[k]), *map(abs, lengths), *(abs(at - p) for p in lengths), mp.mpf(1)]
    return min(size for size in sizes if size) * mp.mpf(10) ** -STEP


def cardinal_sine_response(x: float, params: Sequence[float]) -> list[Any]:
    """Derivatives of the integral of ``sin(omega s) / (omega s)`` against the instrument, by the
    derivative of the law; for a fast one as the mean of cosines up to omega."""
    with mp.workdps(30):
        A, f, t0, SD, y0 = (mp.mpf(p) for p in params)
        u, omega = mp.mpf(x) - t0, 2 * mp.pi * f
        density = normal(u, SD)
        value, by_omega, by_u, by_width = (
            _slow_sine(u, omega, SD) if abs(omega) * SD < 300 else _fast_sine(u, omega, SD)
        )
        by_rise = -u / SD * density
        return [
            value,
            A * 2 * mp.pi * by_omega,
            -(A * by_u + y0 * density),
            A * by_width + y0 * by_rise,
            rise(u, SD),
        ]


def _slow_sine(u: Any, omega: Any, SD: Any) -> list[Any]:
    z = u / SD
    low, high = max(-z, mp.mpf(-12)), mp.mpf(12)
    if low >= high:
        return [ZERO] * 4
    panels = 8 + int(abs(omega) * SD * (high - low) / 12)
    nodes = _legendre()
    sums = [ZERO] * 4
    for k in range(panels):
        half = (high - low) / panels / 2
        middle = low + (2 * k + 1) * half
        for node, weight in nodes:
            v = middle + half * node
            s = u + SD * v
            phase = omega * s
            law = sinc(phase)
            slope = (mp.cos(phase) - law) / phase if abs(phase) > 1e-8 else -phase / 3
            n = half * weight * normal(v, 1)
            for i, part in enumerate((law, s * slope, omega * slope, omega * slope * v)):
                sums[i] += n * part
    edge = normal(z, 1) if low == -z else ZERO
    return [sums[0], sums[1], sums[2] + edge / SD, sums[3] - edge * z / SD]


@cache
def _legendre() -> list[tuple[Any, Any]]:
    """48 nodes and weights of Gauss and Legendre."""
    return list(GaussLegendre(mp.mp).calc_nodes(5, 160))


def _fast_sine(u: Any, omega: Any, SD: Any) -> list[Any]:
    @cache  # the means share their nodes
    def response(w: Any) -> Any:
        return exponential(u, SD, 1j * w)

    def mean(part: Callable[[Any, Any], Any]) -> Any:
        ends = [ZERO, *(mp.mpf(10) ** k / SD for k in range(8)), abs(omega)]
        ends = [e for e in ends if e < abs(omega)] + [abs(omega)]
        return mp.quad(lambda w: mp.re(part(w, response(w))), ends) / abs(omega)

    density = normal(u, SD)
    value = mean(lambda w, h: h)
    by_omega = (mp.re(exponential(u, SD, 1j * omega)) - value) / omega
    by_u = mean(lambda w, h: 1j * w * h + density)
    by_uu = mean(lambda w, h: 1j * w * (1j * w * h + density) - u / SD**2 * density)
    return [value, by_omega, by_u, SD * by_uu]
