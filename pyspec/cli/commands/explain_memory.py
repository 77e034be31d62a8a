"""``pyspec explain --memory``: what an evaluation in C holds besides the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyspec._library import CONSTANTS, LIBRARY
from pyspec._library.memory import address
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit.results.table import text_table
from pyspec.ir import build_graph
from pyspec.memory import Choice
from pyspec.model import Model
from pyspec.passes import run
from pyspec.plan import ScheduledPlan
from pyspec.plan.memory import planned

#: Times at which memory is compared with that of the model's own axis.
MORE = 1024

#: The phases of work memory, as the library numbers them, and when they are there.
PHASES = {
    "WORK_KEPT": "all the time",
    "WORK_RESOLVE": "while traces are resolved",
    "WORK_APART": "sums over energies and times apart",
    "WORK_SHAPES": "while the shapes of such sums are prepared",
    "WORK_TILE": "while spectra and columns are computed",
}


def memory_text(model: Model) -> str:
    """Memory by use: the axis stage row by row with its share for each time, the scratch of a
    thread by phases, and what the memory planner shares."""
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
    prepared = prepared_size(executor)
    lines = [
        f"prepared, shared by threads: {prepared:,} bytes on {plan.n_time} times"
        f" and {plan.energy.size} energies"
    ]
    if plan.time is not None and not plan.is_trace and not plan.dyn_time_axes.size:
        each = (prepared_size(CompiledExecutor(_longer(plan))) - prepared) / MORE
        lines.append(f"each further time, scratch of the kernels included: {each:.0f} bytes")
    if span := span_size(executor):
        lines.append(f"in a fit, for the span of its functions of time: {span:,} bytes")
    phases, size = work_phases(executor)
    uses = [["work memory", "bytes"], *([PHASES[name], f"{n:,}"] for name, n in phases.items())]
    work = (
        f"Work, for each thread: {size:,} bytes, whatever the number of times; one behind the"
        f" other {sum(phases.values()):,}\n{text_table(uses, '<>')}"
    )
    parts = [held, *(f"  {line}" for line in lines), work, _planner_text(model)]
    return "Memory of normal equations in C, besides the data\n" + "\n".join(parts)


def work_phases(executor: CompiledExecutor) -> tuple[dict[str, int], int]:
    """Bytes of each phase of a thread's work memory, with derivatives, and of all: phases that are
    not there at the same time lie over one another."""
    sizes = np.zeros(len(PHASES), np.int64)
    problem = executor.problem.ctypes.data
    size = LIBRARY.pyspec_work_phases(executor.packed.address, problem, 1, address(sizes))
    return {name: int(sizes[CONSTANTS[name]]) for name in PHASES}, int(size)


def _planner_text(model: Model) -> str:
    """Spectra and registers for each choice of the planner; the first line is what is used."""
    graph, _, _ = run(build_graph(model))
    choices = planned(graph)
    rows = [["order", "fit", "in place", "spectra", *choices[0].registers]]
    for choice, spectra, registers in sorted(choices, key=lambda entry: entry.choice != Choice()):
        place = "yes" if choice.in_place else "no"
        counts = [str(spectra), *map(str, registers.values())]
        rows.append([choice.order, choice.fit, place, *counts])
    lead = "Memory planner: spectra at the same time"
    if choices[0].registers:
        lead += ", and registers of each formula"
    lead += "; the first line is what runs"
    return f"{lead}\n{text_table(rows, '<<<' + '>' * (len(rows[0]) - 3))}"


def axis_rows(executor: CompiledExecutor) -> list[int]:
    """The trace rows of the axis stage, in the order in which they are written."""
    n_resolve = int(executor.packed.header["n_resolve"])
    nodes = executor.packed.nodes()[:n_resolve]
    along = nodes[nodes["stage"] == CONSTANTS["STAGE_AXIS"]]
    return list(dict.fromkeys(along["target"].tolist()))


def prepared_size(executor: CompiledExecutor) -> int:
    """Bytes that are prepared once for a theta, with slopes."""
    slopes = CONSTANTS["PREPARE_SLOPES"]
    problem = executor.problem.ctypes.data
    return int(LIBRARY.pyspec_prepared_size(executor.packed.address, problem, slopes))


def span_size(executor: CompiledExecutor) -> int:
    """Bytes by which a fit need not read the data in every evaluation; 0 where it must."""
    problem = executor.problem.ctypes.data
    return int(LIBRARY.pyspec_span_size(executor.packed.address, problem))


def _longer(plan: ScheduledPlan) -> ScheduledPlan:
    """The plan on :data:`MORE` further times."""
    assert plan.time is not None
    time = np.concatenate([plan.time, plan.time[-1] + np.arange(1.0, MORE + 1)])
    masks = np.zeros((len(plan.dyn_masks), time.size), dtype=plan.dyn_masks.dtype)
    return replace(plan, time=time, dyn_time_axes=np.zeros((0, time.size)), dyn_masks=masks)
