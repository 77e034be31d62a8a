"""separable: whether every spectrum is a sum of shapes that stand still, each times a trace.

Then a fit sums over energies and times apart: JᵀJ is made of overlaps of shapes times overlaps of
traces, and Jᵀr of shapes times the residual contracted over time with the few traces. The residual
itself, and so chi², is computed point by point until the functions of time lie in the span of the
earlier ones. From then on it follows from sums, without the data (csrc/separable/span.c). The pass
holds for models in which only heights of peaks move, with any constant background and with Shirley
backgrounds of all that. Weights and masks may differ along one axis only. Maps of weights,
scattered masks and the loss of counts take the general walk.
"""

from __future__ import annotations

from dataclasses import replace

from pyspec.formula import op_of
from pyspec.functions.slopes import interacting
from pyspec.ir import TIME, EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.graph import SPECTRUM_KINDS
from pyspec.passes.facts import Facts, Pace


def separable(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Decides for the whole graph. The notes say what it is made of, or what stands against it."""
    spectra = [node for node in graph.nodes if node.kind in SPECTRUM_KINDS - {NodeKind.SUM}]
    if graph.time is None or graph.energy is None or not spectra:
        return graph, facts, ("no product of energies and times: spectra are walked",)
    against = [reason for node in spectra if (reason := _against(graph, node, facts))]
    if against:
        return graph, facts, ("spectra are walked row by row", *against)
    heights = {
        edge.source
        for node in spectra
        if facts.paces[node.id] is Pace.HEIGHT
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT)
        if edge.position == 0
    }
    traces = ", ".join(graph.nodes[number].name for number in sorted(heights))
    made = (
        f"spectra are shapes that stand still times {traces}" if heights else "spectra stand still"
    )
    note = (
        f"{made}: a fit sums over energies and times apart and, once its functions of time settle, "
        "reads the data no more, unless weights or mask differ along both axes, or the loss is "
        "that of counts"
    )
    return graph, replace(facts, separable=True), (note,)


def _against(graph: GraphIR, node: GraphNode, facts: Facts) -> str:
    """Why a component is no shape times a trace; empty where it is one."""
    if node.kind is NodeKind.EXTERNAL:
        return f"{node.name}: is computed by Python"
    if node.kind is NodeKind.PROFILE_AVERAGE:
        return f"{node.name}: is a mean over the auxiliary axis"
    if node.kind is not NodeKind.SPECTRUM_FED_OP:
        still = facts.paces[node.id] in (Pace.STATIC, Pace.HEIGHT)
        return "" if still else f"{node.name}: more than the height of a peak moves"
    op = op_of(node.function_name)
    if len(op.params) in interacting(op)[-1]:
        return f"{node.name}: is not linear in the spectrum that it reads"
    for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
        if graph.axes[edge.source] & TIME:
            return f"{node.name}: {op.params[edge.position]} moves"
    return ""
