"""Least squares of start values: a small method of Levenberg and Marquardt within bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Iterations of one fit.
ROUNDS = 60


def minimized(
    slopes: Callable[[Array], tuple[Array, Array]],
    theta: Array,
    low: Array,
    high: Array,
    moves: Array,
    tolerance: float = 1e-7,
    enough: float = 0.0,
) -> Array:
    """Minimizes the sum of squares of a residual until a step lowers it by less than this share, or
    it is `enough`. No step is longer than `moves`."""
    theta = np.clip(theta, low, high)
    damping, (left, slope) = 1e-3, slopes(theta)
    cost = float(left @ left)
    for _ in range(ROUNDS):
        gram, load = slope.T @ slope, slope.T @ left
        size = np.diag(gram) + 1e-12 * float(np.max(np.diag(gram), initial=0.0)) + 1e-300
        for _ in range(8):
            step = -np.linalg.lstsq(gram + np.diag(damping * size), load, rcond=None)[0]
            now = np.clip(theta + np.clip(step, -moves, moves), low, high)
            other = slopes(now)
            new = float(other[0] @ other[0])
            if new < cost:
                break
            damping *= 6
        else:
            return theta
        fell, cost = cost - new, new
        theta, (left, slope), damping = now, other, damping / 10
        if fell < tolerance * cost or cost < enough:
            return theta
    return theta
