"""Mass of a convolution kernel beyond a distance ``away`` >= 0 (n,): the integral of g over
``|d| >= away`` on one side. Distances and widths are in units of the time axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array
Kernel: TypeAlias = Callable[[Array, Value], Array]
Mass: TypeAlias = Callable[[Array, float], Array]
Mean: TypeAlias = Callable[[Array, Array, float], Array]

#: The masses of each kernel, on the left (d > 0) and on the right.
MASSES: dict[str, tuple[Mass, Mass]] = {}


#: Of kernels with an edge the mean of the mass over a step, on both sides: functions of ``away``,
#: the step and the parameter.
MEANS: dict[str, tuple[Mean, Mean]] = {}


def masses(left: Mass, right: Mass) -> Callable[[Kernel], Kernel]:
    """Gives a kernel its masses: functions of ``away`` >= 0 (n,) and the kernel's parameter."""

    def give(kernel: Kernel) -> Kernel:
        MASSES[kernel.__name__] = (left, right)
        return kernel

    return give


def means(left: Mean, right: Mean) -> Callable[[Kernel], Kernel]:
    """Gives a kernel with an edge the means of its masses from ``away`` to ``away + step``, both
    (n,), and so has it read the straight lines between samples."""

    def give(kernel: Kernel) -> Kernel:
        MEANS[kernel.__name__] = (left, right)
        return kernel

    return give
