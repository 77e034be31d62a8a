"""What the scatter of data about a finished fit says of their noise: whether it is the same at all
energies, at all times and in all files, whether it is noise, and whether single points are none.

Standard errors take all points (with weights: all weighted points) to have one variance. It is
looked at by how neighbouring points differ, which a model that misses something smooth does not
change: by d = (r_ik - r_jk - r_il + r_jl) / 2 with j = i + 1 and l = k + 1, of squares that do not
overlap, or by pairs of one spectrum or trace. The roots of |d| are nearly normal [1], and outliers
count little there. Blocks of them along an axis are compared by the analysis of variance [2].

[1] D. M. Hawkins & R. A. J. Wixley, Am. Stat. 40, 296 (1986). [2] As of the absolute deviations by
H. Levene (1960) and M. B. Brown & A. B. Forsythe, J. Am. Stat. Assoc. 69, 364 (1974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.fit.by_reference import fit_of
from pyspec.fit.doubts.dead import dead_points
from pyspec.fit.doubts.noise import COUNTS
from pyspec.fit.doubts.spikes import FAR, far_points
from pyspec.fit.same_data import is_at_hand, need_chisqr, need_same

Array = npt.NDArray[np.float64]

#: Noise that differs by more than this factor is said to, where chance makes it seem to in less
#: than this share of fits.
FACTOR, CHANCE = 1.5, 1e-4

#: How sentences begin that are said where chance alone gives as much in less than that share of
#: fits, however little more it is.
BY_CHANCE = ("the noise differs ", "the residual is more than independent noise")

#: A ratio of variances, between blocks and within, below which no number of them is so seldom.
EVER = 2.9

#: An axis has so many blocks at most; each has so many differences at least, and so many for each
#: fitted value, which takes a part of the scatter away: half of the variance at most, and of σ less
#: than FACTOR.
MOST_BLOCKS, LEAST, FOR_EACH_VALUE = 16, 12, 2

#: The mean of the root of |d| of normal noise with the standard deviation 1.
MEAN_ROOT = 0.8222

#: Neighbouring residuals are alike where their correlation is larger than this, and than so many of
#: its standard deviations.
ALIKE, DEVIATIONS = 0.1, 4.0

#: Residuals below this part of the data are rounding, of single precision too.
ROUNDING = 1e-6

#: Nothing else can be said of data that are gone.
CHANGED = (
    "data, weights or mask were changed after the fit, so that its residual and its noise could "
    "not be looked at; fit a copy where an acquisition uses its buffer again"
)

AXES = ("time", "energy")


def of_scatter(result: Any) -> list[str]:
    """Sentences where the noise about a fit differs along an axis, or of a joint fit from file to
    file, and where it is no noise, which are none of counts; else where single points are far from
    the fit; or that the data are no longer those of the fit. None of data by reference, and of fits
    that did not converge."""
    problem = result.problem
    if not result.success or result.chisqr <= ROUNDING**2 * problem.data_square:
        return []
    is_joint = problem.files[0] is not problem
    if not is_at_hand(problem):
        return []
    try:
        need_same(problem)
        fits = list(_fits(result, is_joint))
        residuals = [_residual(*one) for one in fits]
        squares = None if problem.is_poisson else sum(float(np.nansum(r * r)) for r in residuals)
        need_chisqr(result, squares)
    except DataError:
        return [CHANGED]
    dead = _of_points(_dead, fits, residuals, is_joint)
    found: list[str] = []
    if not (problem.is_poisson or any(one.endswith(COUNTS) for one in result._cautions)):
        found = _of_files(problem, residuals) if is_joint else _of_one(problem, residuals[0])
    return dead + (found or ([] if dead else _of_points(_far, fits, residuals, is_joint)))


def _of_one(problem: Any, residual: Array) -> list[str]:
    """What is said of the noise of one file."""
    return _along_axes(problem, _roots(residual)) + _alike(residual)


def _of_points(
    what: Callable[[Any, Array, Array], list[str]],
    fits: list[tuple[Any, Array]],
    residuals: list[Array],
    are_files: bool,
) -> list[str]:
    """What is said of single points, of a joint fit in each file."""
    found = []
    for k, ((problem, fit), residual) in enumerate(zip(fits, residuals, strict=True)):
        where = f"in file{k:02d} " if are_files else ""
        found += [where + text for text in what(problem, fit, residual)]
    return found


def _along_axes(problem: Any, roots: Array) -> list[str]:
    free_along = problem.linear.designer.axis if problem.n_linear else ""
    found = []
    for axis, name in enumerate(AXES):
        values = _places(problem, name)
        if values is None or roots.shape[axis] < 2:
            continue
        lines = roots if axis == 0 else roots.T
        known = np.isfinite(lines)
        # Amplitudes that are free along an axis take the same of the scatter everywhere along it.
        n_fitted = len(problem.names) + (0 if name == free_along else problem.n_linear)
        blocks = _blocks(known.sum(axis=1), max(LEAST, FOR_EACH_VALUE * n_fitted))
        ends = _extremes([lines[a:b][known[a:b]] for a, b in blocks])
        if ends:
            step = 1 if lines.shape[0] == values.size else 2
            places = [float(np.mean(values[step * a : step * b])) for a, b in blocks]
            least, most = [(size, f"around {places[k]:.4g}") for k, size in ends]
            found.append(_sentence(f"along the {name}", most, least, problem.is_weighted))
    return found


def _of_files(problem: Any, residuals: list[Array]) -> list[str]:
    """Of a joint fit: from file to file, and along the axes of each."""
    roots, found = [], []
    for k, (own, residual) in enumerate(zip(problem.problems, residuals, strict=True)):
        known = _roots(residual)
        roots.append(known[np.isfinite(known)])
        said = _along_axes(own, known) + _alike(residual)
        found += [f"in file{k:02d} {text}" for text in said]
    if min(one.size for one in roots) >= LEAST and (ends := _extremes(roots)):
        least, most = [(size, f"in file{k:02d}") for k, size in ends]
        found.insert(0, _sentence("from file to file", most, least, problem.is_weighted))
    return found


def _places(problem: Any, name: str) -> Array | None:
    """The values of an axis within the window; None where the data do not have it."""
    model, given = problem.model, problem.measurement
    is_trace = given.data.ndim == 1 and model.is_time_model
    if given.data.ndim == 1 and is_trace != (name == "time"):
        return None
    values = getattr(model, name)
    window = given.rows if name == "time" and not is_trace else given.columns
    return None if values is None else np.asarray(values[slice(*(window or (None, None)))])


def _alike(residual: Array) -> list[str]:
    """Sentences where neighbouring residuals are alike, which noise of independent points is not:
    r = sum(r_i r_i+1) / sum(r_i²) has a mean of 0, or less after a fit. The variance of the first
    sum is that of sum(r_i² r_i+1²), also where noise differs, which a few noisy points then decide.
    It is estimated by the lesser of this sum, which likeness makes larger, and of sum(r_i⁴) / 3,
    which heavy tails do."""
    kept = np.isfinite(residual)
    r = np.where(kept, residual, 0.0)
    size = float(np.sqrt(np.vdot(r, r) / max(int(kept.sum()), 1)))
    if not size > 0.0:
        return []
    r /= size
    squares = r * r
    fourth, found = float(np.vdot(squares, squares)) / 3.0, []
    for axis, name in enumerate(AXES):
        lines, even, known = (one if axis == 0 else one.T for one in (r, squares, kept))
        n = max(int(np.count_nonzero(known[1:] & known[:-1])), 1)
        share = float(np.einsum("ij,ij->", lines[1:], lines[:-1])) / n
        variance = float(np.einsum("ij,ij->", even[1:], even[:-1]))
        by_chance = np.sqrt(max(n, min(variance, fourth))) / n
        if share > max(ALIKE, DEVIATIONS * by_chance):
            found.append(
                f"the residual is more than independent noise: neighbours along the {name} are "
                f"alike, with a correlation of {share:.2g}; the model misses something, or the "
                f"noise is correlated; standard errors are too small, by a factor of about "
                f"{_too_small(share):.2g} if it is the noise; look at the residual"
            )
    return found


def _too_small(share: float) -> float:
    """By what factor errors are too small where the correlation of noise falls off from point to
    point by this share: the mean of many such points has a variance that is (1 + s) / (1 - s) times
    that of independent ones."""
    s = min(share, 0.99)
    return float(np.sqrt((1.0 + s) / (1.0 - s)))


def _data(problem: Any, residual: Array) -> Array:
    given = problem.measurement
    return np.asarray(given.window(given.data), np.float64).reshape(residual.shape)


def _dead(problem: Any, fit: Array, residual: Array) -> list[str]:
    """A sentence where points are 0 between others that are not."""
    kept = np.isfinite(residual)
    dead = dead_points(_data(problem, residual), fit.reshape(residual.shape), kept)
    if not (n_dead := int(np.count_nonzero(dead))):
        return []
    first = _placed(problem, int(np.argmax(dead)), dead.shape)
    who = f"{n_dead} points are" if n_dead > 1 else "one point is"
    which = "the first at" if n_dead > 1 else "at"
    return [
        f"{who} exactly 0 between values that are not, {which} {_shown(first)}; if "
        "these are dead channels, they pull the fit away from the values beside them; leave them "
        "out: set_fit_limits(exclude=...), or mask=, True there"
    ]


def _far(problem: Any, fit: Array, residual: Array) -> list[str]:
    """A sentence where a few points are far from the fit."""
    given = problem.measurement
    data = _data(problem, residual)
    n_fitted = len(problem.names) + problem.n_linear
    quantum = given.loss_scale if problem.is_poisson else None
    places, deviations = far_points(data, fit.reshape(residual.shape), residual, n_fitted, quantum)
    if not places.size:
        return []
    worst = _placed(problem, int(places[int(np.argmax(deviations))]), residual.shape)
    several = places.size > 1
    who = f"{places.size} points are" if several else "one point is"
    which = (
        f"the furthest, {deviations.max():.3g}, at" if several else f"{deviations.max():.3g}, at"
    )
    return [
        f"{who} further from the fit than noise is, by more than {FAR:g} robust standard "
        f"deviations: {which} {_shown(worst)}; such a spike pulls at the values; where "
        f"it is no signal leave it out: {_excluded(worst)}mask=, True there"
    ]


def _placed(problem: Any, point: int, shape: tuple[int, ...]) -> list[tuple[str, Array, int]]:
    """Where a point of the window lies: along each axis its name, its values, and the index."""
    at = zip(AXES, np.unravel_index(point, shape), strict=True)
    known = [(name, _places(problem, name), int(k)) for name, k in at]
    return [(name, axis, k) for name, axis, k in known if axis is not None]


def _shown(place: list[tuple[str, Array, int]]) -> str:
    """ "energy 84.3 and time 2"."""
    return " and ".join(f"{name} {axis[k]:.6g}" for name, axis, k in reversed(place))


def _excluded(place: list[tuple[str, Array, int]]) -> str:
    """How a point of one spectrum or trace is excluded."""
    if len(place) != 1:
        return ""
    ((_, axis, k),) = place
    beside = axis[max(k - 1, 0)], axis[min(k + 1, axis.size - 1)]
    low, high = sorted(0.5 * (axis[k] + other) for other in beside)
    return f"set_fit_limits(exclude=[({low:.6g}, {high:.6g})]), or "


def _fits(result: Any, is_joint: bool) -> Iterator[tuple[Any, Array]]:
    """The problem and its model over the window, or those of each file of a joint fit."""
    for problem, theta in result.problem.files_at(result.theta):
        known = None if is_joint else result._fit
        yield problem, fit_of(problem, theta) if known is None else known


def _residual(problem: Any, fit: Array) -> Array:
    """(n_rows, n_columns) with its weights, NaN where a point is masked; of one spectrum one row,
    of a trace one column."""
    given = problem.measurement
    residual = np.asarray(given.window(given.data), np.float64) - fit
    if given.weight is not None:
        residual *= given.of_points(given.weight)
    if given.keep is not None:
        residual[~given.of_points(given.keep)] = np.nan
    if residual.ndim == 1:
        residual = residual[:, None] if _places(problem, "time") is not None else residual[None]
    return residual


def _roots(residual: Array) -> Array:
    """The roots of |d|, NaN where one of the points is masked."""
    d = residual
    if d.shape[0] > 1:
        d = (d[: d.shape[0] // 2 * 2 : 2] - d[1::2]) / np.sqrt(2.0)
    if d.shape[1] > 1:
        d = (d[:, : d.shape[1] // 2 * 2 : 2] - d[:, 1::2]) / np.sqrt(2.0)
    return np.asarray(np.sqrt(np.abs(d)))


def _blocks(counts: npt.NDArray[np.int64], least: int) -> list[tuple[int, int]]:
    """(begin, end) of neighbouring lines that have about as many differences each, and `least` or
    more of them."""
    passed = np.concatenate([[0], np.cumsum(counts)])
    total = int(passed[-1])
    n_blocks = min(MOST_BLOCKS, total // least, counts.size)
    if n_blocks < 2:
        return []
    wanted = total * np.arange(1, n_blocks) / n_blocks
    cuts = np.minimum(np.searchsorted(passed[1:], wanted) + 1, counts.size)
    edges = sorted({0, *cuts.tolist(), counts.size})
    return [(a, b) for a, b in pairwise(edges) if passed[b] - passed[a] >= least / 2]


def _extremes(groups: list[Array]) -> list[tuple[int, float]]:
    """(place, standard deviation) of the groups that scatter least and most; [] where chance alone
    may make them differ, or they hardly do."""
    if len(groups) < 2:
        return []
    values, ends = np.concatenate(groups), np.cumsum([group.size for group in groups])
    sizes = np.diff(ends, prepend=0)
    means = np.add.reduceat(values, ends - sizes) / sizes
    deviations = (means / MEAN_ROOT) ** 2
    least, most = int(np.argmin(deviations)), int(np.argmax(deviations))
    apart = values - np.repeat(means, sizes)
    within, rest = float(apart @ apart), values.size - len(groups)
    if deviations[most] <= FACTOR * deviations[least] or not (within > 0.0 and rest > 0):
        return []
    between = float(sizes @ (means - values.mean()) ** 2) / (len(groups) - 1)
    if between < EVER * within / rest:
        return []
    from scipy.special import fdtrc  # takes longer to import than a fit

    if fdtrc(len(groups) - 1, rest, between / (within / rest)) > CHANCE:
        return []
    return [(least, float(deviations[least])), (most, float(deviations[most]))]


def _sentence(
    where: str, most: tuple[float, str], least: tuple[float, str], is_weighted: bool
) -> str:
    sizes = f"its standard deviation is {most[0]:.2g} {most[1]} and {least[0]:.2g} {least[1]}"
    if is_weighted:
        return (
            f"the noise differs {where} by more than was declared: in units of the declared one, "
            f"{sizes}; so standard errors are wrong; declare it as it is"
        )
    return (
        f"the noise differs {where}: {sizes}, but all points weigh the same, so standard errors "
        "are wrong; declare it, file.set_noise('gaussian', sigma=...), or Measurement(weight=1 / "
        "sigma); of counts in other units file.set_noise('poisson', scale=counts for a unit)"
    )
