"""Values of parameters as a caller gives them: by name, in order, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.errors import PlanError, shortened, suggest

Array = npt.NDArray[np.float64]


def values_of(numbers: object, names: Sequence[str], start: Array, role: str, label: str) -> Array:
    """`numbers` as (n,) numbers in the order of `names`. None stands for the values of `start`, a
    mapping by name for some others than these, a sequence for all of them in their order.

    Messages begin with the `label` of the model and name the `role` of the parameters, "free" or
    "fixed". Raises :class:`PlanError` for a name that is not among them, for another number of
    values, and for what is no real number.
    """
    if numbers is None:
        return start
    if isinstance(numbers, Mapping):
        by_name = dict(zip(names, start.tolist(), strict=True))
        unknown = next((name for name in numbers if name not in by_name), None)
        if unknown is not None:
            near = suggest(str(unknown), list(names)) or f"; there are {', '.join(names) or 'none'}"
            raise PlanError(f"{label}: {unknown!r} is not a {role} parameter{near}")
        numbers = list({**by_name, **numbers}.values())
    try:
        values = np.asarray(numbers)
        if values.dtype.kind not in "biuf":
            raise TypeError("no real numbers")
        values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise PlanError(
            f"{label}: {role} values are {shortened(numbers)}; give numbers in the order "
            f"{', '.join(names)}, or by name"
        ) from None
    if values.shape != (len(names),):
        raise PlanError(
            f"{label}: {role} values have shape {values.shape}, expected ({len(names)},) in the "
            f"order {', '.join(names)}"
        )
    return values
