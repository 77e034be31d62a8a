"""The covariance by a root of the information, what a bound costs, and derivatives by differences
where no others are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from pyspec.fit.solve.determined import LOST, SHARE_LOST
from pyspec.functions.losses import FLOOR
from pyspec.model import Measurement

Array = npt.NDArray[np.float64]


def jacobian(
    residual: Callable[[Array], Array],
    theta: Array,
    bounds: Sequence[tuple[float, float]],
    columns: Sequence[int],
    sizes: Sequence[float],
) -> Array:
    """(n_points, n_columns) derivatives of the residual in external coordinates.

    Central differences, one-sided where a bound is nearer than the step. The step, eps^(1/3) of the
    value, balances rounding and curvature. If the value is tiny compared with its size, `sizes`,
    the step is that of a thousandth of the size. A parameter that its bounds hold in place has the
    slope 0.
    """
    slopes = []
    for index in columns:
        step = float(np.finfo(float).eps ** (1 / 3)) * max(
            abs(float(theta[index])), 1e-3 * sizes[index]
        )
        high, low = theta.copy(), theta.copy()
        high[index] = min(theta[index] + step, bounds[index][1])
        low[index] = max(theta[index] - step, bounds[index][0])
        room = float(high[index] - low[index])
        rise = residual(high) - residual(low)
        slopes.append(rise / room if room > 0 else np.zeros_like(rise))
    return np.stack(slopes, axis=1)


def fisher_weight(measurement: Measurement, expected: Array) -> Array:
    """1 / sqrt(variance) of counts that are `expected`, 1 of other data, times the weights of the
    points of the window; 0 where one is masked."""
    scale, weight = measurement.loss_scale, np.ones(expected.shape)
    if measurement.loss == "poisson":
        weight = np.sqrt(scale / np.maximum(expected, FLOOR / scale))
    if measurement.weight is not None and measurement.data is not None:
        weight = weight * measurement.of_points(measurement.weight)
    if measurement.keep is not None:
        weight[~measurement.window(measurement.keep)] = 0.0
    return weight


#: The variance of a parameter with a shorter column is too large for a double, or nearly so.
LEAST_LENGTH = 1e-150


def gauss_newton(derivatives: Array) -> tuple[Array | None, list[int]]:
    """``inv(JᵀJ)``, and the columns that the data do not determine.

    `derivatives` is J, or any matrix with the same JᵀJ such as its factor R. Three kinds of columns
    are not determined: columns of zeros, columns so short that their variance is too large for a
    double, and columns that can replace one another. They have NaN, the others their covariance.
    None if no column is determined.
    """
    size = np.sqrt(np.einsum("ij,ij->j", derivatives, derivatives))
    informed = np.flatnonzero(size > LEAST_LENGTH).tolist()
    if not informed:
        return None, list(range(size.size))
    if len(informed) == size.size:
        scaled = derivatives / size
    else:
        scaled = derivatives[:, informed] / size[informed]
    _, singular, vt = np.linalg.svd(scaled, full_matrices=False)
    good = singular > LOST * singular[0]
    if singular.size == size.size and good.all():
        weighted = vt.T / singular
        return (weighted @ weighted.T) / (size[:, None] * size), []
    lost = np.sqrt(np.einsum("ij,ij->j", vt[~good], vt[~good])) > SHARE_LOST
    kept = [k for k, is_lost in zip(informed, lost, strict=True) if not is_lost]
    empty = [k for k in range(size.size) if k not in kept]
    if not kept:
        return None, empty
    inverse = (vt[good].T / singular[good] ** 2) @ vt[good]
    covariance = np.full((size.size, size.size), np.nan)
    places = np.flatnonzero(~lost)
    covariance[np.ix_(kept, kept)] = inverse[np.ix_(places, places)] / np.outer(
        size[kept], size[kept]
    )
    return covariance, empty


#: A column that the others leave less of, in squares, is theirs but for rounding.
THEIRS = 1e-16


def left_by_others(root: Array, columns: Sequence[int], held: Collection[int]) -> Array:
    """S, the curvature of chi² along each of these columns after the others have followed, except
    the `held` ones. S is 0 if the others can do all that a column does. An example is the width of
    a GLP at m = 0."""
    own = root[:, columns]
    least = THEIRS * np.einsum("ij,ij->j", own, own)
    free = np.delete(root, [*held, *columns], axis=1)
    if own.size and free.size:
        size = np.abs(free).max(axis=0)
        free = free / np.where(size > 0.0, size, 1.0)  # in any units: none counts as 0
        own = own - free @ np.linalg.lstsq(free, own, rcond=None)[0]
    curvatures = np.einsum("ij,ij->j", own, own)
    return np.where(curvatures > least, curvatures, 0.0)


def gains_beyond(
    root: Array, downhill: Array, sides: Mapping[int, str], held: Collection[int]
) -> dict[int, float]:
    """How much chi² would fall without the bound of a column in a linear model: g² / S. Here g is
    the slope of the column and S what :func:`left_by_others` gives. `sides` lists the columns at a
    bound, a part of `held`. A column is left out if chi² does not fall beyond its bound, or if S is
    0."""
    slopes = {k: float(downhill[k]) for k in sides if np.isfinite(downhill[k])}
    falling = [k for k, slope in slopes.items() if (slope > 0.0) == (sides[k] == "max")]
    curvatures = left_by_others(root, falling, held).tolist()
    gains = {
        k: slopes[k] * (slopes[k] / curvature)
        for k, curvature in zip(falling, curvatures, strict=True)
        if curvature > 0.0
    }
    return {k: gain for k, gain in gains.items() if gain > 0.0}


#: Pivots of a scaled Gram matrix from which on its Cholesky factor is as good as any.
SOUND = 1e-6


def root_of(gram: Array) -> Array:
    """Upper triangular R with RᵀR = a Gram matrix. Columns of zeros stay zeros. A direction without
    length may be below 0 by rounding; it is set to 0."""
    size = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    informed = size > 0.0
    if not informed.all():
        places = np.ix_(informed, informed)
        factor = np.zeros_like(gram)
        factor[places] = root_of(gram[places])
        return factor
    scaled = gram / (size[:, None] * size)
    with suppress(np.linalg.LinAlgError):
        root = np.linalg.cholesky(scaled)
        if root.diagonal().min(initial=1.0) > SOUND:
            return np.asarray(root.T * size)
    values, vectors = np.linalg.eigh(scaled)
    values[values < values.size * np.finfo(float).eps * np.max(values, initial=0.0)] = 0.0
    return np.asarray(np.linalg.qr(np.sqrt(values)[:, None] * vectors.T, mode="r") * size)
