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
    has_small_terms = (SD / kT) ** 2 / 2 > 1.2 * mp.ln2 * mp.mp.prec
    step, slope = (sommerfeld if has_small_terms else trapezoid)(d, kT, SD)
    below = d * step + slope
    return A * step + mBelow * below + mAbove * (d - below)


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


NUMERIC: dict[str, Callable[..., Any]] = {"FermiEdge": fermi_edge}
