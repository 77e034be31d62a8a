"""The sums of one problem at many points: walkers, and the ends of intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.executor.normal import FORMS, triangle_size
from pyspec.fit.solve.native import PATIENCE, SECONDS

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: (theta (n_points, n), form) → (n_points, size) triangles of [J r]; of the form "value" chi².
SumsAt = Callable[[Array, str], Array]


@contextmanager
def sums_at_points(problem: FitProblem, check: Callable[[], None]) -> Iterator[SumsAt]:
    """What gives the sums at several points in one call of C, for data in memory; valid inside of
    the `with` block. `check` is called now and then, and may raise to end it.

    Where a single trace moves the spectra, chi² of later points comes from polynomials of it
    (csrc/sums/curves.c). It is right to 1e-13 of itself.
    """
    with problem.in_parts() as parts:
        n = len(problem.names)
        curves = np.zeros(LIBRARY.pyspec_points_size(parts.address, parts.n) // 8)
        memory = address(curves) if curves.size else None
        most = max(1, int(PATIENCE / (parts.size * SECONDS)))

        def sums(theta: Array, form: str) -> Array:
            order = 1 if form == "value" else n + 1
            points = np.ascontiguousarray(theta, dtype=np.float64)
            triangles = np.empty((len(points), triangle_size(order)))
            for begin in range(0, len(points), most):
                check()
                own, out = points[begin : begin + most], triangles[begin:]
                args = parts.address, parts.n, FORMS[form], order, parts.team, address(own), n
                status = LIBRARY.pyspec_sum_points(*args, len(own), memory, address(out))
                raise_status(status, problem.label)
            return triangles

        yield sums
