"""Weights of the points in sums over the energies, and where a background between two ends begins
and stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef

Array: TypeAlias = npt.NDArray[np.float64]
Reference = TypeVar("Reference", bound=Callable[..., object])

#: Points of an even axis lie on a straight line, but for this share of a step.
EVEN = 1e-3

#: References of backgrounds whose ends are those of the window, by name.
BETWEEN_ENDS: set[str] = set()


def between_ends(reference: Reference) -> Reference:
    """Says of a reference that its first and last energy are those of the window."""
    BETWEEN_ENDS.add(reference.__name__)
    return reference


@dataclass(frozen=True)
class Grid:
    """How sums over a whole axis of energies are taken.

    Attributes
    ----------
    unit : what a ``Shirley`` is multiplied by, see :func:`shirley_shares`
    ends : begin and stop of the points between which a ``StaticShirley`` stands; None: all
    """

    unit: float = 1.0
    ends: tuple[int, int] | None = None

    def read(
        self,
        op: OpDef,
        function: Callable[..., Array],
        x: Array,
        params: Sequence[Array | float],
        spectrum: Array,
    ) -> Array:
        """What a function makes of the spectrum over all energies `x` of the axis."""
        if op.kind == "SPECTRUM_FED":
            value = np.asarray(function(x, *params, spectrum))
            return value if self.unit == 1.0 else self.unit * value
        if op.name not in BETWEEN_ENDS or self.ends is None:
            return np.asarray(function(x, *params, spectrum))
        part = slice(*self.ends)
        value = np.asarray(function(x[part], *params, spectrum[..., part]))
        inside = np.clip(np.arange(x.size), self.ends[0], self.ends[1] - 1) - self.ends[0]
        return np.asarray(np.broadcast_to(value, (*value.shape[:-1], x[part].size))[..., inside])


def mean_step(x: Array) -> float:
    """The mean distance of neighbours on an axis; 1 for a single point."""
    return abs(float(x[-1] - x[0])) / (x.size - 1) if x.size > 1 else 1.0


def unit_of(x: Array, step: float | None) -> float:
    """The mean step of an axis over `step`; 1 for None."""
    return 1.0 if step is None else mean_step(x) / step


def shirley_shares(x: Array, step: float | None = None) -> Array | None:
    """(n, 2) what each point of an axis counts in the sum of a ``Shirley``: for the points below,
    and for itself.

    A point counts by its step, half of the way to both neighbours, over the mean step of the axis.
    For itself it counts half of the way to the point above and half of a mean step. With the way to
    the point below, line heights would depend on the steps around them. Beyond both ends the steps
    are mean ones. With `step` all of that is
    multiplied by the mean step over `step`.

    None where all is 1: on an even axis, whose points are off even steps by at most EVEN steps.
    """
    mean, unit = mean_step(x), unit_of(x, step)
    line = x[0] + (x[-1] - x[0]) * (np.arange(x.size) / max(x.size - 1, 1))
    if abs(x - line).max() <= EVEN * mean:
        return None if unit == 1.0 else np.full((x.size, 2), unit)
    steps = np.concatenate([[mean], abs(np.diff(x)), [mean]]) / mean
    below = (steps[:-1] + steps[1:]) / 2
    own = (1.0 + steps[1:]) / 2
    return np.asarray(unit * np.stack([below, own], axis=1))
