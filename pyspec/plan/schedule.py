"""schedule_1d and schedule_2d: from the graph to the flat plan."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.calls import answered
from pyspec.errors import PlanError
from pyspec.formula import find_op, op_of
from pyspec.functions.response_rows import response, response_arguments
from pyspec.ir import AUX, DomainKind, EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.memory import Choice
from pyspec.model.build.inputs import ALONG, axis_of, inputs_of
from pyspec.passes import Facts, Pace, run
from pyspec.passes.expand import expanded
from pyspec.plan.can_lower import can_lower_1d, can_lower_2d
from pyspec.plan.scheduled import (
    ADD_SLOT,
    EXTERNAL,
    INPUT_FIELDS,
    NO_BASE,
    OPS_BY_INDEX,
    RESOLVE_DYNAMICS,
    RESOLVE_EXPRESSION,
    RESOLVE_PROFILE,
    Array,
    Ints,
    ScheduledPlan,
    ScheduledPlan1D,
    ScheduledPlan2D,
)
from pyspec.plan.slots import SlotPlan, assign_slots


@answered
def schedule_1d(graph: GraphIR, without: Collection[str] | str = ()) -> ScheduledPlan1D:
    """Compiles a graph with one axis only, after the passes but those in `without`.

    Raises :class:`PlanError` where it cannot.
    """
    graph, facts, _ = run(_lowered(expanded(graph), two=False), without)
    return ScheduledPlan1D(**_Scheduler(graph, facts).fields())


@answered
def schedule_2d(graph: GraphIR, without: Collection[str] | str = ()) -> ScheduledPlan2D:
    """Compiles a graph with an energy and a time axis, after the passes but those in `without`.

    Raises :class:`PlanError` where it cannot.
    """
    graph, facts, _ = run(_lowered(expanded(graph), two=True), without)
    return ScheduledPlan2D(**_Scheduler(graph, facts).fields())


def schedule(graph: GraphIR, facts: Facts, memory: Choice | None = None) -> ScheduledPlan:
    """Compiles a graph as it is with facts as they are: what :func:`pyspec.passes.run` gave.
    `memory` is what the memory planner is asked for; no number depends on it."""
    two = graph.domain is DomainKind.ENERGY_TIME_2D
    fields = _Scheduler(_lowered(graph, two), facts, memory).fields()
    return ScheduledPlan2D(**fields) if two else ScheduledPlan1D(**fields)


def _lowered(graph: GraphIR, two: bool) -> GraphIR:
    """The graph itself. Raises :class:`PlanError` where it cannot be compiled."""
    lowering = can_lower_2d(graph) if two else can_lower_1d(graph)
    if not lowering:
        raise PlanError(f"graph {graph.name or '(unnamed)'} {lowering}")
    return graph


#: Fields of a plan by name.
Fields: TypeAlias = dict[str, Any]


def _ints(values: npt.ArrayLike) -> Ints:
    return np.array(values, dtype=np.int64)


def _padded(rows: list[list[int]]) -> Ints:
    """Lists of trace rows as one array, -1 behind the shorter ones."""
    width = max((len(row) for row in rows), default=0)
    return _ints([row + [-1] * (width - len(row)) for row in rows]).reshape(len(rows), width)


def _distinct(
    lines: list[Array | None], dtype: type[np.generic], size: int
) -> tuple[npt.NDArray[np.generic], list[int]]:
    """The different lines (n, size), and which of them each entry is; -1 for None."""
    kept: dict[bytes, int] = {}
    distinct: list[Array] = []
    index: list[int] = []
    for line in lines:
        if line is None:
            index.append(-1)
            continue
        key = line.tobytes()
        if key not in kept:
            kept[key] = len(distinct)
            distinct.append(line)
        index.append(kept[key])
    return np.array(distinct, dtype=dtype).reshape(len(distinct), size), index


#: Nodes that resolve a row of the trace matrix.
_COMPUTED = (NodeKind.EXPRESSION, NodeKind.PARAM_PLUS_TRACE, NodeKind.AXIS)

#: The law whose value is the abscissa.
_ITSELF = "time Itself(): t"


class _Substep(NamedTuple):
    """A law, on its own axis and mask where it belongs to a sub-cycle, or a kernel."""

    op: OpDef
    rows: list[int]
    axis: Array | None = None
    mask: Array | None = None
    external: int = -1


class _Scheduler:
    def __init__(self, graph: GraphIR, facts: Facts, memory: Choice | None = None) -> None:
        self.graph, self.facts, self.memory = graph, facts, memory
        self.order = [graph.nodes[number] for number in graph.order]
        self.free = graph.free
        fixed = graph.of_kind(NodeKind.STATIC_PARAM)
        self.fixed = sorted(fixed, key=lambda node: node.source_order)
        computed = [n for n in self.order if n.kind in _COMPUTED]
        single = [n for n in computed if not self._is_sampled(n)]
        blocks = [n for n in computed if self._is_sampled(n)]
        self.n_aux = 0 if graph.aux is None else graph.aux.size
        traces = {edge.source for edge in graph.edges if edge.kind is EdgeKind.TRACE_INPUT}
        external = [n for n in self.order if n.kind is NodeKind.EXTERNAL and n.id in traces]
        self.rows = [*self.free, *self.fixed, *external, *single]
        self.samples = len(self.rows)
        self.external_names: list[str] = []
        self.formulas: list[str] = []
        self.row_of = {node.id: row for row, node in enumerate(self.rows)}
        for node in blocks:
            self.row_of[node.id] = len(self.rows)
            self.rows += [node] * self.n_aux

    def _is_sampled(self, node: GraphNode) -> bool:
        """Whether a node has a value for each auxiliary point."""
        return bool(self.graph.axes[node.id] & AUX)

    def _code(self, op: OpDef) -> int:
        """The op code: the row of the table, behind these one for each formula, or from EXTERNAL
        down one for each registered function."""
        if op.own is not None and not op.external:
            if op.own.text not in self.formulas:
                self.formulas.append(op.own.text)
            return len(OPS_BY_INDEX) + self.formulas.index(op.own.text)
        if not op.external:
            return op.index
        name = op.name if op.own is None else op.own.text
        if name not in self.external_names:
            self.external_names.append(name)
        return EXTERNAL - self.external_names.index(name)

    def fields(self) -> Fields:
        """All fields of the plan."""
        graph = self.graph
        is_trace = graph.domain is DomainKind.TIME_1D
        rows = [self.row_of[number] for number in graph.results] if is_trace else []
        slots = assign_slots(self.graph, self.memory)
        results = _ints(rows or slots.results)
        inputs: dict[str, dict[str, None]] = {axis: {} for axis in ALONG}  # in order of first use
        for node in self.order:
            op = find_op(node.function_name)
            if op is not None and inputs_of(op):
                inputs[axis_of(op)].update(dict.fromkeys(inputs_of(op)))
        # A trace that Python fills comes from outside: its derivative is not known.
        is_outside = [node.kind is NodeKind.EXTERNAL for node in self.rows]
        own = [self.facts.thetas[node.id] for node in self.rows]
        thetas = [() if out else row for out, row in zip(is_outside, own, strict=True)]
        names = [node.name for node in self.rows[: self.samples]]
        for index, node in enumerate(self.rows[self.samples :]):
            names.append(f"{node.name}[{index % self.n_aux}]")
        return {
            "name": graph.name,
            "energy": np.zeros(1) if graph.energy is None else graph.energy.copy(),
            "time": None if graph.time is None else graph.time.copy(),
            "aux": None if graph.aux is None else graph.aux.copy(),
            "aux_weights": None if graph.aux_weights is None else graph.aux_weights.copy(),
            "input_names": tuple(tuple(names) for names in inputs.values()),
            **dict.fromkeys(INPUT_FIELDS),
            "samples": self.samples,
            "result_row": rows[0] if is_trace else -1,
            "results": results if graph.of_kind(NodeKind.RESULTS) else _ints([]),
            "row_names": tuple(names),
            "opt_param_names": tuple(node.name for node in self.free),
            "fixed_names": tuple(node.name for node in self.fixed),
            "theta": np.array([node.value for node in self.free], dtype=np.float64),
            "fixed": np.array([node.value for node in self.fixed], dtype=np.float64),
            "row_moves": np.array([self.facts.moves[n.id] for n in self.rows], dtype=bool),
            **self._dynamics(),
            **self._profiles(),
            **self._expressions(),
            **self._resolution(),
            **self._ops(slots),
            "external_names": tuple(self.external_names),
            "formulas": tuple(self.formulas),
            "row_theta_indptr": _ints(np.cumsum([0, *map(len, thetas)])),
            "row_theta": _ints([theta for row in thetas for theta in row]),
        }

    def _param_rows(self, node: GraphNode) -> list[int]:
        """Trace rows of a function's parameters in table order, -1 where left out."""
        rows = [-1] * len(op_of(node.function_name).params)
        for edge in self.graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            rows[edge.position] = self.row_of[edge.source]
        return rows

    def _groups(self, profiles: bool) -> list[GraphNode]:
        """Sums of traces, or of profiles, on a base."""
        return [
            node
            for node in self.order
            if node.kind in _COMPUTED[1:] and self._is_profile(node) == profiles
        ]

    def _is_profile(self, group: GraphNode) -> bool:
        traces = self.graph.into(group.id, EdgeKind.TRACE_INPUT)
        return bool(traces) and traces[0].kind is NodeKind.PROFILE_SAMPLE

    def _substeps(self, node: GraphNode) -> list[_Substep]:
        """Laws and kernels of a sum of traces in order: a kernel acts on all before it."""
        if node.kind is NodeKind.AXIS:
            return [_Substep(op_of(_ITSELF), [])]
        steps: list[_Substep] = []
        for trace in self.graph.into(node.id, EdgeKind.TRACE_INPUT):
            steps += self._trace_steps(trace)
        return steps

    def _trace_steps(self, trace: GraphNode) -> list[_Substep]:
        if trace.kind is NodeKind.CONVOLUTION:
            kernel = op_of(trace.function_name)
            inner = self._substeps(trace)
            if kernel.kind == "IRF":
                turned = []
                for step in inner:
                    row = response(step.op, kernel) if step.op.params else None
                    if row is not None:  # "none" is 0
                        width = self._param_rows(trace)
                        rows = response_arguments(step.op, row, step.rows, width)
                        turned.append(_Substep(row, rows))
                return turned
            # A kernel acts on what is there: nothing is 0.
            return [
                *(inner or [_Substep(OPS["none"], [])]),
                _Substep(kernel, self._param_rows(trace)),
            ]
        external = -1
        mask = None
        if trace.kind is NodeKind.SUBCYCLE_MASK:
            mask = trace.arrays["time_n_sub"].astype(bool)
            (trace,) = self.graph.into(trace.id, EdgeKind.TRACE_INPUT)
        remap = self.graph.into(trace.id, EdgeKind.TRACE_INPUT)
        axis = remap[0].arrays["time_norm"] if remap else None
        if trace.kind is NodeKind.EXTERNAL:
            external = self.row_of[trace.id]
        op, rows = op_of(trace.function_name), self._param_rows(trace)
        return [_Substep(op, rows, axis, mask, external)]

    def _dynamics(self) -> Fields:
        groups = self._groups(profiles=False)
        none = [_Substep(OPS["none"], [])]
        fields, steps = self._grouped("dyn", groups, [self._substeps(g) or none for g in groups])
        n_time = 0 if self.graph.time is None else self.graph.time.size
        axes, axis_of = _distinct([step.axis for step in steps], np.float64, n_time)
        masks, mask_of = _distinct([step.mask for step in steps], np.bool_, n_time)
        return {
            **fields,
            "dyn_sub_external": _ints([step.external for step in steps]),
            "dyn_sub_axis": _ints([index + 1 for index in axis_of]),
            "dyn_sub_mask": _ints(mask_of),
            "dyn_time_axes": axes,
            "dyn_masks": masks,
        }

    def _profiles(self) -> Fields:
        groups = self._groups(profiles=True)
        samples = [self.graph.into(group.id, EdgeKind.TRACE_INPUT) for group in groups]
        steps = [
            [_Substep(op_of(sample.function_name), self._param_rows(sample)) for sample in own]
            for own in samples
        ]
        return self._grouped("prof", groups, steps)[0]

    def _grouped(
        self, name: str, groups: list[GraphNode], steps: list[list[_Substep]]
    ) -> tuple[Fields, list[_Substep]]:
        """The fields of groups of functions that move a parameter each, and their functions."""
        every = [step for own in steps for step in own]
        bases = [self.graph.inputs(group.id, EdgeKind.BASE_INPUT) for group in groups]
        return {
            f"{name}_group_target_row": _ints([self.row_of[group.id] for group in groups]),
            f"{name}_group_base_row": _ints(
                [self.row_of[own[0].source] if own else NO_BASE for own in bases]
            ),
            f"{name}_group_indptr": _ints(np.cumsum([0, *map(len, steps)])),
            f"{name}_sub_func_id": _ints([self._code(step.op) for step in every]),
            f"{name}_sub_param_rows": _padded([step.rows for step in every]),
            f"{name}_sub_n_params": _ints([len(step.rows) for step in every]),
        }, every

    def _expressions(self) -> Fields:
        targets, indptr, code, depths = [], [0], [], []
        for node in self.order:
            if node.kind is not NodeKind.EXPRESSION:
                continue
            formula = node.formula
            edges = self.graph.inputs(node.id, EdgeKind.EXPR_REF)
            # Names are bound through the edges, never by looking a name up again.
            rows = {
                name: self.row_of[edge.source]
                for name, edge in zip(formula.names, edges, strict=True)
            }
            program = formula.rpn(rows)
            targets.append(self.row_of[node.id])
            code.append(program)
            indptr.append(indptr[-1] + len(program))
            depths.append(formula.depth)
        return {
            "expr_target_rows": _ints(targets),
            "expr_indptr": _ints(indptr),
            "expr_code": np.concatenate(code) if code else _ints([]).reshape(0, 2),
            "expr_depth": _ints(depths),
        }

    def _resolution(self) -> Fields:
        kinds, indices = [], []
        seen = {RESOLVE_DYNAMICS: 0, RESOLVE_EXPRESSION: 0, RESOLVE_PROFILE: 0}
        for node in self.order:
            if node.kind not in _COMPUTED:
                continue
            kind = RESOLVE_PROFILE if self._is_profile(node) else RESOLVE_DYNAMICS
            if node.kind is NodeKind.EXPRESSION:
                kind = RESOLVE_EXPRESSION
            kinds.append(kind)
            indices.append(seen[kind])
            seen[kind] += 1
        return {"resolution_kinds": _ints(kinds), "resolution_indices": _ints(indices)}

    def _ops(self, slots: SlotPlan) -> Fields:
        kinds, indptr, indices = [], [0], []
        paces, depends, sampled = [], [], []
        for op in slots.ops:
            if op.node is None:
                kinds.append(ADD_SLOT)
                paces.append(Pace.MOVING)
                depends.append(True)
                sampled.append(False)
            else:
                node = self.graph.nodes[op.node]
                kinds.append(self._code(op_of(node.function_name)))
                indices.extend(self._param_rows(node))
                paces.append(self.facts.paces[node.id])
                depends.append(bool(self.facts.thetas[node.id]))
                sampled.append(self._is_sampled(node))
            indptr.append(len(indices))
        return {
            "op_names": tuple(op.name for op in slots.ops),
            "op_kinds": _ints(kinds),
            "op_param_indptr": _ints(indptr),
            "op_param_indices": _ints(indices),
            "op_source_slot": _ints([op.source for op in slots.ops]),
            "op_target_slot": _ints([op.target for op in slots.ops]),
            "op_store": np.array([op.store for op in slots.ops], dtype=bool),
            "op_pace": _ints(paces),
            "op_depends": np.array(depends, dtype=bool),
            "op_sampled": np.array(sampled, dtype=bool),
            "separable": self.facts.separable,
            "n_slots": max(slots.n_slots, 1),
            "result_slot": slots.results[0] if slots.results else 0,
        }
