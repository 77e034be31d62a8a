"""drop: leaves out what the result does not need.

A quantity that is only reported, and an expression whose readers are gone, cost time at every
evaluation and change no spectrum. Parameters stay, needed or not: free ones are the order of
theta, fixed ones inputs that a caller may set.
"""

from __future__ import annotations

from pyspec.ir import GraphIR
from pyspec.ir.rewrite import needed
from pyspec.passes.facts import Facts, neutral


def drop(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Drops nodes. A note for each of them."""
    assert graph.result is not None
    kept = needed(graph, graph.result.id)
    if len(kept.nodes) == len(graph.nodes):
        return graph, facts, ()
    names = kept.node_by_name
    gone = [node.name for node in graph.nodes if node.name not in names]
    return kept, neutral(kept), tuple(f"{name}: the result does not need it" for name in gone)
