"""ScheduledPlan1D and ScheduledPlan2D: what to compute, in which order, as packed arrays.

A plan holds no reference to the model tree or the graph. It is immutable, picklable and
hashable, and is all that an executor needs besides the measurement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.errors import DataError, PlanError, suggest
from pyspec.formula import op_of
from pyspec.model.build.inputs import ALONG, check_input, inputs_of, missing_input
from pyspec.model.theta import values_of
from pyspec.plan.jumping import Jump, jumps_in

if TYPE_CHECKING:
    from typing_extensions import Self

#: Rows of the op table by op code.
OPS_BY_INDEX: tuple[OpDef, ...] = tuple(op for op in OPS.values() if not op.external)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: The fields that hold inputs, in the order of `input_names`.
INPUT_FIELDS = ("x_inputs", "row_inputs", "aux_inputs")

#: No inputs.
NOTHING: Mapping[str, Array] = MappingProxyType({})

#: Kinds of steps in the resolution schedule.
RESOLVE_DYNAMICS, RESOLVE_EXPRESSION, RESOLVE_PROFILE = 0, 1, 2

#: In place of a trace row: a dynamics group without a base.
NO_BASE = -1

#: Op codes from here down stand for registered functions: `external_names[EXTERNAL - code]`.
EXTERNAL = -2

#: In place of an op code: the op adds one slot to another.
ADD_SLOT = -1


@dataclass(frozen=True, eq=False, repr=False)
class ScheduledPlan:
    """The execution schedule of one model on one grid.

    Every parameter is a row of the trace matrix (n_params, n_time), with n_time = 1 in 1D. First
    come the free parameters in the order of theta, then the fixed ones. Then come the traces that
    Python fills, then the computed ones. Last, from row `samples` on, come blocks of n_aux rows for
    parameters that differ along the auxiliary axis. A block is named by its first row.
    """

    name: str
    energy: Array  # (n_energy,); one point where the result is a trace
    time: Array | None  # (n_time,), None in 1D
    aux: Array | None  # (n_aux,)
    aux_weights: Array | None  # (n_aux,) sum 1
    #: What formulas read along the energies, the times and the auxiliary axis, by name.
    input_names: tuple[tuple[str, ...], ...]
    x_inputs: Array | None  # (n, n_energy) their values, None before they are given
    row_inputs: Array | None  # (n, n_time)
    aux_inputs: Array | None  # (n, n_aux)
    row_names: tuple[str, ...]  # (n_params,)
    opt_param_names: tuple[str, ...]  # the order of theta
    fixed_names: tuple[str, ...]
    theta: Array  # (n_opt,) start values
    fixed: Array  # (n_fixed,) values unless given at run time
    row_moves: Flags  # (n_params,) differs from time to time

    # Dynamics, grouped by the parameter they move (CSR)
    dyn_group_target_row: Ints  # (n_groups,)
    dyn_group_base_row: Ints  # (n_groups,)
    dyn_group_indptr: Ints  # (n_groups + 1,) into the substeps
    dyn_sub_func_id: Ints  # (n_substeps,) row of the op table
    dyn_sub_param_rows: Ints  # (n_substeps, most parameters), -1 where left out
    dyn_sub_n_params: Ints  # (n_substeps,)
    dyn_sub_external: Ints  # (n_substeps,) row of a trace that Python fills, -1 for a law of C
    dyn_sub_axis: Ints  # (n_substeps,) 0 the time axis, k the k-th of dyn_time_axes
    dyn_sub_mask: Ints  # (n_substeps,) row of dyn_masks, -1 none
    dyn_time_axes: Array  # (n_axes, n_time) local times of sub-cycles
    dyn_masks: Flags  # (n_masks, n_time) where a sub-cycle is active

    # Profiles, grouped by the parameter that differs along the auxiliary axis (CSR)
    prof_group_target_row: Ints  # (n_profiles,) first row of the block
    prof_group_base_row: Ints  # (n_profiles,)
    prof_group_indptr: Ints  # (n_profiles + 1,)
    prof_sub_func_id: Ints
    prof_sub_param_rows: Ints  # (n_functions, most parameters), -1 where left out
    prof_sub_n_params: Ints

    # Expressions as packed RPN programs (CSR)
    expr_target_rows: Ints  # (n_expressions,)
    expr_indptr: Ints  # (n_expressions + 1,) into the instructions
    expr_code: Ints  # (n_instructions, 2) instruction, operand
    expr_depth: Ints  # (n_expressions,) stack depth

    # Interleaved parameter resolution
    resolution_kinds: Ints
    resolution_indices: Ints

    # Spectrum ops, in order of execution
    op_names: tuple[str, ...]
    op_kinds: Ints  # (n_ops,) row of the op table, or ADD_SLOT
    op_param_indptr: Ints  # (n_ops + 1,)
    op_param_indices: Ints  # trace rows, -1 where left out
    op_source_slot: Ints  # (n_ops,) spectrum read, -1 none
    op_target_slot: Ints  # (n_ops,) spectrum written
    op_store: Flags  # (n_ops,) overwrite the target
    op_pace: Ints  # (n_ops,) how the component changes in time: pyspec.passes.Pace
    op_depends: Flags  # (n_ops,) depends on theta
    op_sampled: Flags  # (n_ops,) averaged over the auxiliary axis
    separable: bool  # every spectrum is a sum of shapes that stand still, each times a trace
    n_slots: int
    result_slot: int
    results: Ints  # slots or trace rows, where the graph lists several
    result_row: int  # trace row that is the result, -1: the spectrum is
    samples: int  # first trace row that belongs to a block
    external_names: tuple[str, ...]  # functions in Python that the plan calls, formulas as texts
    formulas: tuple[
        str, ...
    ]  # definitions of functions by formula; their op codes follow the table

    # For each row the free parameters that it depends on, rising (CSR)
    row_theta_indptr: Ints  # (n_params + 1,)
    row_theta: Ints

    dimension: ClassVar[int]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def with_inputs(
        self,
        theta: Array,
        fixed: Array,
        energy: Array | None,
        time: Array | None,
        aux: Array | None,
        aux_weights: Array | None,
        inputs: Mapping[str, Array] = NOTHING,
    ) -> Self:
        """The same plan with other values, on other axes and with other inputs; those that it does
        not have are left out. An auxiliary axis has as many points as before, and so have times
        where laws belong to sub-cycles."""
        changes: dict[str, Any] = {"theta": theta, "fixed": fixed}
        if not self.is_trace:
            changes["energy"] = energy
        if self.time is not None and time is not None:
            changes["time"] = time
            if time.size != self.time.size:
                changes["dyn_time_axes"] = self.dyn_time_axes.reshape(0, time.size)
                changes["dyn_masks"] = self.dyn_masks.reshape(0, time.size)
        if self.aux is not None:
            changes["aux"], changes["aux_weights"] = aux, aux_weights
        for names, field in zip(self.input_names, INPUT_FIELDS, strict=True):
            if names:
                has_all = all(name in inputs for name in names)
                lines = [inputs[name] for name in names] if has_all else []
                changes[field] = (
                    np.array(lines) if len({line.size for line in lines}) == 1 else None
                )
        # As dataclasses.replace does, in a tenth of the time.
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.__dict__.pop("digest", None)
        new.__dict__.update(changes)
        for array in changes.values():
            if array is not None:
                array.setflags(write=False)
        return new

    @cached_property
    def jumps(self) -> tuple[Jump, ...]:
        """What may jump where a free parameter says. Values have no part in it."""
        return jumps_in(self)

    def with_values_of(self, inputs: Mapping[str, npt.ArrayLike] | None) -> Self:
        """The same plan with these inputs, by name; itself for None.

        Raises :class:`DataError` for a name that no formula of the plan reads.
        """
        if inputs is None:
            return self
        input_names = [name for names in self.input_names for name in names]
        for name in inputs:
            if name not in input_names:
                raise DataError(
                    f"{self.name}: no formula of the plan reads an input {name!r}"
                    f"{suggest(name, input_names)}"
                )
        values_by_name = {name: check_input(values, name) for name, values in inputs.items()}
        axes = (self.energy, self.time, self.aux, self.aux_weights)
        return self.with_inputs(self.theta, self.fixed, *axes, values_by_name)

    def inputs_along(self, axis: int) -> dict[str, Array]:
        """The inputs along the energies (0), the times (1) or the auxiliary axis (2), by name.
        Raises :class:`DataError` where one was not given, or does not match the axis."""
        names, lines = self.input_names[axis], getattr(self, INPUT_FIELDS[axis])
        if not names:
            return {}
        size = (self.energy.size, self.n_time, self.n_aux)[axis]
        if lines is None:
            op = next(op for op in map(op_of, self._definitions) if names[0] in inputs_of(op))
            raise missing_input(self.name, op.name, names[0], tuple(ALONG)[axis], ())
        if lines.shape != (len(names), size):
            raise DataError(
                f"{self.name}: the inputs {', '.join(names)} have {lines.shape[1]} values, their "
                f"axis {size} points; give one value for each"
            )
        return dict(zip(names, lines, strict=True))

    @property
    def _definitions(self) -> tuple[str, ...]:
        return (*self.formulas, *(name for name in self.external_names if "(" in name))

    @property
    def n_params(self) -> int:
        """Rows of the trace matrix."""
        return len(self.row_names)

    def op(self, code: int) -> OpDef:
        """The row of the op table, the formula or the registered function of an op code."""
        if code >= len(OPS_BY_INDEX):
            return op_of(self.formulas[code - len(OPS_BY_INDEX)])
        if code > EXTERNAL:
            return OPS_BY_INDEX[code]
        name = self.external_names[EXTERNAL - code]
        if "(" in name:
            return op_of(name)
        if name not in OPS:
            raise PlanError(
                f"{self.name}: the function {name!r} is not registered in this process; call "
                "register_function first"
            )
        return OPS[name]

    @property
    def in_python(self) -> str:
        """How messages name a function that Python runs, a registered one before a formula."""
        name = min(self.external_names, key=lambda name: "(" in name)
        if "(" in name:
            return f"the formula {op_of(name).name!r}, which sums over the energies,"
        return f"the registered function {name!r}"

    @property
    def n_aux(self) -> int:
        """Auxiliary points, 0 without profiles."""
        return 0 if self.aux is None else self.aux.size

    @property
    def is_trace(self) -> bool:
        """Whether the result is a trace, (n_time,), instead of spectra (TIME_1D)."""
        return self.result_row >= 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result over the full axes."""
        if self.is_trace:
            return (self.n_time,)
        return (self.n_time, self.energy.size) if self.dimension == 2 else (self.energy.size,)

    @property
    def n_time(self) -> int:
        """Columns of the trace matrix: 1 without a time axis."""
        return 1 if self.time is None else self.time.size

    @property
    def n_ops(self) -> int:
        """Number of spectrum ops."""
        return self.op_kinds.size

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields that say something."""
        digest = hashlib.sha256(type(self).__name__.encode())
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "results" and not value.size:
                continue
            if isinstance(value, np.ndarray):
                digest.update(f"{field.name}{value.dtype.str}{value.shape}".encode())
                digest.update(np.ascontiguousarray(value).tobytes())
            else:
                digest.update(f"{field.name}{value!r}".encode())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScheduledPlan) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.shape))
        return (
            f"<{type(self).__name__} {self.name!r}: {self.theta.size} free and {self.fixed.size} "
            f"fixed parameters, {self.n_ops} ops; {shape}>"
        )

    def values(self, given: Any, what: Literal["free", "fixed"]) -> Array:
        """The "free" or the "fixed" values as `given`, or those of the plan; see
        :func:`pyspec.model.theta.values_of`."""
        names, start = self.opt_param_names, self.theta
        if what == "fixed":
            names, start = self.fixed_names, self.fixed
        return values_of(given, names, start, what, self.name)


@dataclass(frozen=True, eq=False, repr=False)
class ScheduledPlan1D(ScheduledPlan):
    """A plan of one spectrum, where the trace matrix has one column, or of one trace over
    time."""

    dimension: ClassVar[int] = 1


@dataclass(frozen=True, eq=False, repr=False)
class ScheduledPlan2D(ScheduledPlan):
    """A plan of a spectrum for each time."""

    dimension: ClassVar[int] = 2
