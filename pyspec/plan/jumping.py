"""Which functions of a plan jump along their axis where a free parameter says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: A :class:`~pyspec.plan.scheduled.ScheduledPlan`, which has these jumps as an attribute.
Plan = Any

#: Along which axis a function runs: the energies, the times, the auxiliary points.
ENERGIES, TIMES, POINTS = 0, 1, 2


class Jump(NamedTuple):
    """A parameter of a function that is a free parameter itself and moves a jump.

    Attributes
    ----------
    code : of the function, see :meth:`ScheduledPlan.op`
    along : ENERGIES, TIMES or POINTS
    cycle : of a law the axis of sub-cycles that it runs along, counted from 1; 0 for none
    argument : what the function calls the parameter
    where : as the op table has it: the height of the jump, of a kernel where it lies
    rows : rows of the trace matrix of all parameters of the function, -1 where left out
    row : that of this parameter
    """

    code: int
    along: int
    cycle: int
    argument: str
    where: str
    rows: tuple[int, ...]
    row: int


def jumps_in(plan: Plan) -> tuple[Jump, ...]:
    """Every jump that a free parameter moves directly. Values have no part in it."""
    n_free = len(plan.opt_param_names)
    jumps = []
    for code, along, cycle, rows in _functions(plan):
        op = plan.op(code)
        where = dict(op.jumps)
        for argument, row in zip(op.params, rows, strict=False):
            if 0 <= row < n_free and argument in where:
                jumps.append(Jump(code, along, cycle, argument, where[argument], rows, row))
    return tuple(jumps)


def samples_of(plan: Plan, jump: Jump) -> npt.NDArray[np.float64]:
    """The samples of the axis that a function runs along."""
    if jump.along == ENERGIES:
        return np.asarray(plan.energy)
    axis = plan.aux if jump.along == POINTS else plan.time
    if jump.cycle:
        axis = plan.dyn_time_axes[jump.cycle - 1]
    return np.asarray(axis)


def _functions(plan: Plan) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """Code, axis, sub-cycle and parameter rows of each function that may have jumps."""
    if plan.time is not None:
        for sub, code in enumerate(plan.dyn_sub_func_id.tolist()):
            if plan.dyn_sub_external[sub] < 0:
                rows = plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]].tolist()
                yield code, TIMES, int(plan.dyn_sub_axis[sub]), tuple(rows)
    for sub, code in enumerate(plan.prof_sub_func_id.tolist()):
        rows = plan.prof_sub_param_rows[sub, : plan.prof_sub_n_params[sub]].tolist()
        yield code, POINTS, 0, tuple(rows)
    for k, code in enumerate(plan.op_kinds.tolist()):
        if code >= 0:
            rows = plan.op_param_indices[plan.op_param_indptr[k] : plan.op_param_indptr[k + 1]]
            yield code, ENERGIES, 0, tuple(rows.tolist())
