"""Lines on a background, and their derivatives, for start values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.functions import reference

Array = npt.NDArray[np.float64]


def lines_slopes(
    x: Array, y: Array, theta: Array, n_lines: int, has_loss: bool
) -> tuple[Array, Array]:
    """What lines on a background leave of y, (n,), with its sign changed, and the derivatives, (n,
    n_theta). Theta holds height, place, width and mixing of each line, then level, slope and
    pShirley, and if it is longer the asymmetry of all lines."""
    skew = theta[4 * n_lines + 3 :].tolist()
    shape = reference("GLSAsym" if skew else "GLP")
    step = float(np.ptp(x)) / (x.size - 1)
    level, slope, loss = theta[4 * n_lines : 4 * n_lines + 3]

    def lost(peaks: Array) -> Array:
        return peaks + loss * np.cumsum(peaks[::-1])[::-1] if has_loss else peaks

    peaks, leaning, columns = np.zeros_like(x), np.zeros_like(x), []
    for k in range(n_lines):
        own = theta[4 * k : 4 * k + 4]
        peak = shape(x, *own, *skew)
        peaks = peaks + peak
        for j in range(4):
            h = 1e-6 * (step if j in (1, 2) else 1.0)
            changed = own.copy()
            changed[j] += h
            columns.append(lost((shape(x, *changed, *skew) - peak) / h))
        if skew:
            leaning = leaning + (shape(x, *own, skew[0] + 1e-6) - peak) / 1e-6
    ramp = (x - x.mean()) / float(np.ptp(x))
    tail = np.cumsum(peaks[::-1])[::-1] if has_loss else np.zeros_like(x)
    columns += [np.ones_like(x), ramp, tail, *([lost(leaning)] if skew else [])]
    return lost(peaks) + level + slope * ramp - y, np.stack(columns, axis=1)
