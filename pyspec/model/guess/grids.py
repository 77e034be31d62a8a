"""Steps of axes, and means over neighbouring points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


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
    bins = data[:, :size].reshape(len(data), -1, width)
    return energy[:size].reshape(-1, width).mean(axis=1), bins.mean(axis=2)
