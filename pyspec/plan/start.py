"""The start values, bounds and step units of the free parameters of a fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.model import Model, Par
from pyspec.model.sizes import INSIDE, Sizes, unit_of

Array = npt.NDArray[np.float64]


class Limits(NamedTuple):
    """What a free parameter is held within, and the unit of its steps."""

    low: float
    high: float
    unit: float


@dataclass(frozen=True, eq=False)
class StartParameters:
    """The start of a fit; nobody changes it, fits of one model share it.

    Attributes
    ----------
    values : of the free and fixed parameters, in the order of the model
    limits : of the free ones
    moved : the names of those that were moved off a bound
    theta, lower, upper : (n_free,) values and bounds of the free ones in the order of theta
    units : their units
    """

    values: Mapping[str, float]
    limits: Mapping[str, Limits]
    moved: tuple[str, ...]
    theta: Array
    lower: Array
    upper: Array
    units: list[float]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        values: Mapping[str, float],
        limits: Mapping[str, Limits],
        moved: tuple[str, ...] = (),
    ) -> StartParameters:
        """With the arrays of the free parameters, which are read-only; `names` are their order."""
        own = [limits[name] for name in names]
        ends = np.array([limit[:2] for limit in own], np.float64).reshape(-1, 2).T.copy()
        theta = np.array([values[name] for name in names], np.float64)
        theta.flags.writeable = ends.flags.writeable = False
        return cls(values, limits, moved, theta, ends[0], ends[1], [limit.unit for limit in own])

    @property
    def bounds(self) -> tuple[Array, Array]:
        """`lower` and `upper`."""
        return self.lower, self.upper


def start_parameters(
    model: Model,
    parameters: Mapping[str, Par],
    names: Sequence[str],
    values: Mapping[str, float] | None = None,
    data: Callable[[], npt.NDArray[np.generic] | None] = lambda: None,
) -> StartParameters:
    """The free and fixed `parameters` of a model at their start; `names` are the order of theta.

    `values` replace those of the model, by name. `data` gives what says how large heights are that
    start at 0. Each parameter counts in a unit of its own, see :mod:`pyspec.fit.units`.

    A parameter that starts on a bound is moved a little inside, see :meth:`Sizes.inset`. lmfit's
    transformation has no slope at a bound. The native solver would not leave the bound at a point
    without slope, for example a place while the height of its peak is 0.

    Raises :class:`FitError` if nothing is free, or a free value is outside of its bounds.
    """
    sizes = Sizes(model, data)
    replacements = values or {}
    began: dict[str, float] = {}
    limits: dict[str, Limits] = {}
    moved: list[str] = []
    for name, par in parameters.items():
        if par.formula is not None or par.free is not None:
            continue
        value = float(replacements.get(name, par.value))
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
    return StartParameters.of(names, began, limits, tuple(moved))


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
    step = min(sizes.inset(par.name), INSIDE * (par.max - par.min))
    if value <= par.min:
        return max(par.min + step, math.nextafter(par.min, math.inf))
    return min(par.max - step, math.nextafter(par.max, -math.inf))
