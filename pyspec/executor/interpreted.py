"""The interpreted executor: runs a plan with NumPy, one vectorised call a node.

It is the yardstick of the ablation, so it is written as a careful NumPy programmer would:
what does not move in time is evaluated on one line, what does not depend on the free
parameters is kept from call to call, sums go on in place.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pyspec._library import OpDef
from pyspec.errors import DataError
from pyspec.executor.base import Array, Executor, Values
from pyspec.formula import run_rpn
from pyspec.functions import outside, reference
from pyspec.model import Measurement
from pyspec.plan.pack import OPS_BY_INDEX
from pyspec.plan.scheduled import ADD_SLOT, RESOLVE_DYNAMICS, ScheduledPlan


class InterpretedExecutor(Executor):
    """NumPy evaluation of a plan (``fit_model_gir``)."""

    name: ClassVar[str] = "interpreted"

    def __init__(self, plan: ScheduledPlan, measurement: Measurement | None = None) -> None:
        super().__init__(plan, measurement)
        window = self.window
        fed = any(kind != ADD_SLOT and OPS_BY_INDEX[kind].spectrum_fed for kind in plan.op_kinds)
        # A spectrum-fed op needs every energy above the window.
        self._energy = plan.energy[window.x_begin : None if fed else window.x_end]
        self._data: Array | None = None
        if self.measurement.data is not None:
            self._data = window.crop(self.measurement.data).astype(np.float64)
        self._kept: dict[int, Array] = {}
        self._kept_fixed: bytes | None = None

    def run(self, theta: Values, fixed: Values = None) -> Array:
        plan = self.plan
        free = plan.values(theta, plan.opt_param_names, plan.theta, "free")
        given = plan.values(fixed, plan.fixed_names, plan.fixed, "fixed")
        with np.errstate(all="ignore"):
            traces = self._resolve(free, given)
            return self._spectrum(traces, given)

    def residual(self, theta: Values, fixed: Values = None, out: Array | None = None) -> Array:
        if self._data is None:
            raise DataError("a residual needs data; give the measurement some")
        residual = np.subtract(self._data, self.run(theta, fixed))
        if self.window.weight is not None:
            residual *= self.window.crop(self.window.weight)
        if self.measurement.keep is not None:
            residual[~self.window.crop(self.measurement.keep).astype(bool)] = 0.0
        flat = residual.ravel()
        if out is None:
            return flat
        out[:] = flat
        return out

    def traces(self, theta: Values, fixed: Values = None) -> Array:
        """Every parameter resolved over time: (n_params, n_time)."""
        plan = self.plan
        with np.errstate(all="ignore"):
            return self._resolve(
                plan.values(theta, plan.opt_param_names, plan.theta, "free"),
                plan.values(fixed, plan.fixed_names, plan.fixed, "fixed"),
            )

    def _resolve(self, theta: Array, fixed: Array) -> Array:
        plan = self.plan
        traces = np.empty((plan.n_params, plan.n_time))
        n_inputs = theta.size + fixed.size
        traces[: theta.size] = theta[:, np.newaxis]
        traces[theta.size : n_inputs] = fixed[:, np.newaxis]
        for kind, index in zip(plan.resolution_kinds, plan.resolution_indices, strict=True):
            if kind == RESOLVE_DYNAMICS:
                self._resolve_group(index, traces)
            else:
                program = plan.expr_code[plan.expr_indptr[index] : plan.expr_indptr[index + 1]]
                traces[plan.expr_target_rows[index]] = run_rpn(program, traces)
        return traces

    def _resolve_group(self, group: int, traces: Array) -> None:
        plan = self.plan
        total: Array | float = 0.0
        for sub in range(plan.dyn_group_indptr[group], plan.dyn_group_indptr[group + 1]):
            op = OPS_BY_INDEX[plan.dyn_sub_func_id[sub]]
            rows = plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]]
            params = [traces[row, 0] if row >= 0 else 0.0 for row in rows]
            trace = np.nan if outside(op, params) else reference(op.name)(plan.time, *params)
            total = trace if sub == plan.dyn_group_indptr[group] else total + trace
        base = traces[plan.dyn_group_base_row[group]]
        traces[plan.dyn_group_target_row[group]] = base + total

    def _params(self, index: int, traces: Array) -> list[Array | float]:
        """Parameters of an op: numbers, or (n_rows, 1) where they move."""
        plan, window = self.plan, self.window
        rows = plan.op_param_indices[plan.op_param_indptr[index] : plan.op_param_indptr[index + 1]]
        return [
            0.0
            if row < 0
            else traces[row, window.row_begin : window.row_end, np.newaxis]
            if plan.row_moves[row]
            else traces[row, 0]
            for row in rows
        ]

    def _component(self, index: int, op: OpDef, traces: Array, read: Array | None) -> Array:
        """One component: a line (n_energy,) where nothing moves, else (n_rows, n_energy)."""
        params = self._params(index, traces)
        function = reference(op.name)
        if op.spectrum_fed:
            spectrum = np.zeros(self._energy.size) if read is None else read
            value = function(self._energy, *params, spectrum)
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
        op = OPS_BY_INDEX[plan.op_kinds[index]]
        if plan.op_depends[index]:
            return self._component(index, op, traces, read)
        if index not in self._kept:
            self._kept[index] = self._component(index, op, traces, read)
        return self._kept[index]

    def _spectrum(self, traces: Array, fixed: Array) -> Array:
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
        result = slots[plan.result_slot]
        columns = window.x_end - window.x_begin
        line = np.zeros(columns) if result is None else result[..., :columns]
        return np.ascontiguousarray(np.broadcast_to(line, window.shape))
