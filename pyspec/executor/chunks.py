"""Sums over data that come chunk by chunk: what is computed along the whole time axis is prepared
once, and nothing else grows with the number of times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.errors import DataError
from pyspec.executor.normal import Sums, prepared, triangle_size
from pyspec.executor.protocol import Array, Values
from pyspec.plan import check

if TYPE_CHECKING:
    from pyspec.executor.compiled import CompiledExecutor

_TYPES = {
    np.dtype(np.float64): CONSTANTS["TYPE_F64"],
    np.dtype(np.float32): CONSTANTS["TYPE_F32"],
    np.dtype(np.uint16): CONSTANTS["TYPE_U16"],
}


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a measurement.

    Attributes
    ----------
    first_row : the row of the time axis that the chunk begins at
    data : (n, n_energy) measured values
    weight, keep : weights and a mask of the same shape, or None
    """

    first_row: int
    data: npt.NDArray[Any]
    weight: npt.NDArray[Any] | None = None
    keep: npt.NDArray[Any] | None = None


def sum_chunks(
    executor: CompiledExecutor,
    theta: Values,
    chunks: Iterable[Chunk],
    fixed: Values = None,
    form: str = "gram",
) -> Array:
    """chi², Jᵀr and JᵀJ over chunks that follow each other: a packed triangle.

    The bits are those of :meth:`CompiledExecutor.normal` with all data at once. Rows outside of
    the window of the executor's measurement are left out. Raises :class:`DataError` where a chunk
    does not fit the axes of the model, or rows of the window are missing.
    """
    plan, name = executor.plan, executor.plan.name
    n_free = len(executor.opt_param_names)
    total = Sums(n_free, n_free, form)
    what = 0 if form == "value" else CONSTANTS["PREPARE_SLOPES"]
    with prepared(executor, fixed) as frame:
        whole = frame.problem.copy()
        frame.theta[:] = plan.values(theta, executor.opt_param_names, plan.theta, "free")
        if executor.helper is not None:
            frame.fill_external(*executor.helper.external(frame.theta, fixed))
        raise_status(LIBRARY.pyspec_prepare(frame.address, what), name)
        due, last = executor.window.row_begin, executor.window.row_end
        try:
            for chunk in chunks:
                begin = max(chunk.first_row, executor.window.row_begin)
                end = min(chunk.first_row + len(chunk.data), executor.window.row_end)
                kept = _describe(executor, frame, chunk)
                if begin >= end:
                    continue
                _refuse_gap(name, due, begin)
                due = end
                frame.problem["row_begin"], frame.problem["row_end"] = begin, end
                check(executor.packed, name, address(frame.problem))
                status = LIBRARY.pyspec_accumulate(frame.address, total.address, begin, end)
                del kept
                raise_status(status, name)
            _refuse_gap(name, due, last)
        finally:
            frame.problem[:] = whole
    order = 1 if form == "value" else n_free + 1
    triangle = np.zeros(triangle_size(order))
    status = LIBRARY.pyspec_collect(total.address, None, order, address(triangle))
    raise_status(status, name)
    return triangle


def _refuse_gap(name: str, due: int, begin: int) -> None:
    if begin != due:
        raise DataError(
            f"{name}: row {due} is due, and the chunks go on with row {begin}; give chunks that "
            "follow each other from the first row of the window to its last"
        )


def _describe(executor: CompiledExecutor, frame: Any, chunk: Chunk) -> list[npt.NDArray[Any]]:
    """Points the problem of a frame to a chunk; returns the arrays that it then points to."""
    plan, problem = executor.plan, frame.problem
    n_rows, n_energy = len(chunk.data), plan.energy.size
    if chunk.first_row < 0 or chunk.first_row + n_rows > plan.n_time or not n_rows:
        raise DataError(
            f"{plan.name}: a chunk of {n_rows} rows from row {chunk.first_row} on does not fit the "
            f"time axis of {plan.n_time} points"
        )
    data = chunk.data if chunk.data.dtype in _TYPES else np.asarray(chunk.data, np.float64)
    arrays = {"data": data}
    if chunk.weight is not None:
        arrays["weight"] = np.asarray(chunk.weight, np.float64)
    if chunk.keep is not None:
        arrays["keep"] = np.asarray(chunk.keep, np.uint8)
    problem["weight"] = problem["keep"] = 0
    for field, array in arrays.items():
        if array.shape != (n_rows, n_energy):
            raise DataError(
                f"{plan.name}: {field} of the chunk from row {chunk.first_row} on has shape "
                f"{array.shape}, the axes ask for {(n_rows, n_energy)} (times, energies)"
            )
        problem[field] = address(array)
        problem[f"{field}_row"], problem[f"{field}_x"] = array.strides
    problem["data_type"] = _TYPES[data.dtype]
    problem["first_row"], problem["chunk_rows"] = chunk.first_row, n_rows
    kept = list(arrays.values())
    if frame.external is not None:
        rows = slice(chunk.first_row, chunk.first_row + n_rows)
        own = [np.ascontiguousarray(array[:, rows]) for array in frame.external]
        problem["external"], problem["spectra"] = (address(array) for array in own)
        kept += own
    return kept
