"""lmfit parameters that count in units of their own.

lmfit takes 1 for the size of everything: its variable for a parameter with one bound is
``sqrt((value - min + 1)^2 - 1)``, which has lost most digits of a time constant of 1e-12 s; values
below 1e-15 start at 0; bounds 1e-13 apart count as equal; and MINPACK's first step from 0 is
1.5e-8, be it volts or seconds. Here a parameter has a unit: its start value or, where that is 0,
what the axes and the data suggest. The transformations to bounds are those of lmfit (after
MINUIT) in these units, written without cancellation. So a fit takes the same steps whatever units
the axes and the data are in.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import lmfit
import numpy as np
import numpy.typing as npt

from pyspec.model import Component, Model, Par

#: A parameter with one bound starts at a distance of unit / ROOM from it, where its variable goes
#: with the root of the distance: a step from a poor start then hardly reaches the bound itself,
#: where there is no slope.
ROOM = 16.0


def unit_of(value: float, low: float, high: float, size: float) -> float:
    """The unit of a parameter that starts at `value`; `size` is its size where that says none."""
    if math.isinf(low) and math.isinf(high):
        return abs(value) or size
    distance = high - value if math.isinf(low) else value - low
    return ROOM * (distance or size)


class UnitParameter(lmfit.Parameter):  # type: ignore[misc]
    """A parameter whose variable is its value, or its distance to a bound, in units of `unit`."""

    def __init__(self, name: str, value: float, unit: float, **given: Any) -> None:
        self.unit = unit
        self._val: float = value
        super().__init__(name, value=value, **given)

    def _init_bounds(self) -> None:
        self._val = min(max(self._val, self.min), self.max)
        self.setup_bounds()

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.unit, *super().__getstate__())

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.unit = state[0]
        super().__setstate__(state[1:])

    def setup_bounds(self) -> float:
        """The variable at the present value; sets `from_internal`, its inverse."""
        low, high, unit = self.min, self.max, self.unit
        if math.isinf(low) and math.isinf(high):
            self.from_internal = lambda x: float(unit * x)
            return float(self._val / unit)
        if math.isinf(high):
            self.from_internal = lambda x: float(low + unit * _rise(x))
            return _inverse((self._val - low) / unit)
        if math.isinf(low):
            self.from_internal = lambda x: float(high - unit * _rise(x))
            return _inverse((high - self._val) / unit)
        self.from_internal = lambda x: float(low + (math.sin(x) + 1.0) * (high - low) / 2.0)
        return math.asin(min(max(2.0 * (self._val - low) / (high - low) - 1.0, -1.0), 1.0))

    def scale_gradient(self, val: float) -> float:
        """The derivative of the value by the variable."""
        if math.isinf(self.min) and math.isinf(self.max):
            return float(self.unit)
        if math.isinf(self.max):
            return float(self.unit * val / math.hypot(val, 1.0))
        if math.isinf(self.min):
            return float(-self.unit * val / math.hypot(val, 1.0))
        return float(math.cos(val) * (self.max - self.min) / 2.0)


def _rise(x: float) -> float:
    """sqrt(x^2 + 1) - 1."""
    return x * x / (1.0 + math.hypot(x, 1.0))


def _inverse(distance: float) -> float:
    """x >= 0 with sqrt(x^2 + 1) - 1 = distance."""
    return math.sqrt(distance * (distance + 2.0))


class UnitParameters(lmfit.Parameters):  # type: ignore[misc]
    """lmfit.Parameters whose copies keep the units."""

    def __deepcopy__(self, memo: Any) -> UnitParameters:
        copied = type(self)()
        own = self._asteval.symtable
        symbols = self._asteval.user_defined_symbols()
        copied._asteval.symtable.update({name: own[name] for name in symbols})
        copied.add_many(*(copy.deepcopy(par) for par in self.values()))
        return copied


def natural_sizes(model: Model, data: npt.NDArray[Any] | None) -> dict[str, float]:
    """The size of each parameter: that of its value; for a value of 0 what its function says of
    it, the extent of an axis for a place on it, that of the data for a height, or else 1."""
    seen = np.zeros(0) if data is None else data[np.isfinite(data)]
    height = float(np.max(np.abs(seen), initial=0.0)) or 1.0
    found: dict[str, float] = {}
    for component in model.components:
        _add(found, model, component, height)
    return found


def _add(found: dict[str, float], model: Model, component: Component, height: float) -> None:
    for par in component.parameters:
        found[par.name] = _size(par, model, component, height)
        for parts in (par.dynamics, par.profile):
            for part in parts.components if parts is not None else ():
                _add(found, model, part, found[par.name])


def _size(par: Par, model: Model, component: Component, height: float) -> float:
    if par.value != 0.0 and math.isfinite(par.value):
        return abs(par.value)
    axes = {"ENERGY": model.energy, "TIME": model.time, "AUX": model.aux}
    axis = axes[component.op.domain]
    extent = 1.0 if axis is None else float(np.ptp(axis)) or 1.0
    if par.argument in component.op.linear:
        return height / extent if par.argument == "m" else height
    return extent if par.argument in ("t0", "x0", "xStart", "xStop") else 1.0
