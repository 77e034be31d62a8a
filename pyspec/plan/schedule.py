"""schedule_1d and schedule_2d: from the graph to the flat plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec._library import OPS
from pyspec.errors import PlanError
from pyspec.formula import parse
from pyspec.ir import EdgeKind, GraphIR, GraphNode, NodeKind, time_dependent, topological_order
from pyspec.plan.lower import Lowering, can_lower_1d, can_lower_2d
from pyspec.plan.scheduled import (
    ADD_SLOT,
    RESOLVE_DYNAMICS,
    RESOLVE_EXPRESSION,
    Ints,
    ScheduledPlan1D,
    ScheduledPlan2D,
)
from pyspec.plan.slots import assign_slots


def schedule_1d(graph: GraphIR) -> ScheduledPlan1D:
    """Compiles a graph with an energy axis only. Raises PlanError where it cannot."""
    _require(graph, can_lower_1d(graph))
    return ScheduledPlan1D(**_Scheduler(graph).fields())


def schedule_2d(graph: GraphIR) -> ScheduledPlan2D:
    """Compiles a graph with an energy and a time axis. Raises PlanError where it cannot."""
    _require(graph, can_lower_2d(graph))
    return ScheduledPlan2D(**_Scheduler(graph).fields())


def _require(graph: GraphIR, lowering: Lowering) -> None:
    if not lowering:
        raise PlanError(f"graph {graph.name or '(unnamed)'} {lowering}")


def _ints(values: Any) -> Ints:
    return np.array(values, dtype=np.int64)


class _Scheduler:
    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.order = [graph.nodes[number] for number in topological_order(graph)]
        self.moving = time_dependent(graph)
        self.depends = self._depends_on_theta()
        by_source = sorted(graph.nodes, key=lambda node: node.source_order)
        self.free = [n for n in by_source if n.kind is NodeKind.OPT_PARAM]
        self.fixed = [n for n in by_source if n.kind is NodeKind.STATIC_PARAM]
        computed = [
            n for n in self.order if n.kind in (NodeKind.EXPRESSION, NodeKind.PARAM_PLUS_TRACE)
        ]
        self.rows = [*self.free, *self.fixed, *computed]
        self.row_of = {node.id: row for row, node in enumerate(self.rows)}

    def _depends_on_theta(self) -> frozenset[int]:
        found: set[int] = set()
        for node in self.order:
            sources = (e.source for kind in EdgeKind for e in self.graph.inputs(node.id, kind))
            if node.kind is NodeKind.OPT_PARAM or any(s in found for s in sources):
                found.add(node.id)
        return frozenset(found)

    def fields(self) -> dict[str, Any]:
        """All fields of the plan."""
        graph = self.graph
        assert graph.energy is not None
        return {
            "name": graph.name,
            "energy": graph.energy.copy(),
            "time": None if graph.time is None else graph.time.copy(),
            "row_names": tuple(node.name for node in self.rows),
            "opt_param_names": tuple(node.name for node in self.free),
            "fixed_names": tuple(node.name for node in self.fixed),
            "theta": np.array([node.value for node in self.free], dtype=np.float64),
            "fixed": np.array([node.value for node in self.fixed], dtype=np.float64),
            "row_moves": np.array([n.id in self.moving for n in self.rows], dtype=bool),
            "row_depends": np.array([n.id in self.depends for n in self.rows], dtype=bool),
            **self._dynamics(),
            **self._expressions(),
            **self._resolution(),
            **self._ops(),
        }

    def _param_rows(self, node: GraphNode) -> list[int]:
        """Trace rows of a function's parameters in table order, -1 where left out."""
        rows = [-1] * len(OPS[node.function_name or ""].params)
        for edge in self.graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            rows[edge.position] = self.row_of[edge.source]
        return rows

    def _groups(self) -> list[GraphNode]:
        return [node for node in self.order if node.kind is NodeKind.PARAM_PLUS_TRACE]

    def _dynamics(self) -> dict[str, Any]:
        graph, groups = self.graph, self._groups()
        indptr, functions, rows = [0], [], []
        for group in groups:
            for edge in graph.inputs(group.id, EdgeKind.TRACE_INPUT):
                law = graph.nodes[edge.source]
                functions.append(OPS[law.function_name or ""].index)
                rows.append(self._param_rows(law))
            indptr.append(len(functions))
        width = max((len(row) for row in rows), default=0)
        bases = [graph.inputs(group.id, EdgeKind.BASE_INPUT)[0].source for group in groups]
        return {
            "dyn_group_target_row": _ints([self.row_of[group.id] for group in groups]),
            "dyn_group_base_row": _ints([self.row_of[base] for base in bases]),
            "dyn_group_indptr": _ints(indptr),
            "dyn_sub_func_id": _ints(functions),
            "dyn_sub_param_rows": _ints([row + [-1] * (width - len(row)) for row in rows]).reshape(
                len(rows), width
            ),
            "dyn_sub_n_params": _ints([len(row) for row in rows]),
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
        seen = {NodeKind.PARAM_PLUS_TRACE: 0, NodeKind.EXPRESSION: 0}
        for node in self.order:
            if node.kind in seen:
                is_group = node.kind is NodeKind.PARAM_PLUS_TRACE
                kinds.append(RESOLVE_DYNAMICS if is_group else RESOLVE_EXPRESSION)
                indices.append(seen[node.kind])
                seen[node.kind] += 1
        return {"resolution_kinds": _ints(kinds), "resolution_indices": _ints(indices)}

    def _ops(self) -> dict[str, Any]:
        slots = assign_slots(self.graph)
        kinds, indptr, indices, moves, depends = [], [0], [], [], []
        for op in slots.ops:
            if op.node is None:
                kinds.append(ADD_SLOT)
            else:
                node = self.graph.nodes[op.node]
                kinds.append(OPS[node.function_name or ""].index)
                indices.extend(self._param_rows(node))
            indptr.append(len(indices))
            moves.append(op.node is None or op.node in self.moving)
            depends.append(op.node is None or op.node in self.depends)
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
            "n_slots": max(slots.n_slots, 1),
            "result_slot": slots.result,
        }
