"""Sums over data that come chunk by chunk: what is computed along the whole time axis is prepared
once, and nothing else grows with the number of times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.errors import DataError
from pyspec.executor.nodes import Nodes, all_nodes, collect, take
from pyspec.executor.normal import Sums, prepared
from pyspec.executor.protocol import Array, Values
from pyspec.plan import check

if TYPE_CHECKING:
    from pyspec.executor.compiled import CompiledExecutor

_TYPES = {
    np.dtype(np.float64): CONSTANTS["TYPE_F64"],
    np.dtype(np.float32): CONSTANTS["TYPE_F32"],
    np.dtype(np.uint16): CONSTANTS["TYPE_U16"],
}

#: Where shapes and times are summed apart, chunks begin at multiples of so many rows.
STRIP = CONSTANTS["STRIP"]


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
    nodes = chunk_nodes(executor, theta, without_gaps(executor, chunks), fixed, form)
    return collect(nodes, len(executor.opt_param_names), form)


def chunk_nodes(
    executor: CompiledExecutor,
    theta: Values,
    chunks: Iterable[Chunk],
    fixed: Values = None,
    form: str = "gram",
    *,
    apart: bool = False,
    isa: str | None = None,
) -> Nodes:
    """The same before it is joined to one triangle, of chunks that need not be all of the window.

    `apart` sums over shapes and times apart, as a fit in memory does where the plan, weights and
    mask allow it; the chunks are then those of :func:`in_strips`. `isa` is the build of the
    kernels, by default that of this process.
    """
    plan, name = executor.plan, executor.plan.name
    n_free = len(executor.opt_param_names)
    found: list[Nodes] = []
    total = Sums(n_free, n_free, form, separable=apart)
    what = 0 if form == "value" else CONSTANTS["PREPARE_SLOPES"]
    what |= CONSTANTS["PREPARE_SHAPES"] if apart else 0
    with prepared(executor, fixed) as frame:
        whole, usual = frame.problem.copy(), int(frame.call["isa"][0])
        frame.theta[:] = plan.values(theta, executor.opt_param_names, plan.theta, "free")
        if isa is not None:
            frame.call["isa"] = CONSTANTS[f"ISA_{isa}"]
        if executor.helper is not None:
            frame.fill_external(*executor.helper.external(frame.theta, fixed))
        try:
            raise_status(LIBRARY.pyspec_prepare(frame.address, what), name)
            due = None
            for chunk in chunks:
                begin = max(chunk.first_row, executor.window.row_begin)
                end = min(chunk.first_row + len(chunk.data), executor.window.row_end)
                kept = _describe(executor, frame, chunk)
                if begin >= end:
                    continue
                if due is not None and due != begin:  # so that there is always room for the nodes
                    found.append(take(total))
                due = end
                frame.problem["row_begin"], frame.problem["row_end"] = begin, end
                check(executor.packed, name, address(frame.problem))
                status = LIBRARY.pyspec_accumulate(frame.address, total.address, begin, end)
                del kept
                raise_status(status, name)
        finally:
            frame.problem[:] = whole
            frame.call["isa"] = usual
    return all_nodes([*found, take(total)])


def in_strips(
    blocks: Iterable[tuple[int, npt.NDArray[Any]]],
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """The same rows in blocks that begin at multiples of :data:`STRIP`, but for the first of rows
    that follow each other: blocks are cut, and what is left of one stands before the next."""
    first, left = 0, None
    for begin, block in blocks:
        if left is not None and begin != first + len(left):
            yield first, left
            left = None
        if left is not None:
            missing = STRIP - (first + len(left)) % STRIP
            left = np.concatenate([left, block[:missing]])
            begin, block = begin + missing, block[missing:]
            if (first + len(left)) % STRIP:
                continue
            yield first, left
            left = None
        whole = len(block) - (begin + len(block)) % STRIP
        if whole > 0:
            yield begin, block[:whole]
        if max(whole, 0) < len(block):
            first, left = begin + max(whole, 0), block[max(whole, 0) :]
    if left is not None:
        yield first, left


def weighed(
    executor: CompiledExecutor, blocks: Iterable[tuple[int, npt.NDArray[Any]]]
) -> Iterator[Chunk]:
    """(first row, data) as chunks with the weights and the mask of the executor."""
    for first, block in blocks:
        rows = slice(first, first + len(block))
        own = (None if array is None else array[rows] for array in (executor.weight, executor.keep))
        yield Chunk(first, block, *own)


def without_gaps(executor: CompiledExecutor, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks. Raises :class:`DataError` where they leave out rows of the window."""
    name, window = executor.plan.name, executor.window
    due = window.row_begin
    for chunk in chunks:
        begin = max(chunk.first_row, window.row_begin)
        end = min(chunk.first_row + len(chunk.data), window.row_end)
        if begin < end:
            _refuse_gap(name, due, begin)
            due = end
        yield chunk
    _refuse_gap(name, due, window.row_end)


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
        arrays["keep"] = chunk.keep.view(np.uint8)
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
