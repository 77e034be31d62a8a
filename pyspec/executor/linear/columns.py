"""Basis functions and what stands beside them: one part of a model each, at theta, with slopes.

A part is evaluated in one of two ways. `Direct` runs the kernel of the function itself in C, with
one row of parameters, or one for each energy. `Planned` lowers the part as a model of its own: it
takes what reads the whole axis (gaussCONV, Shirley), what moves in time, and other backends.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, KernelCall, OpDef
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.linear.values import Known, ParameterValues, linear_of
from pyspec.executor.protocol import Executor
from pyspec.functions import outside
from pyspec.functions.response_rows import WIDTH, response, response_order
from pyspec.model import Component, Measurement, Model, Par
from pyspec.model.check import PROFILE, movers, used_names
from pyspec.model.inputs import inputs_of
from pyspec.model.parts import with_parts
from pyspec.model.sizes import Sizes
from pyspec.model.windows import slice_of

Array = npt.NDArray[np.float64]

#: One derivative of a part, by its place among those; one parameter, by its place in theta; and
#: what the derivative is multiplied with there, a number or one for each group.
Entry = tuple[int, int, Any]

#: Makes the executor of a part.
Make = Callable[[Model, Measurement], Executor]

#: Kinds of functions that act on what stands below them.
INSTRUMENTS = ("KERNEL", "IRF", "RESOLUTION")

#: Relative step of differences, where a backend has no derivatives.
STEP = float(np.finfo(float).eps ** (1 / 3))


class Column(Protocol):
    """One part of a model. It is given room for its value, (n_rows, n_x), and its derivatives,
    (n_slopes, n_rows, n_x), once, and fills these for each theta; n_rows is 1, or that of the
    groups."""

    n_rows: int
    n_slopes: int
    followers: list[str]

    def take_room(self, value: Array, slopes: Array) -> None: ...

    def fill(self, theta: Array, fixed: Mapping[str, float], known: Known) -> list[Entry]: ...


def operators(model: Model, component: Component) -> list[Component]:
    """What acts on a component: kernels, instruments and a resolution above it, or what reads the
    spectrum."""
    index = model.components.index(component)
    above = model.components[:index]
    return [one for one in above if one.op.kind in INSTRUMENTS or one.op.spectrum_fed]


def stands_still(model: Model, components: Sequence[Component]) -> bool:
    """Whether no parameter of these moves in time or along an auxiliary axis."""
    known = model.parameters
    names = [par.name for component in components for par in component.parameters]
    return not any(movers(name, known) or movers(name, known, PROFILE) for name in names)


class Direct:
    """One function, with the exact response to an instrument above it: its kernel in C."""

    def __init__(
        self,
        values: ParameterValues,
        x: Array,
        component: Component,
        instrument: Component | None,
        numbers: Mapping[str, float],
        n_groups: int,
    ) -> None:
        law = component.op
        row = law if instrument is None else response(law, instrument.op)
        assert row is not None
        order = range(len(law.params)) if row is law else response_order(law, row)
        own = () if instrument is None else instrument.pars
        pars = [own[0] if source == WIDTH else component.pars[source] for source in order]
        self.op: OpDef = row
        self.x = np.ascontiguousarray(x, np.float64)
        self.values = values
        #: Numbers stand for amplitudes: 1 for that of this basis function, 0 for others.
        self.sources: list[str | float] = [
            0.0 if par is None else numbers.get(par.name, par.name) for par in pars
        ]
        names = [source for source in self.sources if isinstance(source, str)]
        self.followers = values.needed(names)
        #: Parameters of the function that depend on theta: their places and names.
        self.moving = [
            (k, s) for k, s in enumerate(self.sources) if isinstance(s, str) and values.places(s)
        ]
        self.n_slopes = len(self.moving)
        self.n_rows = n_groups if any(values.disperses(name) for name in names) else 1

    def take_room(self, value: Array, slopes: Array) -> None:
        partials: list[Array | None] = [None] * len(self.sources)
        for (k, _), slope in zip(self.moving, slopes, strict=True):
            partials[k] = slope
        self._value = value
        self._params = np.empty((len(self.sources), self.n_rows))
        self._call = KernelCall(self.op, self.x, self._params, value, partials)

    def fill(self, theta: Array, fixed: Mapping[str, float], known: Known) -> list[Entry]:
        params = self._params
        for k, source in enumerate(self.sources):
            params[k] = source if isinstance(source, float) else known[source][0]
        self._call.run()
        if self.n_rows == 1:
            if outside(self.op, params[:, 0].tolist()):
                self._value.fill(np.nan)
        else:
            self._value[np.broadcast_to(outside(self.op, list(params)), self.n_rows)] = np.nan
        return [
            (index, place, slope)
            for index, (_, name) in enumerate(self.moving)
            for place, slope in known[name][1].items()
        ]


class Planned:
    """A part of a model as a model of its own."""

    def __init__(
        self,
        model: Model,
        components: Sequence[Component],
        numbers: Mapping[str, float],
        measurement: Measurement,
        make: Make,
    ) -> None:
        part = part_of(model, components, numbers)
        still = stands_still(model, components)
        rows, columns = measurement.rows, measurement.columns
        if part.is_time_model:
            part.set_axes(energy=None, time=model.time)
            window = Measurement(columns=rows)
        else:
            part.set_axes(energy=model.energy, time=None if still else model.time)
            if model.aux is not None:
                part.set_axes(aux=model.aux, aux_weights=model.aux_weights)
            window = measurement.without_data(None if still else rows, columns)
        self.executor = make(part, window)
        place = {name: k for k, name in enumerate(model.opt_param_names)}
        self.places = [place[name] for name in self.executor.opt_param_names]
        sizes, known = Sizes(model), model.parameters
        self._sizes = [sizes.of(known[name]) for name in self.executor.opt_param_names]
        self.fixed_names = set(self.executor.fixed_names)
        #: The executor where it knows all derivatives; it writes them to the room.
        self._compiled: CompiledExecutor | None = None
        if isinstance(self.executor, CompiledExecutor):
            known_all = not self.executor.capabilities.unknown_columns
            self._compiled = self.executor if known_all else None
        self.followers: list[str] = []
        self.n_slopes = len(self.places)
        self.n_rows = 1
        if model.time is not None and not (part.is_time_model or still):
            self.n_rows = model.time[slice_of(rows)].size

    def take_room(self, value: Array, slopes: Array) -> None:
        self._value, self._slopes = value, slopes

    def fill(self, theta: Array, fixed: Mapping[str, float], known: Known) -> list[Entry]:
        own = theta[self.places]
        given = {name: one for name, one in fixed.items() if name in self.fixed_names} or None
        if self._compiled is None:
            self._value[:] = self.executor.run(own, given)
            for k in range(own.size):
                self._slopes[k] = self._difference(own, given, k)
        else:
            self._compiled.run(own, given, self._value.reshape(-1))
            if own.size:
                self._compiled.slopes(own, given, self._slopes.reshape(-1))
        return [(k, place, 1.0) for k, place in enumerate(self.places)]

    def _difference(self, theta: Array, fixed: Mapping[str, float] | None, k: int) -> Array:
        high, low = theta.copy(), theta.copy()
        step = STEP * max(abs(theta[k]), 1e-3 * self._sizes[k])
        high[k] += step
        low[k] -= step
        rise = np.subtract(self.executor.run(high, fixed), self.executor.run(low, fixed))
        return np.asarray(rise / (high[k] - low[k]))


def part_of(model: Model, components: Sequence[Component], numbers: Mapping[str, float]) -> Model:
    """A model of some components, with some parameters held at numbers; what they refer to in
    other components, in their laws and profiles, and to quantities, remains as quantities."""
    names = {component.name for component in components}
    whole = copy.deepcopy(model)
    kept = [component for component in whole.components if component.name in names]
    referred = [
        par
        for component in whole.components
        if component.name not in names
        for par in component.parameters
        if par.free is None
    ]
    for component in kept:
        for par in component.parameters:
            if par.name in numbers:
                par.free, par.formula, par.vary, par.scope = None, None, False, "static"
                par.value = numbers[par.name]
    others = [*referred, *whole.quantities]
    known = with_parts(others)
    used = used_names((par for component in kept for par in component.parameters), known)
    found = [par for par in others if par.name in used]
    brought = with_parts(found)  # with their laws and profiles, of which some are used alone
    found += [known[name] for name in known if name in used and name not in brought]
    part = Model(whole.name, kept, quantities=found)
    part.inputs = whole.inputs
    return part


def is_direct(model: Model, component: Component) -> bool:
    """Whether the kernel of a function is all that its part of the model needs."""
    above = operators(model, component)
    closed = all(one.op.kind == "IRF" for one in above)
    has_kernel = all(has_kernel_in_c(one.op) for one in (component, *above))
    return closed and has_kernel and stands_still(model, [component, *above])


def has_kernel_in_c(op: OpDef) -> bool:
    """Whether a function has a row of the op table, or a program that reads no inputs; a callable
    has neither."""
    return not op.external and not inputs_of(op) and (op.own is not None or op.name in OPS)


def rest_of(model: Model) -> list[Component]:
    """The components that have an amplitude which is not free, in file order."""
    found = []
    for component in model.components:
        if component.op.kind in INSTRUMENTS:
            continue
        linear = linear_of(component.pars, component.op.linear)
        if not linear or any(par.free is None for par in linear):
            found.append(component)
    return found


def numbers_for(component: Component, free: Par | None) -> dict[str, float]:
    """Amplitudes of a component as numbers: 1 for the one that is looked at and 0 for all others;
    without one, 0 for those that are free."""
    linear = linear_of(component.pars, component.op.linear)
    if free is None:
        return {par.name: 0.0 for par in linear if par.free is not None}
    return {par.name: float(par.name == free.name) for par in linear}
