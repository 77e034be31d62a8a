"""GraphIR: the semantic representation of a model."""

from pyspec.ir.build import build_graph
from pyspec.ir.diff import diff
from pyspec.ir.dot import to_dot
from pyspec.ir.graph import (
    AUX,
    TIME,
    DomainKind,
    EdgeKind,
    GraphBuilder,
    GraphEdge,
    GraphIR,
    GraphNode,
    NodeKind,
)
from pyspec.ir.text import parse_graph, print_graph
from pyspec.ir.verify import Violation, verify

__all__ = [
    "AUX",
    "TIME",
    "DomainKind",
    "EdgeKind",
    "GraphBuilder",
    "GraphEdge",
    "GraphIR",
    "GraphNode",
    "NodeKind",
    "Violation",
    "build_graph",
    "diff",
    "parse_graph",
    "print_graph",
    "to_dot",
    "verify",
]
