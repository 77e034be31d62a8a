"""with_fixed_amplitudes: a graph with each free amplitude at 1, at one energy.

A fit solves for free amplitudes outside of the plan, for each energy or time. Its other questions
about the model, such as the place of a jump, do not depend on the size of the amplitudes. They are
answered by this graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyspec.ir import DomainKind, GraphIR, GraphNode, NodeKind

_VECTORS = frozenset({NodeKind.FREE_VECTOR, NodeKind.AXIS})


def with_fixed_amplitudes(graph: GraphIR) -> GraphIR:
    """The graph, or the same where nothing is free along an axis. Laws of time are TIME_1D in it,
    and the energy, where an expression reads it, has the value of the middle."""
    if not any(node.kind in _VECTORS for node in graph.nodes):
        return graph
    axes = {"energy": graph.energy, "time": graph.time}

    def number(node: GraphNode) -> GraphNode:
        axis = axes[node.axis or "energy"]
        middle = 1.0 if node.kind is NodeKind.FREE_VECTOR else np.nan
        if node.kind is NodeKind.AXIS and axis is not None:
            middle = float(np.median(axis))
        made = GraphNode(node.id, NodeKind.STATIC_PARAM, node.name, node.source_order, middle)
        return replace(made, bounds=(-np.inf, np.inf), where=node.where)

    nodes = tuple([number(node) if node.kind in _VECTORS else node for node in graph.nodes])
    if not graph.is_of_laws:
        return replace(graph, nodes=nodes)
    return replace(graph, nodes=nodes, domain=DomainKind.TIME_1D, energy=None)
