"""Whether a model is still what it was at its last fit, seen without making its state anew."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from pyspec._library import OPS
from pyspec.model import Model, Par
from pyspec.model.tree import EDITED, Component, Dynamics, Profile

#: What reads all fields of a part.
_FIELDS: dict[type[Any], attrgetter[Any]] = {
    kind: attrgetter(*[one.name for one in fields(kind)])
    for kind in (Par, Component, Dynamics, Profile)
}

_flat = chain.from_iterable

#: Stands behind the items of each list and dict.
_END = object()


class Unchanged:
    """A model as it was once, part by part. It is the same still where every field of every part
    holds the very object that it held then: none of these changes in place, but for lists and
    dicts, whose items are compared. So an equal number that was set anew counts as a change; who
    asks then makes the state of the model, which costs ten times as much. Fields are looked at only
    where one of any part of a model was set since they were looked at last.
    """

    def __init__(self, model: Model) -> None:
        self._edited = EDITED[0]  # before the fields: what another thread sets now is seen
        self._model = weakref.ref(model)
        self._kind = type(model)
        parts: dict[type, list[Any]] = {kind: [] for kind in _FIELDS}
        self._lists: list[Sequence[Any]] = []
        self._take(model.components, parts)
        self._take_pars(model.quantities, parts)
        self._parts = {kind: found for kind, found in parts.items() if found}
        self._functions = [one.function for one in parts[Component]]
        self._fields = list(self._all_fields())
        self._held = self._all_of(model)

    def _take(self, components: Sequence[Component], parts: dict[type, list[Any]]) -> None:
        self._lists.append(components)
        parts[Component] += components
        for one in components:
            self._take_pars(one.pars, parts)

    def _take_pars(self, pars: Sequence[Par | None], parts: dict[type, list[Any]]) -> None:
        there = [par for par in pars if par is not None]
        if type(pars) is not tuple:  # which would be another one if it had changed
            self._lists.append(pars)
        parts[Par] += there
        for par in there:
            for moved in (par.dynamics, par.profile):
                if moved is not None:
                    parts[type(moved)].append(moved)
                    self._take(moved.components, parts)

    def holds(self, model: Model) -> bool:
        """Whether `model` is that model, and as it was then."""
        if self._model() is not model or type(model) is not self._kind:
            return False
        held = self._all_of(model)
        if len(held) != len(self._held) or not all(map(is_, self._held, held)):
            return False
        edited = EDITED[0]
        if edited is not self._edited:
            if not all(map(is_, self._fields, self._all_fields())):
                return False
            self._edited = edited
        return True

    def _all_fields(self) -> Iterator[Any]:
        """Those of all parts."""
        return _flat(_flat(map(_FIELDS[kind], found) for kind, found in self._parts.items()))

    def _all_of(self, model: Model) -> list[Any]:
        """All else that the model holds, and what its functions are."""
        own = model.__dict__
        held = [*own, *own.values(), *map(OPS.get, self._functions)]
        for one in self._lists:
            held += one
            held.append(_END)
        for named in (model.inputs, model.labels, model.units):
            held += named
            held += named.values()
            held.append(_END)
        return held
