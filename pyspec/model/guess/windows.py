"""A survey is cut into windows that hold lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.model.guess.humps import humps
from pyspec.model.guess.numerics import step_of
from pyspec.model.guess.texts import on_axis

Array = npt.NDArray[np.float64]

#: A survey runs over so many units of energy, has so many lines, and steps of at most this.
SPAN, LINES, COARSE = 200.0, 3, 2.0

#: A window reaches so many widths beyond its lines, of at least this and at most that much.
REACH, LEAST, MOST = 4.0, 8.0, 25.0

#: So many windows are named.
WINDOWS = 12

#: Lines narrower than this share of the axis are lines of a survey.
NARROW = 0.04


class Window(NamedTuple):
    """A part of a survey: its ends, the places of its lines, the strongest first, and by how much
    that stands out."""

    low: float
    high: float
    lines: tuple[float, ...]
    strength: float


def windows(energy: Array, spectrum: Array) -> list[Window]:
    """The windows of a survey that hold lines, the strongest first; none of another spectrum."""
    span = float(np.ptp(energy))
    if span < SPAN or step_of(energy) > COARSE:
        return []
    step, last = step_of(energy), energy.size - 1
    tops: list[tuple[float, float, float]] = []
    for hump in humps(spectrum):
        if not 0 < hump.top < last:
            continue
        half = hump.smooth[hump.top] - hump.prominence / 2
        below = np.flatnonzero(hump.smooth < half)
        left, right = below[below < hump.top], below[below > hump.top]
        sides = [abs(hump.top - side) for side in (left[-1:], right[:1]) if side.size]
        width = 2 * step * float(min((int(side[0]) for side in sides), default=last))
        if width < NARROW * span:
            tops.append((float(energy[hump.top]), width, hump.prominence))
    if len(tops) < LINES:
        return []
    parts: list[list[tuple[float, float, float]]] = []
    for top in sorted(tops):
        reach = _reach(top)
        if parts and top[0] - reach < max(line[0] + _reach(line) for line in parts[-1]):
            parts[-1].append(top)
        else:
            parts.append([top])
    low, high = float(energy.min()), float(energy.max())
    result = []
    for part in parts:
        part.sort(key=lambda line: -line[2])
        ends = (
            max(low, min(line[0] - _reach(line) for line in part)),
            min(high, max(line[0] + _reach(line) for line in part)),
        )
        places = tuple(line[0] for line in part)
        result.append(
            Window(on_axis(energy, ends[0]), on_axis(energy, ends[1]), places, part[0][2])
        )
    return sorted(result, key=lambda window: -window.strength)[:WINDOWS]


def _reach(top: tuple[float, float, float]) -> float:
    return float(np.clip(REACH * top[1], LEAST, MOST))
