"""The size of a parameter before it is fitted: the unit in which its steps are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.model.model import Model
from pyspec.model.tree import Component, Par

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


class Sizes:
    """The size of each parameter of a model: that of its value; for a value of 0 what its function
    says of it, the extent of an axis for a place on it, that of the data for a height, or else 1.

    A size is worked out when it is asked for: only heights of 0 need the data, and call for them.
    """

    def __init__(
        self, model: Model, data: Callable[[], npt.NDArray[Any] | None] = lambda: None
    ) -> None:
        self._components, self._quantities = model.components, model.quantities
        self._data = data
        self._axes = {"ENERGY": model.energy, "TIME": model.time, "AUX": model.aux}

    @cached_property
    def _owners(self) -> dict[str, tuple[Par, Component, str | None]]:
        owned = chain(_owned(self._components, None), _of_movers(self._quantities))
        return {one[0].name: one for one in owned}

    def of(self, par: Par) -> float:
        """The size of a parameter; most have one by their value, whatever they belong to."""
        size = abs(par.value)
        return size if 0.0 < size < math.inf else self[par.name]

    def __getitem__(self, name: str) -> float:
        """The size of a parameter; that of a quantity, which belongs to no function, is that of its
        value, or 1."""
        if name not in self._owners:
            values = (abs(par.value) for par in self._quantities if par.name == name)
            return next((value for value in values if 0.0 < value < math.inf), 1.0)
        par, component, target = self._owners[name]
        size = abs(par.value)
        if size > 0.0 and math.isfinite(size):
            return size
        op = component.op
        if par.argument in op.linear:
            height = self._height if target is None else self[target]
            return height / self._extent(op.domain) if par.argument == "m" else height
        is_place = par.argument in ("t0", "x0", "xStart", "xStop")
        return self._extent(op.domain) if is_place else 1.0

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

    def _extent(self, domain: str) -> float:
        axis = self._axes[domain]
        return 1.0 if axis is None else float(np.ptp(axis)) or 1.0


def _owned(
    components: Sequence[Component], target: str | None
) -> Iterator[tuple[Par, Component, str | None]]:
    """Every parameter with its component, and what that moves: the data, or a parameter."""
    for component in components:
        for par in component.parameters:
            yield par, component, target
            yield from _of_movers([par])


def _of_movers(pars: Iterable[Par]) -> Iterator[tuple[Par, Component, str | None]]:
    """The same of the laws and profiles of parameters."""
    for par in pars:
        for parts in (par.dynamics, par.profile):
            if parts is not None:
                yield from _owned(parts.components, par.name)
