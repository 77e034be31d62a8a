"""GraphIR: the semantic representation of a model."""

from pyspec.ir.build import build_graph
from pyspec.ir.graph import (
    DomainKind,
    EdgeKind,
    GraphBuilder,
    GraphEdge,
    GraphIR,
    GraphNode,
    NodeKind,
)
from pyspec.ir.text import diff_graphs, parse_graph, print_graph
from pyspec.ir.verify import Violation, time_dependent, topological_order, verify

__all__ = [
    "DomainKind",
    "EdgeKind",
    "GraphBuilder",
    "GraphEdge",
    "GraphIR",
    "GraphNode",
    "NodeKind",
    "Violation",
    "build_graph",
    "diff_graphs",
    "parse_graph",
    "print_graph",
    "time_dependent",
    "topological_order",
    "verify",
]
