"""Functions of energy that have no closed form, in any number of digits and by sums of their own.

``NUMERIC[name](x, *params)`` takes and gives mpmath numbers; the precision is the one that is set.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath as mp


def fermi_edge(x: Any, A: Any, x0: Any, T: Any, SD: Any, mBelow: Any, mAbove: Any) -> Any:
    """The step and its slope by SD^2, from which the lines follow."""
    kT = T * mp.mpf("1.380649e-23") / mp.mpf("1.602176634e-19")
    d = x - x0
    step, slope = _step_and_slope(d, kT, SD, mp.mp.prec)
    below = d * step + slope
    return A * step + mBelow * below + mAbove * (d - below)


@lru_cache(maxsize=64)
def _step_and_slope(d: Any, kT: Any, SD: Any, prec: int) -> tuple[Any, Any]:
    has_small_terms = (SD / kT) ** 2 / 2 > 1.2 * mp.ln2 * prec
    return (sommerfeld if has_small_terms else trapezoid)(d, kT, SD)


def sommerfeld(d: Any, kT: Any, SD: Any) -> tuple[Any, Any]:
    """Coefficients of pi D / sin(pi D) on the derivatives of the blurred step."""
    z, power = d / SD, mp.mpf(1)
    density = mp.npdf(z)
    step, slope = mp.erfc(z / mp.sqrt(2)) / 2, -density
    odd, even = z, z * z - 1
    for k in range(1, 400):
        power *= (kT / SD) ** 2
        factor = -2 * density * power * mp.altzeta(2 * k)
        step -= factor * odd
        slope += factor * even
        if abs(factor) * (abs(odd) + abs(even)) < mp.eps**1.2:
            break
        odd, even = (following := z * even - 2 * k * odd), z * following - (2 * k + 1) * even
    return step, SD * slope


def trapezoid(d: Any, kT: Any, SD: Any) -> tuple[Any, Any]:
    """The mean of Fermi functions, with steps that no pole of them is felt at."""
    step = slope = mp.mpf(0)
    size = mp.exp(d / kT)
    for u, weight, growth in _nodes(SD / kT, mp.mp.prec):
        share = weight / (1 + size * growth)
        step += share
        slope -= u * share
    return step, SD * slope


@lru_cache(maxsize=64)
def _nodes(ratio: Any, prec: int) -> list[tuple[Any, Any, Any]]:
    digits = (prec + 20) * mp.ln2
    pole = min(mp.pi / ratio if ratio else mp.inf, mp.sqrt(2 * digits))
    h = 2 * mp.pi * pole / (digits + pole**2 / 2)
    count = int(mp.sqrt(2 * digits) / h) + 1
    steps = [h * k for k in range(-count, count + 1)]
    return [(u, h * mp.npdf(u), mp.exp(-ratio * u)) for u in steps]


def mahan(x: Any, A: Any, x0: Any, SD: Any, alpha: Any, xi: Any) -> Any:
    """By the parabolic cylinder function, DLMF 12.4.1, and its asymptotic series, 12.9."""
    z, r = (-1 if xi < 0 else 1) * (x0 - x) / SD, SD / abs(xi)
    w = z - r
    half_density = A / SD * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
    if w < -18:
        return half_density * (-r / w) ** alpha * _in_powers(alpha, -1 / (2 * w * w))
    if w > 18:
        size = A / SD * mp.exp(-r * (z - r / 2)) * mp.rgamma(alpha)
        return size * (r * w) ** alpha / w * _in_powers(1 - alpha, 1 / (2 * w * w))
    with mp.workdps(mp.mp.dps + int(0.5 * w * w) + 5):
        even = mp.hyp1f1(alpha / 2, 0.5, w * w / 2) * mp.rgamma((alpha + 1) / 2)
        odd = mp.hyp1f1((alpha + 1) / 2, 1.5, w * w / 2) * mp.rgamma(alpha / 2)
        cylinder = mp.sqrt(mp.pi) * 2 ** (-alpha / 2) * (even + mp.sqrt(2) * w * odd)
    return half_density * r**alpha * cylinder


def _in_powers(a: Any, q: Any) -> Any:
    term = total = mp.mpf(1)
    for k in range(400):
        following = term * (a + 2 * k) * (a + 2 * k + 1) / (k + 1) * q
        if abs(following) < mp.eps * abs(total) or abs(following) > abs(term):
            break
        term = following
        total += term
    return total


NUMERIC: dict[str, Callable[..., Any]] = {"FermiEdge": fermi_edge, "Mahan": mahan}
