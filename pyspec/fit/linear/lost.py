"""What remains known of a fit whose data do not determine some parameters.

Rates of a reversible scheme behind free spectra change together, and some spectra with them, while
the fit stays as it is: such directions of theta are the null space of its information
J'J, J = G - B Z (see :mod:`pyspec.fit.linear.amplitudes`). An amplitude that changes along one has
no error. All that does not change along them keeps its error, which is that by the pseudo-inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pyspec.fit.linear.followed import Followed
from pyspec.fit.solve.determined import WEAK

Array = npt.NDArray[np.float64]

#: Change along a lost direction, in standard errors at known theta, above which an amplitude is
#: not determined; the direction is that long that no column alone changes chi² by more than s².
MOVED = 1e-3


#: An error that is longer has no square: the parameter went off to where nothing depends on it.
LONGEST = 1e150


def information_of(followed: Sequence[Followed], n: int) -> Array:
    """(n, n) what all groups know of theta."""
    every = np.array([own.information for own in followed]).reshape(-1, n, n)
    return np.asarray(every.sum(axis=0))


def lost_directions(
    root: Array, covariance: Array, lost: Sequence[int], variance: float
) -> tuple[Array, Array]:
    """The covariance of theta without the lost directions, and these, (n_theta, n_lost), from the
    information of all data, `root`.

    `covariance` has zeros for parameters that are known or `lost`: those that the data do not
    determine, by their places.
    """
    n = len(covariance)
    free = np.union1d(np.flatnonzero(np.diag(covariance) > 0), np.array(lost, np.intp))
    size = np.sqrt(np.diag(root)[free])
    free, size = free[size > 0], size[size > 0]
    if not free.size or not variance > 0:
        return covariance, np.zeros((n, 0))
    scaled = root[np.ix_(free, free)] / size / size[:, None]
    squares, vectors = np.linalg.eigh(scaled)
    held = np.array([k not in set(lost) for k in free.tolist()])
    null = squares <= WEAK**2 * squares[-1]
    # A direction of parameters that all have errors is weak, and determined.
    null &= np.sum(vectors[~held] ** 2, axis=0) > 0.5
    errors = np.sqrt(variance) * vectors / size[:, None]
    errors[:, ~null] /= np.sqrt(squares[~null])
    null |= np.abs(errors).max(axis=0) > LONGEST
    found = np.zeros((n, n))
    found[np.ix_(free, free)] = errors[:, ~null] @ errors[:, ~null].T
    away = np.zeros((n, int(null.sum())))
    away[free] = vectors[:, null] * np.sqrt(variance) / size[:, None]
    return found, away


def moved(followed: Sequence[Followed], away: Array, n_basis: int) -> npt.NDArray[np.bool_]:
    """(n_basis,) whether an amplitude changes along a lost direction, at any energy or time."""
    found = np.zeros(n_basis, np.bool_)
    for own in followed:
        error = np.sqrt(np.diag(own.inverse))
        change = np.abs(own.slopes @ away).max(axis=1, initial=0.0)
        found[own.kept[change > MOVED * error]] = True
    return found
