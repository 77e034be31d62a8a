"""Nodes and edges of a graph while it is being made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspec.ir.frozen import Array
from pyspec.ir.graph import DomainKind, EdgeKind, GraphEdge, GraphIR, GraphNode, NodeKind


class GraphBuilder:
    """Collects nodes and edges; :meth:`build` freezes them."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []

    def node(self, kind: NodeKind, name: str, **payload: Any) -> int:
        """Adds a node and returns its id. Insertion order is the source order."""
        number = len(self.nodes)
        self.nodes.append(GraphNode(number, kind, name, number, **payload))
        return number

    def edge(self, source: int, target: int, kind: EdgeKind, position: int = 0) -> None:
        """Adds an edge."""
        self.edges.append(GraphEdge(target, kind, position, source))

    def sum(self, name: str, addends: Iterable[int]) -> int:
        """Adds a SUM node over `addends`, in their order."""
        number = self.node(NodeKind.SUM, name)
        for position, source in enumerate(addends):
            self.edge(source, number, EdgeKind.ADDEND, position)
        return number

    def build(
        self,
        domain: DomainKind,
        energy: Array | None,
        time: Array | None,
        name: str = "",
        aux: Array | None = None,
        aux_weights: Array | None = None,
        arrays: Mapping[str, Array] | None = None,
    ) -> GraphIR:
        """The frozen graph."""
        nodes, edges = tuple(self.nodes), tuple(sorted(self.edges))
        return GraphIR(nodes, edges, domain, energy, time, name, aux, aux_weights, arrays or {})
