"""Whether a value lies on a bound, of methods that do not reach it to the last bit (lmfit), and in
tables of many fits. The native solver keeps bounds itself, in csrc/solver/lm_solve.c."""

from __future__ import annotations

import math

#: A parameter nearer to a bound than this share of its size, or of the interval of its bounds where
#: that is smaller, ended at the bound.
AT_BOUND = 1e-6


def at_bound(value: float, low: float, high: float, start: float) -> str:
    """ "min" or "max" where `value` lies on that bound, else ""."""
    size = max(abs(value), abs(start))
    for side, bound in (("min", low), ("max", high)):
        if math.isfinite(bound) and abs(value - bound) <= near_bound(bound, high - low, size):
            return side
    return ""


def near_bound(bound: float, interval: float, size: float) -> float:
    """Within this distance a value of some size lies on a bound. The interval of the bounds counts
    where it is smaller than the values: a wide one says nothing of them."""
    return AT_BOUND * min(interval, max(size, abs(bound)))
