"""The plans of a model with free amplitudes: several basis functions in one walk each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pyspec.errors import ModelError
from pyspec.ir import AUX, ENERGY, TIME, GraphIR
from pyspec.model import Model, Par
from pyspec.passes import run
from pyspec.passes.basis import (
    Part,
    against,
    axes_of,
    basis,
    joined,
    parameters_of,
    parts_of,
    rest_of,
    turned,
)
from pyspec.passes.expand import expanded
from pyspec.plan.columns import choose_columns, dependence
from pyspec.plan.pack import PackedPlan, pack
from pyspec.plan.pinned import PinnedAxes, pin_axes
from pyspec.plan.schedule import schedule
from pyspec.plan.scheduled import ADD_SLOT, ScheduledPlan

#: In place of a basis function: what has no free amplitude.
REST = -1


def placed(
    plan: ScheduledPlan, model: Model, parameters: Mapping[str, Par], is_turned: bool = False
) -> ScheduledPlan:
    """A plan with the values, the axes and the inputs of a model; its rows are energies where it
    `is_turned`."""
    theta, fixed = (
        np.array([parameters[n].value for n in names], np.float64)
        for names in (plan.opt_param_names, plan.fixed_names)
    )
    axes = (model.time, model.energy) if is_turned else (model.energy, model.time)
    return plan.with_inputs(theta, fixed, *axes, model.aux, model.aux_weights, model.inputs)


@dataclass(frozen=True, eq=False)
class BasisPlan:
    """A plan with several results.

    Attributes
    ----------
    plan, packed : the plan, and it in the form of C
    of : which basis function each result is, or :data:`REST`
    along : the axis of its rows, "energy" where it is turned, or "time"; None where each result is
        one line for all of them
    """

    plan: ScheduledPlan
    packed: PackedPlan
    of: tuple[int, ...]
    along: str | None

    def placed(self, model: Model, parameters: Mapping[str, Par]) -> BasisPlan:
        """The same with the values, the axes and the inputs of a model of the same structure."""
        return replace(self, plan=placed(self.plan, model, parameters, self.along == "energy"))

    @cached_property
    def pinned(self) -> PinnedAxes:
        """The axes and the inputs in the form of C."""
        return pin_axes(self.plan)


def basis_plans(graph: GraphIR) -> tuple[BasisPlan, ...]:
    """Plans of all basis functions and of the rest. Raises :class:`ModelError` where one depends on
    the energy and cannot be turned."""
    parts = [(k, part) for k, part in enumerate(parts_of(graph))]
    return _plans(graph, [*parts, *((REST, part) for part in rest_of(graph))])


def rest_plans(graph: GraphIR) -> tuple[tuple[BasisPlan, ...], list[str]]:
    """Plans of the rest, one result for each function, and the names of these."""
    parts = rest_of(graph)
    names = [graph.nodes[number].name for part in parts for number in part.functions]
    return _plans(graph, list(enumerate(parts))), names


def is_pointwise(graph: GraphIR) -> bool:
    """Whether all parts have a value at any point of their own axis, whatever samples there are,
    and do not move."""
    parts = [*parts_of(graph), *rest_of(graph)]
    return not any(
        against(graph, part.functions) or axes_of(graph, part) & (TIME | AUX) for part in parts
    )


def _plans(graph: GraphIR, parts: Sequence[tuple[int, Part]]) -> tuple[BasisPlan, ...]:
    own = "energy" if graph.is_of_laws else "time"
    bit = ENERGY if graph.is_of_laws else TIME
    plans = []
    for along in (None, own):
        here = [
            pair for pair in parts if bool(axes_of(graph, pair[1]) & bit) == (along is not None)
        ]
        rest = joined([part for k, part in here if k == REST])
        here = [*(pair for pair in here if pair[0] != REST), *((REST, part) for part in rest)]
        if not here:
            continue
        own_parts = [part for _, part in here]
        for part in own_parts if along == "energy" else ():
            if reason := against(graph, part.functions):
                moved = [n for n in parameters_of(graph, part) if graph.axes[n] & ENERGY]
                raise ModelError(
                    f"{graph.name}: {graph.nodes[moved[-1]].name} depends on the energy, but "
                    f"{reason}; this needs laws or formulas with gaussIRF, measuredIRF or no "
                    "instrument"
                )
        made = expanded(basis(graph, own_parts, along))
        plan = schedule(*run(turned(made) if along == "energy" else made, ("separable",))[:2])
        of = tuple(k for k, _ in here)
        plans.append(BasisPlan(plan, pack(plan), of, along))
    return tuple(plans)


@dataclass(frozen=True)
class Slope:
    """A derivative of a result that is not 0 everywhere. It is taken by a column of the plan, or by
    a parameter of theta. `parts` are the pairs that it contributes to: a trace row, or -1 for the
    factor 1, and a place in theta."""

    result: int
    by: int
    parts: tuple[tuple[int, int], ...]


def slopes_of(plan: ScheduledPlan) -> list[Slope]:
    """Those of a plan in C: of spectra by the columns of the plan, of traces by theta."""
    if plan.is_trace:
        return [
            Slope(k, theta, ((-1, theta),))
            for k, row in enumerate(plan.results.tolist())
            for theta in sorted(dependence(plan, row))
        ]
    columns = choose_columns(plan)
    written = _slot_columns(plan, columns)
    n_theta = len(plan.opt_param_names)
    chain = [
        ((-1, row),) if row < n_theta else tuple((row, t) for t in sorted(dependence(plan, row)))
        for row in columns
    ]
    return [
        Slope(k, column, chain[column])
        for k, slot in enumerate(plan.results.tolist())
        for column in sorted(written[slot])
    ]


def slopes_by_theta(plan: ScheduledPlan) -> list[Slope]:
    """The same by theta, for differences."""
    pairs = {(slope.result, theta) for slope in slopes_of(plan) for _, theta in slope.parts}
    return [Slope(k, theta, ((-1, theta),)) for k, theta in sorted(pairs)]


def _slot_columns(plan: ScheduledPlan, columns: Sequence[int]) -> list[set[int]]:
    """The columns of each slot that are not zero when all ops have run."""
    place = {row: column for column, row in enumerate(columns)}
    written: list[set[int]] = [set() for _ in range(plan.n_slots)]
    for index in range(plan.n_ops):
        source, target = int(plan.op_source_slot[index]), int(plan.op_target_slot[index])
        own = set(written[source]) if source >= 0 else set()
        if plan.op_kinds[index] != ADD_SLOT:
            begin, end = plan.op_param_indptr[index : index + 2]
            for row in plan.op_param_indices[begin:end].tolist():
                points = plan.n_aux if row >= plan.samples else 1
                for sample in range(row, row + points) if row >= 0 else ():
                    rows = [sample] if sample in place else sorted(dependence(plan, sample))
                    own |= {place[by] for by in rows}
        written[target] = own if plan.op_store[index] else written[target] | own
    return written
