"""Start values from a trace over time: a slope, an onset, decays, an oscillation, as far as they
stand out.

Grids of the nonlinear parameters (onset, width, decay times, frequency); the heights follow by
linear least squares. Between laws the information criterion of Bayes decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.model.guess.numerics import means, step_at

Array = npt.NDArray[np.float64]

#: Longer traces are averaged over neighbours to at most this many points, and the grids are sought
#: through in averages of fewer.
MOST, SOUGHT = 20_000, 400

#: Points of the grids: onsets, decay times, frequencies.
ONSETS, DECAYS, FREQUENCIES = 60, 24, 4000

#: Widths of the instrument that are tried, in steps of the axis at the onset. Then the least width,
#: and the one below which the axis can not show how sharp the onset is.
WIDTHS = (0.3, 1.0, 2.0, 4.0, 8.0)
SHARPEST, SHARP = 0.2, 0.5

#: Evaluations of one choice, to improve it.
ROUNDS = 40

#: What a further law has to bring beside what its parameters are worth.
WORTH = 10.0

#: An oscillation is seen for this many periods at least.
PERIODS = 1.5

#: And has not faded to 1/e before this many.
LASTS = 1.0

#: The share of the time in which it fades that has two samples in a period.
SAMPLED = 0.9

#: And has this share of the range of the trace: the noise of counts, which differs along the time,
#: looks like smaller ones.
SMALLEST = 0.01

#: No law is added for a sum of squares below this share of that of the trace (0.3 % in height): a
#: step of exact values would get two decays for the remains of its onset.
NOTHING = 1e-5


@dataclass(frozen=True)
class Laws:
    """What a trace looks like: ``level + slope (t - first time) + onset (step +
    Σ A exp(-(t - t0)/tau) + oscillation)``.

    Attributes
    ----------
    t0 : where laws begin; the first time, where no onset is seen
    SD : standard deviation of the instrument; None where no onset is seen
    is_sharp : whether the onset is as short as the steps of the axis
    level, slope : the value at the first time, and the slope at all times (None: no slope)
    step : what is added from t0 on (None: no step)
    decays : (A, tau) of exponential decays, the fastest first
    swing : (A, f, phi, tau) of an oscillation ``A exp(-(t - t0)/tau) sin(2 pi f (t - t0) + phi)``,
        tau infinite where it does not fade; None for none
    """

    t0: float
    SD: float | None
    is_sharp: bool
    level: float
    slope: float | None
    step: float | None
    decays: tuple[tuple[float, float], ...]
    swing: tuple[float, float, float, float] | None


@dataclass(frozen=True)
class _Tried:
    """One choice of what is not linear, and how well it does. `cost` is the criterion."""

    cost: float
    t0: float
    sd: float | None
    has_slope: bool = False
    has_step: bool = False
    taus: tuple[float, ...] = ()
    wave: tuple[float, float] | None = None  # frequency, decay time


_by_cost = attrgetter("cost")


def guess_laws(time: npt.ArrayLike, trace: npt.ArrayLike) -> Laws:
    """Guesses laws for a trace (n_time,) over rising times, with at least five points."""
    t, y = np.asarray(time, np.float64), np.asarray(trace, np.float64)
    start = 0.0 if t[0] < 0.0 < t[-1] else float(t[0])  # a zero within the axis means something
    span, ground, size = float(np.ptp(t)), float(y[0]), float(np.ptp(y)) or 1.0
    laws, swing = _guessed((t - start) / span, (y - ground) / size), None
    if laws.swing is not None:
        height, f, phi, fade = laws.swing
        swing = size * height, f / span, phi, span * fade
    return Laws(
        start + span * laws.t0,
        None if laws.SD is None else span * laws.SD,
        laws.is_sharp,
        ground + size * laws.level,
        None if laws.slope is None else size / span * laws.slope,
        None if laws.step is None else size * laws.step,
        tuple((size * height, span * tau) for height, tau in laws.decays),
        swing,
    )


def _guessed(time: Array, trace: Array) -> Laws:
    """The laws of a trace whose span and range are 1, as minimizers take differences there."""
    group = math.ceil(time.size / MOST)
    t, y = whole = means(time, group), means(trace, group)
    if t.size > SOUGHT:
        t, y = (means(line, math.ceil(t.size / SOUGHT)) for line in whole)
    tried = [*_without_onset(t, y, float(np.asarray(time)[0])), *_with_onset(t, y)]
    best_of: dict[tuple[bool, bool, bool, int], _Tried] = {}  # of the same laws
    for trial in tried:
        kind = (trial.sd is None, trial.has_slope, trial.has_step, len(trial.taus))
        best_of[kind] = min(best_of.get(kind, trial), trial, key=_by_cost)
    laws = [_polished(t, y, trial) for trial in best_of.values()]
    best = min(laws, key=_by_cost)
    plain = _finished(whole, best)
    for base in _bases(t, best, laws):
        wave = min(_with_wave(t, y, base), key=_by_cost, default=base)
        best = min(best, _polished(t, y, wave), key=_by_cost)
    other = plain if best.wave is None else _finished(whole, best)
    if other.swing is None:
        return plain
    height, f, _, fade = other.swing
    return other if height > SMALLEST * float(np.ptp(y)) and f * fade >= LASTS else plain


def _finished(whole: tuple[Array, Array], best: _Tried) -> Laws:
    """The laws as they lie best in the whole trace, whose steps may be finer."""
    trial = _polished(*whole, replace(best, cost=np.inf))
    if best.wave is not None:  # the other laws beside it: a long trace may have a sharper onset
        trial = _polished(*whole, trial, holds_wave=True)
    return _solved(*whole, trial)


def _criterion(t: Array, rss: float | Array, y: Array, trial: _Tried) -> Array:
    """n ln(rss / n), and what the parameters of these laws are worth."""
    floor = NOTHING * float(np.sum((y - y.mean()) ** 2)) + np.finfo(float).tiny
    laws = len(trial.taus) + trial.has_slope + trial.has_step + (trial.wave is not None)
    count = 1 + 2 * len(trial.taus) + trial.has_slope + trial.has_step + 2 * (trial.sd is not None)
    if trial.wave is not None:
        count += 3 + math.isfinite(trial.wave[1])
    if count >= y.size:
        return np.full(np.shape(rss), np.inf)
    worth = math.log(y.size) * count + WORTH * laws
    # A time zero within the axis says that there is an onset.
    if trial.sd is None and trial.taus and t[0] < 0.0 < t[-1]:
        worth += 2 * WORTH
    return np.asarray(y.size * np.log(np.maximum(rss, floor) / y.size) + worth)


def _decay_times(t: Array, t0: float) -> Array:
    span = float(t[-1] - t0)
    return np.geomspace(min(step_at(t, t0), span / 4) / 2, 3.0 * span, DECAYS)


def _residual(columns: Sequence[Array], others: Array) -> Array:
    """What the columns, (n,) each, leave of others, (n, m) or (n,)."""
    basis = np.linalg.qr(np.stack(columns, axis=1))[0]
    return np.asarray(others - basis @ (basis.T @ others))


def _decays_beside(
    t: Array, y: Array, base: _Tried, columns: Sequence[Array], decays: Array, taus: Array
) -> Iterator[_Tried]:
    """`base` with none, the best one, and the best two of `decays`, (n, n_tau)."""

    def tried(rss: float, *own: float) -> _Tried:
        trial = replace(base, taus=tuple(sorted(own)))
        return replace(trial, cost=float(_criterion(t, rss, y, trial)))

    left = _residual(columns, y)
    rss = float(left @ left)
    yield tried(rss)
    own = _residual(columns, decays)
    gram, load = own.T @ own, own.T @ left
    size = np.maximum(np.diag(gram), 1e-12 * np.sum(decays**2, axis=0) + np.finfo(float).tiny)
    gains = load**2 / size
    best = int(np.argmax(gains))
    yield tried(rss - float(gains[best]), float(taus[best]))
    det = np.outer(size, size) - gram**2
    det[det < 1e-6 * np.outer(size, size)] = np.inf  # the same decay twice
    cross = np.outer(load**2, size)
    both = (cross + cross.T - 2 * np.outer(load, load) * gram) / det
    i, j = np.unravel_index(int(np.argmax(both)), both.shape)
    if i != j:
        yield tried(rss - float(both[i, j]), float(taus[i]), float(taus[j]))


def _without_onset(t: Array, y: Array, first: float) -> Iterator[_Tried]:
    """Decays that begin with the trace, or before it; its `first` time is not that of a mean."""
    taus = _decay_times(t, first)
    decays = np.exp(-(t - first)[:, None] / taus)
    for has_slope in (False, True):
        base = _Tried(np.inf, first, None, has_slope)
        yield from _decays_beside(t, y, base, _columns(t, base), decays, taus)


def _with_onset(t: Array, y: Array) -> Iterator[_Tried]:
    """An onset within the trace: a step, decays, or both, behind a Gaussian instrument."""
    inner = t[1:-1]
    for at in np.unique(np.linspace(0, inner.size - 1, min(ONSETS, inner.size)).astype(int)):
        t0 = float(inner[at])
        taus = _decay_times(t, t0)
        for width in WIDTHS:
            sd = width * step_at(t, t0)
            decays = expFun_gaussIRF(t[:, None], 1.0, taus, t0, sd)
            for has_slope, has_step in product((False, True), repeat=2):
                base = _Tried(np.inf, t0, sd, has_slope, has_step)
                for trial in _decays_beside(t, y, base, _columns(t, base), decays, taus):
                    if has_step or trial.taus:
                        yield trial


def _polished(t: Array, y: Array, trial: _Tried, *, holds_wave: bool = False) -> _Tried:
    """The same laws where they lie best, near what a grid gave. An oscillation begins with a jump
    at t0: the onset of laws beside one moves only where the oscillation `holds_wave`."""
    from scipy.optimize import least_squares

    has_onset = trial.sd is not None and (trial.wave is None or holds_wave)
    has_wave = trial.wave is not None and not holds_wave

    def free(x: Array) -> _Tried:
        left = [float(value) for value in x]
        t0, sd, wave = trial.t0, trial.sd, trial.wave
        if has_onset:
            t0, sd = left.pop(0), math.exp(left.pop(0))
        taus = tuple(math.exp(left.pop(0)) for _ in trial.taus)
        if wave is not None and has_wave:
            wave = left.pop(0), math.exp(left.pop(0)) if math.isfinite(wave[1]) else math.inf
        return replace(trial, t0=t0, sd=sd, taus=taus, wave=wave)

    start, low, high = list[float](), list[float](), list[float]()

    def vary(value: float, below: float, above: float) -> None:
        start.append(min(max(value, below), above))
        low.append(below)
        high.append(above)

    step, span = step_at(t, trial.t0), float(np.ptp(t))
    if has_onset and trial.sd is not None:
        vary(
            trial.t0,
            max(trial.t0 - 4 * (step + trial.sd), t[0]),
            min(trial.t0 + 4 * (step + trial.sd), t[-1]),
        )
        vary(math.log(trial.sd), math.log(SHARPEST * step), math.log(span / 2))
    for tau in trial.taus:
        vary(math.log(tau), math.log(tau / 4), math.log(tau * 4))
    if trial.wave is not None and has_wave:
        near = 1 / span
        vary(trial.wave[0], trial.wave[0] - near, trial.wave[0] + near)
        if math.isfinite(trial.wave[1]):
            vary(math.log(trial.wave[1]), math.log(trial.wave[1] / 4), math.log(trial.wave[1] * 4))
    if not start:
        return trial
    fitted = least_squares(
        lambda x: _residual(_columns(t, free(x)), y), start, bounds=(low, high), max_nfev=ROUNDS
    )
    best = free(fitted.x)
    best = replace(best, taus=tuple(sorted(best.taus)))
    cost = float(_criterion(t, 2.0 * float(fitted.cost), y, best))
    return min(trial, replace(best, cost=cost), key=_by_cost)


def _bases(t: Array, best: _Tried, laws: Sequence[_Tried]) -> list[_Tried]:
    """Sets of laws that an oscillation is tried with: those found so far, and fewer, since an
    oscillation may replace decays."""
    onset = min((law for law in laws if law.sd is not None), key=_by_cost, default=None)
    bases = [best, *(trial for trial in laws if len(trial.taus) < 2)]
    for t0 in {onset.t0 if onset else 0.0, 0.0} if t[0] < 0.0 < t[-1] else set():
        sharp = _Tried(np.inf, t0, SHARPEST * step_at(t, t0))
        for has_slope in {best.has_slope, False}:
            trial = replace(sharp, has_slope=has_slope)
            bases += [trial, replace(trial, has_step=True)]
    return bases


def _columns(t: Array, trial: _Tried) -> list[Array]:
    """The columns of all heights: the level, the slope, the step, decays, sine and cosine."""
    columns = [np.ones_like(t)]
    if trial.has_slope:
        columns.append(t - t[0])
    if trial.sd is None:
        columns += [np.exp(-(t - trial.t0) / tau) for tau in trial.taus]
    else:
        if trial.has_step:
            columns.append(stepFun_gaussIRF(t, 1.0, trial.t0, trial.sd))
        columns += [expFun_gaussIRF(t, 1.0, tau, trial.t0, trial.sd) for tau in trial.taus]
    if trial.wave is not None:
        wave = _waves(t, trial, np.array([trial.wave[0]]), trial.wave[1])[:, 0]
        columns += [wave.imag, wave.real]
    return columns


def _waves(t: Array, trial: _Tried, f: Array, tau: float) -> Array:
    """exp(-(t - t0)/tau) exp(2 pi i f (t - t0)) from t0 on, (n, n_f)."""
    u = t - trial.t0
    late = np.where(u >= 0.0, np.exp(-np.maximum(u, 0.0) / tau), 0.0)
    return np.asarray(late[:, None] * np.exp(2j * np.pi * np.outer(u, f)))


def _with_wave(t: Array, y: Array, base: _Tried) -> Iterator[_Tried]:
    """Oscillations beside these laws, one for each time in which it fades."""
    span, step = float(t[-1] - base.t0), float(np.median(np.diff(t)))
    highest = 0.5 / step
    if highest * span <= PERIODS or t.size < 12:
        return
    count = min(FREQUENCIES, math.ceil(4 * highest * span))
    f = np.linspace(PERIODS / span, highest, count)
    columns = _columns(t, base)
    left = _residual(columns, y)
    for tau in (span / 12, span / 6, span / 3, span, math.inf):
        waves = _waves(t, base, f, tau)
        s, c = _residual(columns, waves.imag), _residual(columns, waves.real)
        ss, cc, sc = (np.sum(a * b, axis=0) for a, b in ((s, s), (c, c), (s, c)))
        ys, yc = left @ s, left @ c
        det = ss * cc - sc**2
        det[det <= 1e-6 * (ss + cc) ** 2] = np.inf
        gains = (ys**2 * cc + yc**2 * ss - 2 * ys * yc * sc) / det
        is_seen = (f * tau >= LASTS) & (f <= _fastest(t, base.t0, tau))
        if not is_seen.any():
            continue
        at = int(np.argmax(np.where(is_seen, gains, 0.0)))
        trial = replace(base, wave=(float(f[at]), tau))
        yield replace(trial, cost=float(_criterion(t, left @ left - gains[at], y, trial)))


def _fastest(t: Array, t0: float, tau: float) -> float:
    """The highest frequency with two samples in a period throughout most of the time in which an
    oscillation from `t0` on fades. Beyond it the steps of later delays fit any frequency."""
    steps = np.sort(np.diff(t[(t >= t0) & (t <= max(t0 + tau, t[0]))]))
    if not steps.size:
        return 0.0
    covered = np.cumsum(steps)
    return float(0.5 / steps[np.searchsorted(covered, SAMPLED * covered[-1])])


def _solved(t: Array, y: Array, best: _Tried) -> Laws:
    """The heights of what was chosen."""
    matrix, swing = np.stack(_columns(t, best), axis=1), None
    level, *heights = (float(height) for height in np.linalg.lstsq(matrix, y, rcond=None)[0])
    if best.wave is not None:
        *heights, sine, cosine = heights
        f, fade = best.wave
        swing = (math.hypot(sine, cosine), f, math.atan2(cosine, sine), fade)
    slope = heights.pop(0) if best.has_slope else None
    step = heights.pop(0) if best.has_step else None
    is_sharp = best.sd is not None and best.sd < SHARP * step_at(t, best.t0)
    decays = tuple(zip(heights, best.taus, strict=True))
    return Laws(best.t0, best.sd, is_sharp, level, slope, step, decays, swing)
