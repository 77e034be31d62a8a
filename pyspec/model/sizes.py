"""The size of a parameter before it is fitted: the unit in which its steps are counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from pyspec.model.data.checksum import Data
from pyspec.model.model import Model
from pyspec.model.tree import Component, Par, walk

#: A parameter with one bound starts at least unit / ROOM from it. Its variable goes with the root
#: of the distance: a step from a poor start then hardly reaches the bound, where the slope is 0.
ROOM = 16.0

#: A start value on a bound is moved inside by this share of the natural size of the parameter, or
#: of the distance of its bounds if that is smaller.
INSIDE = 1e-3


def unit_of(value: float, low: float, high: float, size: float) -> float:
    """The unit of a parameter that starts at `value`; `size` is its size where that says none."""
    if math.isinf(low) and math.isinf(high):
        return abs(value) or size
    distance = high - value if math.isinf(low) else value - low
    return ROOM * (distance or size)


class Sizes:
    """The size of each parameter of a model is that of its value. For a value of 0 it is the unit
    in the op table, where x is the extent of the axis, and y the size of the data or of the
    parameter that a law moves.

    A size is worked out when it is asked for: only heights of 0 need the data, and call for them.
    """

    def __init__(self, model: Model, data: Callable[[], Data | None] = lambda: None) -> None:
        self._model = model
        self._data = data
        self._axes = {"ENERGY": model.energy, "TIME": model.time, "AUX": model.aux}

    @cached_property
    def _owners(self) -> dict[str, tuple[Par, Component, str | None]]:
        return {
            par.name: (par, component, None if target is None else target.name)
            for component, target, _ in walk(self._model.components, self._model.quantities)
            for par in component.parameters
        }

    def of(self, par: Par) -> float:
        """The size of a parameter; most have one by their value, whatever they belong to."""
        size = abs(par.value)
        return size if 0.0 < size < math.inf else self[par.name]

    def __getitem__(self, name: str) -> float:
        """The size of a parameter. A quantity belongs to no function: its size is that of its
        value, or 1."""
        if name not in self._owners:
            values = (abs(par.value) for par in self._model.quantities if par.name == name)
            return next((value for value in values if 0.0 < value < math.inf), 1.0)
        size = abs(self._owners[name][0].value)
        return size if 0.0 < size < math.inf else self._by_unit(name, self.__getitem__)

    def natural(self, name: str) -> float:
        """The size of a parameter by its function, the axes and the data, whatever its value is.
        The size of a quantity is the least of the sizes of the parameters that take it unchanged,
        else 1."""
        if name in self._owners:
            return self._by_unit(name, self.natural)
        takers = [
            par.name
            for par in self._model.parameters.values()
            if par.formula is not None and par.formula.text.strip() == name != par.name
        ]
        return min(map(self.natural, takers), default=1.0)

    def inset(self, name: str) -> float:
        """How far from a bound a parameter starts, if its start value lies on it. This is a
        thousandth of its natural size; for a place or a width, at most the smallest step of its
        axis."""
        distance = INSIDE * self.natural(name)
        if name in self._owners:
            par, component, _ = self._owners[name]
            axis = self._axes[component.op.domain]
            if axis is not None and axis.size > 1 and _unit(par, component) == "x":
                distance = min(distance, float(np.abs(np.diff(axis)).min()) or distance)
        return distance

    def _by_unit(self, name: str, size_of: Callable[[str], float]) -> float:
        """The size of a parameter by its unit; `size_of` gives that of what a law moves."""
        par, component, target = self._owners[name]
        above, _, below = _unit(par, component).partition("/")
        size = 1.0
        for words, sign in ((above, 1.0), (below, -1.0)):
            for word in words.split():
                base, _, power = word.partition("^")
                if base == "x":
                    axis = self._axes[component.op.domain]
                    extent = 1.0 if axis is None else float(np.ptp(axis)) or 1.0
                    size *= extent ** (sign * float(power or 1))
                elif base == "y":
                    size *= (self._height if target is None else size_of(target)) ** sign
        return size if 0.0 < size < math.inf else 1.0

    @cached_property
    def _height(self) -> float:
        """The largest size of a value of the data."""
        data = self._data()
        if data is None or not data.size:
            return 1.0
        height = max(float(np.max(data)), -float(np.min(data)))
        if not math.isfinite(height):
            seen = data[np.isfinite(data)]
            height = float(np.max(np.abs(seen), initial=0.0))
        return height or 1.0


def _unit(par: Par, component: Component) -> str:
    """The unit of a parameter as the op table has it. A function of the user has none there: its
    linear parameters are heights, and places are known by their names."""
    op = component.op
    unit = dict(zip(op.params, op.units, strict=False)).get(par.argument, "?")
    if unit == "?" or unit.startswith("["):
        is_place = par.argument in ("t0", "x0", "xStart", "xStop")
        return "y" if par.argument in op.linear else "x" if is_place else "1"
    return unit
