"""Points that lie far from a finished fit, as those of cosmic rays and dead pixels do.

The distance is measured in robust standard deviations of the residual, which a few points do not
change. If no data are negative, it is also measured with the signed root deviance of counts,

    D = sign(y - f) sqrt(2 (y log(y / f) - y + f)),

which has the same scatter everywhere if the variance is proportional to the fit. Its tail is below
exp(-D² / 2), however few the counts are (Chernoff's bound).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: So many standard deviations are far at least.
FAR = 6.0

#: Of the sizes of normal values half are smaller than the first, and 95 % than the second.
HALF, MOST = 0.674490, 1.959964

#: In less than this share of fits chance alone makes a point seem far.
CHANCE = 1e-5

#: More than this share of the points are no spikes: the model misses something.
SHARE = 0.02

#: With fewer points beside the fitted values their scatter is not known.
LEAST = 20

#: With more zeros than this share the smallest of the other values is perhaps one count.
ZEROS = 0.05

#: The efficiency of the median of absolute deviations for normal noise.
EFFICIENCY = 0.37


def far_points(
    data: Array, fit: Array, residual: Array, n_fitted: int, quantum: float | None = None
) -> tuple[npt.NDArray[np.intp], Array]:
    """(places, deviations): which points are far from the fit, as places of the flat arrays, and
    how many standard deviations each point is away.

    Parameters
    ----------
    data, fit, residual : of one shape; the residual has its weights, and is NaN where a point does
        not count
    n_fitted : how many values were fitted
    quantum : counts for each unit of data that are known to be counts; None of others
    """
    kept = np.isfinite(residual).ravel()
    n_points = int(np.count_nonzero(kept))
    none = np.empty(0, np.intp), np.empty(0)
    n_free = n_points - n_fitted
    if n_free < LEAST:
        return none
    flat = data.ravel(), fit.ravel(), residual.ravel()
    y, f, r = flat if n_points == kept.size else [values[kept] for values in flat]
    if quantum is None:
        deviations = _scaled(np.abs(r))
        if deviations is None:
            return none
        if y.min() >= 0.0 and (f > 0.0).all():
            root = _deviance(y, f)
            of_counts = _scaled(root)
            if of_counts is not None:
                deviations = np.minimum(deviations, of_counts)
            if y.any() and np.mean(y == 0.0) > ZEROS:
                deviations = np.minimum(deviations, root / np.sqrt(y[y > 0.0].min()))
    else:
        expected = np.maximum(f, np.finfo(np.float64).tiny)
        root = np.sqrt(quantum) * _deviance(y, expected)
        deviations = root / max(1.0, float(_scale(root)))
    limit = max(FAR, float(np.sqrt(2.0 * np.log(2.0 * n_points / CHANCE))))
    if quantum is None and deviations.max() > limit:
        # Their standard deviation is estimated from themselves: a quantile of Student's t.
        from scipy.special import stdtrit  # takes longer to import than a hundred fits

        limit = max(limit, -float(stdtrit(EFFICIENCY * n_free, 0.5 * CHANCE / n_points)))
    far = np.flatnonzero(deviations > limit)
    if not 0 < far.size <= max(1, int(SHARE * n_points)):
        return none
    return np.flatnonzero(kept)[far], deviations[far]


def _deviance(y: Array, f: Array) -> Array:
    """|D|, with y log y = 0 at y = 0."""
    positive = np.where(y > 0.0, y, 1.0)
    return np.asarray(np.sqrt(2.0 * np.maximum(y * np.log(positive / f) - y + f, 0.0)))


def _scaled(sizes: Array) -> Array | None:
    scale = _scale(sizes)
    return sizes / scale if scale > 0.0 else None


def _scale(sizes: Array) -> float:
    """The standard deviation of normal values of these sizes, by the half and by the 95 % of them
    that are smaller; the larger one, since tails may be longer."""
    half, most = np.quantile(sizes, [0.5, 0.95])
    return float(max(half / HALF, most / MOST))
