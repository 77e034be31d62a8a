"""The axes of a plan in the form of C: addresses, and the arrays that lie there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec._library.memory import address
from pyspec.functions.grid import shirley_shares
from pyspec.plan.scheduled import INPUT_FIELDS, OPS_BY_INDEX, ScheduledPlan


@dataclass(frozen=True, eq=False)
class PinnedAxes:
    """What the problem of C says of the axes of a plan, and of what formulas read along them.

    Attributes
    ----------
    fields : fields of ``pyspec_problem``, addresses and sizes
    arrays : what lies at these addresses: they are valid as long as this object lives
    """

    fields: Mapping[str, int]
    arrays: tuple[npt.NDArray[np.generic], ...]


def shares_of(plan: ScheduledPlan, step: float | None = None) -> npt.NDArray[np.float64] | None:
    """What a Shirley of the plan weighs each energy by; `step` as of :class:`Measurement`. None
    where that is 1, and without a Shirley."""
    codes = [code for code in plan.op_kinds.tolist() if 0 <= code < len(OPS_BY_INDEX)]
    has_shirley = any(OPS_BY_INDEX[code].kind == "SPECTRUM_FED" for code in codes)
    return shirley_shares(plan.energy, step) if has_shirley else None


def pin_axes(plan: ScheduledPlan) -> PinnedAxes:
    """The axes and inputs of a plan. Raises :class:`DataError` for an input that was not given, or
    does not match its axis."""
    arrays: list[npt.NDArray[np.generic]] = []

    def pin(array: npt.NDArray[np.generic]) -> int:
        arrays.append(np.ascontiguousarray(array))
        return address(arrays[-1]) if array.size else 0

    fields = {
        "x": pin(plan.energy),
        "time": 0 if plan.time is None else pin(plan.time),
        "n_x": plan.energy.size,
        "n_rows": plan.n_time,
        "chunk_rows": plan.n_time,
        "n_fixed": len(plan.fixed_names),
        "n_axes": len(plan.dyn_time_axes),
        "n_masks": len(plan.dyn_masks),
        "axes": pin(plan.dyn_time_axes),
        "masks": pin(plan.dyn_masks.astype(np.uint8)),
        "n_aux": plan.n_aux,
    }
    if plan.aux is not None and plan.aux_weights is not None:
        fields |= {"aux": pin(plan.aux), "aux_weight": pin(plan.aux_weights)}
    shares = shares_of(plan)
    if shares is not None:
        fields["shares"] = pin(shares)
    for axis, field in enumerate(INPUT_FIELDS):
        inputs = plan.inputs_along(axis)
        if inputs:
            fields |= {field: pin(np.array(list(inputs.values()))), f"n_{field}": len(inputs)}
    return PinnedAxes(fields, tuple(arrays))
