"""Populations of the states of a kinetic scheme: dc/dt = K c from the onset on.

``c(u) = exp(K u) c0`` for u >= 0, else 0; as an instrument of Gaussian width SD sees it,
``integral_0^inf exp(K s) c0 N(u - s; SD) ds``. K[to, from] holds rates in reciprocal units of the
time axis. Its diagonal holds minus the sum of the rates out of each state. c0 are the populations
at the onset.

With steps of two states, A + B -> C at the rate k a b (:func:`reacting`), the same populations have
no closed form. A step A + A -> B happens k a^2 times in a unit of time and takes two A each: da/dt
= -2 k a^2, db/dt = k a^2 (the rate of reaction of IUPAC's Gold Book). An
instrument sees the populations through its width; it does not feed them more slowly.

Source: I. H. M. van Stokkum et al., Biochim. Biophys. Acta 1657, 82 (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

#: Where a normal density is next to nothing, in widths; points of Gauss-Legendre in a panel.
_REACH, _POINTS = 9.0, 20


def populations(
    u: Array, K: Array, start: Array, SD: float | None, lost: Array | None = None
) -> Array:
    """The populations (..., n_states) at times u since the onset.

    Parameters
    ----------
    u : times since the onset
    K : (n_states, n_states) rate matrix
    start : (n_states,) populations at the onset
    SD : width of the instrument, in units of u, SD > 0; None for none
    lost : (n_states,) rates out of sight; None for what the columns of K miss. A slow one beside a
        fast rate of the same state has more digits here than in K
    """
    flows = _flows(K, lost)
    if SD is None:
        free = _moved(flows, np.maximum(u, 0.0)) @ start
        return np.where(u[..., None] < 0.0, 0.0, free)
    point, weight = _points(K, SD)
    fed = (_moved(flows, point) @ start) * weight[:, None]
    end = _REACH * SD
    early = np.minimum(u, end)
    away = (early[..., None] - point) / SD
    seen = np.exp(-(away**2) / 2) / (SD * np.sqrt(2 * np.pi)) @ fed
    later = np.maximum(u - end, 0.0)
    return np.asarray(np.einsum("...ij,...j->...i", _moved(flows, later), seen))


def _flows(K: Array, lost: Array | None) -> Array:
    """(n + 1, n + 1) the rates from state to state, out of sight in the last row; 0 on the
    diagonal."""
    n = len(K)
    if lost is None:
        missing = -K.sum(axis=0)
        lost = np.where(missing > 4 * n * np.finfo(float).eps * -np.diag(K), missing, 0.0)
    flows = np.zeros((n + 1, n + 1))
    flows[:n, :n], flows[n, :n] = K * (1 - np.eye(n)), lost
    return flows


def _moved(flows: Array, times: Array) -> Array:
    """exp(K t) (..., n, n) at each of the times."""
    total, halvings = _shortly(flows, times)
    for _ in range(halvings):
        total = _twice(total)
    return total[..., :-1, :-1]


def _shortly(flows: Array, times: Array) -> tuple[Array, int]:
    """exp(K t / 2^m) (..., n + 1, n + 1) by Taylor's series, and m: so often that the fastest state
    hardly empties. NaN where there is no such m. No number is negative, and columns sum to 1 with
    what is out of sight."""
    n, out = len(flows) - 1, flows.sum(axis=0)
    fastest = float(np.max(out, initial=0.0))
    longest = fastest * float(np.max(times, initial=0.0))
    if not np.isfinite(longest):
        return np.full((*np.shape(times), n + 1, n + 1), np.nan), 0
    halvings = max(int(np.ceil(np.log2(max(longest, 1e-300)))), 0)
    short = (np.asarray(times, np.float64) / 2.0**halvings)[..., None, None]
    step = short * (flows + np.diag(fastest - out))
    term = total = np.broadcast_to(np.eye(n + 1), step.shape)
    for k in range(1, 23):
        term = step @ term / k
        total = total + term
    return total / total.sum(axis=-2, keepdims=True), halvings


def _twice(moved: Array) -> Array:
    """Over a time twice as long. Columns are held at 1: without that each squaring doubles what
    rounding has added."""
    total = moved @ moved
    return np.asarray(total / total.sum(axis=-2, keepdims=True))


def brought_in(K: Array, start: Array, times: Array) -> tuple[Array, Array, Array, Array]:
    """exp(K t) (..., n, n) at each of the times, and what three inflows of the start bring in until
    then, (..., n) each. One inflow is 1, one rises from 0 in step with the time, and one falls to 0
    at t:

        integral exp(K s) f(s) start ds over s from 0 to t,   f = 1, t - s, s.

    Computed by a series over a time as short as the fastest state, then by doubling of that time.
    Only positive terms are added.
    """
    moved, halvings = _shortly(_flows(K, None), times)
    h = (np.asarray(times, np.float64) / 2.0**halvings)[..., None]
    term = h * start
    level, rising = term, h * term / 2
    for k in range(2, 24):
        term = h * (term @ K.T) / k
        level, rising = level + term, rising + h * term / (k + 1)
    falling = h * level - rising

    def later(amount: Array) -> Array:
        return (moved[..., :-1, :-1] @ amount[..., None])[..., 0]

    for _ in range(halvings):
        falling, rising = falling + later(h * level + falling), rising + h * level + later(rising)
        level = level + later(level)
        h, moved = 2 * h, _twice(moved)
    return moved[..., :-1, :-1], level, rising, falling


def _points(K: Array, SD: float) -> tuple[Array, Array]:
    """Points and weights of the integral over s: panels that double from where the fastest state
    empties up to 2 SD."""
    fastest = float(np.max(-np.diag(K)))
    begin, ends = 0.0, [0.0]
    length = min(2 * SD, 1.0 / fastest) if fastest > 0 else 2 * SD
    while begin < 2 * _REACH * SD:
        begin += length
        ends.append(begin)
        length = min(2 * SD, begin)
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    half = np.diff(ends)[:, None] / 2
    return (np.array(ends)[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


# ---- steps of two states ------------------------------------------------------------------------

#: A step: places of the states that it takes and of those that it makes, and its rate.
Move: TypeAlias = tuple[Sequence[int], Sequence[int], float]

#: Points of Chebyshev on a panel; the last coefficients next to all populations; the most panels.
_ORDER, _LAST, _PANELS = 20, 1e-14, 400


def reacting(u: Array, moves: Sequence[Move], start: Array, SD: float | None) -> Array:
    """The populations (..., n_states) at times u since the onset, with steps of two states.

    By collocation at Chebyshev's points on panels, each as long as the last coefficients of the
    populations allow. NaN where 400 panels do not suffice: of populations that oscillate for ever.

    Parameters
    ----------
    u : times since the onset
    moves : (from, to, rate) of each step; `from` holds one or two states, `to` at most two
    start : (n_states,) populations at the onset
    SD : width of the instrument, in units of u, SD > 0; None for none
    """
    reach = 9.5 * (SD or 0.0)
    size = float(np.sum(np.abs(start))) or 1.0
    fastest = max((rate * size ** (len(begin) - 1) for begin, _, rate in moves), default=0.0) or 1.0
    scaled = [(a, b, rate * size ** (len(a) - 1) / fastest) for a, b, rate in moves]
    s = np.asarray(u, np.float64) * fastest
    panels = _solved(scaled, start / size, float(np.max(s, initial=0.0)) + reach * fastest)
    width = None if SD is None else SD * fastest
    populations = np.empty((s.size, start.size))
    for k, time in enumerate(s.ravel().tolist()):
        populations[k] = _look(panels, time, width, reach * fastest)
    return size * populations.reshape(*s.shape, start.size)


#: Begin and end of a panel, and Chebyshev's coefficients (n + 1, n_states) there.
Panel: TypeAlias = tuple[float, float, Array]


def _solved(moves: Sequence[Move], start: Array, until: float) -> list[Panel]:
    """Panels from 0 to a time, or as far as there may be."""
    panels: list[Panel] = []
    begin, length = 0.0, 1.0
    while begin < max(until, 1e-9) and len(panels) < _PANELS and begin + length > begin:
        values = _points_of(moves, start, length)
        series = _TO_SERIES @ values
        last = float(np.max(np.abs(series[-2:])))
        if last < _LAST and np.all(values >= -1e-6):
            panels.append((begin, begin + length, series))
            begin, start = begin + length, values[-1]
        grow = 0.9 * (_LAST / max(last, 1e-300)) ** (1 / _ORDER) if np.isfinite(last) else 0.1
        length *= min(max(grow, 0.1), 5.0)
    return panels


def _points_of(moves: Sequence[Move], start: Array, length: float) -> Array:
    """(n + 1, n_states) the populations at the points of a panel, by Newton; NaN where it fails."""
    n = start.size
    values = np.tile(start, (_ORDER + 1, 1))
    for _ in range(15):
        change, jacobian = np.zeros_like(values), np.zeros((_ORDER + 1, n, n))
        for begin, end, rate in moves:
            moved = np.zeros(n)
            np.add.at(moved, list(begin), -1.0)
            np.add.at(moved, list(end), 1.0)
            change += rate * np.prod(values[:, list(begin)], axis=1)[:, None] * moved
            for k, state in enumerate(begin):
                others = [other for j, other in enumerate(begin) if j != k]
                slope = rate * np.prod(values[:, others], axis=1)
                jacobian[:, :, state] += slope[:, None] * moved
        left = np.einsum("ij,ab->iajb", _SLOPE, np.eye(n))
        left -= length * np.einsum("ij,iab->iajb", np.eye(_ORDER + 1), jacobian)
        miss = length * change - _SLOPE @ values
        inner = left[1:, :, 1:].reshape(_ORDER * n, _ORDER * n)
        try:
            step = np.linalg.solve(inner, miss[1:].ravel()).reshape(_ORDER, n)
        except np.linalg.LinAlgError:
            break
        values[1:] += step
        if np.max(np.abs(step)) < 1e-9:
            return values
        if not np.max(np.abs(step)) < 1e6:
            break
    return np.full_like(values, np.nan)


def _read(panels: list[Panel], s: Array) -> Array:
    """(n, n_states) at times that lie on panels; NaN behind them."""
    ends = np.array([end for _, end, _ in panels])
    populations = np.full((s.size, panels[0][2].shape[1]), np.nan)
    place = np.searchsorted(ends, s)
    for k in np.unique(place[place < len(panels)]).tolist():
        begin, end, series = panels[k]
        at = place == k
        x = (2 * s[at] - begin - end) / (end - begin)
        populations[at] = np.polynomial.chebyshev.chebval(x, series).T
    return populations


def _look(panels: list[Panel], s: float, width: float | None, reach: float) -> Array:
    """(n_states,) at one time, as an instrument of that width sees it."""
    if not panels:
        return np.array(np.nan)
    n = panels[0][2].shape[1]
    if width is None:
        return np.zeros(n) if s < 0 else _read(panels, np.array([s]))[0]
    first, last = max(-s, -reach) / width, reach / width  # in widths from s, which keeps digits
    if last <= first:
        return np.zeros(n)
    inner = [(edge - s) / width for _, edge, _ in panels]
    ends = np.linspace(first, last, 12)
    ends = np.unique(np.concatenate([ends, [edge for edge in inner if first < edge < last]]))
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    half = np.diff(ends)[:, None] / 2
    z, weight = (ends[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()
    seen = weight * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(seen @ _read(panels, np.maximum(s + width * z, 0.0)))


def _chebyshev() -> tuple[Array, Array]:
    """The matrix from values at 0 ... 1 to coefficients, and that to slopes of values."""
    x = -np.cos(np.pi * np.arange(_ORDER + 1) / _ORDER)
    to_values = np.polynomial.chebyshev.chebvander(x, _ORDER)
    to_series = np.linalg.inv(to_values)
    slopes = np.polynomial.chebyshev.chebder(np.eye(_ORDER + 1), axis=0)
    return np.asarray(to_series), np.asarray(2 * to_values[:, :_ORDER] @ slopes @ to_series)


_TO_SERIES, _SLOPE = _chebyshev()
