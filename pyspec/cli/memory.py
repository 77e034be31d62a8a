"""``pyspec explain --memory``: what an evaluation in C holds besides the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyspec._library import CONSTANTS, LIBRARY
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit.table import text_table
from pyspec.model import Model
from pyspec.plan import ScheduledPlan

#: Times at which memory is compared with that of the model's own axis.
MORE = 1024


def memory_text(model: Model) -> str:
    """The axis stage row by row, what it takes for each time, and the scratch of a thread."""
    plan = make_plan(model)
    executor = CompiledExecutor(plan)
    rows = [["row", "slopes", "bytes a time"]]
    for row in axis_rows(executor):
        slopes = int(plan.row_theta_indptr[row + 1] - plan.row_theta_indptr[row])
        rows.append([plan.row_names[row], str(slopes), str(8 * (1 + slopes))])
    if len(rows) > 1:
        lead = "Axis stage: traces that kernels read and write along all times, with their slopes"
        held = f"{lead}\n{text_table(rows, '<>>')}"
    else:
        held = "Axis stage: empty, no kernel runs along the times"
    problem = executor.problem.ctypes.data
    prepared = prepared_size(executor)
    lines = [
        f"prepared, shared by threads: {prepared:,} bytes on {plan.n_time} times"
        f" and {plan.energy.size} energies"
    ]
    if plan.time is not None and not plan.is_trace and not plan.dyn_time_axes.size:
        each = (prepared_size(CompiledExecutor(_longer(plan))) - prepared) / MORE
        lines.append(f"each further time, scratch of the kernels included: {each:.0f} bytes")
    work = LIBRARY.pyspec_jacobian_work_size(executor.packed.address, problem)
    lines.append(f"work, for each thread: {int(work):,} bytes, whatever the number of times")
    return "Memory of normal equations in C, besides the data\n" + "\n".join(
        [held, *(f"  {line}" for line in lines)]
    )


def axis_rows(executor: CompiledExecutor) -> list[int]:
    """The trace rows of the axis stage, in the order in which they are written."""
    n_resolve = int(executor.packed.header["n_resolve"])
    nodes = executor.packed.nodes()[:n_resolve]
    along = nodes[nodes["stage"] == CONSTANTS["STAGE_AXIS"]]
    return list(dict.fromkeys(along["target"].tolist()))


def prepared_size(executor: CompiledExecutor) -> int:
    """Bytes that are prepared once for a theta, with slopes."""
    what = CONSTANTS["PREPARE_SLOPES"]
    problem = executor.problem.ctypes.data
    return int(LIBRARY.pyspec_prepared_size(executor.packed.address, problem, what))


def _longer(plan: ScheduledPlan) -> ScheduledPlan:
    """The plan on :data:`MORE` further times."""
    assert plan.time is not None
    time = np.concatenate([plan.time, plan.time[-1] + np.arange(1.0, MORE + 1)])
    masks = np.zeros((len(plan.dyn_masks), time.size), dtype=plan.dyn_masks.dtype)
    return replace(plan, time=time, dyn_time_axes=np.zeros((0, time.size)), dyn_masks=masks)
