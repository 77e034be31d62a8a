"""Whether a table of numbers alone has an axis in its first row and one in its first column."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec.io.found import monotonic

#: A first row that rises or falls all the way over so many columns is no accident.
SURE = 6
#: Steps of delays that begin fine and go on over decades differ by this factor at least.
_UNEVEN = 5.0
#: Delays go on so many times further after zero than before; wavelengths begin at more than so many
#: steps.
_BEYOND = 2.0
#: A corner of 0 is no point of a column that begins more than so many of its steps away.
_APART = 10.0


def has_corner(values: Any) -> bool:
    """Whether the first row is an axis beside a corner, and the first column another one. That may
    have equal values: a delay that was measured twice."""
    corner, inner, outer = values[0, 0], values[0, 1:], values[1:, 0]
    if not monotonic(inner):
        return inner.size >= SURE and _stands_apart(corner, outer)
    if inner.size >= SURE:  # beside an empty corner, or a zero, in any order
        return bool(np.isnan(corner) or corner == 0.0 or _goes_on(outer))
    if not (np.isnan(corner) or corner == 0.0) or not _goes_on(outer):
        return False
    # Of few columns a zero that is no point of the column decides, or that the first row alone
    # has even steps.
    if corner == 0.0 and not _goes_on(values[:, 0]):
        return True
    return _is_even(inner) and not any(_is_even(row) for row in values[1:, 1:])


def _stands_apart(corner: Any, outer: Any) -> bool:
    """Whether a corner is no point of the first column: the first row may then be delays in the
    order in which they were measured."""
    if outer.size < SURE or not monotonic(outer):
        return False
    far = np.abs(outer).min() > _APART * np.median(np.abs(np.diff(outer)))
    return bool(np.isnan(corner) or (corner == 0.0 and far))


def times_across(down: Any, across: Any) -> bool:
    """Whether the first row holds delays and the first column the wavelengths or energies that
    belong to them, as spectrometers write it. Energies about the Fermi level, losses and shifts
    have both signs and perhaps uneven steps, too: delays rise, go on further after zero than
    before, and their steps are less even than those of the column, which begins far from 0. Where
    they were measured in any order, that is so of them in order."""
    across = across if monotonic(across) else np.unique(across)
    if min(across.size, down.size) <= SURE or across[0] >= 0 or across[-1] < -_BEYOND * across[0]:
        return False
    steps, others = np.diff(across), np.abs(np.diff(down))
    if steps.min() <= 0 or others.min() <= 0:
        return False
    unevenness = steps.max() / steps.min()
    is_far = down.min() > _BEYOND * np.median(others)
    return bool(is_far and unevenness > max(_UNEVEN, others.max() / others.min()))


def _goes_on(line: Any) -> bool:
    """Whether values rise or fall, and some perhaps come again."""
    step = np.diff(line)
    return bool(((step >= 0).all() or (step <= 0).all()) and step.any())


def _is_even(line: Any) -> bool:
    """Whether three values or more have equal steps."""
    step = np.diff(line)
    return line.size > 2 and bool(step[0] != 0 and np.allclose(step, step[0], rtol=1e-3, atol=0))
