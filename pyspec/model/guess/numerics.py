"""Means over neighbours, lines on a background, and least squares of start values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pyspec.functions import reference

Array = npt.NDArray[np.float64]

#: Iterations of one fit.
ROUNDS = 60


def step_of(axis: Array) -> float:
    """The median step of an axis."""
    return float(np.median(np.abs(np.diff(axis))))


def step_at(t: Array, at: float) -> float:
    """The step of rising times about a time."""
    k = int(np.clip(np.searchsorted(t, at), 1, t.size - 1))
    return float(np.diff(t)[max(0, k - 2) : k + 1].mean())


def means(values: Array, group: int, axis: int = 0) -> Array:
    """Means of `group` neighbours along an axis; the last of them may be of fewer."""
    starts = np.arange(0, values.shape[axis], group)
    count = np.diff([*starts, values.shape[axis]])
    shape = [1] * values.ndim
    shape[axis] = -1
    return np.asarray(np.add.reduceat(values, starts, axis=axis) / count.reshape(shape))


def binned(energy: Array, data: Array, width: int) -> tuple[Array, Array]:
    """Energies (n,) and data (n_time, n) as means of `width` neighbours; a rest is left out."""
    size = energy.size // width * width
    return means(energy[:size], width), means(data[:, :size], width, axis=1)


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
