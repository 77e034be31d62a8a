"""Says why a model is not finite: which parameter of which component left its domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.errors import FitError, PyspecError
from pyspec.executor import InterpretedExecutor, make_plan
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.functions import holds, outside
from pyspec.model import Model
from pyspec.model.facts import Outline
from pyspec.plan import ScheduledPlan
from pyspec.plan.scheduled import ADD_SLOT

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A mixing of a line this far outside of 0 to 1 is none.
MIXED = 0.5


def explain_nonfinite(model: Model, theta: Array) -> str:
    """One sentence on what is not finite at `theta` (in the order of ``opt_param_names``)."""
    try:
        plan = make_plan(model, without=("drop", "share"))  # rows under the names of the model
        executor = InterpretedExecutor(plan)
        traces = executor.traces(theta)
        outside = (_guards(plan, *call, traces) for call in _called(plan))
        return (
            next(filter(None, outside), "")
            or _expressions(model, plan, traces)
            or _mixings(model, plan, traces)
            or _spectrum(plan, executor.run(theta))
        )
    except PyspecError as error:
        return f"the model cannot be evaluated there: {error}"


def explain_slopes(names: Sequence[str], slopes: Array) -> str:
    """One sentence on derivatives (n_free, n_points) of a residual that is finite; "" where their
    squares are finite too."""
    bad = ~np.isfinite(slopes * slopes)  # sums of squares are what a fit is made of
    lost = [name for name, row in zip(names, bad, strict=True) if row.any()]
    if not lost:
        return ""
    points = int(bad[list(names).index(lost[0])].sum())
    return (
        f"that of the residual by {lost[0]} is too large at {points} of {slopes.shape[1]} points, "
        f"though the residual itself is finite; hold {' and '.join(lost)} fixed, narrow the "
        "window, or change the values that make it so large"
    )


def refusal(
    label: str, count: int, reason: tuple[str, str], names: Sequence[str], theta: Sequence[float]
) -> FitError:
    """The error of a fit at its evaluation number `count`: what is not finite, and why."""
    when = "at the start" if count == 1 else f"at evaluation {count}"
    values = ", ".join(f"{n} = {v:.6g}" for n, v in zip(names, theta, strict=True))
    subject, why = reason
    return FitError(
        f"{label}: {subject} is not finite {when}: {why}. Free parameters there: {values}"
    )


def _called(plan: ScheduledPlan) -> Iterator[tuple[OpDef, str, Ints]]:
    """Each law and component with its name and the rows of its parameters. Components come in file
    order, so that one is named before those that follow it."""
    for group, base in enumerate(plan.dyn_group_base_row):
        for sub in range(plan.dyn_group_indptr[group], plan.dyn_group_indptr[group + 1]):
            op = plan.op(int(plan.dyn_sub_func_id[sub]))
            rows = plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]]
            yield op, f"the {op.name} of {plan.row_names[base]}", rows
    for index in reversed(range(plan.n_ops)):
        kind = plan.op_kinds[index]
        if kind != ADD_SLOT:
            begin, end = plan.op_param_indptr[index], plan.op_param_indptr[index + 1]
            yield plan.op(int(kind)), plan.op_names[index], plan.op_param_indices[begin:end]


def _guards(plan: ScheduledPlan, op: OpDef, name: str, rows: Ints, traces: Array) -> str:
    params = [traces[row] if row >= 0 else np.zeros(plan.n_time) for row in rows]
    bad = np.broadcast_to(np.asarray(outside(op, params)), (plan.n_time,))
    if not bad.any():
        return ""
    at = int(np.argmax(bad))
    when = (
        f" at time {plan.time[at]:g} (row {at})" if plan.time is not None and not bad.all() else ""
    )
    values = [param[at] for param in params]
    for guard in op.guards:
        if not holds(guard, values):
            value, full = values[guard.param], plan.row_names[rows[guard.param]]
            shown = f"{guard.other:g}"
            if guard.relative:
                other = int(guard.other)
                shown = f"{op.params[other]} = {values[other]:g}"
            return (
                f"{name} is outside of its domain{when}: {full} = {value:g}, but "
                f"{op.params[guard.param]} {guard.comparison} {shown} is needed; "
                "give it bounds that keep it there"
            )
    row = next(row for row in rows if row >= 0 and not np.isfinite(traces[row, at]))
    return f"{name} has {plan.row_names[row]} = {traces[row, at]}{when}"


def _expressions(model: Model, plan: ScheduledPlan, traces: Array) -> str:
    for row, name in enumerate(plan.row_names):
        if not np.isfinite(traces[row]).all():
            value = traces[row][~np.isfinite(traces[row])][0]
            expr = model.parameters[name].expr if name in model.parameters else None
            shown = f" (expression {expr!r})" if expr else ""
            return f"{name} is {value}{shown}; choose values and bounds that keep it finite"
    return ""


def _mixings(model: Model, plan: ScheduledPlan, traces: Array) -> str:
    """A line whose Gaussian grows without end, as its mixing is none."""
    for name in Outline(model).mixings:
        value = traces[plan.row_names.index(name)]
        if not -MIXED <= float(value.min()) <= float(value.max()) <= 1.0 + MIXED:
            return str(no_mixing(name, float(value[np.argmax(np.abs(value))])))
    return ""


def no_mixing(name: str, value: float) -> Finding:
    """A mixing that is none, such as the percents of CasaXPS."""
    return Finding(Kind.MIXING_NOT_A_SHARE, (name,), {"value": value})


def _spectrum(plan: ScheduledPlan, spectrum: Array) -> str:
    bad = ~np.isfinite(spectrum)
    if not bad.any():
        return "the model is finite there, but the residual is not: look at data and weights"
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f"energy {plan.energy[at[-1]]:g}"
    if plan.time is not None:
        where = f"time {plan.time[at[0]]:g}, {where}"
    return f"the model is not finite at {where}: a value overflows"
