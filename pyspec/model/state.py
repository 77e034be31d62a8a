"""What a model is at one moment, in a form that two moments can be compared by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from struct import pack
from typing import TypeAlias

from pyspec._library import OPS
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import Component, Par

#: A pair. The *structure* decides the plan: all parts, which axes there are, and the number of
#: auxiliary points. If a law belongs to a sub-cycle the structure holds the times, since the plan
#: says which sub-cycle each time is in. The *inputs* are what a plan is given: values, bounds,
#: axes, and the texts from which all this was read.
State: TypeAlias = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]


def state_of(model: ModelTree) -> State:
    """The state of a model as it is now. Models have equal states if they differ in nothing but the
    identity of their parts.

    Axes, inputs and functions count by their identity. Whoever keeps a state must keep a copy of
    the model and its functions (:func:`~pyspec.model.tree.ops_of`) as long.
    """
    # One long tuple is compared in less time than many short ones. What there are several of is
    # counted first, so that different structures never give the same words.
    pars: list[Par | None] = [*model.quantities]
    structure: list[Hashable] = [id(type(model)), model.name, len(pars)]
    numbers: list[float] = []
    cycles: list[int] = []
    texts: list[str] = []
    groups: list[Sequence[Component]] = [model.components]
    for components in groups:  # those that move parameters come after the others
        structure.append(len(components))
        for component in components:
            if component.subcycle:
                cycles.append(component.subcycle)
            op = OPS.get(component.function) or component.op
            structure += (
                component.name, component.function, id(op), component.subcycle, component.where,
                len(component.pars),
            )  # fmt: skip
            pars += component.pars
        for par in pars:
            if par is None:
                structure.append(None)
                continue
            structure += par.name, par.argument, par.vary, par.scope, par.where, par.free
            numbers += par.value, par.min, par.max
            formula, law, own = par.formula, par.dynamics, par.profile
            if formula is None and law is None and own is None:
                continue
            structure.append((None if formula is None else formula.text, law is None, own is None))
            if law is not None:
                structure += law.target, law.name, law.frequency, law.n_subcycles, law.where
                texts.append(law.text)
                groups.append(law.components)
            if own is not None:
                structure += own.target, own.name, own.where
                texts.append(own.text)
                groups.append(own.components)
        pars.clear()
    time = None
    if model.time is not None:
        time = model.time.tobytes() if cycles else True
    structure += model.energy is None, time, 0 if model.aux is None else model.aux.size
    axes = id(model.energy), id(model.time), id(model.aux), id(model.aux_weights)
    inputs = tuple([(name, id(line)) for name, line in model.inputs.items()])
    labels, units = tuple(model.labels.items()), tuple(model.units.items())
    words = model.text, *texts, model.where, labels, units, tuple(model.elsewhere.items())
    # As bytes -0.0 is not 0.0, and NaN is NaN.
    return tuple(structure), (pack(f"{len(numbers)}d", *numbers), *axes, inputs, *words)
