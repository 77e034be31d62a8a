"""classify: what each node depends on, and how it changes in time.

It changes no node. A kernel then computes constant parts once. A spectrum without moving
parameters is one line for all times; a spectrum whose height alone moves is a line times a trace.
Its notes also name the onsets before which all times are alike.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pyspec._library import OpDef
from pyspec.formula import find_op, op_of
from pyspec.functions import reference
from pyspec.functions.slopes import amplitude, bends
from pyspec.ir import AUX, TIME, EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.model.build.inputs import inputs_of
from pyspec.passes.facts import Facts, Pace

#: Nodes that call a function of energies.
_COMPONENTS = frozenset({NodeKind.COMPONENT_EVAL, NodeKind.SPECTRUM_FED_OP, NodeKind.EXTERNAL})
_SUMS = frozenset({NodeKind.SUM, NodeKind.PROFILE_AVERAGE})

#: Traces that may change before an onset: a kernel or an instrument response spreads it to earlier
#: times, a sub-cycle repeats it, and nothing is known of a Python function.
_RESTLESS = frozenset(
    {
        NodeKind.CONVOLUTION,
        NodeKind.SUBCYCLE_MASK,
        NodeKind.SUBCYCLE_REMAP,
        NodeKind.EXTERNAL,
    }
)

#: A motion is a product of traces, by the ids of their nodes; of none for what does not move,
#: None for a shape that does.
_Motion = tuple[int, ...] | None


def classify(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Facts of every node. A note for each component."""
    n = len(graph.nodes)
    moves = tuple(bool(axes & TIME) for axes in graph.axes)
    places = {node.id: place for place, node in enumerate(graph.free)}
    thetas: list[tuple[int, ...]] = [()] * n
    onsets: list[frozenset[int] | None] = [frozenset()] * n
    motions: list[_Motion] = [()] * n
    paces = [Pace.MOVING] * n
    for number in graph.order:
        node = graph.nodes[number]
        if number in places:
            thetas[number] = (places[number],)
            continue
        sources = graph.sources(number)
        thetas[number] = _union([thetas[source] for source in sources])
        onsets[number] = _onsets(graph, node, [onsets[source] for source in sources])
        if node.kind in _COMPONENTS:
            motions[number] = _motion(graph, node, motions)
            paces[number] = _pace(graph, node, motions[number])
        elif node.kind in _SUMS:
            distinct = {motions[source] for source in sources}
            motions[number] = distinct.pop() if len(distinct) == 1 else () if not distinct else None
            paces[number] = _pace(graph, node, motions[number])
    new_facts = Facts(moves, tuple(thetas), tuple(paces), tuple(onsets))
    notes = [_note(graph, node, new_facts) for node in graph.nodes if node.kind in _COMPONENTS]
    return graph, new_facts, tuple(notes)


_WORDS = {
    Pace.STATIC: "the same at all times",
    Pace.HEIGHT: "only its height moves",
    Pace.SEPARABLE: "one shape times a trace",
    Pace.MOVING: "its shape moves",
}


def _note(graph: GraphIR, node: GraphNode, facts: Facts) -> str:
    names = [graph.free[place].name for place in facts.thetas[node.id]]
    text = (
        f"{node.name}: " if graph.time is None else f"{node.name}: {_WORDS[facts.paces[node.id]]}; "
    )
    text += f"depends on {', '.join(names)}" if names else "depends on no free parameter"
    onsets = facts.onsets[node.id]
    if onsets:
        before = [graph.nodes[number].name for number in sorted(onsets)]
        text += f"; the same before {', '.join(before)}"
    return text


def _union(lists: list[tuple[int, ...]]) -> tuple[int, ...]:
    if len(lists) == 1:
        return lists[0]
    return tuple(sorted(set().union(*lists)))


def _onsets(
    graph: GraphIR, node: GraphNode, inputs: list[frozenset[int] | None]
) -> frozenset[int] | None:
    """The parameters before the earliest of which a node does not change."""
    if node.kind in _RESTLESS:
        return None if graph.axes[node.id] & TIME else frozenset()
    if node.kind is NodeKind.DYNAMICS_TRACE:
        op = op_of(node.function_name)
        if not op.params:
            return frozenset()
        if not rests(op) or graph.inputs(node.id, EdgeKind.TRACE_INPUT):
            return None
        onset = op.params.index("t0")
        edges = graph.inputs(node.id, EdgeKind.PARAM_INPUT)
        return frozenset(edge.source for edge in edges if edge.position == onset)
    parameters: set[int] = set()
    for onset_ids in inputs:
        if onset_ids is None:
            return None
        parameters |= onset_ids
    return frozenset(parameters)


@cache
def rests(op: OpDef) -> bool:
    """Whether a law has one value at all times before its onset t0, as its reference shows."""
    if "t0" not in op.params or inputs_of(op):
        return False
    before = -np.geomspace(1e-9, 1e3, 25)
    for scale in (0.7, 1.9):
        values = [0.0 if name == "t0" else scale + k for k, name in enumerate(op.params)]
        trace = np.broadcast_to(reference(op)(before, *values), before.shape)
        if not (trace == trace[0]).all():
            return False
    return True


def _motion(graph: GraphIR, node: GraphNode, motions: list[_Motion]) -> _Motion:
    """The traces that scale the spectrum of a component whose shape does not move."""
    op = op_of(node.function_name)
    if op.external:
        return None
    read: _Motion = ()
    for edge in graph.inputs(node.id, EdgeKind.SPECTRUM_INPUT):
        read = motions[edge.source]
    if read is None or bends(op):
        return None  # not linear in the spectrum that it reads
    moving = [
        edge
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT)
        if graph.axes[edge.source] & TIME
    ]
    if not moving:
        return read
    scale = moving[0]
    if len(moving) > 1 or scale.position != amplitude(op) or graph.axes[scale.source] & AUX:
        return None
    return tuple(sorted((*read, scale.source)))


def _pace(graph: GraphIR, node: GraphNode, motion: _Motion) -> Pace:
    if motion is None:
        return Pace.MOVING
    if not motion:
        return Pace.STATIC
    op = find_op(node.function_name)
    peak = op is not None and op.kind in ("PEAK", "RESOLVED") and op.linear == op.params[:1]
    edges = graph.inputs(node.id, EdgeKind.PARAM_INPUT)
    sampled = any(graph.axes[edge.source] & AUX for edge in edges)
    return Pace.HEIGHT if peak and not sampled else Pace.SEPARABLE
