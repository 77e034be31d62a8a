"""What the scatter of data about a finished fit says about their noise. Is it the same at all
energies, at all times and in all files? Is it noise at all, and are single points outliers?

Standard errors take all points (with weights: all weighted points) to have one variance. This is
tested with differences of neighbouring points, which hardly change if a model misses something
smooth. The difference is d = (r_ik - r_jk - r_il + r_jl) / 2 with j = i + 1 and l = k + 1, over
squares that do not overlap. In a single spectrum or trace it is taken over pairs. The roots of |d|
are nearly normal [1], and outliers count little there. Blocks of them along an axis are compared by
the analysis of variance [2].

[1] D. M. Hawkins & R. A. J. Wixley, Am. Stat. 40, 296 (1986). [2] As of the absolute deviations by
H. Levene (1960) and M. B. Brown & A. B. Forsythe, J. Am. Stat. Assoc. 69, 364 (1974).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import le

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.errors import DataError
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.findings.dead import dead_points
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.spikes import FAR, HALF, MOST, far_points
from pyspec.fit.part import FitPart
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.by_reference import fit_of
from pyspec.fit.results.ended import EndedFit, need_fitted
from pyspec.fit.results.same_data import is_at_hand

Array = npt.NDArray[np.float64]

#: Noise that differs by more than this factor is said to, where chance makes it seem to in less
#: than this share of fits.
FACTOR, CHANCE = 1.5, 1e-4

#: A ratio of variances, between blocks and within, below which no number of them is so seldom.
EVER = 2.9

#: MOST_BLOCKS is the largest number of blocks along an axis. Each block has at least LEAST
#: differences, and at least FOR_EACH_VALUE for each fitted value. Fitted values take away a part of
#: the scatter: at most half of the variance, and less than FACTOR of σ.
MOST_BLOCKS, LEAST, FOR_EACH_VALUE = 16, 12, 2

#: The mean of the root of |d| of normal noise with the standard deviation 1.
MEAN_ROOT = 0.8222

#: Neighbouring residuals are alike where their correlation is larger than this, and than so many of
#: its standard deviations.
ALIKE, DEVIATIONS = 0.1, 3.5

#: Residuals below this part of the data are rounding, of single precision too.
ROUNDING = 1e-6

AXES = ("time", "energy")

#: No point is far where half of all, or 95 % of them, reach these parts of the largest.
NEAR = np.array([HALF, MOST]) / FAR


class Residual:
    """The residual of one file, with its weights, 0 where a point is masked, and its sums.

    Attributes
    ----------
    values, kept : (n_rows, n_columns); of one spectrum one row, of a trace one column. `kept` is
        None where all points count
    n, square, largest : points that count, the sum of their squares, the largest size
    lines : along time and energy, (3, n): of every two lines how many differences of neighbours,
        the sums of the roots of these, and of their sizes
    """

    def __init__(self, problem: FitPart, theta: Array, fit: Array, part: int | None) -> None:
        self.problem, self.part = problem, part
        self.n_amplitudes = problem.n_amplitudes_at(theta)
        measurement, self.kept = problem.measurement, None
        values = np.subtract(problem.data, fit, order="C", dtype=np.float64)
        if measurement.weight is not None:
            values *= measurement.of_points(measurement.weight)
        is_trace = values.ndim == 1 and problem.is_trace
        shape = (-1, 1) if is_trace else (-1, values.shape[-1])
        self.values, self.fit = values.reshape(shape), fit.reshape(shape)
        if measurement.keep is not None:
            self.kept = np.array(measurement.of_points(measurement.keep)).reshape(shape)
            self.values[~self.kept] = 0.0
        sums, shape = np.empty(12), self.values.shape
        self.lines = [np.empty((3, max(n // 2, 1))) for n in shape]
        keep = 0 if self.kept is None else address(self.kept)
        places = map(address, (NEAR, sums, *self.lines))
        status = LIBRARY.pyspec_residual_sums(address(self.values), keep, *shape, *places)
        if status < 0:
            raise_status(-status, "the sums of a residual")
        self.n, self.square, self.largest, self.fourth, *rest = sums.tolist()
        self._below, self._pairs = rest[:2], (rest[2:5], rest[5:])

    def finding(self, kind: Kind, **numbers: object) -> Finding:
        """One about this file."""
        return Finding(kind, (), numbers, self.part)

    def varying(self) -> Iterator[Finding]:
        """Noise that differs along an axis."""
        own = self.problem
        free_along = own.executor.designer.axis if isinstance(own, FreePart) else ""
        for name, lines, n_lines in zip(AXES, self.lines, self.values.shape, strict=True):
            axis = self.problem.axis(name)
            if axis is None or n_lines < 4:
                continue
            # Amplitudes that are free along an axis take the same of the scatter all along it.
            n_fitted = len(self.problem.names)
            n_fitted += 0 if name == free_along else self.n_amplitudes
            blocks = _blocks(lines[0], max(LEAST, FOR_EACH_VALUE * n_fitted))
            ends = _extremes(np.array([lines[:, a:b].sum(axis=1) for a, b in blocks]))
            if ends:
                places = [float(np.mean(axis[2 * a : 2 * b])) for a, b in blocks]
                (low, least), (high, most) = ends
                numbers = {"most": most, "at": places[high], "least": least, "from": places[low]}
                is_weighted = self.problem.is_weighted
                yield self.finding(Kind.NOISE_VARIES, axis=name, weighted=is_weighted, **numbers)

    def alike(self) -> Iterator[Finding]:
        """Neighbouring residuals that are alike, which noise of independent points is not:
        r = sum(r_i r_i+1) / sum(r_i²) has a mean of 0, or less after a fit. The variance of the
        first sum is that of sum(r_i² r_i+1²), even if the noise differs. A few noisy points may
        then decide it. It is estimated by the smaller of two sums: this one, which correlation
        makes larger, and sum(r_i⁴) / 3, which heavy tails make larger. If the correlation of the
        noise falls by the same factor from point to point, the mean of many points has a larger
        variance: by (1 + s) / (1 - s) over that of independent points."""
        mean = self.square / max(self.n, 1.0)
        if not 0.0 < mean * mean < math.inf:
            return
        for name, (n_pairs, products, squares) in zip(AXES, self._pairs, strict=True):
            n = max(n_pairs, 1.0)
            share = products / n / mean
            by_chance = math.sqrt(max(n, min(squares, self.fourth / 3.0) / mean**2)) / n
            if share > max(ALIKE, DEVIATIONS * by_chance):
                s = min(share, 0.99)
                factor = math.sqrt((1.0 + s) / (1.0 - s))
                yield self.finding(Kind.RESIDUAL_STRUCTURED, axis=name, share=share, factor=factor)

    def dead(self) -> Iterator[Finding]:
        """Points that are 0 between others that are not."""
        if (data := self._data).all():
            return
        kept = np.ones(data.shape, dtype=bool) if self.kept is None else self.kept
        dead = dead_points(data, self.fit, kept)
        if n_dead := int(np.count_nonzero(dead)):
            first = {name: float(axis[k]) for name, axis, k in self._place(int(np.argmax(dead)))}
            yield self.finding(Kind.DEAD_POINTS, count=n_dead, **first)

    def far(self) -> Iterator[Finding]:
        """A few points that are far from the fit."""
        problem = self.problem
        quantum = problem.measurement.loss_scale if problem.is_poisson else None
        hidden = self.values.size - self.n  # masked points are 0, which is small
        reached = [int(part * (self.n - 1.0)) + hidden for part in (0.5, 0.95)]
        if quantum is None and any(map(le, self._below, reached)):
            return
        n_fitted = len(problem.names) + self.n_amplitudes
        residual = self.values if self.kept is None else np.where(self.kept, self.values, np.nan)
        places, away = far_points(self._data, self.fit, residual, n_fitted, quantum)
        if not places.size:
            return
        worst = self._place(int(places[int(np.argmax(away))]))
        numbers = {name: float(axis[k]) for name, axis, k in worst}
        if len(worst) == 1:  # a point of one spectrum or trace is alone between two values
            ((_, axis, k),) = worst
            beside = axis[max(k - 1, 0)], axis[min(k + 1, axis.size - 1)]
            low, high = sorted(0.5 * (axis[k] + other) for other in beside)
            numbers |= {"low": float(low), "high": float(high)}
        count, furthest = int(places.size), float(away.max())
        yield self.finding(Kind.OUTLIERS, count=count, away=furthest, **numbers)

    @property
    def _data(self) -> Array:
        return np.asarray(self.problem.data, np.float64).reshape(self.values.shape)

    def _place(self, point: int) -> list[tuple[str, Array, int]]:
        """Where a point lies: along each axis its name, its values, and the index."""
        at = zip(AXES, np.unravel_index(point, self.values.shape), strict=True)
        along = [(name, self.problem.axis(name), int(k)) for name, k in at]
        return [(name, axis, k) for name, axis, k in along if axis is not None]


def of_scatter(result: EndedFit) -> list[Finding]:
    """Findings of the residual.

    Dead points are always looked for. The noise is looked at along each axis and, in a joint fit,
    from file to file: whether it varies, and whether neighbours are alike. Counts are left out of
    that. Single points far from the fit are looked for where none of these was found. Data that
    were changed since the fit are a finding. Nothing is found in data by reference, nor in fits
    that did not converge."""
    problem = result.problem
    if not result.success or result.chisqr <= ROUNDING**2 * problem.data_square:
        return []
    if not is_at_hand(problem):
        return []
    is_joint = problem.shared is not None
    try:
        files = []
        for k, (own, theta) in enumerate(problem.files_at(result.theta)):
            fit = fit_of(own, theta) if is_joint else result.fit
            files.append(Residual(own, theta, fit, k if is_joint else None))
        squares = None if problem.is_poisson else sum(residual.square for residual in files)
        need_fitted(result, squares)
    except DataError:
        return [Finding(Kind.DATA_CHANGED)]
    dead = [finding for residual in files for finding in residual.dead()]
    findings: list[Finding] = []
    are_counts = any(finding.kind is Kind.COUNTS_UNDECLARED for finding in result._findings)
    if not (problem.is_poisson or are_counts):
        findings = _of_files(problem, files) if is_joint else []
        findings += [
            finding for residual in files for finding in (*residual.varying(), *residual.alike())
        ]
    if findings or dead:
        return dead + findings
    return [finding for residual in files for finding in residual.far()]


def _of_files(problem: FitProblem, files: list[Residual]) -> list[Finding]:
    """Noise that differs from file to file."""
    sums = np.array([residual.lines[0].sum(axis=1) for residual in files])
    if sums[:, 0].min() < LEAST or not (ends := _extremes(sums)):
        return []
    (low, least), (high, most) = ends
    numbers = {"axis": "file", "most": most, "at": high, "least": least, "from": low}
    return [Finding(Kind.NOISE_VARIES, (), {**numbers, "weighted": problem.is_weighted})]


def _blocks(counts: Array, least: int) -> list[tuple[int, int]]:
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


def _extremes(sums: Array) -> list[tuple[int, float]]:
    """(place, standard deviation) of the groups of differences that scatter least and most. Each
    row of `sums` has the number of differences, the sum of the roots and the sum of the sizes. []
    if the groups hardly differ, or if chance alone may explain the difference."""
    if len(sums) < 2:
        return []
    n, roots, sizes = sums.T
    means, total = roots / n, float(n.sum())
    deviations = (means / MEAN_ROOT) ** 2
    least, most = int(np.argmin(deviations)), int(np.argmax(deviations))
    within, rest = float(np.sum(sizes - roots * means)), total - len(sums)
    if deviations[most] <= FACTOR * deviations[least] or not (within > 0.0 and rest > 0):
        return []
    between = float(n @ (means - roots.sum() / total) ** 2) / (len(sums) - 1)
    if between < EVER * within / rest:
        return []
    from scipy.special import fdtrc  # takes longer to import than a fit

    if fdtrc(len(sums) - 1, rest, between / (within / rest)) > CHANCE:
        return []
    return [(least, float(deviations[least])), (most, float(deviations[most]))]
