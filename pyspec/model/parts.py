"""What a Model is made of, as it was given: components and quantities, or descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspec.errors import ModelError
from pyspec.model.build.describe import Description, Value, build_described
from pyspec.model.model_tree import ModelTree
from pyspec.model.resolved import check_resolution
from pyspec.model.tree import Component, Dynamics, Par, Profile, walk
from pyspec.model.yaml.reader import SECTIONS


def parts_of(
    name: str,
    components: Sequence[Component] | Sequence[Description],
    quantities: Sequence[Par] | Mapping[str, Value],
) -> tuple[list[Component], list[Par]]:
    """The components and quantities of a model. Raises :class:`ModelError`."""
    if not isinstance(name, str) or not name.strip() or name in SECTIONS:
        raise ModelError(f"{name!r} cannot name a model; choose another name")
    built = [component for component in components if isinstance(component, Component)]
    described = [component for component in components if not isinstance(component, Component)]
    by_name, own = (quantities, []) if isinstance(quantities, Mapping) else ({}, list(quantities))
    if (built and (described or by_name)) or (described and own):
        raise ModelError(
            f"{name}: give components of pyspec.components, with quantities by name, or those of "
            "a loaded model; not both"
        )
    if described:
        built, own = build_described(name, described, by_name)
    names = [component.name for component in built]
    twice = next((other for other in names if names.count(other) > 1), None)
    if twice is not None:
        raise ModelError(
            f"{name}: two components are called {twice}; write them in one model file or with "
            "pyspec.components, which number them"
        )
    check_resolution(built)
    return built, own


def owner_of(par: Par, model: ModelTree) -> tuple[Component | None, Dynamics | Profile | None]:
    """The component that a parameter belongs to, and the dynamics or profile of that."""
    for component, _, part in walk(model.components, model.quantities):
        if any(own is par for own in component.parameters):
            return component, part
    return None, None


def groups_of_laws(model: ModelTree, parameters: Mapping[str, Par]) -> list[list[Component]]:
    """The components of a model of time, and of what moves each of its parameters, in file
    order."""
    moved = (par.dynamics for par in parameters.values())
    of_model = [model.components] if model.is_time_model else []
    return of_model + [dynamics.components for dynamics in moved if dynamics is not None]
