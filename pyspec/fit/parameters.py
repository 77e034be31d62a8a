"""The parameters of a fit: from those of a model to start values, and what a fit says of them.

They are columns of numbers by name. Objects of lmfit are made of them where somebody asks a result
for these, or where a method of lmfit runs. Only free and fixed parameters are fitted. Expressions
stay pyspec's own: lmfit never sees one, so nothing is ever evaluated by asteval. Followers are
added after the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.following import FollowerErrors
from pyspec.fit.spread import Spread
from pyspec.model import Model, Par
from pyspec.model.sizes import Sizes, unit_of

Array = npt.NDArray[np.float64]

#: A free parameter that starts on a bound is moved inside by this fraction of its range.
INSIDE = 1e-3

#: A parameter nearer to a bound than this, in units of its range, ended at the bound.
AT_BOUND = 1e-6


class Limits(NamedTuple):
    """What a free parameter is held within, and the unit of its steps."""

    low: float
    high: float
    unit: float


class Columns:
    """The free parameters of a fit in their order: where they start, (n_free,), and the bounds and
    their distances, as numbers of Python."""

    __slots__ = ("highs", "lows", "start", "widths")

    def __init__(self, began: Mapping[str, float], limits: Mapping[str, Limits]) -> None:
        self.start: Array = np.array([began[name] for name in limits], np.float64)
        self.start.flags.writeable = False
        self.lows = [one.low for one in limits.values()]
        self.highs = [one.high for one in limits.values()]
        self.widths = [one.high - one.low for one in limits.values()]


@dataclass
class FitParameters:
    """All parameters of one fit, in columns by name, in the order of the model.

    Attributes
    ----------
    value : of free and fixed ones, and after a fit of the followers
    began : where the free and fixed ones started; nobody changes it, fits of one model share it
    limits : of the free ones, shared, too
    columns : the free ones; None where nobody shares them
    stderr : standard errors of those that have one; those of followers are worked out later
    spread : what says how these correlate
    expressions, errors : texts of the followers, and their standard errors
    """

    value: dict[str, float]
    began: Mapping[str, float]
    limits: Mapping[str, Limits]
    columns: Columns | None = field(default=None, compare=False, repr=False)
    stderr: dict[str, float] = field(default_factory=dict)
    spread: Spread | None = None
    expressions: Mapping[str, str] = field(default_factory=dict)
    errors: FollowerErrors | None = None

    def again(self) -> FitParameters:
        """The same at their start, for another fit."""
        return FitParameters(dict(self.began), self.began, self.limits, self.columns)

    def error(self, name: str) -> float | None:
        """The standard error of one of them, None where it has none."""
        if self.errors is not None and name in self.expressions:
            return self.errors[name]
        return self.stderr.get(name)

    def correl(self, name: str) -> dict[str, float] | None:
        """The correlations of a free one with the others, None where it has no standard error."""
        if self.spread is None or name not in self.stderr:
            return None
        found = self.spread.correlations.get(name)  # a follower has none
        return None if found is None else dict(found)


def start_parameters(
    model: Model,
    parameters: Mapping[str, Par],
    values: Mapping[str, float] | None = None,
    data: Callable[[], npt.NDArray[Any] | None] = lambda: None,
) -> tuple[FitParameters, tuple[str, ...]]:
    """The free and fixed `parameters` of a model at their start, and the names moved off a bound.

    `values` replace those of the model, by name. `data` gives what says how large heights are that
    start at 0. Each parameter counts in a unit of its own, see :mod:`pyspec.fit.units`.

    A parameter that starts on a bound is moved a little inside: lmfit's transformation has no
    slope there, and the native solver would see no reason to leave it where, say, the height of a
    peak is 0.

    Raises :class:`FitError` if nothing is free, or a free value is outside of its bounds.
    """
    sizes = Sizes(model, data)
    given = values or {}
    began: dict[str, float] = {}
    limits: dict[str, Limits] = {}
    moved: list[str] = []
    for name, par in parameters.items():
        if par.formula is not None or par.free is not None:
            continue
        value = float(given.get(name, par.value))
        if not math.isfinite(value):
            raise FitError(f"{par.place} starts at {value}; give it a finite value")
        if not par.vary:
            began[name] = value
            continue
        low, high = float(par.min), float(par.max)
        if not low < value < high:
            start, value = value, _inside(par, value, sizes)
            if value != start:
                moved.append(name)
        # Without a size first: most values say enough, and a size may ask all data.
        unit = unit_of(value, low, high, 0.0) or unit_of(value, low, high, sizes.of(par))
        began[name], limits[name] = value, Limits(low, high, unit)
    if not limits:
        raise FitError(
            f"{model.name}: every parameter is fixed, there is nothing to fit; let one vary: "
            "[value, True, min, max]"
        )
    return FitParameters(dict(began), began, limits), tuple(moved)


def _inside(par: Par, value: float, sizes: Sizes) -> float:
    if not par.min < par.max:
        raise FitError(
            f"{par.place} has min {par.min:g} and max {par.max:g}; min must be "
            "below max, or fix the parameter"
        )
    if not par.min <= value <= par.max:
        raise FitError(
            f"{par.place} starts at {value:g}, outside of its bounds [{par.min:g}, "
            f"{par.max:g}]; move the value or the bounds"
        )
    if par.min < value < par.max:
        return value
    step = INSIDE * scale_of(value, par.min, par.max, sizes.of(par))
    if value <= par.min:
        return par.min + step
    return par.max - step if value >= par.max else value


def scale_of(value: float, low: float, high: float, size: float = 1.0) -> float:
    """The size by which a distance to a bound is judged: the range, or else the values, or else
    `size`."""
    if math.isfinite(low) and math.isfinite(high):
        return high - low
    bound = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    return max(abs(value), abs(bound)) or size


def at_bound(value: float, low: float, high: float, start: float) -> str:
    """ "min" or "max" where `value` lies on that bound, else ""."""
    scale = AT_BOUND * max(scale_of(value, low, high), scale_of(start, low, high))
    if math.isfinite(low) and value - low <= scale:
        return "min"
    return "max" if math.isfinite(high) and high - value <= scale else ""
