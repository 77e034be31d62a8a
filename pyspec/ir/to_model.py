"""model_of: from a graph back to a model tree, and so to YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspec.calls import answered
from pyspec.errors import PlanError
from pyspec.formula import op_of, parse
from pyspec.ir.build import build_graph
from pyspec.ir.diff import contents
from pyspec.ir.graph import Cycle, EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.rewrite import renumbered
from pyspec.ir.verify import verify
from pyspec.model import Component, Dynamics, Model, Par, Profile
from pyspec.model.build.kinetics import scheme_name, state_name
from pyspec.model.tree import Free
from pyspec.model.yaml.to_yaml import dynamics_names, profile_name, retell

#: Nodes that a model file writes as the entry of a parameter.
_ENTRIES = frozenset(
    {NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.EXPRESSION, NodeKind.FREE_VECTOR}
)

#: How much of a difference an error shows.
_SHOWN = 3


@answered
def model_of(graph: GraphIR) -> Model:
    """The model that a graph says, on the axes of the graph: :func:`build_graph` of it gives an
    equal graph.

    A parameter that is not called after the one function that takes it becomes a quantity of its
    own, to which the parameters of the functions are tied. An amplitude that is free is called
    after its function.

    Raises
    ------
    PlanError
        where the graph breaks a rule, or says what no model file can
    ModelError
        where the model is refused
    """
    verify(graph, given=False)
    return _Reader(_renamed(graph)).model()


class _Reader:
    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.pars: dict[int, Par] = {}
        self.owned: set[int] = set()
        self.tied: set[str] = set()
        self.cycles: list[Cycle] = []  # of the laws that were read last
        #: The sums of laws and of profile functions, by the parameter that they move.
        self.laws: dict[int, GraphNode] = {}
        self.profiles: dict[int, GraphNode] = {}
        for node in graph.of_kind(NodeKind.PARAM_PLUS_TRACE):
            (first, *_) = self.graph.into(node.id, EdgeKind.TRACE_INPUT)
            part = self.profiles if first.kind is NodeKind.PROFILE_SAMPLE else self.laws
            part[self._entry(node).id] = node

    def model(self) -> Model:
        """The model, compared with the graph."""
        graph, end = self.graph, self.graph.result
        assert end is not None
        components = self._spectrum(end) if end.kind is NodeKind.SUM else self._traces(end)
        entries = [node for node in graph.nodes if node.kind in _ENTRIES]
        free = sorted(
            (node for node in entries if node.id not in self.owned), key=lambda n: n.source_order
        )
        model = Model(graph.name, components, quantities=[self._par(node) for node in free])
        model.set_axes(graph.energy, graph.time, graph.aux, inputs=graph.arrays or None)
        model.aux_weights = graph.aux_weights
        made = self._untied(build_graph(model))
        lines = contents(_bounded(graph, made), made)
        if lines:
            more = f", and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
            near = f"one that comes near differs in {'; '.join(lines[:_SHOWN])}{more}"
            raise self._refusal(f"no model file says this graph; {near}")
        return model

    def _refusal(self, why: str) -> PlanError:
        return PlanError(f"graph {self.graph.name or '(unnamed)'}: {why}")

    def _untied(self, made: GraphIR) -> GraphIR:
        """The graph without the expressions that tie a parameter of a function to a quantity."""
        stands = {
            node.id: made.sources(node.id)[0] for node in made.nodes if node.name in self.tied
        }
        if not stands:
            return made
        edges = [e._replace(source=stands.get(e.source, e.source)) for e in made.edges]
        return renumbered(
            made,
            [node for node in made.nodes if node.id not in stands],
            [edge for edge in edges if edge.target not in stands],
        )

    # ---- what flows into a node

    def _entry(self, node: GraphNode) -> GraphNode:
        """The parameter as it is written, below what moves it; the sum itself where there is
        none."""
        while bases := self.graph.into(node.id, EdgeKind.BASE_INPUT):
            (node,) = bases
        return node

    # ---- components

    def _spectrum(self, total: GraphNode) -> list[Component]:
        """The components of a spectrum, in file order."""
        orders: list[int] = []
        components: list[Component] = []
        for node in self._summed(total):
            components.append(self._component(node))
            orders.append(node.source_order)
        for kernel in self.graph.of_kind(NodeKind.CONVOLUTION):
            if op_of(kernel.function_name).kind == "RESOLUTION":
                above = [order for order in orders if order > kernel.source_order]
                components.insert(len(above), self._component(kernel))
        return components

    def _summed(self, total: GraphNode) -> Iterator[GraphNode]:
        """The nodes of a sum in file order: a background that reads a sum stands above it."""
        addends = self.graph.into(total.id, EdgeKind.ADDEND)
        nested = addends[0].kind is NodeKind.SUM
        for node in reversed(addends[1:] if nested else addends):
            if node.kind is NodeKind.SUM:
                raise self._refusal(
                    f"{total.name} adds {node.name}, a sum, behind others; add it first"
                )
            (inner,) = self.graph.into(node.id, EdgeKind.ADDEND) or [node]  # of an average
            yield inner
        if nested:
            yield from self._summed(addends[0])

    def _traces(self, node: GraphNode) -> list[Component]:
        """Laws and kernels of a sum of traces, or below a kernel, in file order."""
        traces = self.graph.into(node.id, EdgeKind.TRACE_INPUT)
        rows = [trace for trace in traces if trace.kind is NodeKind.CONVOLUTION]
        above = []
        for law in reversed(traces[len(rows) :]):
            masked = law.kind is NodeKind.SUBCYCLE_MASK
            inner = self.graph.into(law.id, EdgeKind.TRACE_INPUT)[0] if masked else law
            above.append(self._component(inner, law.cycle))
        below = self._traces(rows[0]) if rows else []
        return [*above, *(self._component(row, row.cycle) for row in rows), *below]

    def _component(self, node: GraphNode, cycle: Cycle | None = None) -> Component:
        op, function = op_of(node.function_name), node.function_name
        assert function is not None
        name = node.name.removesuffix(" (node)")
        if not name.isidentifier():
            raise self._refusal(f"{name!r} names no component; use letters, digits and '_'")
        if cycle is not None:
            self.cycles.append(cycle)
        pars: list[Par | None] = [None] * len(op.params)
        made = Component(name, function, (), node.where, 0 if cycle is None else cycle.turn)
        for edge in self.graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            entry = self._entry(self.graph.nodes[edge.source])
            pars[edge.position] = self._argument(entry, made, op.params[edge.position])
        return replace(made, pars=tuple(pars))

    # ---- parameters

    def _argument(self, entry: GraphNode, owner: Component, word: str) -> Par:
        """A parameter of a function: the entry, or one that is tied to it."""
        names = [f"{owner.name}_{word}"]
        if scheme_name(owner):  # the states share rates and onset
            names.append(f"{owner.name.removesuffix(f'_{state_name(owner)}')}_{word}")
        par = self._par(entry)
        if entry.name in names:
            self.owned.add(entry.id)
        elif names[0] in self.graph.node_by_name:
            raise self._refusal(
                f"{owner.name} takes {entry.name} as {word}, and {names[0]} is another node; "
                "rename that one"
            )
        else:
            self.tied.add(names[0])
            par = Par(names[0], word, vary=False, scope="static", formula=parse(entry.name))
        par.argument = word
        if par.formula is not None or entry.bounds is None:
            par.min, par.max = owner.op.default_bounds(word)
        return par

    def _par(self, node: GraphNode) -> Par:
        """The parameter that a node says, with what moves it."""
        earlier = self.pars.get(node.id)
        if earlier is not None:
            return earlier
        par = self.pars[node.id] = Par(node.name, node.name, where=node.where)
        par.vary = node.kind is NodeKind.OPT_PARAM
        par.scope = node.scope if par.vary else "static"
        if node.kind is NodeKind.EXPRESSION:
            par.formula = node.formula
        elif node.kind is NodeKind.FREE_VECTOR and node.axis is not None:
            shared = node.scope == "project"
            par.value, par.free = 1.0, Free(node.axis, node.positive, node.zero, shared)
        elif node.value is not None:
            par.value = node.value
            par.min, par.max = node.bounds or (par.min, par.max)
        if node.id in self.laws:
            self.cycles.clear()
            laws = self._traces(self.laws[node.id])
            frequency, turns, _ = self.cycles[0] if self.cycles else (-1.0, 0, 0)
            name = ", ".join(dynamics_names(par.name, turns))
            par.dynamics = Dynamics(par.name, name, laws, frequency, turns, where=laws[0].where)
            retell(par.dynamics)
        if node.id in self.profiles:
            traces = self.graph.into(self.profiles[node.id].id, EdgeKind.TRACE_INPUT)
            components = [self._component(trace) for trace in reversed(traces)]
            name, where = profile_name(par.name), components[0].where
            par.profile = Profile(par.name, name, components, where=where)
            retell(par.profile)
        return par


def _renamed(graph: GraphIR) -> GraphIR:
    """The graph with free amplitudes that are called as a model file calls them."""
    names: dict[int, str] = {}
    for vector in graph.of_kind(NodeKind.FREE_VECTOR):
        for edge in graph.outputs(vector.id):
            owner = graph.nodes[edge.target]
            names[vector.id] = f"{owner.name}_{op_of(owner.function_name).params[edge.position]}"
    if all(graph.nodes[number].name == name for number, name in names.items()):
        return graph
    nodes = [replace(n, name=names.get(n.id, n.name)) for n in graph.nodes]
    return replace(graph, nodes=tuple(nodes))


def _bounded(graph: GraphIR, made: GraphIR) -> GraphIR:
    """The graph, with the bounds of a model for parameters that say nothing of theirs."""
    bounds = {node.name: node.bounds for node in made.nodes}
    nodes = [
        replace(n, bounds=bounds[n.name]) if n.bounds is None and n.name in bounds else n
        for n in graph.nodes
    ]
    return replace(graph, nodes=tuple(nodes))
