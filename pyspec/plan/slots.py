"""Orders the spectrum ops and gives each sum a buffer (slot).

A component that feeds one sum is added to that sum's slot directly. A sum that is only read
before the next one grows takes no slot of its own: the next sum goes on in place. So a model
written as a list of components needs a single slot, whatever its backgrounds read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspec.ir import EdgeKind, GraphIR, GraphNode, NodeKind

COMPONENTS = frozenset(
    {NodeKind.COMPONENT_EVAL, NodeKind.SPECTRUM_FED_OP, NodeKind.PROFILE_AVERAGE}
)


@dataclass(frozen=True)
class SlotOp:
    """One spectrum op: a component (`node`), or the sum of two slots (node is None)."""

    node: int | None
    name: str
    source: int
    target: int
    store: bool


@dataclass
class SlotPlan:
    """Ops in order of execution, and where the finished spectrum lies."""

    ops: list[SlotOp] = field(default_factory=list)
    n_slots: int = 0
    result: int = 0


def assign_slots(graph: GraphIR) -> SlotPlan:
    """Schedules every COMPONENT_EVAL, SPECTRUM_FED_OP and SUM of `graph`."""
    plan = SlotPlan()
    slot_of: dict[int, int] = {}
    for number in graph.order:
        node = graph.nodes[number]
        if node.kind is NodeKind.SUM:
            _schedule_sum(graph, node, plan, slot_of)
        elif _is_component(graph, node) and not _feeds_one_sum(graph, node):
            if _is_averaged(graph, node):
                continue  # its average is scheduled in its place
            slot_of[number] = _new_slot(plan)
            _emit(graph, node, plan, slot_of, slot_of[number], True)
    if graph.result is not None and graph.result.id in slot_of:
        plan.result = slot_of[graph.result.id]
    return plan


def _is_component(graph: GraphIR, node: GraphNode) -> bool:
    """Whether the node's value is a spectrum that is not a sum."""
    if node.kind is NodeKind.EXTERNAL:
        return all(edge.kind is EdgeKind.ADDEND for edge in graph.outputs(node.id))
    return node.kind in COMPONENTS


def _new_slot(plan: SlotPlan) -> int:
    plan.n_slots += 1
    return plan.n_slots - 1


def _feeds_one_sum(graph: GraphIR, node: GraphNode) -> bool:
    targets = [graph.nodes[edge.target].kind for edge in graph.outputs(node.id)]
    return targets == [NodeKind.SUM]


def _is_averaged(graph: GraphIR, node: GraphNode) -> bool:
    """Whether the node's only use is an average over the auxiliary axis."""
    targets = [graph.nodes[edge.target].kind for edge in graph.outputs(node.id)]
    return targets == [NodeKind.PROFILE_AVERAGE]


def _goes_on_in_place(graph: GraphIR, first: GraphNode, target: GraphNode) -> bool:
    """Whether all that reads `first` reads it before `target` adds to it."""
    addends = graph.inputs(target.id, EdgeKind.ADDEND)
    readers = {edge.target for edge in graph.outputs(first.id)} - {target.id}
    next_op = addends[1].source if len(addends) > 1 else None
    if next_op is not None and graph.nodes[next_op].kind is NodeKind.PROFILE_AVERAGE:
        next_op = graph.inputs(next_op, EdgeKind.ADDEND)[0].source
    return first.kind is NodeKind.SUM and (not readers or readers == {next_op})


def _emit(
    graph: GraphIR,
    node: GraphNode,
    plan: SlotPlan,
    slot_of: dict[int, int],
    target: int,
    store: bool,
) -> None:
    if node.kind is NodeKind.PROFILE_AVERAGE:
        node = graph.nodes[graph.inputs(node.id, EdgeKind.ADDEND)[0].source]
    read = graph.inputs(node.id, EdgeKind.SPECTRUM_INPUT)
    source = slot_of[read[0].source] if read else -1
    plan.ops.append(SlotOp(node.id, node.name, source, target, store))


def _schedule_sum(graph: GraphIR, node: GraphNode, plan: SlotPlan, slot_of: dict[int, int]) -> None:
    addends = [graph.nodes[edge.source] for edge in graph.inputs(node.id, EdgeKind.ADDEND)]
    in_place = bool(addends) and _goes_on_in_place(graph, addends[0], node)
    target = slot_of[addends[0].id] if in_place else _new_slot(plan)
    slot_of[node.id] = target
    for position, addend in enumerate(addends):
        store = position == 0
        if store and in_place:
            continue
        if addend.id in slot_of:
            plan.ops.append(SlotOp(None, node.name, slot_of[addend.id], target, store))
        else:
            _emit(graph, addend, plan, slot_of, target, store)
