"""What of a model decides its graph and its plan: all but numbers that may change from fit to fit.

Values, bounds and places in a file are no part of it, nor are axes, but for three things: which of
them there are, how many points the auxiliary axis has, and the times where a law belongs to a
sub-cycle, since the plan then holds which sub-cycle each time is in.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from pyspec.model.tree import Component, Par

if TYPE_CHECKING:
    from pyspec.model.model import Model


def structure_of(model: Model) -> Hashable:
    """Models with equal structures have the same plan but for its axes and values.

    A function of the op table is known by the identity of its row: who keeps a structure keeps the
    rows too, see :func:`~pyspec.model.tree.ops_of`.
    """
    cycles: set[int] = set()
    found: list[Hashable] = [model.name, model.energy is not None]
    _components(model.components, found, cycles)
    found.append(len(model.quantities))
    for par in model.quantities:
        _par(par, found, cycles)
    time = None
    if model.time is not None:
        time = model.time.tobytes() if any(cycles) else True
    found += time, 0 if model.aux is None else model.aux.size
    return tuple(found)


# One long tuple is compared in less time than many short ones. What may differ in length begins
# with its length, so that two structures never meet in the same words.


def _components(components: Sequence[Component], found: list[Hashable], cycles: set[int]) -> None:
    """Adds the structure of components to what is `found`; the sub-cycles that they and what moves
    them belong to are added to `cycles`."""
    found.append(len(components))
    for component in components:
        cycles.add(component.subcycle)
        function = component.function, id(component.op), component.subcycle
        found += component.name, *function, len(component.pars)
        for par in component.pars:
            if par is None:
                found.append(None)
            elif par.formula or par.dynamics or par.profile or par.free:
                _par(par, found, cycles)
            else:  # as most are
                found += par.name, par.argument, par.vary


def _par(par: Par, found: list[Hashable], cycles: set[int]) -> None:
    """A free parameter, a fixed one, one that follows an expression, or an amplitude that is free
    along an axis; and what moves it."""
    kind: Hashable = par.vary if par.formula is None else par.formula.text
    if par.free is not None:
        kind = par.free
    moved = par.dynamics is not None, par.profile is not None
    found += par.name, par.argument, kind
    if not any(moved):
        return
    found.append(moved)
    if par.dynamics is not None:
        own = par.dynamics
        found += own.target, own.name, own.frequency, own.n_subcycles
        _components(own.components, found, cycles)
    if par.profile is not None:
        found += par.profile.target, par.profile.name
        _components(par.profile.components, found, cycles)
