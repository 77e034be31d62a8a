"""A graph as sums: the value of a node is a sum of function calls and of other nodes.

Both analyses of derivatives walk over this form. Laws under an exact instrument response appear
as the calls of their responses, and what is 0 whatever the parameters are does not appear.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspec._library import OpDef
from pyspec.errors import PlanError
from pyspec.formula import op_of
from pyspec.functions.response_rows import response, response_arguments
from pyspec.functions.slopes import FED, interacting
from pyspec.ir import EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.rules import FUNCTION_KINDS

#: Nodes that are parameters themselves, or a formula over some.
LEAVES = frozenset({NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.EXPRESSION})

_PLAIN = frozenset(
    {
        NodeKind.PARAM_PLUS_TRACE,
        NodeKind.SUM,
        NodeKind.PROFILE_AVERAGE,
        NodeKind.SUBCYCLE_MASK,
        NodeKind.SUBCYCLE_REMAP,
    }
)


@dataclass(frozen=True)
class Call:
    """One function. Each of its arguments is a sum of nodes; of none where it was left out.

    `name` is the node that a person would name: the law, the kernel, the component.
    """

    op: OpDef
    arguments: tuple[tuple[int, ...], ...]
    name: str


@dataclass(frozen=True)
class Sum:
    """The value of a node: calls and nodes, added up. Empty for a node that is 0."""

    calls: tuple[Call, ...] = ()
    addends: tuple[int, ...] = ()


def sums(graph: GraphIR) -> dict[int, Sum]:
    """The sum of every node that is no parameter, in topological order.

    Raises :class:`PlanError` for a kind of node that has no value yet.
    """
    parts: dict[int, Sum] = {}
    for number in graph.order:
        node = graph.nodes[number]
        if node.kind in FUNCTION_KINDS:
            parts[number] = Sum(calls=tuple(_calls(graph, node, parts)))
        elif node.kind in _PLAIN:
            kinds = (EdgeKind.BASE_INPUT, EdgeKind.TRACE_INPUT, EdgeKind.ADDEND)
            edges = (edge for kind in kinds for edge in graph.inputs(number, kind))
            parts[number] = Sum(addends=_present((edge.source for edge in edges), parts))
        elif node.kind not in LEAVES:
            raise PlanError(f"{node.name}: the derivative by {node.kind.name} is not known")
    return parts


def _present(ids: Iterable[int], parts: dict[int, Sum]) -> tuple[int, ...]:
    """Without the nodes that are 0."""
    return tuple(number for number in ids if parts.get(number) != Sum())


def _calls(graph: GraphIR, node: GraphNode, parts: dict[int, Sum]) -> list[Call]:
    op = op_of(node.function_name)
    if op.kind == "IRF":  # the laws under an instrument, as their exact responses
        own = _parameters(graph, node)  # the width; none of a measured instrument
        calls = []
        for law in graph.into(node.id, EdgeKind.TRACE_INPUT):
            below = op_of(law.function_name)
            row = response(below, op) if below.params else None
            if row is not None:  # "none" is 0
                taken = response_arguments(below, row, _parameters(graph, law), own)
                calls.append(Call(row, tuple(taken), law.name))
        return calls
    if not op.params or _replaced(graph, node):
        return []
    values = _parameters(graph, node)
    if op.kind in FED:
        kind = EdgeKind.TRACE_INPUT if op.kind == "KERNEL" else EdgeKind.SPECTRUM_INPUT
        read = _present((edge.source for edge in graph.inputs(node.id, kind)), parts)
        if not read and len(op.params) not in interacting(op)[-1]:
            return []  # linear in what it reads: 0 of nothing
        values.append(read)
    return [Call(op, tuple(values), node.name)]


def _parameters(graph: GraphIR, node: GraphNode) -> list[tuple[int, ...]]:
    """The nodes that a function takes, in the order of the table; () for one left out."""
    values: list[tuple[int, ...]] = [()] * len(op_of(node.function_name).params)
    for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
        values[edge.position] = (edge.source,)
    return values


def _replaced(graph: GraphIR, node: GraphNode) -> bool:
    """Whether only instruments read a law: then their responses stand in its place."""
    readers = [graph.nodes[edge.target] for edge in graph.outputs(node.id)]
    kernels = [reader for reader in readers if reader.kind is NodeKind.CONVOLUTION]
    irfs = [kernel for kernel in kernels if op_of(kernel.function_name).kind == "IRF"]
    return bool(readers) and len(irfs) == len(readers)
