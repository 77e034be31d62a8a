"""basis: a model with free amplitudes as the functions that these amplitudes are multiplied with.

The graph that comes out has several results. A basis function is the model with one free amplitude
at 1 and all others at 0, including all other heights of the same function. The rest of the model
has heights that are numbers. An instrument, a background that reads the function, or anything else
above it acts on each result separately, because it is linear.

Functions of time alone are traces. Functions whose parameters depend on the energy are *turned*. A
row is then an energy, the abscissae are times, and a law is a component. Parameters that depend on
the energy are traces along the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from pyspec.formula import op_of
from pyspec.functions.response_rows import response, response_arguments
from pyspec.ir import DomainKind, EdgeKind, GraphEdge, GraphIR, GraphNode, NodeKind
from pyspec.ir.rewrite import needed
from pyspec.model.build.inputs import inputs_of

#: What stands below a function in the sum that it belongs to.
_BELOW = (EdgeKind.TRACE_INPUT, EdgeKind.ADDEND, EdgeKind.SPECTRUM_INPUT)

#: Nodes that act on what stands below them, and are nothing by themselves.
_ABOVE = frozenset(
    {
        NodeKind.SUM,
        NodeKind.PARAM_PLUS_TRACE,
        NodeKind.CONVOLUTION,
        NodeKind.SPECTRUM_FED_OP,
        NodeKind.PROFILE_AVERAGE,
        NodeKind.SUBCYCLE_MASK,
    }
)


@dataclass(frozen=True)
class Part:
    """One result: the functions that it is made of, by their nodes. `amplitude` is the free one
    that is 1 there; None for the rest, where amplitudes that are free are 0 and all others are as
    they are."""

    functions: frozenset[int]
    amplitude: int | None = None


def functions_of(graph: GraphIR) -> list[GraphNode]:
    """The functions that the result is a sum of, in the order of the graph."""
    assert graph.result is not None
    functions: set[int] = set()
    waiting = [graph.result.id]
    while waiting:
        node = graph.nodes[waiting.pop()]
        below = [edge.source for edge in graph.all_inputs(node.id) if edge.kind in _BELOW]
        if node.kind in _ABOVE:
            waiting += below
        elif node.kind is not NodeKind.SUBCYCLE_REMAP and node.function_name != "none":
            functions.add(node.id)
    return [node for node in graph.nodes if node.id in functions]


def parts_of(graph: GraphIR) -> list[Part]:
    """One part for each free amplitude, in the order of the model."""
    vectors = sorted(graph.of_kind(NodeKind.FREE_VECTOR), key=lambda node: node.source_order)
    return [Part(frozenset({graph.outputs(vector.id)[0].target}), vector.id) for vector in vectors]


def rest_of(graph: GraphIR) -> list[Part]:
    """One part for each function that has a height which is not free."""
    parts = []
    for node in functions_of(graph):
        op = op_of(node.function_name)
        edges = graph.inputs(node.id, EdgeKind.PARAM_INPUT)
        heights = [graph.nodes[e.source] for e in edges if op.params[e.position] in op.linear]
        if not heights or any(height.kind is not NodeKind.FREE_VECTOR for height in heights):
            parts.append(Part(frozenset({node.id})))
    return parts


def joined(parts: Sequence[Part]) -> list[Part]:
    """The rest as one part; none where there is nothing."""
    everything = frozenset().union(*(part.functions for part in parts))
    return [Part(everything)] if everything else []


def parameters_of(graph: GraphIR, part: Part) -> list[int]:
    """The parameters that a part depends on, without its heights, by their nodes. The parameters of
    its functions come first, then those of nodes that act on these."""
    return _Basis(graph).parameters_of(part)


def axes_of(graph: GraphIR, part: Part) -> int:
    """Along which axes a part differs because its parameters do: TIME, AUX and ENERGY as bits."""
    axes = 0
    for number in parameters_of(graph, part):
        axes |= graph.axes[number]
    return axes


def basis(graph: GraphIR, parts: Sequence[Part], along: str | None) -> GraphIR:
    """The graph whose results are `parts`, each of which there is something of. `along` is the axis
    along which they differ beside their own: the "energy" of laws, the "time" of spectra; None
    where there is none."""
    work = _Basis(graph)
    made = work.graph_of(parts)
    if graph.is_of_laws:
        energy = made.energy if along else None
        domain = DomainKind.ENERGY_TIME_2D if along else DomainKind.TIME_1D
        return replace(made, domain=domain, energy=energy)
    if along:
        return made
    return replace(made, domain=DomainKind.ENERGY_1D, time=None)


class _Basis:
    def __init__(self, graph: GraphIR) -> None:
        self.old = graph
        self.nodes, self.edges = list(graph.nodes), list(graph.edges)
        self.names = {node.name for node in graph.nodes}
        self.numbers: dict[float, int] = {}

    def graph_of(self, parts: Sequence[Part]) -> GraphIR:
        assert self.old.result is not None
        end = self.old.result.id
        results = []
        for k, part in enumerate(parts):
            result = self._copy(end, part, f"part {k}: ", {})
            assert result is not None
            results.append(result)
        collector = self._node(NodeKind.RESULTS, "results")
        for position, number in enumerate(results):
            self.edges.append(GraphEdge(collector, EdgeKind.RESULT, position, number))
        whole = replace(self.old, nodes=tuple(self.nodes), edges=tuple(self.edges))
        return needed(whole, collector)

    def parameters_of(self, part: Part) -> list[int]:
        assert self.old.result is not None
        self._copy(self.old.result.id, part, "", {})
        made = range(len(self.old.nodes), len(self.nodes))
        more = self.edges[len(self.old.edges) :]
        return [e.source for e in more if e.target in made and e.source not in made]

    def _node(self, kind: NodeKind, name: str, **payload: str) -> int:
        while name in self.names:
            name += "_"
        self.names.add(name)
        number = len(self.nodes)
        self.nodes.append(GraphNode(number, kind, name, number, **payload))  # type: ignore[arg-type]
        return number

    def _number(self, value: float) -> int:
        """A node that is this number; formulas may name it."""
        if value not in self.numbers:
            name = f"height_{value:.0f}"
            self.numbers[value] = self._node(NodeKind.EXPRESSION, name, expr_string=repr(value))
        return self.numbers[value]

    def _copy(
        self, number: int, part: Part, prefix: str, seen: dict[int, int | None]
    ) -> int | None:
        """What a node is in a part; None where nothing of it is left."""
        if number not in seen:
            seen[number] = self._copied(self.old.nodes[number], part, prefix, seen)
        return seen[number]

    def _copied(
        self, node: GraphNode, part: Part, prefix: str, seen: dict[int, int | None]
    ) -> int | None:
        is_function = node.kind not in _ABOVE and node.kind is not NodeKind.SUBCYCLE_REMAP
        if is_function and node.id not in part.functions:
            return None
        inputs: list[GraphEdge] = []
        counts: dict[EdgeKind, int] = {}
        for edge in self.old.all_inputs(node.id):
            if edge.kind not in _BELOW:
                inputs.append(self._parameter_edge(node, edge, part) if is_function else edge)
                continue
            below = self._copy(edge.source, part, prefix, seen)
            if below is not None:
                position = counts[edge.kind] = counts.get(edge.kind, -1) + 1
                inputs.append(edge._replace(source=below, position=position))
        if node.kind in _ABOVE and not counts:
            return None
        made = len(self.nodes)
        self.nodes.append(replace(node, id=made, source_order=made, name=prefix + node.name))
        self.edges += [edge._replace(target=made) for edge in inputs]
        return made

    def _parameter_edge(self, node: GraphNode, edge: GraphEdge, part: Part) -> GraphEdge:
        """A parameter of a function, or the number in place of a height."""
        op = op_of(node.function_name)
        if edge.kind is not EdgeKind.PARAM_INPUT or op.params[edge.position] not in op.linear:
            return edge
        is_free = self.old.nodes[edge.source].kind is NodeKind.FREE_VECTOR
        if part.amplitude is None and not is_free:
            return edge
        return edge._replace(source=self._number(float(edge.source == part.amplitude)))


# ---- turned


def against(graph: GraphIR, functions: Collection[int]) -> str:
    """Why functions have no value of their own at any point; empty where they have. Functions with
    such a value can run as components. They are known in C, they read only times, and only exact
    instruments act on them."""
    for node in graph.nodes:
        if node.kind is NodeKind.SPECTRUM_FED_OP:
            return f"{node.name} reads the spectrum"
        below = graph.inputs(node.id, EdgeKind.TRACE_INPUT)
        if node.id in functions and (node.kind is NodeKind.EXTERNAL or below):
            return f"{node.name} is " + ("of a sub-cycle" if below else "a function in Python")
        if node.id in functions and inputs_of(op_of(node.function_name)):
            return f"{node.name} reads inputs"
        if node.kind is NodeKind.CONVOLUTION and op_of(node.function_name).kind == "KERNEL":
            reached, waiting = set[int](), [node.id]
            while waiting:
                edges = graph.inputs(waiting.pop(), EdgeKind.TRACE_INPUT)
                waiting += [edge.source for edge in edges]
                reached |= {edge.source for edge in edges}
            if not reached.isdisjoint(functions):
                return f"{node.name} is a sum over the samples"
    return ""


def turned(graph: GraphIR) -> GraphIR:
    """The graph of :func:`basis` along the energy, expanded, with energies as rows."""
    return _Turn(graph).graph()


class _Turn:
    def __init__(self, graph: GraphIR) -> None:
        self.old = graph
        self.nodes, self.edges = list(graph.nodes), list(graph.edges)

    def graph(self) -> GraphIR:
        old = self.old
        assert old.result is not None
        for number in dict.fromkeys(old.results):
            self._sum(number)
        for node in old.of_kind(NodeKind.AXIS):
            self.nodes[node.id] = replace(node, axis="time")
        made = replace(
            old, nodes=tuple(self.nodes), edges=tuple(self.edges), energy=old.time, time=old.energy
        )
        return needed(made, old.result.id)

    def _sum(self, number: int) -> None:
        """A sum of traces becomes one of spectra."""
        node = self.old.nodes[number]
        self.edges = [edge for edge in self.edges if edge.target != number]
        self.nodes[number] = replace(node, kind=NodeKind.SUM)
        for position, (law, row) in enumerate(self._laws(number)):
            made = self._component(law, row)
            self.edges.append(GraphEdge(number, EdgeKind.ADDEND, position, made))

    def _laws(self, number: int, row: int | None = None) -> Iterator[tuple[int, int | None]]:
        """The laws below a node, each with the instrument that sees it."""
        for edge in self.old.inputs(number, EdgeKind.TRACE_INPUT):
            if self.old.nodes[edge.source].kind is NodeKind.CONVOLUTION:
                yield from self._laws(edge.source, edge.source)
            else:
                yield edge.source, row

    def _component(self, law: int, row: int | None) -> int:
        node = self.old.nodes[law]
        op = op_of(node.function_name)
        sources = {edge.position: edge.source for edge in self._params(law)}
        if row is not None:
            instrument = self.old.nodes[row]
            seen = response(op, op_of(instrument.function_name))
            assert seen is not None
            own = [sources.get(place, -1) for place in range(len(op.params))]
            width = [edge.source for edge in self._params(row)]
            taken = enumerate(response_arguments(op, seen, own, width))
            sources = {place: source for place, source in taken if source >= 0}
            op = seen
        made = len(self.nodes)
        name = node.name if row is None else f"{node.name} under {self.old.nodes[row].name}"
        text = op.name if op.own is None else op.own.text
        node = GraphNode(made, NodeKind.COMPONENT_EVAL, f"{name} (component)", made)
        self.nodes.append(replace(node, function_name=text, package=op.package))
        for place, source in sources.items():
            self.edges.append(GraphEdge(made, EdgeKind.PARAM_INPUT, place, source))
        return made

    def _params(self, number: int) -> tuple[GraphEdge, ...]:
        return self.old.inputs(number, EdgeKind.PARAM_INPUT)
