"""share: equal nodes become one.

Nodes are equal if they do the same with the same inputs, found from the inputs upwards. If an
expression is just the name of another parameter, both are equal. So the widths of a multiplet
become one row of the plan.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from pyspec.formula import Apply, Name, postorder
from pyspec.ir import EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.rewrite import renumbered
from pyspec.passes.facts import Facts, neutral

#: Nodes that are never merged. Parameters are inputs: equal values may be set to different ones.
#: A Python function may give another value at each call. A convolution works in place on the sum
#: that it belongs to.
_APART = frozenset(
    {
        NodeKind.OPT_PARAM,
        NodeKind.STATIC_PARAM,
        NodeKind.EXTERNAL,
        NodeKind.FREE_VECTOR,
        NodeKind.AXIS,
        NodeKind.CONVOLUTION,
    }
)


def share(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Merges equal nodes. A note for each that goes."""
    first: dict[Hashable, int] = {}  # what a node does -> the first node that does it
    stands: dict[int, int] = {}  # node -> the node that stands for it
    merged: dict[int, int] = {}
    for number in graph.order:
        node = graph.nodes[number]
        stands[number] = number
        if node.kind in _APART or node is graph.result:
            continue
        if node.kind is NodeKind.EXPRESSION and isinstance(node.formula.root, Name):
            same = stands[graph.sources(number)[0]]
        else:
            same = first.setdefault(_key(graph, node, stands), number)
        if same != number:
            stands[number] = merged[number] = same
    if not merged:
        return graph, facts, ()
    shared = renumbered(
        graph,
        [node for node in graph.nodes if node.id not in merged],
        [
            edge._replace(source=stands[edge.source])
            for edge in graph.edges
            if edge.target not in merged
        ],
    )
    names = [(graph.nodes[gone].name, graph.nodes[same].name) for gone, same in merged.items()]
    return shared, neutral(shared), tuple(f"{gone}: is {same}" for gone, same in names)


def _key(graph: GraphIR, node: GraphNode, stands: Mapping[int, int]) -> Hashable:
    """What a node does with which nodes: equal keys are equal values."""
    if node.kind is NodeKind.EXPRESSION:
        edges = graph.inputs(node.id, EdgeKind.EXPR_REF)
        sources = [stands[edge.source] for edge in edges]
        return _program(node, dict(zip(node.formula.names, sources, strict=True)))
    arrays = tuple((name, node.arrays[name].tobytes()) for name in sorted(node.arrays))
    inputs = tuple(
        (edge.kind, edge.position, stands[edge.source]) for edge in graph.all_inputs(node.id)
    )
    return node.kind, node.package, node.function_name, arrays, inputs


def _program(node: GraphNode, source: Mapping[str, int]) -> Hashable:
    """The steps of an expression, with nodes in place of names."""
    steps: list[Hashable] = []
    for part in postorder(node.formula.root):
        if isinstance(part, Name):
            steps.append(source[part.name])
        elif isinstance(part, Apply):
            steps.append(part.instruction)
        else:
            # The bits: 0.0 == -0.0, but 1 / x tells them apart.
            steps.append(float(part.value).hex())
    return node.kind, tuple(steps)
