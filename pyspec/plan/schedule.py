"""schedule_1d and schedule_2d: from the graph to the flat plan."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pyspec._library import OPS, OpDef
from pyspec.errors import PlanError
from pyspec.formula import parse
from pyspec.functions import WIDTH, response, response_order
from pyspec.ir import (
    DomainKind,
    EdgeKind,
    GraphIR,
    GraphNode,
    NodeKind,
    aux_dependent,
    depending,
    time_dependent,
    topological_order,
)
from pyspec.plan.lower import Lowering, can_lower_1d, can_lower_2d
from pyspec.plan.scheduled import (
    ADD_SLOT,
    EXTERNAL,
    NO_BASE,
    RESOLVE_DYNAMICS,
    RESOLVE_EXPRESSION,
    RESOLVE_PROFILE,
    Ints,
    ScheduledPlan1D,
    ScheduledPlan2D,
)
from pyspec.plan.slots import assign_slots


def schedule_1d(graph: GraphIR) -> ScheduledPlan1D:
    """Compiles a graph with one axis only. Raises PlanError where it cannot."""
    _require(graph, can_lower_1d(graph))
    return ScheduledPlan1D(**_Scheduler(graph).fields())


def schedule_2d(graph: GraphIR) -> ScheduledPlan2D:
    """Compiles a graph with an energy and a time axis. Raises PlanError where it cannot."""
    _require(graph, can_lower_2d(graph))
    return ScheduledPlan2D(**_Scheduler(graph).fields())


def _require(graph: GraphIR, lowering: Lowering) -> None:
    if not lowering:
        raise PlanError(f"graph {graph.name or '(unnamed)'} {lowering}")


def _is_law(graph: GraphIR, node: GraphNode) -> bool:
    """Whether an EXTERNAL node is a trace, not a component."""
    return any(edge.kind is EdgeKind.TRACE_INPUT for edge in graph.outputs(node.id))


def _ints(values: Any) -> Ints:
    return np.array(values, dtype=np.int64)


def _padded(rows: list[list[int]]) -> Ints:
    """Lists of trace rows as one array, -1 behind the shorter ones."""
    width = max((len(row) for row in rows), default=0)
    return _ints([row + [-1] * (width - len(row)) for row in rows]).reshape(len(rows), width)


def _distinct(lines: list[Any], dtype: Any, size: int) -> tuple[Any, list[int]]:
    """The different lines (n, size), and which of them each entry is; -1 for None."""
    kept: dict[bytes, int] = {}
    found: list[Any] = []
    index: list[int] = []
    for line in lines:
        if line is None:
            index.append(-1)
            continue
        key = line.tobytes()
        if key not in kept:
            kept[key] = len(found)
            found.append(line)
        index.append(kept[key])
    return np.array(found, dtype=dtype).reshape(len(found), size), index


class _Substep(NamedTuple):
    """A law, on its own axis and mask where it belongs to a sub-cycle, or a kernel."""

    op: OpDef
    rows: list[int]
    axis: Any = None
    mask: Any = None
    external: int = -1


def _under(step: _Substep, irf: OpDef, width: int) -> _Substep:
    """A law as an exact instrument response turns it."""
    row = response(step.op, irf)
    assert row is not None
    order = response_order(step.op, row)
    return _Substep(row, [width if k == WIDTH else step.rows[k] for k in order])


class _Scheduler:
    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.order = [graph.nodes[number] for number in topological_order(graph)]
        self.moving = time_dependent(graph)
        self.depends = depending(graph, frozenset({NodeKind.OPT_PARAM}))
        by_source = sorted(graph.nodes, key=lambda node: node.source_order)
        self.free = [n for n in by_source if n.kind is NodeKind.OPT_PARAM]
        self.fixed = [n for n in by_source if n.kind is NodeKind.STATIC_PARAM]
        computed = [
            n for n in self.order if n.kind in (NodeKind.EXPRESSION, NodeKind.PARAM_PLUS_TRACE)
        ]
        self.sampled = aux_dependent(graph)
        single = [n for n in computed if n.id not in self.sampled]
        blocks = [n for n in computed if n.id in self.sampled]
        self.n_aux = 0 if graph.aux is None else graph.aux.size
        external = [n for n in self.order if n.kind is NodeKind.EXTERNAL and _is_law(graph, n)]
        self.rows = [*self.free, *self.fixed, *external, *single]
        self.samples = len(self.rows)
        self.external_names: list[str] = []
        self.row_of = {node.id: row for row, node in enumerate(self.rows)}
        for node in blocks:
            self.row_of[node.id] = len(self.rows)
            self.rows += [node] * self.n_aux

    def _code(self, op: OpDef) -> int:
        """The op code: the row of the table, or below EXTERNAL for a registered function."""
        if not op.external:
            return op.index
        if op.name not in self.external_names:
            self.external_names.append(op.name)
        return EXTERNAL - self.external_names.index(op.name)

    def _row_names(self) -> tuple[str, ...]:
        names = [node.name for node in self.rows[: self.samples]]
        for index, node in enumerate(self.rows[self.samples :]):
            names.append(f"{node.name}[{index % self.n_aux}]")
        return tuple(names)

    def fields(self) -> dict[str, Any]:
        """All fields of the plan."""
        graph = self.graph
        is_trace = graph.domain is DomainKind.TIME_1D
        assert graph.result is not None
        return {
            "name": graph.name,
            "energy": np.zeros(1) if graph.energy is None else graph.energy.copy(),
            "time": None if graph.time is None else graph.time.copy(),
            "aux": None if graph.aux is None else graph.aux.copy(),
            "aux_weights": None if graph.aux_weights is None else graph.aux_weights.copy(),
            "samples": self.samples,
            "result_row": self.row_of[graph.result.id] if is_trace else -1,
            "row_names": self._row_names(),
            "opt_param_names": tuple(node.name for node in self.free),
            "fixed_names": tuple(node.name for node in self.fixed),
            "theta": np.array([node.value for node in self.free], dtype=np.float64),
            "fixed": np.array([node.value for node in self.fixed], dtype=np.float64),
            "row_moves": np.array([n.id in self.moving for n in self.rows], dtype=bool),
            "row_depends": np.array([n.id in self.depends for n in self.rows], dtype=bool),
            **self._dynamics(),
            **self._profiles(),
            **self._expressions(),
            **self._resolution(),
            **self._ops(),
            "external_names": tuple(self.external_names),
            **self._dependencies(),
        }

    def _dependencies(self) -> dict[str, Any]:
        """Of each row the free parameters that it depends on."""
        position = {node.id: k for k, node in enumerate(self.free)}
        found: dict[int, set[int]] = {}
        for node in self.order:
            own = {position[node.id]} if node.id in position else set()
            edges = (e for kind in EdgeKind for e in self.graph.inputs(node.id, kind))
            found[node.id] = own.union(*(found[edge.source] for edge in edges))
        lists = [sorted(found[node.id]) for node in self.rows]
        # A trace that Python fills comes from outside: its derivative is not known.
        external = {n.id for n in self.rows if n.kind is NodeKind.EXTERNAL}
        lists = [
            [] if node.id in external else row for node, row in zip(self.rows, lists, strict=True)
        ]
        return {
            "row_theta_indptr": _ints(np.cumsum([0, *(len(row) for row in lists)])),
            "row_theta": _ints([theta for row in lists for theta in row]),
        }

    def _param_rows(self, node: GraphNode) -> list[int]:
        """Trace rows of a function's parameters in table order, -1 where left out."""
        rows = [-1] * len(OPS[node.function_name or ""].params)
        for edge in self.graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            rows[edge.position] = self.row_of[edge.source]
        return rows

    def _groups(self, profiles: bool) -> list[GraphNode]:
        """Sums of traces, or of profiles, on a base."""
        return [
            node
            for node in self.order
            if node.kind is NodeKind.PARAM_PLUS_TRACE and self._is_profile(node) == profiles
        ]

    def _is_profile(self, group: GraphNode) -> bool:
        edges = self.graph.inputs(group.id, EdgeKind.TRACE_INPUT)
        return self.graph.nodes[edges[0].source].kind is NodeKind.PROFILE_SAMPLE

    def _base_row(self, group: GraphNode) -> int:
        edges = self.graph.inputs(group.id, EdgeKind.BASE_INPUT)
        return self.row_of[edges[0].source] if edges else NO_BASE

    def _substeps(self, node: GraphNode) -> list[_Substep]:
        """Laws and kernels of a sum of traces in order: a kernel acts on all before it."""
        steps: list[_Substep] = []
        for edge in self.graph.inputs(node.id, EdgeKind.TRACE_INPUT):
            steps += self._trace_steps(self.graph.nodes[edge.source])
        return steps

    def _trace_steps(self, trace: GraphNode) -> list[_Substep]:
        if trace.kind is NodeKind.CONVOLUTION:
            kernel = OPS[trace.function_name or ""]
            inner = self._substeps(trace)
            if kernel.kind == "IRF":
                width = self._param_rows(trace)[0]
                return [_under(step, kernel, width) for step in inner if step.op.params]
            # A kernel acts on what is there: nothing is 0.
            return [
                *(inner or [_Substep(OPS["none"], [])]),
                _Substep(kernel, self._param_rows(trace)),
            ]
        external = -1
        mask = None
        if trace.kind is NodeKind.SUBCYCLE_MASK:
            mask = trace.arrays["time_n_sub"].astype(bool)
            trace = self.graph.nodes[self.graph.inputs(trace.id, EdgeKind.TRACE_INPUT)[0].source]
        remap = self.graph.inputs(trace.id, EdgeKind.TRACE_INPUT)
        axis = self.graph.nodes[remap[0].source].arrays["time_norm"] if remap else None
        if trace.kind is NodeKind.EXTERNAL:
            external = self.row_of[trace.id]
        op, rows = OPS[trace.function_name or ""], self._param_rows(trace)
        return [_Substep(op, rows, axis, mask, external)]

    def _dynamics(self) -> dict[str, Any]:
        groups = self._groups(profiles=False)
        indptr, steps = [0], []
        for group in groups:
            steps += self._substeps(group) or [_Substep(OPS["none"], [])]
            indptr.append(len(steps))
        n_time = 0 if self.graph.time is None else self.graph.time.size
        axes, axis_of = _distinct([step.axis for step in steps], np.float64, n_time)
        masks, mask_of = _distinct([step.mask for step in steps], np.bool_, n_time)
        return {
            "dyn_group_target_row": _ints([self.row_of[group.id] for group in groups]),
            "dyn_group_base_row": _ints([self._base_row(group) for group in groups]),
            "dyn_group_indptr": _ints(indptr),
            "dyn_sub_func_id": _ints([self._code(step.op) for step in steps]),
            "dyn_sub_param_rows": _padded([step.rows for step in steps]),
            "dyn_sub_n_params": _ints([len(step.rows) for step in steps]),
            "dyn_sub_external": _ints([step.external for step in steps]),
            "dyn_sub_axis": _ints([index + 1 for index in axis_of]),
            "dyn_sub_mask": _ints(mask_of),
            "dyn_time_axes": axes,
            "dyn_masks": masks,
        }

    def _profiles(self) -> dict[str, Any]:
        graph, groups = self.graph, self._groups(profiles=True)
        indptr, functions, rows = [0], [], []
        for group in groups:
            for edge in graph.inputs(group.id, EdgeKind.TRACE_INPUT):
                sample = graph.nodes[edge.source]
                functions.append(OPS[sample.function_name or ""].index)
                rows.append(self._param_rows(sample))
            indptr.append(len(functions))
        return {
            "prof_group_target_row": _ints([self.row_of[group.id] for group in groups]),
            "prof_group_base_row": _ints([self._base_row(group) for group in groups]),
            "prof_group_indptr": _ints(indptr),
            "prof_sub_func_id": _ints(functions),
            "prof_sub_param_rows": _padded(rows),
            "prof_sub_n_params": _ints([len(row) for row in rows]),
        }

    def _expressions(self) -> dict[str, Any]:
        targets, indptr, code, depths = [], [0], [], []
        for node in self.order:
            if node.kind is not NodeKind.EXPRESSION:
                continue
            formula = parse(node.expr_string or "")
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

    def _resolution(self) -> dict[str, Any]:
        kinds, indices = [], []
        seen = {RESOLVE_DYNAMICS: 0, RESOLVE_EXPRESSION: 0, RESOLVE_PROFILE: 0}
        for node in self.order:
            if node.kind is NodeKind.EXPRESSION:
                kind = RESOLVE_EXPRESSION
            elif node.kind is NodeKind.PARAM_PLUS_TRACE:
                kind = RESOLVE_PROFILE if self._is_profile(node) else RESOLVE_DYNAMICS
            else:
                continue
            kinds.append(kind)
            indices.append(seen[kind])
            seen[kind] += 1
        return {"resolution_kinds": _ints(kinds), "resolution_indices": _ints(indices)}

    def _ops(self) -> dict[str, Any]:
        slots = assign_slots(self.graph)
        kinds, indptr, indices, moves, depends, sampled = [], [0], [], [], [], []
        for op in slots.ops:
            if op.node is None:
                kinds.append(ADD_SLOT)
            else:
                node = self.graph.nodes[op.node]
                kinds.append(self._code(OPS[node.function_name or ""]))
                indices.extend(self._param_rows(node))
            indptr.append(len(indices))
            moves.append(op.node is None or op.node in self.moving)
            depends.append(op.node is None or op.node in self.depends)
            sampled.append(op.node is not None and op.node in self.sampled)
        return {
            "op_names": tuple(op.name for op in slots.ops),
            "op_kinds": _ints(kinds),
            "op_param_indptr": _ints(indptr),
            "op_param_indices": _ints(indices),
            "op_source_slot": _ints([op.source for op in slots.ops]),
            "op_target_slot": _ints([op.target for op in slots.ops]),
            "op_store": np.array([op.store for op in slots.ops], dtype=bool),
            "op_moves": np.array(moves, dtype=bool),
            "op_depends": np.array(depends, dtype=bool),
            "op_sampled": np.array(sampled, dtype=bool),
            "n_slots": max(slots.n_slots, 1),
            "result_slot": slots.result,
        }
