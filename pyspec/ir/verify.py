"""The verifier: structural and scope rules that every graph obeys.

Run after :func:`build_graph` and after every pass. Each rule is a function that yields
:class:`Violation`; :func:`verify` raises one :class:`PlanError` that lists them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from pyspec.errors import ModelError, PlanError
from pyspec.formula import find_op
from pyspec.ir.graph import (
    AUX,
    PARAMETER_KINDS,
    SPECTRUM_KINDS,
    TIME,
    TRACE_KINDS,
    DomainKind,
    EdgeKind,
    GraphIR,
    GraphNode,
    NodeKind,
)


@dataclass(frozen=True)
class Violation:
    """A rule that a node breaks, and what to do about it."""

    node: str
    rule: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.node}: {self.rule}; {self.remedy}"


#: Nodes that call a function, and the kinds of op that they may call.
FUNCTIONS: dict[NodeKind, tuple[str, ...]] = {
    NodeKind.COMPONENT_EVAL: ("PEAK", "BACKGROUND", "RESOLVED"),
    NodeKind.SPECTRUM_FED_OP: ("SPECTRUM_FED", "ROW_FED"),
    NodeKind.DYNAMICS_TRACE: ("DYNAMICS",),
    NodeKind.CONVOLUTION: ("KERNEL", "IRF"),
    NodeKind.PROFILE_SAMPLE: ("PROFILE",),
    NodeKind.EXTERNAL: ("PEAK", "DYNAMICS"),
}
FUNCTION_KINDS = frozenset(FUNCTIONS)

#: For each edge kind: the kinds of node it may leave and enter.
EDGE_RULES: dict[EdgeKind, tuple[frozenset[NodeKind], frozenset[NodeKind]]] = {
    EdgeKind.PARAM_INPUT: (PARAMETER_KINDS, FUNCTION_KINDS),
    EdgeKind.TRACE_INPUT: (
        TRACE_KINDS | {NodeKind.SUBCYCLE_REMAP},
        frozenset(
            {
                NodeKind.PARAM_PLUS_TRACE,
                NodeKind.CONVOLUTION,
                NodeKind.SUBCYCLE_MASK,
                NodeKind.DYNAMICS_TRACE,
            }
        ),
    ),
    EdgeKind.BASE_INPUT: (
        frozenset({NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.PARAM_PLUS_TRACE}),
        frozenset({NodeKind.PARAM_PLUS_TRACE}),
    ),
    EdgeKind.ADDEND: (SPECTRUM_KINDS, frozenset({NodeKind.SUM, NodeKind.PROFILE_AVERAGE})),
    EdgeKind.SPECTRUM_INPUT: (frozenset({NodeKind.SUM}), frozenset({NodeKind.SPECTRUM_FED_OP})),
    EdgeKind.EXPR_REF: (PARAMETER_KINDS, frozenset({NodeKind.EXPRESSION})),
}

#: Kinds of an edge and of its two ends.
_JOINS = {
    (kind, source, target)
    for kind, (sources, targets) in EDGE_RULES.items()
    for source in sources
    for target in targets
}

#: The fields of a node that its kind uses; `vary` is that of an OPT_PARAM.
_PAYLOAD: dict[NodeKind, tuple[str, ...]] = {
    NodeKind.STATIC_PARAM: ("value", "bounds"),
    NodeKind.OPT_PARAM: ("value", "bounds"),
    NodeKind.EXPRESSION: ("expr_string",),
    NodeKind.SUBCYCLE_MASK: ("arrays",),
    NodeKind.SUBCYCLE_REMAP: ("arrays",),
    **dict.fromkeys(FUNCTIONS, ("function_name", "package")),
}


def _unused(kind: NodeKind) -> tuple[tuple[str, ...], attrgetter[Any], tuple[Any, ...]]:
    """The fields that a kind does not use, what reads them all, and what it then gives."""
    fields = ("value", "bounds", "function_name", "package", "expr_string", "arrays")
    own = tuple([field for field in fields if field not in _PAYLOAD.get(kind, ())])
    return own, attrgetter(*own), tuple([{} if field == "arrays" else None for field in own])


_UNUSED = {kind: _unused(kind) for kind in NodeKind}

#: Edges whose positions count from 0 without gaps.
_IN_SEQUENCE = (EdgeKind.TRACE_INPUT, EdgeKind.ADDEND)

#: The array of a node of a sub-cycle.
_ARRAYS = {NodeKind.SUBCYCLE_MASK: "time_n_sub", NodeKind.SUBCYCLE_REMAP: "time_norm"}

#: How many traces a node may take, and what to do where it takes another number.
_TRACES_OF: dict[NodeKind, tuple[tuple[int, ...], str]] = {
    NodeKind.DYNAMICS_TRACE: ((0, 1), "give it one at most"),
    NodeKind.SUBCYCLE_MASK: ((1,), "give it one"),
}


def verify(graph: GraphIR) -> None:
    """Raises :class:`PlanError` that lists every rule the graph breaks."""
    for rules in (_STRUCTURE, _SCOPE):
        found = [str(violation) for rule in rules for violation in rule(graph)]
        if found:
            raise PlanError(f"graph {graph.name or '(unnamed)'}:\n  " + "\n  ".join(found))


def _ids(graph: GraphIR) -> Iterator[Violation]:
    for position, node in enumerate(graph.nodes):
        if node.id != position:
            yield Violation(node.name, f"id {node.id} at position {position}", "number from 0")
    names, n_nodes = [node.name for node in graph.nodes], len(graph.nodes)
    if len(set(names)) < n_nodes:
        for name, count in Counter(names).items():
            if count > 1:
                yield Violation(name, f"{count} nodes of this name", "give each node its own name")
    for edge in graph.edges:
        if 0 <= edge.source < n_nodes and 0 <= edge.target < n_nodes:
            continue
        for end in (edge.source, edge.target):
            if not 0 <= end < n_nodes:
                yield Violation(f"edge {edge}", f"no node {end}", "remove the edge")


def _payload(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.nodes:
        fields, read, nothing = _UNUSED[node.kind]
        if (unused := read(node)) != nothing:
            for field, given in zip(fields, unused, strict=True):
                if given is not None and given != {}:
                    yield Violation(node.name, f"a {node.kind.name} has no {field}", "leave it out")
        if node.vary != (node.kind is NodeKind.OPT_PARAM):
            rule = f"a {node.kind.name} with vary={node.vary}"
            yield Violation(node.name, rule, "parameters that vary are OPT_PARAM, and only these")
        if not node.name:
            yield Violation(f"node {node.id}", "has no name", "name it")


def _edges(graph: GraphIR) -> Iterator[Violation]:
    nodes, n_nodes = graph.nodes, len(graph.nodes)
    for (end, kind), edges in graph.inputs_by_kind.items():
        if kind in _IN_SEQUENCE and 0 <= end < n_nodes:
            positions = [edge.position for edge in edges]
            if positions != list(range(len(positions))):
                rule = f"{kind.name} at positions {positions}"
                yield Violation(nodes[end].name, rule, "number them from 0, without gaps")
    for edge in graph.edges:
        if not (0 <= edge.source < n_nodes and 0 <= edge.target < n_nodes):
            continue
        source, target = nodes[edge.source], nodes[edge.target]
        if (edge.kind, source.kind, target.kind) not in _JOINS:
            yield Violation(
                target.name,
                f"{edge.kind.name} from {source.kind.name} {source.name} to {target.kind.name}",
                "this edge kind does not join these nodes",
            )


def _axes(graph: GraphIR) -> Iterator[Violation]:
    needs_energy = graph.domain is not DomainKind.TIME_1D
    needs_time = graph.domain is not DomainKind.ENERGY_1D
    for name, axis, needed in (
        ("energy", graph.energy, needs_energy),
        ("time", graph.time, needs_time),
    ):
        if needed != (axis is not None):
            rule = f"{graph.domain.name} {'needs' if needed else 'has no'} {name} axis"
            yield Violation("axes", rule, "let the domain follow the axes given")
        elif axis is not None and not (axis.ndim == 1 and axis.size and np.isfinite(axis).all()):
            yield Violation("axes", f"{name} is not a finite 1D axis", "give finite values")
    aux, weights = graph.aux, graph.aux_weights
    if aux is not None and not (aux.ndim == 1 and aux.size and np.isfinite(aux).all()):
        yield Violation("axes", "aux is not a finite 1D axis", "give finite values")
    if weights is not None and (
        aux is None or weights.shape != aux.shape or not np.isfinite(weights).all()
    ):
        rule = "aux_weights are not one finite number for each auxiliary point"
        yield Violation("axes", rule, "give as many weights as points")


def _cycles(graph: GraphIR) -> Iterator[Violation]:
    missing = set(range(len(graph.nodes))) - set(graph.order)
    if missing:
        names = ", ".join(graph.nodes[number].name for number in sorted(missing))
        yield Violation(names, "these nodes lie on or behind a cycle", "break the cycle")


def _parameters(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.nodes:
        if node.kind not in (NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM):
            continue
        if node.value is None or not np.isfinite(node.value):
            yield Violation(node.name, f"value {node.value}", "give a finite value")
        if node.bounds is not None and not node.bounds[0] <= node.bounds[1]:
            yield Violation(node.name, f"bounds {node.bounds}", "the minimum comes first")


def _function_inputs(graph: GraphIR, node: GraphNode) -> Iterator[Violation]:
    try:
        op = find_op(node.function_name)
    except ModelError as error:
        yield Violation(node.name, f"function: {error}", "correct the definition")
        return
    if op is None or op.package != node.package:
        yield Violation(
            node.name,
            f"no function {node.function_name} in {node.package}",
            "see `pyspec ops` for the functions there are",
        )
        return
    if op.kind not in FUNCTIONS[node.kind]:
        yield Violation(node.name, f"{op.name} is {op.kind}, not {node.kind.name}", "change one")
    positions = [edge.position for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT)]
    if len(set(positions)) != len(positions) or not (
        set(range(op.n_required)) <= set(positions) <= set(range(len(op.params)))
    ):
        yield Violation(
            node.name,
            f"parameters at positions {positions}",
            f"{op.name} takes {', '.join(op.params)}, one each",
        )


def _functions(graph: GraphIR) -> Iterator[Violation]:
    axes = graph.axes
    for node in graph.nodes:
        if node.kind not in FUNCTION_KINDS:
            continue
        yield from _function_inputs(graph, node)
        if len(graph.inputs(node.id, EdgeKind.SPECTRUM_INPUT)) > 1:
            yield Violation(node.name, "reads two spectra", "sum them first")
        if node.kind not in (NodeKind.DYNAMICS_TRACE, NodeKind.CONVOLUTION):
            continue
        if graph.time is None:
            yield Violation(node.name, "moves in time without a time axis", "give a time axis")
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            if axes[edge.source]:
                on = "time" if axes[edge.source] & TIME else "the auxiliary axis"
                yield Violation(
                    node.name,
                    f"its parameter {graph.nodes[edge.source].name} depends on {on}",
                    "a law of motion takes parameters that do not change",
                )


def _expressions(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.of_kind(NodeKind.EXPRESSION):
        try:
            names = node.formula.names
        except ModelError as error:
            yield Violation(node.name, f"expression: {error}", "correct the expression")
            continue
        positions = [edge.position for edge in graph.inputs(node.id, EdgeKind.EXPR_REF)]
        if positions != list(range(len(names))):
            yield Violation(
                node.name,
                f"{len(names)} names, references at positions {positions}",
                "one EXPR_REF for each name, in the order of first use",
            )


def _subcycles(graph: GraphIR) -> Iterator[Violation]:
    """The arrays of a sub-cycle, and the one law that each belongs to."""
    shape = (0,) if graph.time is None else graph.time.shape
    for kind, name in _ARRAYS.items():
        for node in graph.of_kind(kind):
            array = node.arrays.get(name, np.array(np.nan))
            known = array.shape == shape and np.isfinite(array).all()
            if set(node.arrays) != {name} or not known:
                rule = f"its arrays are not one finite {name} for each time"
                yield Violation(node.name, rule, f"give it {name} of shape {shape}")
            elif kind is NodeKind.SUBCYCLE_MASK and not np.isin(array, (0.0, 1.0)).all():
                yield Violation(node.name, "masks by other numbers than 0 and 1", "give 0 or 1")
    for node in graph.nodes:
        allowed = _TRACES_OF.get(node.kind)
        edges = graph.inputs(node.id, EdgeKind.TRACE_INPUT)
        sources = [graph.nodes[edge.source] for edge in edges]
        for source in sources:
            if (source.kind is NodeKind.SUBCYCLE_REMAP) != (node.kind is NodeKind.DYNAMICS_TRACE):
                rule = f"takes the trace of {source.name}, a {source.kind.name}"
                yield Violation(node.name, rule, "laws take a SUBCYCLE_REMAP, and only laws")
        if allowed is not None and len(edges) not in allowed[0]:
            rule = f"{len(edges)} traces into a {node.kind.name}"
            yield Violation(node.name, rule, allowed[1])


def _sums(graph: GraphIR) -> Iterator[Violation]:
    axes = graph.axes
    for node in graph.nodes:
        if node.kind not in SPECTRUM_KINDS - {NodeKind.EXTERNAL}:
            continue
        if graph.domain is DomainKind.TIME_1D:
            yield Violation(node.name, "a spectrum in a graph without energies", "use a time law")
        if node.kind is not NodeKind.SUM:
            continue
        if not graph.inputs(node.id, EdgeKind.ADDEND):
            yield Violation(node.name, "adds nothing", "give it an addend")
        if axes[node.id] & AUX:
            rule = "adds what differs along the auxiliary axis"
            yield Violation(node.name, rule, "average the component first")


def _single(graph: GraphIR) -> Iterator[Violation]:
    time_only = graph.domain is DomainKind.TIME_1D
    for node in graph.of_kind(NodeKind.PARAM_PLUS_TRACE):
        bases = len(graph.inputs(node.id, EdgeKind.BASE_INPUT))
        if bases != 1 and not (bases == 0 and time_only):
            yield Violation(node.name, "needs exactly one base", "add a BASE_INPUT edge")
        if not graph.inputs(node.id, EdgeKind.TRACE_INPUT):
            yield Violation(node.name, "has no trace", "use the base itself")
    for node in graph.of_kind(NodeKind.PROFILE_AVERAGE):
        if len(graph.inputs(node.id, EdgeKind.ADDEND)) != 1:
            yield Violation(node.name, "averages not exactly one component", "average it alone")
    for node in graph.of_kind(NodeKind.PROFILE_SAMPLE):
        if graph.aux is None:
            yield Violation(node.name, "has no auxiliary axis", "give the graph one")
    if graph.result is None:
        yield Violation("graph", "has not exactly one finished spectrum", "sum the components")


Rule = Callable[[GraphIR], Iterator[Violation]]
_STRUCTURE: tuple[Rule, ...] = (_ids, _payload, _edges, _axes)
_SCOPE: tuple[Rule, ...] = (
    _cycles, _parameters, _functions, _expressions, _subcycles, _sums, _single
)  # fmt: skip
