"""Integrals of a function from given distances to infinity, by panels that are cut until they
agree: for kernels whose masses nobody has written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

#: Distances that double, in units of the largest one: where the function is looked at first.
_DOUBLINGS = np.exp2(np.arange(-60.0, 196.0))

#: Of the largest function times distance this share is nothing, and so much may two rules differ.
_NOTHING, _TOLERANCE = 1e-18, 2e-15

#: Cuts of a panel.
_MOST = 60

#: Points of Clenshaw and Curtis' rule less one. They include both ends, so that no edge lies beyond
#: the last of them, and those of the rule with half as many.
_FINE = 32


def _weights(n: int) -> Array:
    """Weights of Clenshaw and Curtis' rule at cos(k pi / n), k = 0 ... n."""
    even = np.arange(0, n + 1, 2)
    share = np.where((even == 0) | (even == n), 1.0, 2.0) / (1.0 - even**2)
    weights = np.cos(np.pi * np.outer(np.arange(n + 1), even) / n) @ share * (2 / n)
    weights[[0, -1]] /= 2
    return np.asarray(weights)


_NODES = np.cos(np.pi * np.arange(_FINE + 1) / _FINE)
_RULES = np.zeros((_FINE + 1, 2))
_RULES[:, 0] = _weights(_FINE)
_RULES[::2, 1] = _weights(_FINE // 2)


def beyond(function: Callable[[Array], Array], away: Array, reach: float = np.inf) -> Array:
    """The integral of a function from each distance in `away` (n,), >= 0, to `reach` or infinity.

    The error is below 1e-12 of the integral from 0 of its magnitude. NaN where `reach` is, or the
    function grows beyond all bounds.
    """
    if not reach >= 0:
        return np.full(away.shape, np.nan)
    unit = float(away.max()) or 1.0
    far = unit * _DOUBLINGS
    size = np.abs(function(far)) * far
    size = np.where(np.isnan(size), 0.0, size)
    if np.isinf(size).any():
        return np.full(away.shape, np.nan)
    end = min(reach, 2 * far[size > _NOTHING * size.max()].max(initial=unit / 2))
    inside = np.unique(np.minimum(np.concatenate([[0.0, end], away, far]), end))
    parts = _integrals(function, inside[:-1], inside[1:], float(size.max()))
    rest = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])
    return np.asarray(rest[np.searchsorted(inside, np.minimum(away, end))])


def _integrals(
    function: Callable[[Array], Array], low: Array, high: Array, largest: float
) -> Array:
    """The integral of each panel."""
    sums = np.zeros(low.size)
    owner = np.arange(low.size)
    for cut in range(_MOST + 1):
        half = (high - low) / 2
        middle = low + half
        at = middle[:, None] + half[:, None] * _NODES
        at[:, 0], at[:, -1] = high, low
        both = half[:, None] * (function(at.ravel()).reshape(at.shape) @ _RULES)
        largest = max(largest, float(np.abs(both).max(initial=0.0)))
        rough = np.abs(both[:, 0] - both[:, 1]) > (_TOLERANCE * largest if cut < _MOST else np.inf)
        np.add.at(sums, owner[~rough], both[~rough, 0])
        owner = np.concatenate([owner[rough], owner[rough]])
        low, high = (
            np.concatenate([low[rough], middle[rough]]),
            np.concatenate([middle[rough], high[rough]]),
        )
        if not owner.size:
            break
    return sums
