"""In which columns the derivatives of a plan are summed.

J is [parameters of components] times [derivatives of these by theta]. The second factor does not
depend on the energy. So the Gram matrix may be summed over the columns of the first factor and
contracted afterwards, once for each row. If four free parameters move one position, one column
replaces four. If many parameters are tied to few free ones, the columns of the free ones are fewer.
The choice here is the one with fewer columns, since the cost of a point goes with their square.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pyspec.plan.scheduled import ADD_SLOT, EXTERNAL, ScheduledPlan


def dependence(plan: ScheduledPlan, row: int) -> frozenset[int]:
    """The free parameters, as rows, that a trace row depends on."""
    begin, end = plan.row_theta_indptr[row : row + 2]
    return frozenset(plan.row_theta[begin:end].tolist())


def external_parameters(plan: ScheduledPlan) -> tuple[int, ...]:
    """The free parameters without known derivatives, by their place in theta: those that registered
    functions read, or formulas that sum over the energies."""
    rows: set[int] = set()
    for sub in np.flatnonzero(plan.dyn_sub_external >= 0):
        rows.update(plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]].tolist())
    for index in range(plan.n_ops):
        if plan.op_kinds[index] <= EXTERNAL:
            begin, end = plan.op_param_indptr[index : index + 2]
            rows.update(plan.op_param_indices[begin:end].tolist())
    return tuple(sorted(_union(dependence(plan, row) for row in rows if row >= 0)))


def component_rows(plan: ScheduledPlan) -> tuple[set[int], set[int]]:
    """Trace rows that components read and that depend on theta. Plain rows come first, then those
    of blocks along the auxiliary axis (every row of a block)."""
    plain: set[int] = set()
    sampled: set[int] = set()
    for index in range(plan.n_ops):
        if plan.op_kinds[index] == ADD_SLOT:
            continue
        begin, end = plan.op_param_indptr[index : index + 2]
        for row in plan.op_param_indices[begin:end].tolist():
            if row >= plan.samples:
                sampled.update(range(row, row + plan.n_aux))
            elif row >= 0:
                plain.add(row)
    moving = [{row for row in rows if dependence(plan, row)} for rows in (plain, sampled)]
    return moving[0], moving[1]


def _union(sets: Iterable[frozenset[int]]) -> set[int]:
    return set().union(*sets)


def choose_columns(plan: ScheduledPlan) -> tuple[int, ...]:
    """The trace rows that are columns of their own, rising. Any other row is replaced by the free
    parameters that it depends on, which then are columns.

    Rows that depend on the same parameters are judged together. They become columns if this leaves
    fewer columns in all.
    """
    plain, sampled = component_rows(plan)
    groups: dict[frozenset[int], set[int]] = {}
    for row in plain:
        groups.setdefault(dependence(plan, row), set()).add(row)
    whole = {key: rows for key, rows in groups.items() if len(key) > 1}
    singles = _union(key for key in groups if len(key) == 1)
    always = singles | _union(dependence(plan, row) for row in sampled)
    chosen: set[frozenset[int]] = set()

    def count(own: set[frozenset[int]]) -> int:
        theta = always | _union(key for key in whole if key not in own)
        return len(theta) + sum(len(whole[key]) for key in own)

    for key in sorted(whole, key=lambda key: (len(whole[key]) - len(key), sorted(key))):
        if count(chosen | {key}) < count(chosen):
            chosen.add(key)
    theta = always | _union(key for key in whole if key not in chosen)
    return tuple(sorted(theta.union(*(whole[key] for key in chosen))))
