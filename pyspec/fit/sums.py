"""Where the solver's sums come from: C, an executor that adds up chunks, or differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.executor.normal import pack_triangle
from pyspec.executor.protocol import each_by_itself

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]


@contextmanager
def sums_of(
    problem: FitProblem, bounds: Sequence[tuple[float, float]], *, each: bool = False
) -> Iterator[Callable[[Array, str], Array]]:
    """What gives the triangle of [J r], or chi² alone, at a point: (theta, form) → triangle; valid
    inside of the `with` block. Where chi² is not finite it may be all there is. With `each` it is
    that of the point alone, whatever was asked for before: the same bits for data in memory, by
    reference and on a cluster."""
    executor, fixed = problem.executor, problem.fixed
    if not problem.in_c:

        def differences(theta: Array, form: str) -> Array:
            return _by_differences(problem, bounds, theta, form)

        yield differences
    elif executor.capabilities.in_parts:
        with executor.parts(fixed) as parts:
            yield parts.sum
    else:
        with each_by_itself(executor, fixed) if each else executor.sums(fixed) as sums:
            yield sums


def _by_differences(
    problem: FitProblem, bounds: Sequence[tuple[float, float]], theta: Array, form: str
) -> Array:
    residual = problem.plain_residual(theta)
    chisqr = np.array([np.einsum("i,i", residual, residual)])
    if form == "value" or not np.isfinite(chisqr[0]):
        return chisqr
    columns = np.vstack([-problem.derivatives(theta, bounds), residual])
    if form == "factor":
        return pack_triangle(np.asarray(np.linalg.qr(columns.T, mode="r")))
    return pack_triangle(columns @ columns.T)
