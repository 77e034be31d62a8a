"""Derivatives through formulas that sum over the energies, which NumPy runs.

C takes such a component as an array. The derivative of the component by a free parameter is a sum
over the parameters of the formula. Each term is the slope of the formula by its parameter, times
the derivative of this parameter by the free one. Both are exact. Components above it that read the
spectrum are linear in it. So the change of the model is the difference of two evaluations, however
far apart they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pyspec._library import OPS
from pyspec.executor.base import Window
from pyspec.executor.interpreted import InterpretedExecutor
from pyspec.executor.protocol import Array, Executor, Values
from pyspec.passes import Pace
from pyspec.plan import ScheduledPlan
from pyspec.plan.columns import dependence, summed_components
from pyspec.plan.scheduled import ADD_SLOT, EXTERNAL

#: The largest change over the largest value of the spectrum in such a difference, which then loses
#: nothing but the rounding of the change.
FAR = 1024.0


class SumSlopes:
    """What the sums of a plan add to the derivatives of the model. `helper` runs it in NumPy,
    `make` makes an executor of another plan."""

    def __init__(
        self, helper: InterpretedExecutor, make: Callable[[ScheduledPlan], Executor]
    ) -> None:
        self.plan, self._helper, self._make = helper.plan, helper, make
        plan = self.plan
        external = np.flatnonzero(plan.op_kinds <= EXTERNAL).tolist()
        #: Each component with its place among those that Python fills.
        self.components = [(index, external.index(index)) for index in summed_components(plan)]
        ops = [plan.op(kind) for kind in plan.op_kinds.tolist() if kind != ADD_SLOT]
        self.is_read = any(op.spectrum_fed for op in ops)
        self._traces: dict[tuple[int, int], Executor] = {}

    def add(
        self,
        columns: Array,
        window: Window,
        run_with: Callable[[tuple[Array, Array]], Array],
        theta: Array,
        fixed: Values,
    ) -> None:
        """Adds to (n_free, n) derivatives of the model over the window, in place; `run_with` gives
        the model, flat, with other traces and components in place of those of Python."""
        external = self._helper.external(theta, fixed)
        base = run_with(external) if self.is_read else None
        for k, changed in self._changes(theta, fixed).items():
            if base is None:
                full = np.sum(list(changed.values()), axis=0)
                columns[k] += window.crop(full.reshape(self.plan.shape)).ravel()
                continue
            direction = np.zeros_like(external[1])
            for place, change in changed.items():
                direction[place] = change
            largest = np.abs(direction).max()
            if largest == 0.0:
                continue
            step = 2.0 ** np.ceil(np.log2(FAR * max(np.abs(base).max() / largest, 1e-300)))
            there = run_with((external[0], external[1] + step * direction))
            columns[k] += (there - base) / step

    def _changes(self, theta: Array, fixed: Values) -> dict[int, dict[int, Array]]:
        """For each free parameter, by its place, what it changes in each component."""
        plan, helper = self.plan, self._helper
        traces = helper.traces(theta, fixed)
        changes: dict[int, dict[int, Array]] = {}
        for index, place in self.components:
            begin, end = plan.op_param_indptr[index : index + 2]
            rows = plan.op_param_indices[begin:end].tolist()
            weights = plan.aux_weights if plan.op_sampled[index] else None
            for point, share in enumerate([1.0] if weights is None else weights.tolist()):
                slopes = helper.sum_slopes(index, traces, point)
                for row, slope in zip(rows, slopes, strict=True):
                    for k, moved in self._row(row, point, theta, fixed).items():
                        own = changes.setdefault(k, {})
                        own[place] = own.get(place, 0.0) + share * slope * moved[:, np.newaxis]
        return changes

    def _row(self, row: int, point: int, theta: Array, fixed: Values) -> dict[int, Array]:
        """The derivative of a trace by each free parameter that it depends on, over the times; of a
        block at a point of the auxiliary axis."""
        plan = self.plan
        if row < theta.size:
            return {row: np.ones(plan.n_time)}
        moving = sorted(dependence(plan, row))
        if not moving:
            return {}
        at = point if row >= plan.samples else -1
        if (row, at) not in self._traces:
            self._traces[row, at] = self._make(_alone(plan, row, at))
        slopes = -self._traces[row, at].jacobian(theta, fixed, known_only=True)
        return {k: slopes[k] for k in moving}


def _alone(plan: ScheduledPlan, row: int, point: int) -> ScheduledPlan:
    """The plan of one trace, as an Offset at one energy; of a block at one auxiliary point."""
    zero = np.zeros(1, np.int64)
    weights = plan.aux_weights
    if weights is not None and point >= 0:
        weights = (np.arange(plan.n_aux) == point).astype(np.float64)
    return replace(
        plan,
        energy=np.zeros(1),
        input_names=((), *plan.input_names[1:]),
        aux_weights=weights,
        op_names=("trace",),
        op_kinds=zero + OPS["Offset"].index,
        op_param_indptr=np.array([0, 1]),
        op_param_indices=zero + row,
        op_source_slot=zero - 1,
        op_target_slot=zero,
        op_store=zero == 0,
        op_pace=zero + int(Pace.MOVING),
        op_depends=zero == 0,
        op_sampled=np.array([point >= 0]),
        separable=False,
        n_slots=1,
        result_slot=0,
    )
