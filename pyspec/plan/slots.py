"""Orders the spectrum ops and gives each sum a buffer (slot).

A component that feeds one sum is added to that sum's slot directly. Every other spectrum is a step
of the memory planner (:mod:`pyspec.memory`). A slot is used again when its spectrum is no longer
read. A sum that is only read before the next one grows takes no slot of its own: the next sum goes
on in place. So a model written as a list of components needs a single slot, whatever its
backgrounds read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspec.ir import EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.graph import SPECTRUM_KINDS
from pyspec.memory import Choice, Step, plan_memory

COMPONENTS = SPECTRUM_KINDS - {NodeKind.SUM, NodeKind.EXTERNAL}


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
    """Ops in order of execution, and where the finished spectra lie."""

    ops: list[SlotOp] = field(default_factory=list)
    n_slots: int = 0
    results: list[int] = field(default_factory=list)


def assign_slots(graph: GraphIR, choice: Choice | None = None) -> SlotPlan:
    """Schedules every COMPONENT_EVAL, SPECTRUM_FED_OP and SUM of `graph`."""
    return _Assignment(graph).plan(choice)


class _Assignment:
    """`steps` are the spectra that have a slot, `numbers` their nodes."""

    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.numbers = [number for number in graph.order if self._has_slot(graph.nodes[number])]
        self.step_of = {number: step for step, number in enumerate(self.numbers)}
        self.steps = [self._step(graph.nodes[number]) for number in self.numbers]
        self.ops: list[SlotOp] = []

    def plan(self, choice: Choice | None) -> SlotPlan:
        kept = [self.step_of[number] for number in self.graph.results if number in self.step_of]
        memory = plan_memory(self.steps, kept, choice)
        slot = {self.numbers[step]: memory.offset(step) for step in memory.order}
        for step in memory.order:
            node = self.graph.nodes[self.numbers[step]]
            if node.kind is NodeKind.SUM:
                self._sum(node, slot, memory.is_in_place(step))
            else:
                self._emit(node, slot, slot[node.id], True)
        return SlotPlan(self.ops, memory.size, [slot[self.numbers[step]] for step in kept])

    # ---- what has a slot, and what it reads --------------------------------------------

    def _has_slot(self, node: GraphNode) -> bool:
        if node.kind is NodeKind.SUM:
            return True
        outputs = self.graph.outputs(node.id)
        if node.kind is NodeKind.EXTERNAL:  # a component, or a law
            is_component = all(edge.kind is EdgeKind.ADDEND for edge in outputs)
        else:
            is_component = node.kind in COMPONENTS
        targets = [self.graph.nodes[edge.target].kind for edge in outputs]
        # What feeds one sum is added to it; an average is scheduled in its component's place.
        return is_component and targets not in ([NodeKind.SUM], [NodeKind.PROFILE_AVERAGE])

    def _called(self, node: GraphNode) -> GraphNode:
        """The component that a node stands for: of an average what it averages."""
        if node.kind is not NodeKind.PROFILE_AVERAGE:
            return node
        return self.graph.into(node.id, EdgeKind.ADDEND)[0]

    def _source(self, node: GraphNode) -> int | None:
        """The spectrum that a component reads."""
        read = self.graph.inputs(self._called(node).id, EdgeKind.SPECTRUM_INPUT)
        return read[0].source if read else None

    def _spectrum_of(self, node: GraphNode) -> int | None:
        """The spectrum with a slot that an addend is, or that it reads."""
        return node.id if node.id in self.step_of else self._source(node)

    def _step(self, node: GraphNode) -> Step:
        if node.kind is not NodeKind.SUM:
            source = self._source(node)
            return Step(() if source is None else (self.step_of[source],))
        addends = self.graph.into(node.id, EdgeKind.ADDEND)
        read = [number for addend in addends if (number := self._spectrum_of(addend)) is not None]
        # The second addend may read the first: that is done before it is added.
        first = addends[0].id if addends and addends[0].id in self.step_of else None
        late = [self._spectrum_of(addend) for addend in addends[2:]]
        again = len(addends) > 1 and addends[1].id == first
        in_place = first is not None and first not in late and not again
        return Step(tuple(self.step_of[number] for number in read), in_place=in_place)

    # ---- ops ---------------------------------------------------------------------------

    def _emit(self, node: GraphNode, slot: dict[int, int], target: int, store: bool) -> None:
        source, called = self._source(node), self._called(node)
        read = -1 if source is None else slot[source]
        self.ops.append(SlotOp(called.id, called.name, read, target, store))

    def _sum(self, node: GraphNode, slot: dict[int, int], in_place: bool) -> None:
        for position, addend in enumerate(self.graph.into(node.id, EdgeKind.ADDEND)):
            store = position == 0
            if store and in_place:
                continue
            if addend.id in slot:
                self.ops.append(SlotOp(None, node.name, slot[addend.id], slot[node.id], store))
            else:
                self._emit(addend, slot, slot[node.id], store)
