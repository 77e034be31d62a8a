"""drop: leaves out what the result does not need.

A quantity that is only reported, and an expression whose readers are gone, cost time at every
evaluation and change no spectrum. Parameters stay, needed or not: free ones are the order of
theta, fixed ones inputs that a caller may set.
"""

from __future__ import annotations

from pyspec.ir import GraphIR
from pyspec.ir.rewrite import renumbered
from pyspec.passes.facts import INPUTS, Facts, neutral


def drop(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Drops nodes. A note for each of them."""
    assert graph.result is not None
    needed = {graph.result.id}
    for number in reversed(graph.order):
        if number in needed:
            needed.update(graph.sources(number))
    gone = [n for n in graph.nodes if n.id not in needed and n.kind not in INPUTS]
    if not gone:
        return graph, facts, ()
    lost = {node.id for node in gone}
    kept = renumbered(
        graph,
        [node for node in graph.nodes if node.id not in lost],
        [edge for edge in graph.edges if edge.target not in lost],
    )
    return kept, neutral(kept), tuple(f"{node.name}: the result does not need it" for node in gone)
