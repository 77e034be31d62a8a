"""What C says of the ending of a fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS

Array = npt.NDArray[np.float64]

_WEAK = CONSTANTS["ENDING_WEAK"]


class Ended(NamedTuple):
    """Facts of a fit that converged: its points, its evaluations and the distance to the optimum
    that the solver saw. Also the degrees of freedom and the variance of a point that its ending was
    computed with."""

    n_points: int
    nfev: int
    reached: float
    n_free: int
    is_scaled: bool


class Settled(NamedTuple):
    """What C says of an ending of n parameters, see ``pyspec_end_of``; arrays of it are read-only.
    Most fits ask for the covariance and the factor only."""

    flags: int
    variance: float
    distance: float
    chisqr: float
    n: int
    numbers: bytes

    @property
    def is_weak(self) -> bool:
        """Whether the data may say nothing of a combination of all parameters."""
        return bool(self.flags & _WEAK)

    @property
    def side(self) -> npt.NDArray[np.int64]:
        """(n,) -1 at the lower bound, 1 at the upper, else 0."""
        return np.frombuffer(self.numbers, np.int64, self.n)

    @property
    def gain(self) -> Array:
        """(n,) what chi² would fall by without the bound."""
        return np.frombuffer(self.numbers, np.float64, self.n, 8 * self.n)

    @property
    def covariance(self) -> Array:
        """(n, n) that of the parameters that no bound holds, NaN of the others."""
        return np.ndarray((self.n, self.n), np.float64, self.numbers, 16 * self.n)

    @property
    def factor(self) -> Array:
        """The factor of [J r], rows packed."""
        return np.frombuffer(self.numbers, np.float64, -1, 8 * self.n * (self.n + 2))
