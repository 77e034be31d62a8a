"""The exact convolution of straight lines between samples with a kernel that has an edge, in high
precision."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import mpmath as mp
import numpy as np

EDGED = ("expDecayCONV", "expRiseCONV", "boxCONV")


def convolved(kernel: str, width: float, t: Sequence[float], y: Sequence[float]) -> list[mp.mpf]:
    """The integral of the kernel times the lines between (t, y), over that of the kernel; the
    signal keeps its first and last value outside. At least 50 digits, behind those that a decay
    far longer than the axis loses."""
    with mp.workdps(max(50, mp.mp.dps) + max(0, int(mp.log10(width)))):
        times, values = [mp.mpf(s) for s in t], [mp.mpf(s) for s in y]
        if kernel == "boxCONV":
            return _boxed(mp.mpf(width), times, values)
        if kernel == "expRiseCONV":  # a decay, seen from the other end
            turned = _decayed(mp.mpf(width), [-s for s in times[::-1]], values[::-1])
            return turned[::-1]
        return _decayed(mp.mpf(width), times, values)


def _decayed(tau: mp.mpf, t: list[mp.mpf], y: list[mp.mpf]) -> list[mp.mpf]:
    """From sample to sample: z' = (y - z) / tau, solved for a y that is a straight line."""
    found = [y[0]]
    for k in range(1, len(t)):
        step = t[k] - t[k - 1]
        rate = (y[k] - y[k - 1]) / step
        began = found[-1] - (y[k - 1] - rate * tau)
        found.append(y[k] - rate * tau + began * mp.exp(-step / tau))
    return found


def _boxed(width: mp.mpf, t: list[mp.mpf], y: list[mp.mpf]) -> list[mp.mpf]:
    """Means over the box: of what lies outside of the axis, and of each line in it."""
    found = []
    for middle in t:
        low, high = middle - width / 2, middle + width / 2
        total = max(t[0] - low, 0) * y[0] + max(high - t[-1], 0) * y[-1]
        for k in range(max(bisect_right(t, low) - 1, 0), min(bisect_left(t, high), len(t) - 1)):
            begin, end = max(low, t[k]), min(high, t[k + 1])
            if end > begin:
                at = (begin + end) / 2
                line = y[k] + (y[k + 1] - y[k]) * (at - t[k]) / (t[k + 1] - t[k])
                total += (end - begin) * line
        found.append(total / width)
    return found


def as_floats(values: Sequence[mp.mpf]) -> np.ndarray:
    return np.array([float(one) for one in values])
