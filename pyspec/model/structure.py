"""What of a model decides its graph and its plan: all but numbers that may change from fit to fit.

Values, bounds and places in a file are no part of it, nor are axes, but for three things: which of
them there are, how many points the auxiliary axis has, and the times where a law belongs to a
sub-cycle, since the plan then holds which sub-cycle each time is in.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from pyspec.model.tree import Component, Dynamics, Par, Profile

if TYPE_CHECKING:
    from pyspec.model.model import Model


def structure_of(model: Model) -> Hashable:
    """Models with equal structures have the same plan but for its axes and values.

    A function of the op table is known by the identity of its row: who keeps a structure keeps the
    rows too, see :func:`~pyspec.model.tree.ops_of`.
    """
    cycles: set[int] = set()
    parts = _components(model.components, cycles)
    quantities = tuple([_par(par, set()) for par in model.quantities])
    time = None
    if model.time is not None:
        time = model.time.tobytes() if any(cycles) else True
    n_aux = 0 if model.aux is None else model.aux.size
    return model.name, parts, quantities, model.energy is not None, time, n_aux


def _components(components: Sequence[Component], cycles: set[int]) -> tuple[Hashable, ...]:
    """The structure of components; the sub-cycles that they and what moves them belong to are
    added to `cycles`."""
    found: list[Hashable] = []
    for component in components:
        cycles.add(component.subcycle)
        pars: list[Hashable] = []
        for par in component.pars:
            if par is None:
                pars.append(None)
            elif par.formula or par.dynamics or par.profile or par.free:
                pars.append(_par(par, cycles))
            else:  # as most are
                pars.append((par.name, par.argument, par.vary))
        function = component.function, id(component.op), component.subcycle
        found.append((component.name, *function, *pars))
    return tuple(found)


def _par(par: Par, cycles: set[int]) -> Hashable:
    """A free parameter, a fixed one, one that follows an expression, or an amplitude that is free
    along an axis; and what moves it."""
    kind: Hashable = par.vary if par.formula is None else par.formula.text
    if par.free is not None:
        kind = par.free
    if par.dynamics is None and par.profile is None:
        return par.name, par.argument, kind
    moved = _dynamics(par.dynamics, cycles), _profile(par.profile, cycles)
    return par.name, par.argument, kind, *moved


def _dynamics(dynamics: Dynamics | None, cycles: set[int]) -> Hashable:
    if dynamics is None:
        return None
    of_cycles = dynamics.frequency, dynamics.n_subcycles
    laws = _components(dynamics.components, cycles)
    return dynamics.target, dynamics.name, of_cycles, laws


def _profile(profile: Profile | None, cycles: set[int]) -> Hashable:
    if profile is None:
        return None
    return profile.target, profile.name, _components(profile.components, cycles)
