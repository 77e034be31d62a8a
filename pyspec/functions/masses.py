"""What lies of a convolution kernel beyond a distance: the integral of g over ``|d| >= away`` on
one side, as a function of ``away`` >= 0 (n,) and the kernel's width; in units of the time axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array
Kernel: TypeAlias = Callable[[Array, Value], Array]
Mass: TypeAlias = Callable[[Array, float], Array]

#: The masses of each kernel, on the left (d > 0) and on the right.
MASSES: dict[str, tuple[Mass, Mass]] = {}


def masses(left: Mass, right: Mass) -> Callable[[Kernel], Kernel]:
    """Gives a kernel its masses: functions of ``away`` >= 0 (n,) and the kernel's parameter."""

    def give(kernel: Kernel) -> Kernel:
        MASSES[kernel.__name__] = (left, right)
        return kernel

    return give
