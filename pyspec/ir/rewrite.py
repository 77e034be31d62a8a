"""Makes a new graph out of some nodes and edges of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyspec.ir.graph import GraphEdge, GraphIR, GraphNode, NodeKind

#: Nodes that are inputs of a plan: numbers.
INPUTS = frozenset({NodeKind.OPT_PARAM, NodeKind.STATIC_PARAM})


def renumbered(graph: GraphIR, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> GraphIR:
    """A graph with the domain, axes and name of `graph`.

    `nodes` have the ids of `graph`, rising, and get new ones without gaps; `edges` use the old
    ids. Names and source order stay.
    """
    number: dict[int, int] = {}
    kept: list[GraphNode] = []
    for position, node in enumerate(nodes):
        number[node.id] = position
        kept.append(node if node.id == position else replace(node, id=position))
    moved = sorted(
        GraphEdge(number[edge.target], edge.kind, edge.position, number[edge.source])
        for edge in edges
    )
    return replace(graph, nodes=tuple(kept), edges=tuple(moved))


def needed(graph: GraphIR, end: int) -> GraphIR:
    """The graph without what a node does not need; inputs of a plan stay."""
    kept = {end, *(node.id for node in graph.nodes if node.kind in INPUTS)}
    for number in reversed(graph.order):
        if number in kept:
            kept.update(graph.sources(number))
    nodes = [node for node in graph.nodes if node.id in kept]
    return renumbered(graph, nodes, [edge for edge in graph.edges if edge.target in kept])
