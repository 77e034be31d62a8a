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
from pyspec.ir.verify import (
    Violation,
    aux_dependent,
    depending,
    time_dependent,
    topological_order,
    verify,
)

__all__ = [
    "DomainKind",
    "EdgeKind",
    "GraphBuilder",
    "GraphEdge",
    "GraphIR",
    "GraphNode",
    "NodeKind",
    "Violation",
    "aux_dependent",
    "build_graph",
    "depending",
    "diff_graphs",
    "parse_graph",
    "print_graph",
    "time_dependent",
    "topological_order",
    "verify",
]
