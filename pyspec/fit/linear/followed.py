"""How free amplitudes follow the other parameters of a fit; see
:mod:`pyspec.fit.linear.amplitudes`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Followed:
    """How the amplitudes of one group follow: those that are determined (`kept`), their covariance
    at known theta, s² (BᵀB)⁻¹, Z, the decrease of each by each parameter of theta, and JᵀJ of
    J = G - B Z, what the group knows of theta."""

    kept: npt.NDArray[np.intp]
    inverse: Array
    slopes: Array
    information: Array
