"""Makes a new graph out of some nodes and edges of another."""

from __future__ import annotations

from collections.abc import Iterable

from pyspec.ir.graph import GraphEdge, GraphIR, GraphNode


def renumbered(graph: GraphIR, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> GraphIR:
    """A graph with the domain, axes and name of `graph`.

    `nodes` have the ids of `graph`, rising, and get new ones without gaps; `edges` use the old
    ids. Names and source order stay.
    """
    number: dict[int, int] = {}
    kept: list[GraphNode] = []
    for position, node in enumerate(nodes):
        number[node.id] = position
        kept.append(node if node.id == position else with_id(node, position))
    moved = sorted(
        GraphEdge(number[edge.target], edge.kind, edge.position, number[edge.source])
        for edge in edges
    )
    return GraphIR(
        tuple(kept),
        tuple(moved),
        graph.domain,
        graph.energy,
        graph.time,
        graph.name,
        graph.aux,
        graph.aux_weights,
    )


def with_id(node: GraphNode, number: int) -> GraphNode:
    """The same node under another id."""
    return GraphNode(
        number,
        node.kind,
        node.name,
        node.source_order,
        node.value,
        node.function_name,
        node.package,
        node.expr_string,
        node.vary,
        node.bounds,
        node.arrays,
    )


def with_text(node: GraphNode, text: str) -> GraphNode:
    """An EXPRESSION under the same id with another text."""
    return GraphNode(node.id, node.kind, node.name, node.source_order, expr_string=text)
