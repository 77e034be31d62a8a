"""Where free amplitudes are not known: pictures and tables leave them open there.

An energy, or a time, may have no point that counts. Its amplitude cannot be solved for, and a fit
holds it at 0. That 0 is not a result: it is neither drawn nor written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit.amplitudes.part import FreePart
from pyspec.model.build.free import allowed
from pyspec.model.data.windows import slice_of

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def without_data(problem: FreePart) -> Flags:
    """(n,) where no point counts, along the axis of the free amplitudes."""
    return ~problem.executor.has_data[:, 0]


def unknown(problem: FreePart, determined: Flags) -> Flags:
    """(n, n_amplitudes) where an amplitude is not known: there are no data, or they do not
    determine it. One that a range or a bound holds at 0 is known where there are data."""
    designer, empty = problem.executor.designer, without_data(problem)
    found = np.empty_like(determined)
    for k, name in enumerate(designer.free):
        free = problem.model.parameters[name].free
        assert free is not None
        held = ~allowed(free, designer.along) | free.positive
        found[:, k] = ~determined[:, k] & (empty | ~held)
    return found


def open_fit(
    result: Any,
    fit: Array,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
) -> Array:
    """A fit, NaN at energies, or times, where an amplitude has no data; `rows` and `columns` are
    the fit window within it."""
    problem = getattr(result, "problem", None)
    file = None if problem is None else problem.free
    if file is None or not np.any(empty := without_data(file)):
        return fit
    linear = result.amplitudes
    gap = empty & np.any(list(linear.unknown.values()), axis=0)
    opened = np.array(fit)
    inside = opened[slice_of(rows), slice_of(columns)]
    inside[(slice(None), gap) if linear.axis == "energy" else gap] = np.nan
    return opened
