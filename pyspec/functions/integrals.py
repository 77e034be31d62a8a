"""Integrals of a function from given distances to infinity, by panels that are halved until they
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
_NOTHING, _TOLERANCE = 1e-18, 1e-14

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)

#: Halvings of a panel.
_MOST = 50


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
    found = np.zeros(low.size)
    owner = np.arange(low.size)
    whole = _rule(function, low, high)
    for _ in range(_MOST):
        middle = low + (high - low) / 2
        left, right = _rule(function, low, middle), _rule(function, middle, high)
        halves = left + right
        largest = max(largest, float(np.abs(halves).max(initial=0.0)))
        rough = np.abs(halves - whole) > _TOLERANCE * largest
        np.add.at(found, owner[~rough], halves[~rough])
        owner = np.concatenate([owner[rough], owner[rough]])
        whole = np.concatenate([left[rough], right[rough]])
        low, high = (
            np.concatenate([low[rough], middle[rough]]),
            np.concatenate([middle[rough], high[rough]]),
        )
        if not owner.size:
            return found
    np.add.at(found, owner, whole)
    return found


def _rule(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    half = (high - low) / 2
    at = (low + half)[:, None] + half[:, None] * _NODES
    return np.asarray(half * (function(at.ravel()).reshape(at.shape) @ _WEIGHTS))
