"""A model of some of the components of another."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from pyspec.model.build.check import used_names
from pyspec.model.model import Model
from pyspec.model.model_tree import with_parts
from pyspec.model.tree import Component


def part_of(model: Model, components: Sequence[Component], numbers: Mapping[str, float]) -> Model:
    """A model of some components, with some parameters held at numbers. Parameters of other
    components that they refer to remain as quantities."""
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
    by_name = with_parts(others)
    used = used_names((par for component in kept for par in component.parameters), by_name)
    quantities = [par for par in others if par.name in used]
    brought = with_parts(quantities)  # with their laws and profiles, of which some are used alone
    quantities += [by_name[name] for name in by_name if name in used and name not in brought]
    part = Model(whole.name, kept, quantities=quantities)
    part.inputs = whole.inputs
    return part
