"""Where a function is defined: the guards of the op table, applied in NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import Guard, OpDef

#: A number, or one for each of several points.
Value: TypeAlias = float | npt.NDArray[np.float64]

_HOLDS: dict[str, Callable[[Value, Value], npt.NDArray[np.bool_] | bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def holds(
    guard: Guard, params: Sequence[npt.NDArray[np.float64] | float]
) -> npt.NDArray[np.bool_] | bool:
    """Whether one guard holds at `params`; never where a value it reads is NaN."""
    other = params[int(guard.other)] if guard.relative else guard.other
    return _HOLDS[guard.comparison](params[guard.param], other)


def unmet(op: OpDef, values: Sequence[float]) -> Iterator[tuple[Guard, float]]:
    """The guards that do not hold at numbers, each with its limit; NaN is a number that is not
    known, which breaks none."""
    for guard in op.guards:
        limit = values[int(guard.other)] if guard.relative else guard.other
        is_known = not (math.isnan(values[guard.param]) or math.isnan(limit))
        if is_known and not holds(guard, values):
            yield guard, limit


def outside(
    op: OpDef, params: Sequence[npt.NDArray[np.float64] | float]
) -> bool | npt.NDArray[np.bool_]:
    """Whether a guard of `op` does not hold at `params` (in the order of the table).

    Numbers give a bool, arrays a bool array of their common shape. A guard on NaN does not
    hold. A row that is outside of its domain is NaN in every executor.
    """
    flags = [holds(guard, params) for guard in op.guards]
    if not any(isinstance(flag, np.ndarray) for flag in flags):
        return not all(flags)
    bad: npt.NDArray[np.bool_] = np.logical_not(np.logical_and.reduce(np.broadcast_arrays(*flags)))
    return bad
