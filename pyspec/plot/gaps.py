"""Where free amplitudes are not known: pictures leave them open there.

At an energy, or a time, without any point that counts there is nothing to solve an amplitude from;
a fit holds it at 0 then, which is no value to be drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit import FitResult
from pyspec.fit.linear import LinearProblem
from pyspec.model.free import allowed

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def without_data(result: FitResult) -> Flags:
    """(n,) where no point counts, along the axis of the free amplitudes."""
    axis = 0 if result.problem.linear.by_energy else 1  # type: ignore[attr-defined]
    return np.asarray(~result.keep.any(axis=axis))


def unknown(result: FitResult) -> dict[str, Flags]:
    """Name → (n,) where an amplitude is not known: there are no data, or they do not determine it.

    One that a range or a bound holds at 0 is known where there are data.
    """
    linear, empty = result.linear, without_data(result)
    assert linear is not None
    found = {}
    for name in linear:
        free = result.problem.model.parameters[name].free
        assert free is not None
        held = ~allowed(free, linear.along) | free.positive
        found[name] = ~linear.determined[name] & (empty | ~held)
    return found


def open_fit(
    result: Any,
    fit: Any,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
) -> Any:
    """A fit, NaN at energies, or times, where an amplitude has no data; `rows` and `columns` are
    the fit window within it."""
    if not isinstance(result, FitResult) or not isinstance(result.problem, LinearProblem):
        return fit
    empty = without_data(result)
    if not empty.any():
        return fit
    gap = empty & np.any(list(unknown(result).values()), axis=0)
    opened = np.array(fit)
    inside = opened[slice(*(rows or (None, None))), slice(*(columns or (None, None)))]
    inside[(slice(None), gap) if result.problem.linear.by_energy else gap] = np.nan
    return opened
