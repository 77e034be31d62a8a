"""Parameters of a row of the op table, inside of its bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyspec._library import OpDef

Array = np.ndarray


def inside(op: OpDef, params: Array, beyond: Callable[[int], Array]) -> Array:
    """(n_params, n) parameters, in place: those with a bound stand `beyond(which)` from it."""
    for guard in op.guards:
        other = params[int(guard.other)] if guard.relative else guard.other
        sign = 1.0 if guard.comparison.startswith(">") else -1.0
        params[guard.param] = other + sign * beyond(guard.param)
    return params


def drawn(op: OpDef, rng: np.random.Generator, n: int, beyond: Callable[[int], Array]) -> Array:
    """(n_params, n) parameters inside of the bounds, see :func:`inside`.

    Linear parameters have any sign. Others without a bound lie between 0 and 1, where a mixing or
    an asymmetry is at home; the axes reach far beyond on both sides.
    """
    params = rng.uniform(0.05, 0.95, (len(op.params), n))
    for name in op.linear:
        params[op.params.index(name)] = rng.normal(0.0, 1.0, n)
    return inside(op, params, beyond)
