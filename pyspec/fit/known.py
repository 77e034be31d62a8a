"""What fits of one model have in common, as long as nothing in the model changes: a copy of it, its
plan on its axes with its values, and where its parameters start.

A model is recognised by its state: all of its texts, numbers and flags, and which axes it has. It
may change in any way between two fits, the next fit then makes what it needs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec._library.environment import reader
from pyspec.executor import CompiledExecutor, Executor, Executors
from pyspec.executor.laid import Arrays, FitLayout, arrays_of, layout_key
from pyspec.fit.following import Following
from pyspec.fit.parameters import Columns, FitParameters, start_parameters
from pyspec.fit.solve.places import Places, jump_places
from pyspec.fit.unchanged import Unchanged
from pyspec.model import Measurement, Model, Par
from pyspec.model.kept import Kept
from pyspec.model.outline import Outline, outline_of
from pyspec.model.tree import Component
from pyspec.passes.sequence import VARIABLE
from pyspec.plan import ScheduledPlan, lower

#: Models that are kept; those used least recently go first.
MOST = 16

#: What a model consists of; one to which something was attached beside that is not kept.
ATTRIBUTES = {
    "name", "components", "quantities", "text", "where", "energy", "time", "aux", "aux_weights",
    "inputs", "labels", "units", "elsewhere",
}  # fmt: skip


class Known:
    """What fits of one model share; nobody changes any of it.

    Attributes
    ----------
    model : a copy, which results copy once more before they hand it out
    outline, parameters, followers, executors : of this copy
    """

    _layout: FitLayout | None = None

    def __init__(self, model: Model, outline: Outline) -> None:
        self.model, self.outline = model.copy(), outline
        self.parameters = self.model.parameters
        self.followers = Following.of(self.parameters, outline.followers)
        self.executors = Executors(self.model, "compiled", self.parameters, outline)
        self._starts: tuple[FitParameters, tuple[str, ...], list[float]] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The free parameters, in the order of theta."""
        return self.executors.plan.opt_param_names

    @cached_property
    def bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The lower and upper bounds of the free parameters."""
        free = [self.parameters[name] for name in self.names]
        lower = np.array([par.min for par in free], np.float64)
        upper = np.array([par.max for par in free], np.float64)
        lower.flags.writeable = upper.flags.writeable = False
        return lower, upper

    @cached_property
    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        return jumps_of(self.executors.plan, self.model, self.outline)

    def executor(self, measurement: Measurement) -> Executor:
        """An executor on a measurement. The next fit to one like it will find how the structures of
        C are laid out."""
        executor = self.executors(measurement)
        arrays = arrays_of(measurement)
        if arrays is not None and type(executor) is CompiledExecutor and executor.capabilities.in_c:
            self._layout = FitLayout(executor, layout_key(measurement, arrays))
        return executor

    def layout_of(self, measurement: Measurement) -> tuple[FitLayout, Arrays] | None:
        """That of the last executor, where it is that of this measurement, too, and the arrays that
        go with it."""
        layout = self._layout
        arrays = None if layout is None else arrays_of(measurement)
        if layout is None or arrays is None or layout.key != layout_key(measurement, arrays):
            return None
        return layout, arrays

    def start(self, data: Callable[[], Any]) -> tuple[FitParameters, tuple[str, ...], list[float]]:
        """As of :func:`pyspec.fit.parameters.start_parameters`, and the units of the free ones;
        worked out once where the data have no part in it."""
        if self._starts is not None:
            known, moved, sizes = self._starts
            began = known.began
            return FitParameters(dict(began), began, known.limits, known.columns), moved, sizes
        asked: list[bool] = []

        def noted() -> Any:
            asked.append(True)
            return data()

        params, moved = start_parameters(self.model, self.parameters, None, noted)
        sizes = [params.limits[name].unit for name in self.names]
        if not asked:
            if (*params.limits,) == self.names:
                params.columns = Columns(params.began, params.limits)
            self._starts = params.again(), moved, sizes
        return params, moved, sizes


def jumps_of(
    plan: ScheduledPlan, model: Model, outline: Outline, fixed: Mapping[str, float] | None = None
) -> dict[str, Places]:
    """Free parameters of a model that move a jump over the samples → the values where they do;
    plan and outline are those of the model, `fixed` has values that differ from its own."""
    found = jump_places(plan, fixed)
    if not found:
        return {}
    certain = lower(model, outline=outline).jump_parameters(model)
    return {name: places for name, places in found.items() if name in certain}


_KEPT: Kept[Known] = Kept()
_passes = reader(VARIABLE)


def known_of(model: Model) -> Known | None:
    """What is known of a model as it is now; None of one whose fits share nothing. Functions in
    Python may be registered anew under their old names, and amplitudes that are free have problems
    of their own.

    Raises :class:`ModelError` where expressions run in a circle.
    """
    passes = _passes()
    last = _LAST.get(id(model))
    if last is not None and last.passes == passes and last.unchanged.holds(model):
        return last.known
    if vars(model).keys() != ATTRIBUTES:
        return None
    unchanged = Unchanged(model)  # before its state: what another thread changes now is seen
    key = *state_of(model), passes
    found = _KEPT.get(key)
    if found is None:
        outline = outline_of(model)
        if outline.calls_python or outline.has_free:
            return None
        found = _KEPT.keep(key, Known(model, outline), MOST)
    _LAST.replace(id(model), Last(unchanged, passes, found), MOST)
    return found


class Last(NamedTuple):
    """What was known of a model when it was fitted last, and through which passes."""

    unchanged: Unchanged
    passes: str | bytes | None
    known: Known


_LAST: Kept[Last] = Kept()


def state_of(model: Model) -> tuple[Hashable, ...]:
    """Equal for models that are the same in everything but the identity of their parts.

    Axes, inputs and formulas, which never change, and rows of the op table are known by their
    identity: who keeps a state keeps a copy of the model, which has them too.
    """
    found: list[Hashable] = [id(type(model)), model.name, model.text, model.where]
    found += id(model.energy), id(model.time), id(model.aux), id(model.aux_weights)
    found.append(len(model.inputs))
    for name, line in model.inputs.items():
        found += name, id(line)
    found += tuple(model.labels.items()), tuple(model.units.items()), tuple(model.elsewhere.items())
    numbers = array("d")
    _components(model.components, found, numbers)
    _pars(model.quantities, found, numbers)
    found.append(numbers.tobytes())  # -0.0 is not 0.0
    return tuple(found)


def _components(
    components: Sequence[Component], found: list[Hashable], numbers: array[float]
) -> None:
    found.append(len(components))
    for one in components:
        found += one.name, one.function, id(one.op), one.subcycle, one.where
        _pars(one.pars, found, numbers)


def _pars(pars: Sequence[Par | None], found: list[Hashable], numbers: array[float]) -> None:
    found.append(len(pars))
    for par in pars:
        if par is None:
            found.append(None)
            continue
        found += par.name, par.argument, par.vary, par.scope, par.where, id(par.formula), par.free
        found += par.dynamics is None, par.profile is None
        numbers.extend((par.value, par.min, par.max))
        if par.dynamics is not None:
            law = par.dynamics
            found += law.target, law.name, law.frequency, law.n_subcycles, law.text, law.where
            _components(law.components, found, numbers)
        if par.profile is not None:
            own = par.profile
            found += own.target, own.name, own.text, own.where
            _components(own.components, found, numbers)
