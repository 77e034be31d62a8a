"""The components of a fit with free amplitudes one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.linear.amplitudes import Amplitudes

if TYPE_CHECKING:
    from pyspec.fit.linear.problem import LinearProblem

Array = npt.NDArray[np.float64]


def linear_components(problem: LinearProblem, theta: Array, linear: Amplitudes) -> dict[str, Array]:
    """Name → (n_rows, n_columns) of every component, seen through the instruments above it, in file
    order: amplitudes times what they are multiplied with, and what has no free amplitude.

    Raises :class:`FitError` where one reads the spectrum of the others.
    """
    components = problem.model.components
    reader = next((one.name for one in components if one.op.spectrum_fed), None)
    if reader is not None:
        raise FitError(
            f"{problem.label}: {reader} reads the lines whose amplitudes are free, and is solved "
            "for together with them; result.linear has each amplitude, and in basis what it is "
            "multiplied with"
        )
    executor = problem.linear
    rest = executor.designer.rest_at(np.asarray(theta, np.float64), problem.fixed or {})
    full = (len(linear.along), len(linear.x))
    found: dict[str, Array] = {}
    for component in components:
        parts = [rest[component.name]] if component.name in rest else []
        for par in component.parameters:
            if par.name in linear.values:
                parts.append(linear[par.name][:, np.newaxis] * linear.basis[par.name])
        if parts:
            total = sum(parts, np.zeros(full))
            found[component.name] = executor.groups_of(total)
    return found
