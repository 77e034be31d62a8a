"""How a height scales a shape that may grow without end."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]


def scaled(A: float | Array, shape: npt.ArrayLike) -> Array:
    """``A shape``: 0 where A is 0, also where `shape` has left the range of doubles, as 0 times
    infinity would be NaN. A shape of NaN stays NaN."""
    return np.asarray(A * np.where(A == 0, np.minimum(shape, 1e300), shape))
