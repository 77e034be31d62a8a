"""Covariance by finite differences: where a method gives none, and where a fit ends at a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def jacobian(
    residual: Callable[[Array], Array],
    theta: Array,
    bounds: Sequence[tuple[float, float]],
    columns: Sequence[int],
    sizes: Sequence[float],
) -> Array:
    """(n_points, n_columns) derivatives of the residual in external coordinates.

    Central differences, one-sided where a bound is nearer than the step. The step,
    eps^(1/3) of the value, balances rounding and curvature; where the value is next to nothing
    beside its size, `sizes`, the step is that of a thousandth of the size.
    """
    slopes = []
    for index in columns:
        step = float(np.finfo(float).eps ** (1 / 3)) * max(
            abs(float(theta[index])), 1e-3 * sizes[index]
        )
        high, low = theta.copy(), theta.copy()
        high[index] = min(theta[index] + step, bounds[index][1])
        low[index] = max(theta[index] - step, bounds[index][0])
        rise = residual(high) - residual(low)
        slopes.append(rise / (high[index] - low[index]))
    return np.stack(slopes, axis=1)


def gauss_newton(derivatives: Array, scale: float) -> tuple[Array | None, list[int]]:
    """``scale * inv(JᵀJ)``, and the columns without information.

    A column of zeros has none; the covariance is that of the other columns, with NaN in the
    rows of the columns without. It is None where the others are linearly dependent.
    """
    size = np.sqrt(np.einsum("ij,ij->j", derivatives, derivatives))
    informed = [k for k in range(size.size) if size[k] > 0.0]
    empty = [k for k in range(size.size) if not size[k] > 0.0]
    if not informed:
        return None, empty
    _, singular, vt = np.linalg.svd(derivatives[:, informed] / size[informed], full_matrices=False)
    if not singular[-1] > 1e-12 * singular[0]:
        return None, empty
    inverse = (vt.T / singular**2) @ vt
    covariance = np.full((size.size, size.size), np.nan)
    covariance[np.ix_(informed, informed)] = (
        scale * inverse / np.outer(size[informed], size[informed])
    )
    return covariance, empty
