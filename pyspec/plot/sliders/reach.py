"""How far a slider goes: around its value, on the scale of the data, within the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from pyspec.model import Component, Model, Par
from pyspec.model.units import parameter_units

Array = npt.NDArray[np.float64]

#: Stand for the units of data whose own are not known: what a parameter is measured in.
_SCALES = {"energy": "energy", "time": "time", "data": "data", "aux": "aux"}

#: Bounds that are further apart than so many times what a slider would reach do not set its ends.
WIDE = 5.0

#: Where the slider of a parameter that has to be above 0 begins, in parts of where it ends.
LEAST = 1e-3


def reaches(
    model: Model, names: tuple[str, ...], data: Array | None
) -> dict[str, tuple[float, float]]:
    """(lowest, highest) value of the slider of each parameter.

    A place goes along its axis, a height to 1.5 times the largest value of the data, any other
    parameter to four times its value, or to ±1 from 0. Bounds end a slider earlier, and where they
    are not much wider they are its ends; the value is always on it.
    """
    kinds = parameter_units(model, _SCALES)
    axes = {"energy": model.energy, "time": model.time, "aux": model.aux}
    top = float(np.nanmax(np.abs(data))) if data is not None and np.isfinite(data).any() else 0.0
    parameters, positive = model.parameters, set(_positive(model.components))
    found = {name: _reach(parameters[name], kinds.get(name, ""), axes, top) for name in names}
    for name in positive & set(names):
        low, high = found[name]
        if low <= 0.0 < parameters[name].value:
            found[name] = min(LEAST * high, parameters[name].value), high
    return found


def _positive(components: Iterable[Component]) -> Iterable[str]:
    """The parameters that have to be above 0: without a width there is no line."""
    for component in components:
        for guard in component.op.guards:
            par = component.pars[guard.param]
            if par is not None and (guard.comparison, guard.relative, guard.other) == (">", 0, 0):
                yield par.name
        for par in component.parameters:
            for motion in (par.profile, par.dynamics):
                if motion is not None:
                    yield from _positive(motion.components)


def _reach(
    par: Par, kind: str, axes: Mapping[str, Array | None], top: float
) -> tuple[float, float]:
    """Those of one parameter."""
    value, axis = par.value, axes.get(kind)
    low, high = sorted((0.0, 4.0 * value)) if value else (-1.0, 1.0)
    if axis is not None and axis.size > 1 and axis.min() <= value <= axis.max():
        if par.argument.startswith(("x", "t0")):
            low, high = float(axis.min()), float(axis.max())
        elif not value:
            reach = float(np.ptp(axis))
            low, high = -reach, reach
    elif kind == "data" and top:
        low, high = min(low, -0.5 * top if value <= 0.0 else 0.0), max(high, 1.5 * top)
    elif kind == "rad":
        low, high = min(low, -math.pi), max(high, math.pi)
    if par.max - par.min <= WIDE * (high - low):
        low, high = par.min, par.max
    low, high = max(low, par.min), min(high, par.max)
    if not low < high:  # the bounds lie beside all that
        low, high = par.min, par.max
    low, high = min(low, value), max(high, value)
    if low == high or not (math.isfinite(low) and math.isfinite(high)):
        return value - 1.0, value + 1.0
    return low, high
