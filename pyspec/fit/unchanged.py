"""Whether a model is still what it was at its last fit, seen without making its state anew."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import chain, starmap
from operator import attrgetter, is_
from typing import Any

from pyspec._library import OPS
from pyspec.model import Model, Par
from pyspec.model.tree import Component, Dynamics, Profile

#: What reads all fields of a part.
_FIELDS: dict[type[Any], attrgetter[Any]] = {
    kind: attrgetter(*[one.name for one in fields(kind)])
    for kind in (Par, Component, Dynamics, Profile)
}

_flat = chain.from_iterable

#: What a model consists of: axes, which never change in place, texts, and parts; what is named, see
#: below, is held in dicts that may be written to.
_PLAIN = attrgetter(
    "name", "text", "where", "energy", "time", "aux", "aux_weights", "components", "quantities"
)
_NAMED = attrgetter("inputs", "labels", "units")


class Unchanged:
    """A model as it was once, part by part. It is the same still where every field of every part
    holds the very object that it held then: none of these changes in place, but for lists and
    dicts, whose items are compared. So an equal number that was set anew counts as a change; who
    asks then makes the state of the model, which costs ten times as much.
    """

    def __init__(self, model: Model) -> None:
        self._model = weakref.ref(model)
        self._kind = type(model)
        parts: dict[type, list[Any]] = {kind: [] for kind in _FIELDS}
        self._lists: list[Sequence[Any]] = []
        self._take(model.components, parts)
        self._take_pars(model.quantities, parts)
        self._readers = [(_FIELDS[kind], found) for kind, found in parts.items() if found]
        self._functions = [one.function for one in parts[Component]]
        self._sizes = list(map(len, self._lists))
        self._items = list(_flat(self._lists))
        self._plain = _PLAIN(model)
        self._counts = list(map(len, _NAMED(model)))
        self._named = list(_names(model))
        self._ops = list(map(OPS.get, self._functions))
        self._values = list(_flat(_flat(starmap(map, self._readers))))

    def _take(self, components: Sequence[Component], parts: dict[type, list[Any]]) -> None:
        self._lists.append(components)
        parts[Component] += components
        for one in components:
            self._take_pars(one.pars, parts)

    def _take_pars(self, pars: Sequence[Par | None], parts: dict[type, list[Any]]) -> None:
        there = [par for par in pars if par is not None]
        self._lists.append(pars)
        parts[Par] += there
        for par in there:
            for moved in (par.dynamics, par.profile):
                if moved is not None:
                    parts[type(moved)].append(moved)
                    self._take(moved.components, parts)

    def holds(self, model: Model) -> bool:
        """Whether `model` is that model, and as it was then."""
        return (
            self._model() is model
            and type(model) is self._kind
            and all(map(is_, self._plain, _PLAIN(model)))
            and self._sizes == list(map(len, self._lists))
            and all(map(is_, self._items, _flat(self._lists)))
            and all(map(is_, self._values, _flat(_flat(starmap(map, self._readers)))))
            and self._counts == list(map(len, _NAMED(model)))
            and all(map(is_, self._named, _names(model)))
            and all(map(is_, self._ops, map(OPS.get, self._functions)))
        )


def _names(model: Model) -> Iterator[Any]:
    """What is named in a model: names and what they stand for."""
    inputs, labels, units = _NAMED(model)
    return chain(inputs, inputs.values(), labels, labels.values(), units, units.values())
