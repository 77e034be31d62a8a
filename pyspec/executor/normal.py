"""Sums over the residuals in C: chi², Jᵀr and JᵀJ without ever storing J.

A *triangle* is the upper triangle of a symmetric matrix of order n_free + 1, row after row: the
Gram matrix of ``[J r]``, J being minus the derivative of the residual r, or (form "factor") its
Cholesky factor R. Its last number belongs to r alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, LIBRARY, raise_status
from pyspec.errors import PlanError

if TYPE_CHECKING:
    from pyspec.executor.compiled import CompiledExecutor

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: What may be summed, by name.
FORMS = {
    name.removeprefix("FORM_").lower(): value
    for name, value in CONSTANTS.items()
    if name.startswith("FORM_")
}


def triangle_size(order: int) -> int:
    """Numbers in a triangle."""
    return order * (order + 1) // 2


@lru_cache(maxsize=64)
def _upper(order: int) -> tuple[Ints, Ints]:
    rows, columns = np.triu_indices(order)
    return rows, columns


def unpack(triangle: Array, symmetric: bool = True) -> Array:
    """The square matrix of a triangle: symmetric, or upper triangular for a factor."""
    order = int((np.sqrt(8 * triangle.size + 1) - 1) / 2)
    matrix = np.zeros((order, order))
    rows, columns = _upper(order)
    matrix[rows, columns] = triangle
    if symmetric:
        matrix[columns, rows] = triangle
    return matrix


def pack_triangle(matrix: Array) -> Array:
    """The triangle of a square matrix."""
    return np.ascontiguousarray(matrix[_upper(len(matrix))])


class Sums:
    """The memory of one ``pyspec_normal``: partial sums over consecutive rows."""

    def __init__(self, n_free: int, n_total: int, form: str = "gram") -> None:
        capacity = CONSTANTS["NORMAL_NODES"]
        self.struct = np.zeros(1, DTYPES["pyspec_normal"])
        self._nodes = np.zeros(capacity * triangle_size(n_free + 1))
        self._places = np.zeros((capacity, 2), np.int64)
        self._scratch = np.zeros((n_free + 1) * (n_total + 1))
        self.struct["form"] = FORMS[form]
        self.struct["order"] = 1 if form == "value" else n_free + 1
        self.struct["capacity"] = capacity
        self.struct["nodes"] = self._nodes.ctypes.data
        self.struct["places"] = self._places.ctypes.data
        self.struct["scratch"] = self._scratch.ctypes.data
        self.struct["n_scratch"] = self._scratch.size
        self.address = int(self.struct.ctypes.data)


def sum_rows(
    executor: CompiledExecutor,
    theta: Array,
    fixed: Any,
    form: str,
    chunks: Sequence[tuple[int, int]],
    threads: int,
) -> Array:
    """The triangle over all rows of the window, chunk by chunk; chunks must follow each other."""
    n_free = len(executor.opt_param_names)
    sums = [Sums(n_free, n_free, form) for _ in chunks]

    def run(index: int) -> int:
        with prepared(executor, fixed) as frame:
            frame.theta[:] = theta
            if executor.helper is not None:
                frame.fill_external(*executor.helper.external(theta, fixed))
            begin, end = chunks[index]
            status: int = LIBRARY.pyspec_accumulate(frame.address, sums[index].address, begin, end)
            return status

    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            statuses = list(pool.map(run, range(len(chunks))))
    else:
        statuses = [run(index) for index in range(len(chunks))]
    for status in statuses:
        raise_status(status, executor.plan.name)
    for more in sums[1:]:
        raise_status(LIBRARY.pyspec_join(sums[0].address, more.address), executor.plan.name)
    triangle = np.zeros(1 if form == "value" else triangle_size(n_free + 1))
    order = 1 if form == "value" else n_free + 1
    status = LIBRARY.pyspec_collect(sums[0].address, None, order, triangle.ctypes.data)
    raise_status(status, executor.plan.name)
    return triangle


@contextmanager
def prepared(executor: CompiledExecutor, fixed: Any) -> Iterator[Any]:
    """A frame with room for derivatives and with these fixed values."""
    plan = executor.plan
    frame = executor.take_frame()
    try:
        frame.make_room_for_derivatives(executor)
        if fixed is not None:
            frame.fixed[:] = plan.values(fixed, plan.fixed_names, plan.fixed, "fixed")
        yield frame
    finally:
        frame.fixed[:] = plan.fixed
        executor.return_frame(frame)


class Parts:
    """Compiled executors as the C loop of a fit sees them: an array of ``pyspec_part``."""

    def __init__(
        self,
        executors: Sequence[CompiledExecutor],
        gathers: Sequence[Ints],
        n_total: int,
        frames: Sequence[Any],
    ) -> None:
        self.struct = np.zeros(len(executors), DTYPES["pyspec_part"])
        self._kept: list[Any] = [executors, frames]
        for row, executor, gather, frame in zip(
            self.struct, executors, gathers, frames, strict=True
        ):
            n_free = len(executor.opt_param_names)
            sums, places = Sums(n_free, n_total), np.ascontiguousarray(gather, np.int64)
            self._kept += [sums, places]
            row["call"] = frame.address
            row["theta"] = frame.theta.ctypes.data
            row["gather"] = places.ctypes.data
            row["normal"] = sums.address
            row["n_theta"] = n_free
        self.address = int(self.struct.ctypes.data)
        self.n = len(executors)


@contextmanager
def fit_parts(
    executors: Sequence[CompiledExecutor], gathers: Sequence[Ints], n_total: int, fixed: Any
) -> Iterator[Parts]:
    """The parts of a fit, which hold a frame of each executor as long as it runs."""
    for executor in executors:
        if not executor.has_jacobian:
            raise PlanError(f"{executor.plan.name}: registered functions need Python between steps")
    plans = [executor.plan for executor in executors]
    frames = [executor.take_frame() for executor in executors]
    try:
        for executor, frame, plan in zip(executors, frames, plans, strict=True):
            frame.make_room_for_derivatives(executor)
            if fixed is not None:
                frame.fixed[:] = plan.values(fixed, plan.fixed_names, plan.fixed, "fixed")
        yield Parts(executors, gathers, n_total, frames)
    finally:
        for executor, frame, plan in zip(executors, frames, plans, strict=True):
            frame.fixed[:] = plan.fixed
            executor.return_frame(frame)
