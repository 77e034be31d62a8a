"""Linear least squares within bounds, for few unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.fit.solve.covariance import UNDETERMINED

Array = npt.NDArray[np.float64]

#: A slope at a bound below this share of the residual holds no unknown and frees none.
NEUTRAL = 1e-12

#: Changes of what is held, for each unknown, after which the best so far is taken.
MOST_CHANGES = 10


@dataclass(frozen=True)
class Solution:
    """The least squares solution.

    Attributes
    ----------
    step : (n,) the unknowns; a combination of them without effect stays 0
    basis : (m, k) orthonormal basis of the columns that no bound holds
    inverse : (n, m) makes of a change of `right` that of the unknowns, where what is held stays
    weakest : the smallest singular value of all columns, scaled to length 1, beside the largest;
        columns of zeros do not count
    """

    step: Array
    basis: Array
    inverse: Array
    weakest: float


def least_squares(columns: Array, right: Array, low: Array, high: Array) -> Solution:
    """The smallest ``|right - columns @ step|`` with ``low <= step <= high``; 0 lies within.

    An active set, as that of P. B. Stark and R. L. Parker, Comput. Stat. 10 (1995) 129, that begins
    inside: an unknown that the free solution takes out of its bounds stops there, and goes on once
    the slope says so.
    """
    size = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    known = size > 0.0
    scaled = np.divide(columns, size, out=np.zeros_like(columns), where=known)
    least, most = low, high
    low, high = low * size, high * size
    step, held = np.zeros(size.size), ~known
    neutral = NEUTRAL * float(np.sqrt(right @ right))
    weakest = np.nan
    for _ in range(MOST_CHANGES * (size.size + 1)):
        free = np.flatnonzero(~held)
        basis, inverse, smallest = _inverted(scaled[:, free])
        change = inverse @ (right - scaled @ step)
        weakest = smallest if np.isnan(weakest) else weakest
        to = step[free] + change
        out = (to < low[free]) | (to > high[free])
        if out.any():
            limit = np.where(change < 0.0, low[free], high[free])
            share = np.where(out, (limit - step[free]) / np.where(out, change, 1.0), np.inf)
            first = int(np.argmin(share))
            step[free] += max(share[first], 0.0) * change
            step[free[first]] = limit[first]
            held[free[first]] = True
            continue
        step[free] = to
        pull = scaled.T @ (right - scaled @ step)
        inward = ((step <= low) & (pull > neutral)) | ((step >= high) & (pull < -neutral))
        inward &= held & known & (high > low)
        if not inward.any():
            break
        held[int(np.argmax(np.where(inward, np.abs(pull), -1.0)))] = False
    found = np.divide(step, size, out=np.zeros_like(step), where=known)
    whole = np.zeros((size.size, right.size))
    whole[free] = inverse / size[free, None]
    return Solution(np.clip(found, least, most), basis, whole, weakest)


def _inverted(scaled: Array) -> tuple[Array, Array, float]:
    """An orthonormal basis of columns of length 1, their pseudo-inverse, and the smallest singular
    value beside the largest."""
    if not scaled.shape[1]:
        return np.zeros((len(scaled), 0)), np.zeros((0, len(scaled))), 1.0
    u, singular, vt = np.linalg.svd(scaled, full_matrices=False)
    good = singular > UNDETERMINED * singular[0]
    basis = u[:, good]
    return basis, (vt[good].T / singular[good]) @ basis.T, float(singular[-1] / singular[0])
