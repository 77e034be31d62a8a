"""A model of some of the components of another."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pyspec.model.build.check import used_names
from pyspec.model.model_tree import AModel, with_parts
from pyspec.model.tree import Component, parameters_of


def part_of(model: AModel, components: Sequence[Component]) -> AModel:
    """A model of some components, on the same axes. Parameters of other components that they refer
    to remain as quantities."""
    names = {component.name for component in components}
    part = copy.deepcopy(model)
    gone = [component for component in part.components if component.name not in names]
    others = [par for par in parameters_of(gone) if par.free is None]
    others += part.quantities
    part.components = [component for component in part.components if component.name in names]
    by_name = with_parts(others)
    used = used_names(parameters_of(part.components), by_name)
    quantities = [par for par in others if par.name in used]
    brought = with_parts(quantities)  # with their laws and profiles, of which some are used alone
    quantities += [by_name[name] for name in by_name if name in used and name not in brought]
    part.quantities = tuple(quantities)
    return part
