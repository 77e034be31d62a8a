"""``scipy.special``, imported when the first of its functions is called.

Its import takes longer than that of everything else together, and no fit in C needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import numpy.typing as npt


def __getattr__(name: str) -> Callable[..., npt.NDArray[np.float64]]:
    """The function of SciPy of that name."""
    if name.startswith("__"):
        raise AttributeError(name)
    function: Callable[..., npt.NDArray[np.float64]] = getattr(import_module("scipy.special"), name)
    return function
