"""Time zero and instrument of spectra that decay, sought on a grid energy by energy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.functions.time import gaussD1Fun, gaussD2Fun, gaussFun
from pyspec.model.guess.numerics import step_at

Array = npt.NDArray[np.float64]

#: A law is added, or time zero bent, where chi squared falls by its free values and so many of
#: their standard deviations.
CERTAIN = 6.0

#: Numbers of points of the grids: time zeros, widths of the instrument, decays of the flexible
#: basis, starts of a further decay, and slope and curvature of time zero.
ONSETS, WIDTHS, FLEXIBLE, STARTS, SLOPES, BENDS = 80, 6, 6, 12, 41, 17


@dataclass(frozen=True)
class Kinetics:
    """Laws of the delay that free spectra belong to.

    Attributes
    ----------
    zero : time zero as a polynomial of ``x = coordinate(energy)``, the constant first
    SD : standard deviation of the instrument; None where no onset is seen
    is_sharp : whether the onset is as short as the steps of the delay
    taus : decay times, the fastest first
    has_step, has_artifact, has_constant : further laws: what stays, a pulse with its derivatives,
        what is there at all delays
    n_significant : singular values of the data above those of noise
    """

    zero: tuple[float, ...]
    SD: float | None
    is_sharp: bool
    taus: tuple[float, ...]
    has_step: bool
    has_artifact: bool
    has_constant: bool
    n_significant: int = 0


class Scaled:
    """Data in units of their noise, (n_time, n_groups), and the place x of each group."""

    def __init__(self, time: Array, data: Array, x: Array) -> None:
        self.time, self.data, self.x = time, data, x
        self.total = np.sum(data**2, axis=0)


def guess_onset(data: Scaled) -> Kinetics:
    """Time zero, instrument and whether there is an artifact, with a flexible basis of decays."""
    t = data.time
    fixed = [np.ones_like(t), *np.exp(-(t - t[0])[:, None] / decay_times(t, t[0], 2 * FLEXIBLE)).T]
    without = float(_rss(data, fixed).sum())
    coarse = np.unique(np.concatenate([t[1:-1], (t[1:-2] + t[2:-1]) / 2]))
    coarse = coarse[:: max(1, coarse.size // (2 * ONSETS))]
    costs = np.array([_rss(data, _flexible(t, at, 2 * step_at(t, at), False)) for at in coarse])
    gain = np.maximum(costs.max(axis=0) - costs.min(axis=0), 0.0)
    dof = t.size * data.x.size
    variance = max(float(costs.min(axis=0).sum()) / dof, 1e-3)
    if without - float(costs.sum(axis=1).min()) < variance * 3 * data.x.size + 10 * math.sqrt(dof):
        first = float(t[0]) - 0.01 * step_at(t, t[0])
        return Kinetics((first,), None, False, (), False, False, False)
    at = coarse[np.argmin(costs, axis=0)]
    strong = gain >= 0.05 * gain.max()
    low, high = float(at[strong].min()), float(at[strong].max())
    middle = float(coarse[np.argmin(costs.sum(axis=1))])
    step = step_at(t, middle)
    reach = 6 * step + 0.3 * (high - low)
    grid = np.linspace(max(low - reach, t[0]), min(high + reach, t[-2]), ONSETS)
    tried: list[tuple[float, bool, float, Array]] = []
    for has_artifact in (False, True):
        pulses = 3 * data.x.size * has_artifact
        for sd in (step * np.geomspace(0.35, 8.0, WIDTHS)).tolist():
            table = np.array([_rss(data, _flexible(t, at, sd, has_artifact)) for at in grid])
            table += variance * (pulses + CERTAIN * math.sqrt(2 * pulses)) / data.x.size
            tried.append((_polynomial(data, grid, table, 1)[0], has_artifact, sd, table))
    tried.sort(key=lambda attempt: attempt[0])
    bent = [
        (*_polynomial(data, grid, table, 2), has_artifact, sd)
        for _, has_artifact, sd, table in tried[:3]
    ]
    _, zero, has_artifact, sd = min(bent)
    return Kinetics(zero, sd, False, (), False, has_artifact, True)


def _flexible(t: Array, at: float, sd: float, has_artifact: bool) -> list[Array]:
    """What any sum of decays from one time zero on looks like, nearly."""
    taus = decay_times(t, at, FLEXIBLE)
    decays = expFun_gaussIRF(t[:, None], 1.0, taus, at, sd)
    columns = [np.ones_like(t), stepFun_gaussIRF(t, 1.0, at, sd), *decays.T]
    return columns + (pulses(t, at, sd) if has_artifact else [])


def pulses(t: Array, at: float | Array, sd: float) -> list[Array]:
    return [law(t, 1.0, sd, at) for law in (gaussFun, gaussD1Fun, gaussD2Fun)]


def decay_times(t: Array, at: float, count: int) -> Array:
    span = float(t[-1]) - at
    return np.geomspace(min(2 * step_at(t, at), span / 10), 1.5 * span, count)


def _rss(data: Scaled, columns: list[Array]) -> Array:
    """The sum of squares that these columns leave, (n_groups,)."""
    basis = np.stack(columns, axis=1)
    size = np.sqrt(np.sum(basis**2, axis=0))
    u, s, _ = np.linalg.svd(basis[:, size > 0] / size[size > 0], full_matrices=False)
    u = u[:, s > 1e-6 * s[0]]
    return np.asarray(data.total - np.sum((u.T @ data.data) ** 2, axis=0))


def _polynomial(
    data: Scaled, grid: Array, table: Array, degree: int
) -> tuple[float, tuple[float, ...]]:
    """The time zero of least cost, a polynomial in x up to this degree (1 or 2): `table`, (n_grid,
    n_groups), is the cost of a time zero at each x. Returns its cost, with that of its terms."""
    x, groups = data.x, np.arange(data.x.size)
    step, span = float(grid[1] - grid[0]), float(np.ptp(grid))
    variance = max(float(table.min(axis=0).sum()) / (data.time.size * x.size), 1e-3)
    size, u = max(float(np.ptp(x)), 1e-12), x - float(x.mean())
    beyond = float(np.ptp(table)) / 10

    def least(*terms: Array) -> tuple[float, tuple[float, ...]]:
        """The lowest of all sums of these coefficients of 1, u and u^2 - mean."""
        zero = np.zeros((1, x.size))
        for values, shape in zip(terms, (np.ones_like(u), u, u**2 - np.mean(u**2)), strict=False):
            zero = (zero[:, None, :] + values[:, None] * shape).reshape(-1, x.size)
        at = np.rint((zero - grid[0]) / step).astype(np.int32)
        inside = np.clip(at, 0, grid.size - 1)
        costs = table[inside, groups].sum(axis=1) + beyond * np.abs(at - inside).sum(axis=1)
        k = int(np.argmin(costs))
        own = np.unravel_index(k, [term.size for term in terms])
        return float(costs[k]), tuple(
            float(values[j]) for values, j in zip(terms, own, strict=True)
        )

    worth = 5 * variance * CERTAIN
    kinds = [least(grid)]
    if x.size > 3:
        slopes = np.linspace(-span, span, SLOPES) / size
        cost, line = least(grid, slopes)
        kinds.append((cost + worth, line))
        if degree > 1:
            bends = np.linspace(-span, span, BENDS) / (size / 2) ** 2
            cost, (level, slope, bend) = least(grid[::2], slopes[::2], bends)
            kinds.append((cost + 2 * worth, (level - bend * float(np.mean(u**2)), slope, bend)))
    best, zero = min(kinds)
    moved = np.polynomial.Polynomial(zero)(np.polynomial.Polynomial([-float(x.mean()), 1.0]))
    coefficients = [float(coefficient) for coefficient in np.atleast_1d(moved.coef)]
    return best, tuple(coefficients + [0.0] * (len(zero) - len(coefficients)))
