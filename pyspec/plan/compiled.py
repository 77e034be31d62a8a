"""A model as fits and executors use it: compiled once, held by whoever evaluates it again.

A graph, its passes, a schedule and a packed plan take milliseconds, longer than the fit of one
spectrum, and depend on no number of the model. Models of one structure share them; what a model
adds are its values, its bounds and its axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_
from types import MappingProxyType
from typing import Any

from pyspec._library.environment import reader
from pyspec.errors import ModelError, PyspecError
from pyspec.ir import DomainKind, GraphIR, NodeKind, build_graph
from pyspec.model import Model, Par
from pyspec.model.facts import Outline
from pyspec.model.state import State, state_of
from pyspec.passes import Jumps, classify_columns, linear_parameters
from pyspec.passes.fixed_amplitudes import with_fixed_amplitudes
from pyspec.passes.sequence import VARIABLE
from pyspec.plan.basis import BasisPlan, basis_plans, placed
from pyspec.plan.following import Following
from pyspec.plan.pack import PackedPlan, pack
from pyspec.plan.pinned import PinnedAxes, pin_axes
from pyspec.plan.places import Places, jump_places
from pyspec.plan.schedule import schedule_1d, schedule_2d
from pyspec.plan.scheduled import Array, ScheduledPlan
from pyspec.plan.start import StartParameters, start_parameters

#: Models that are kept; the oldest go first. Each has two places in the cache: by
#: its state, and by its structure alone. A plan takes some kilobytes.
MOST = 32


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """All that a fit needs of a model; nobody changes any of it. What follows from the fields is
    worked out when it is first asked for.

    Attributes
    ----------
    parameters : all of them by name, in the order of the model
    followers : those that follow expressions
    lowered : the plan with the values and on the axes of the model, and its form in C, which has
        neither; None where the model has no plan, as some for the tree executor
    tree, outline : a copy of the model, and what it shares with models of its structure; None
        where a graph alone was compiled
    source : that graph, else None
    without : the passes that were left out
    layouts : the only thing here that changes: memory of C that one fit hands on to the next, see
        :mod:`pyspec.executor.laid`
    """

    parameters: Mapping[str, Par]
    followers: Following
    lowered: tuple[ScheduledPlan, PackedPlan] | None
    tree: Model | None = None
    outline: Outline | None = None
    source: GraphIR | None = None
    without: frozenset[str] = frozenset()
    layouts: dict[Hashable, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        name = self.source.name if self.source is not None else self.model.name
        return f"<CompiledModel {name!r}: {len(self.parameters)} parameters>"

    def __reduce__(self) -> tuple[object, ...]:
        if self.tree is None:
            return compile_graph, (self.source, self.without)
        return compile_model, (self.tree, self.without)

    @cached_property
    def model(self) -> Model:
        """The copy of the model. Raises :class:`ModelError` where a graph alone was compiled."""
        if self.tree is None:
            raise ModelError("a compiled graph has no model; fits need one: compile_model(model)")
        return self.tree

    @cached_property
    def graph(self) -> GraphIR:
        """The graph of the model as it is."""
        return self.source if self.source is not None else build_graph(self.model)

    @cached_property
    def plan(self) -> ScheduledPlan:
        """The plan. Raises :class:`PlanError` or :class:`ModelError` for a model that has none."""
        return (self.lowered or _lower(self.graph, self.without))[0]

    @cached_property
    def packed(self) -> PackedPlan:
        """The plan in the form of C. Raises as :attr:`plan` does."""
        return (self.lowered or _lower(self.graph, self.without))[1]

    @cached_property
    def pinned(self) -> PinnedAxes:
        """The axes in the form of C."""
        return pin_axes(self.plan)

    @cached_property
    def basis(self) -> tuple[BasisPlan, ...]:
        """The plans of a model with free amplitudes. Raises as :attr:`plan` does."""
        plans, tree = basis_plans(self.graph), self.tree
        return (
            plans if tree is None else tuple(plan.placed(tree, self.parameters) for plan in plans)
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The free parameters, in the order of theta."""
        return self.plan.opt_param_names

    @cached_property
    def start(self) -> StartParameters | None:
        """Where a fit starts; None where the data have a part in it, or of a model without a plan,
        which is fitted in parts."""
        if self.lowered is None:
            return None
        asked: list[bool] = []
        arguments = self.model, self.parameters, self.names
        start = start_parameters(*arguments, {}, lambda: asked.append(True))
        return None if asked else start

    @cached_property
    def jump_parameters(self) -> frozenset[str]:
        """All free parameters that move a jump at the values of the model, directly or through
        expressions."""
        values = {n: par.value for n, par in self.parameters.items() if par.formula is None}
        return frozenset(self._discontinuities.at(values))

    @cached_property
    def _discontinuities(self) -> Jumps:
        """What may jump, whatever the values are."""
        return Jumps(self.graph)

    @cached_property
    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        return self.jumps_at(None)

    def jumps_at(self, fixed: Mapping[str, float] | None) -> Mapping[str, Places]:
        """The same with other values of fixed parameters."""
        by_name = jump_places(self.plan, fixed)
        own = by_name and {n: places for n, places in by_name.items() if n in self.jump_parameters}
        return MappingProxyType(own)

    @cached_property
    def linear(self) -> tuple[str, ...]:
        """The free parameters that the model is linear in together."""
        return linear_parameters(self.graph).names

    @cached_property
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each Jacobian column, see :class:`pyspec.passes.Column`."""
        return tuple(column.kind for column in classify_columns(self.graph))

    def at(self, values: Mapping[str, float]) -> CompiledModel:
        """The same model with other values of its parameters; the plan is shared."""
        tree = self.model.copy()
        tree.set_values(values)
        return self.of(tree)

    def of(self, tree: Model) -> CompiledModel:
        """A model of the same structure with its own values, bounds and axes; the plan is shared.
        Nobody may change `tree` any more."""
        parameters = tree.parameters
        lowered = self.lowered and (placed(self.lowered[0], tree, parameters), self.lowered[1])
        mine, its = _axes(self.model), _axes(tree)
        is_alike = len(mine) == len(its) and all(map(is_, mine, its))
        layouts = self.layouts if is_alike else {}
        made = replace(self, parameters=parameters, tree=tree, lowered=lowered, layouts=layouts)
        shared = ("_discontinuities", "pinned") if is_alike else ("_discontinuities",)
        made.__dict__.update({name: cached for name in shared if (cached := vars(self).get(name))})
        if plans := vars(self).get("basis"):
            made.__dict__["basis"] = tuple([plan.placed(tree, parameters) for plan in plans])
        return made


def compile_graph(graph: GraphIR, without: Collection[str] | str = ()) -> CompiledModel:
    """Compiles a graph alone, through the passes but those in `without`.

    Raises :class:`PlanError` where it cannot.
    """
    passes = _names(without)
    lowered = _lower(graph, passes)
    parameters = _parameters_of(graph)
    names = {node.id: node.name for node in graph.nodes[: len(parameters)]}
    order = [names[number] for number in graph.order if number in names]
    followers = Following.of(parameters, order)
    return CompiledModel(parameters, followers, lowered, source=graph, without=passes)


def compile_model(model: Model, without: Collection[str] | str = ()) -> CompiledModel:
    """A model compiled through the passes but those in `without`. Equal models give the same
    object. The model may change in any way between two calls.

    Raises :class:`ModelError` where expressions run in a circle. A model without a plan is compiled
    too; its `plan` raises.
    """
    passes = _names(without) if without else _ALL
    beside = passes, _environment()
    state = state_of(model)
    kept = _KEPT.get((state, beside))
    if kept is not None:
        return kept
    tree = model.copy()  # no other thread changes it
    for name in vars(tree).keys() - ATTRIBUTES:
        delattr(tree, name)
    state = state_of(tree)
    alike = _KEPT.get((state[0], beside))
    made = _compiled(tree, passes) if alike is None else alike.of(tree)
    return _keep(state, beside, made)


#: What a model consists of. Anything else that is attached to one does not belong to it.
ATTRIBUTES = {
    "name", "components", "quantities", "text", "where", "energy", "time", "aux", "aux_weights",
    "inputs", "labels", "units", "elsewhere",
}  # fmt: skip

_ALL: frozenset[str] = frozenset()
_environment = reader(VARIABLE)


#: By state or structure of the model, and the passes. Threads need no lock: each change is one call
#: of a method of dict. So a process that is forked meanwhile cannot find it held.
_KEPT: dict[Hashable, CompiledModel] = {}


def _keep(state: State, beside: Hashable, made: CompiledModel) -> CompiledModel:
    """Keeps a model, or the one that another thread has kept meanwhile, and returns it. Where there
    are too many, the older half of them goes."""
    kept = _KEPT.setdefault((state, beside), made)
    _KEPT.pop((state[0], beside), None)  # a structure in use is no old one
    _KEPT[state[0], beside] = kept
    if len(_KEPT) > 2 * MOST:
        for key in list(_KEPT)[:MOST]:
            _KEPT.pop(key, None)
    return kept


def forget() -> None:
    """Empties the cache: the next model is compiled anew."""
    _KEPT.clear()


def _axes(tree: Model) -> tuple[Array | None, ...]:
    return tree.energy, tree.time, tree.aux, tree.aux_weights, *tree.inputs.values()


def _names(without: Collection[str] | str) -> frozenset[str]:
    return frozenset({without} if isinstance(without, str) else without)


def _compiled(tree: Model, without: frozenset[str]) -> CompiledModel:
    parameters, outline = tree.parameters, Outline(tree)
    followers = Following.of(parameters, outline.followers)
    lowered = None
    with suppress(PyspecError):  # the plan says so again when it is asked for
        graph = build_graph(tree)
        plan, packed = _lower(
            graph if graph.of_kind(NodeKind.AXIS) else with_fixed_amplitudes(graph), without
        )
        lowered = placed(plan, tree, parameters), packed
    return CompiledModel(parameters, followers, lowered, tree, outline, without=without)


def _lower(graph: GraphIR, without: Collection[str]) -> tuple[ScheduledPlan, PackedPlan]:
    two = graph.domain is DomainKind.ENERGY_TIME_2D
    plan = schedule_2d(graph, without) if two else schedule_1d(graph, without)
    _ = plan.jumps  # found here, it goes with the plan to all models of the structure
    return plan, pack(plan)


def _parameters_of(graph: GraphIR) -> dict[str, Par]:
    """The parameters of a graph: the nodes that it begins with."""
    parameters: dict[str, Par] = {}
    kinds = NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.EXPRESSION
    for node in itertools.takewhile(lambda node: node.kind in kinds, graph.nodes):
        par = parameters[node.name] = Par(node.name, node.name, vary=node.vary)
        if node.kind is NodeKind.EXPRESSION:
            par.formula = node.formula
        elif node.value is not None:
            par.value = node.value
            par.min, par.max = node.bounds or (par.min, par.max)
    return parameters
