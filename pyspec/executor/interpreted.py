"""The interpreted executor: runs a plan with NumPy, one vectorised call a node.

It is the reference of the ablation, so it is written the way a careful NumPy programmer would write
it. Values that do not move in time are evaluated on one line. Values that do not depend on the free
parameters are kept from call to call. Sums are accumulated in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pyspec._library import RPN, OpDef
from pyspec.executor.base import PlanExecutor
from pyspec.executor.protocol import Array, Values, ValuesOnly
from pyspec.formula import run_rpn
from pyspec.functions import outside
from pyspec.functions.quadrature import convolution_matrix
from pyspec.model import Measurement
from pyspec.model.build.inputs import function_of
from pyspec.plan.scheduled import (
    ADD_SLOT,
    EXTERNAL,
    NO_BASE,
    RESOLVE_DYNAMICS,
    RESOLVE_PROFILE,
    ScheduledPlan,
)

PARAM = RPN["PARAM"].index


class InterpretedExecutor(ValuesOnly, PlanExecutor):
    """NumPy evaluation of a plan."""

    name: ClassVar[str] = "interpreted"

    def __init__(self, plan: ScheduledPlan, measurement: Measurement | None = None) -> None:
        super().__init__(plan, measurement)
        window = self.window
        ops = [plan.op(kind) for kind in plan.op_kinds if kind != ADD_SLOT]
        # What sums over energies, as functions in Python may, needs all of them.
        whole = any(op.spectrum_fed or op.external for op in ops)
        first, last = (0, None) if whole else (window.x_begin, window.x_end)
        self._energy = plan.energy[first:last]
        self._first = window.x_begin - first
        self._grid = self.measurement.grid(plan.energy)
        #: What formulas read, at the energies that are evaluated, at all times, along aux.
        cut = {name: values[first:last] for name, values in plan.inputs_along(0).items()}
        self._inputs = {**cut, **plan.inputs_along(1)}
        self._inputs |= {
            name: values[:, np.newaxis] for name, values in plan.inputs_along(2).items()
        }
        self._kept: dict[int, Array] = {}
        self._kept_fixed: bytes | None = None
        self._operators: dict[str, tuple[tuple[Any, ...], Array]] = {}

    def run(self, theta: Values, fixed: Values = None) -> Array:
        plan = self.plan
        place = plan.result_row if plan.is_trace else plan.result_slot
        return self._results(theta, fixed, [place])[0]

    def results(self, theta: Values, fixed: Values = None) -> list[Array]:
        """All results of a plan with several, each as :meth:`run` gives one."""
        return self._results(theta, fixed, self.plan.results.tolist())

    def _results(self, theta: Values, fixed: Values, places: Sequence[int]) -> list[Array]:
        """What is in these rows of a trace, or in these slots."""
        plan, window = self.plan, self.window
        fixed_values = plan.values(fixed, "fixed")
        with np.errstate(all="ignore"):
            traces = self._resolve(plan.values(theta, "free"), fixed_values)
            if plan.is_trace:
                own = traces[:, window.row_begin : window.row_end]
                return [np.ascontiguousarray(own[row]) for row in places]
            slots = self._spectra(traces, fixed_values)
            return [self._cut(slots[slot]) for slot in places]

    def traces(self, theta: Values, fixed: Values = None) -> Array:
        """Every parameter resolved over time: (n_params, n_time)."""
        plan = self.plan
        with np.errstate(all="ignore"):
            return self._resolve(plan.values(theta, "free"), plan.values(fixed, "fixed"))

    def external(self, theta: Values, fixed: Values = None) -> tuple[Array, Array]:
        """What registered functions give: traces (n, n_time), and components over the full
        axes (n, n_time, n_energy)."""
        plan = self.plan
        traces = self.traces(theta, fixed)
        rows = plan.dyn_sub_external[plan.dyn_sub_external >= 0]
        components = [
            self._average(index, plan.op(kind), traces, None)
            for index, kind in enumerate(plan.op_kinds.tolist())
            if kind <= EXTERNAL
        ]
        full = (plan.n_time, plan.energy.size)
        shown = [np.broadcast_to(component, full) for component in components]
        return traces[np.sort(rows)], np.array(shown).reshape(len(shown), *full)

    def _resolve(self, theta: Array, fixed: Array) -> Array:
        plan = self.plan
        traces = np.empty((plan.n_params, plan.n_time))
        n_inputs = theta.size + fixed.size
        traces[: theta.size] = theta[:, np.newaxis]
        traces[theta.size : n_inputs] = fixed[:, np.newaxis]
        for kind, index in zip(plan.resolution_kinds, plan.resolution_indices, strict=True):
            if kind == RESOLVE_DYNAMICS:
                self._resolve_group(index, traces)
            elif kind == RESOLVE_PROFILE:
                self._resolve_profile(index, traces)
            else:
                self._resolve_expression(index, traces)
        return traces

    def _block(self, row: int) -> slice:
        """The rows that a row stands for: itself, or its block of auxiliary points."""
        return slice(row, row + (self.plan.n_aux if row >= self.plan.samples else 1))

    def _resolve_expression(self, index: int, traces: Array) -> None:
        plan = self.plan
        program = plan.expr_code[plan.expr_indptr[index] : plan.expr_indptr[index + 1]]
        target = self._block(int(plan.expr_target_rows[index]))
        reads = (program[:, 0] == PARAM) & (program[:, 1] >= plan.samples)
        for point in range(target.stop - target.start):
            at = program.copy()
            at[reads, 1] += point
            traces[target.start + point] = run_rpn(at, traces)

    def _resolve_group(self, group: int, traces: Array) -> None:
        plan = self.plan
        begin, end = plan.dyn_group_indptr[group : group + 2]
        assert plan.time is not None
        total: Array = np.zeros(plan.n_time)
        for sub in range(begin, end):
            op = plan.op(int(plan.dyn_sub_func_id[sub]))
            rows = plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]]
            params = [traces[row, 0] if row >= 0 else np.float64(0.0) for row in rows]
            bad = outside(op, params)
            if op.kind == "KERNEL":
                total = np.nan * total if bad else self._operator(op, params) @ total
            else:
                axis, mask = int(plan.dyn_sub_axis[sub]), int(plan.dyn_sub_mask[sub])
                time = plan.dyn_time_axes[axis - 1] if axis else plan.time
                law = function_of(op, self._inputs)
                trace = np.full(plan.n_time, np.nan) if bad else law(time, *params)
                if mask >= 0:
                    trace = np.where(plan.dyn_masks[mask], trace, 0.0)
                if plan.dyn_sub_external[sub] >= 0:
                    traces[plan.dyn_sub_external[sub]] = trace
                total = trace if sub == begin else total + trace
        base = int(plan.dyn_group_base_row[group])
        target = plan.dyn_group_target_row[group]
        traces[target] = total if base == NO_BASE else traces[base] + total

    def _operator(self, kernel: OpDef, params: Sequence[float]) -> Array:
        """The matrix of a convolution, kept as long as its parameters stay."""
        assert self.plan.time is not None
        key = kernel.name if kernel.own is None else kernel.own.text
        kept = self._operators.get(key)
        if kept is None or kept[0] != tuple(params):
            kept = tuple(params), convolution_matrix(kernel, self.plan.time, *params)
            self._operators[key] = kept
        return kept[1]

    def _resolve_profile(self, group: int, traces: Array) -> None:
        plan = self.plan
        assert plan.aux is not None
        total: Array = np.zeros((plan.n_aux, 1))
        for sub in range(plan.prof_group_indptr[group], plan.prof_group_indptr[group + 1]):
            op = plan.op(int(plan.prof_sub_func_id[sub]))
            rows = plan.prof_sub_param_rows[sub, : plan.prof_sub_n_params[sub]]
            params = [traces[row] if row >= 0 else np.zeros(1) for row in rows]
            value = function_of(op, self._inputs)(plan.aux[:, np.newaxis], *params)
            total = total + np.where(outside(op, params), np.nan, value)
        base = self._block(int(plan.prof_group_base_row[group]))
        traces[self._block(int(plan.prof_group_target_row[group]))] = traces[base] + total

    def _params(self, index: int, traces: Array, point: int) -> list[Array | float]:
        """Parameters of an op at an auxiliary point: numbers, or (n_rows, 1) where they move."""
        plan, window = self.plan, self.window
        rows = plan.op_param_indices[plan.op_param_indptr[index] : plan.op_param_indptr[index + 1]]
        params: list[Array | float] = []
        for row in rows:
            at = row + point if row >= plan.samples else row
            if row < 0:
                params.append(np.float64(0.0))
            elif plan.row_moves[row]:
                params.append(traces[at, window.row_begin : window.row_end, np.newaxis])
            else:
                params.append(traces[at, 0])
        return params

    def _average(self, index: int, op: OpDef, traces: Array, read: Array | None) -> Array:
        """One component, averaged over the auxiliary axis where it differs along it."""
        plan = self.plan
        if not plan.op_sampled[index] or plan.aux_weights is None:
            return self._component(index, op, traces, read, 0)
        total: Array = plan.aux_weights[0] * self._component(index, op, traces, read, 0)
        for point in range(1, plan.n_aux):
            total += plan.aux_weights[point] * self._component(index, op, traces, read, point)
        return total

    def _component(
        self, index: int, op: OpDef, traces: Array, read: Array | None, point: int
    ) -> Array:
        """One component at one auxiliary point: a line (n_energy,) where nothing moves, else
        (n_rows, n_energy)."""
        params = self._params(index, traces, point)
        function = function_of(op, self._inputs)
        if op.spectrum_fed:
            spectrum = np.zeros(self._energy.size) if read is None else read
            value = self._grid.read(op, function, self._energy, params, spectrum)
        else:
            value = function(self._energy, *params)
        bad = outside(op, params)
        if np.any(bad):
            value = np.where(bad, np.nan, value)
        full = np.broadcast_shapes(np.shape(value), self._energy.shape)
        return np.asarray(value if np.shape(value) == full else np.broadcast_to(value, full))

    def _value(self, index: int, traces: Array, slots: list[Array | None]) -> Array:
        plan = self.plan
        source = int(plan.op_source_slot[index])
        read = slots[source] if source >= 0 else None
        if plan.op_kinds[index] == ADD_SLOT:
            assert read is not None
            return read
        op = plan.op(int(plan.op_kinds[index]))
        if plan.op_depends[index]:
            return self._average(index, op, traces, read)
        if index not in self._kept:
            self._kept[index] = self._average(index, op, traces, read)
        return self._kept[index]

    def _spectra(self, traces: Array, fixed: Array) -> list[Array | None]:
        """What is in each slot when all ops have run."""
        plan, window = self.plan, self.window
        if self._kept_fixed != fixed.tobytes():
            self._kept.clear()
            self._kept_fixed = fixed.tobytes()
        slots: list[Array | None] = [None] * plan.n_slots
        full = (window.row_end - window.row_begin, self._energy.size)
        for index in range(plan.n_ops):
            value = self._value(index, traces, slots)
            target = int(plan.op_target_slot[index])
            held = slots[target]
            if plan.op_store[index] or held is None:
                kept = not plan.op_depends[index] or plan.op_kinds[index] == ADD_SLOT
                slots[target] = value.copy() if kept or not value.flags.writeable else value
            elif held.shape == full and held.ndim >= value.ndim:
                np.add(held, value, out=held)
            else:
                slots[target] = held + value
        return slots

    def _cut(self, result: Array | None) -> Array:
        """The window of a spectrum."""
        window = self.window
        columns = window.x_end - window.x_begin
        begin = self._first
        line = np.zeros(columns) if result is None else result[..., begin : begin + columns]
        return np.ascontiguousarray(np.broadcast_to(line, window.shape))
