"""GraphIR: the semantic representation of a model."""

from pyspec.ir.build import build_graph
from pyspec.ir.builder import GraphBuilder
from pyspec.ir.diff import diff
from pyspec.ir.dot import to_dot
from pyspec.ir.graph import (
    AUX,
    ENERGY,
    TIME,
    Cycle,
    DomainKind,
    EdgeKind,
    GraphEdge,
    GraphIR,
    GraphNode,
    NodeKind,
)
from pyspec.ir.rules import Violation
from pyspec.ir.text import from_dict, parse_graph, print_graph
from pyspec.ir.to_model import model_of
from pyspec.ir.verify import verify

__all__ = [
    "AUX",
    "ENERGY",
    "TIME",
    "Cycle",
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
    "from_dict",
    "model_of",
    "parse_graph",
    "print_graph",
    "to_dot",
    "verify",
]
