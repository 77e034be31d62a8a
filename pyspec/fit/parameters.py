"""The parameters of a fit: from those of a model to start values, and what a fit says of them.

Objects of lmfit are made of these where a method of lmfit runs, or where somebody asks a result for
them. Only free and fixed parameters are fitted. Expressions stay pyspec's own: lmfit never sees
one, so nothing is ever evaluated by asteval. Followers are added after the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.sizes import Sizes, unit_of
from pyspec.model import Model, Par

Array = npt.NDArray[np.float64]

#: A free parameter that starts on a bound is moved inside by this fraction of its range.
INSIDE = 1e-3

#: A parameter nearer to a bound than this, in units of its range, ended at the bound.
AT_BOUND = 1e-6


@dataclass(slots=True)
class FitParameter:
    """One parameter of a fit, by the names that lmfit uses.

    Attributes
    ----------
    name, value, vary, min, max : as of lmfit; a parameter that is not free has no bounds
    unit : the size in which its steps are counted, see :mod:`pyspec.fit.units`
    init_value : where it started
    stderr, correl : one standard error, and the correlations with others by their names; None
        where there is none
    expr : the text of the expression that it follows
    """

    name: str
    value: float
    vary: bool = False
    min: float = -math.inf
    max: float = math.inf
    unit: float = 1.0
    init_value: float = math.nan
    stderr: float | None = None
    correl: Mapping[str, float] | None = None
    expr: str | None = None


#: By name, in the order of the model: free and fixed ones, and after a fit the followers.
FitParameters = dict[str, FitParameter]


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
    params: FitParameters = {}
    moved: list[str] = []
    is_free, inf = False, math.inf
    for name, par in parameters.items():
        if par.formula is not None or par.free is not None:
            continue
        value = float(given.get(name, par.value))
        if not math.isfinite(value):
            raise FitError(f"{par.place} starts at {value}; give it a finite value")
        if not par.vary:
            params[name] = FitParameter(name, value, False, -inf, inf, 1.0, value)
            continue
        is_free, low, high = True, float(par.min), float(par.max)
        if not low < value < high:
            start, value = value, _inside(par, value, sizes)
            if value != start:
                moved.append(name)
        # Without a size first: most values say enough, and a size may ask all data.
        unit = unit_of(value, low, high, 0.0) or unit_of(value, low, high, sizes.of(par))
        params[name] = FitParameter(name, value, True, low, high, unit, value)
    if not is_free:
        raise FitError(
            f"{model.name}: every parameter is fixed, there is nothing to fit; let one vary: "
            "[value, True, min, max]"
        )
    return params, tuple(moved)


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
