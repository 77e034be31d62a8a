"""Sums over data that come chunk by chunk. Values along the whole time axis are prepared once.
Nothing else grows with the number of times."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec._library.threads import Threads
from pyspec.errors import DataError
from pyspec.executor.compiled import CompiledExecutor, as_read
from pyspec.executor.frame import Frame
from pyspec.executor.nodes import Nodes, all_nodes, join, take
from pyspec.executor.normal import Sums
from pyspec.executor.protocol import Blocks, Stored
from pyspec.executor.store import Job
from pyspec.model.data.lazy_weights import Beside, rows_of
from pyspec.model.data.source import whole_of
from pyspec.plan import check

#: What is summed in strips comes in chunks that begin at multiples of so many rows.
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
    data: Stored
    weight: Stored | None = None
    keep: Stored | None = None


def chunk_nodes(
    executor: CompiledExecutor,
    job: Job,
    chunks: Iterable[Chunk],
    *,
    isa: str | None = None,
    threads: int = 1,
) -> Nodes:
    """What a job asks for (chi², Jᵀr and JᵀJ, or a reading) over chunks that follow each other.

    :func:`pyspec.executor.nodes.collect` joins it to the triangle. Where the chunks are the whole
    window, that has the bits of :meth:`CompiledExecutor.normal`. Rows outside of the
    window of the executor's measurement are left out. Raises :class:`DataError` where a chunk does
    not fit the axes of the model.

    A job in strips sums as a fit in memory does where :meth:`CompiledExecutor.in_strips`; the
    chunks are then those of :func:`in_strips`. `isa` is the build of the kernels, by default that
    of this process. `threads` sum chunks side by side; no bit depends on how many.
    """
    name, n_free = executor.plan.name, len(executor.opt_param_names)
    fixed, form, strips, reading = job.fixed, job.form, job.strips, job.reading

    def sums() -> Sums:
        if reading is not None:
            return Sums(reading.size, reading.size, "data")
        return Sums(n_free, n_free, form, in_strips=strips)

    # Joined where they follow each other: there is always room for their nodes.
    total, apart, due = sums(), list[Nodes](), -1
    with ExitStack() as stack:
        first, *others = [stack.enter_context(executor.prepared(fixed)) for _ in range(threads)]
        for frame in (first, *others):
            stack.callback(frame.problem.__setitem__, ..., frame.problem.copy())
            stack.callback(frame.call.__setitem__, ..., frame.call.copy())
        free = executor.plan.values(job.theta, "free")
        external = None if executor.helper is None else executor.helper.external(free, fixed)
        for frame in (first, *others):
            frame.theta[:] = free
            if isa is not None:
                frame.call["isa"] = CONSTANTS[f"ISA_{isa}"]
            if external is not None:
                frame.fill_external(*external)
        if reading is None:
            flags = 0 if form == "value" else CONSTANTS["PREPARE_SLOPES"]
            flags |= CONSTANTS["PREPARE_SHAPES"] if strips else 0
            raise_status(LIBRARY.pyspec_prepare(first.address, flags), name)
        for frame in others:  # what is prepared is only read from here on
            for field in ("prepared", "prepared_size"):
                frame.call[field] = first.call[field]
        struct = None if reading is None else reading.struct
        summers = [
            partial(_sum_chunk, executor, frame, sums(), struct) for frame in (first, *others)
        ]
        # Whatever happens, no thread sums in a frame that has been given back.
        summed = stack.enter_context(closing(_side_by_side(summers, chunks)))
        for begin, end, nodes in summed:
            if due not in (-1, begin):
                apart.append(take(total))
            due = end
            join(total, nodes)
    return all_nodes([*apart, take(total)])


#: The first row, the row behind the last, and the sums of these rows.
_Summed: TypeAlias = tuple[int, int, Nodes]

#: Sums one chunk at a time in memory of its own; None where no row lies in the window.
_Summer: TypeAlias = Callable[[Chunk], _Summed | None]


def _sum_chunk(
    executor: CompiledExecutor,
    frame: Frame,
    sums: Sums,
    reading: npt.NDArray[np.void] | None,
    chunk: Chunk,
) -> _Summed | None:
    """The sums of those rows of a chunk that lie in the window, None where none does."""
    problem = frame.problem
    begin = max(chunk.first_row, executor.window.row_begin)
    end = min(chunk.first_row + len(chunk.data), executor.window.row_end)
    kept = _describe(executor, frame, chunk)
    if begin >= end:
        return None
    problem["row_begin"], problem["row_end"] = begin, end
    check(executor.packed, executor.plan.name, address(problem))
    if reading is None:
        status = LIBRARY.pyspec_accumulate(frame.address, sums.address, begin, end)
    else:
        status = LIBRARY.pyspec_read(frame.address, sums.address, address(reading), begin, end)
    del kept
    raise_status(status, executor.plan.name)
    return begin, end, take(sums)


def _side_by_side(summers: Sequence[_Summer], chunks: Iterable[Chunk]) -> Generator[_Summed]:
    """The sums of the chunks in their order."""
    if len(summers) == 1:
        yield from filter(None, map(summers[0], chunks))
        return
    idle: SimpleQueue[_Summer] = SimpleQueue()
    for summer in summers:
        idle.put(summer)

    def nodes(chunk: Chunk) -> _Summed | None:
        summer = idle.get()
        try:
            return summer(chunk)
        finally:
            idle.put(summer)

    with Threads(len(summers), "pyspec-sums") as pool:
        ahead: deque[Future[_Summed | None]] = deque()
        for chunk in chunks:
            ahead.append(pool.submit(nodes, chunk))
            if len(ahead) > len(summers) and (summed := ahead.popleft().result()):
                yield summed
        yield from filter(None, (future.result() for future in ahead))


def in_strips(blocks: Blocks) -> Blocks:
    """The same rows in blocks that begin at multiples of :data:`STRIP`. Only the first block of a
    run of consecutive rows may begin elsewhere. Blocks are cut, and the rest of a block is put in
    front of the next one."""
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


def weighed(executor: CompiledExecutor, blocks: Blocks, step: int | None = None) -> Iterator[Chunk]:
    """(first row, data) as chunks with the weights and the mask of the executor; `step` is that of
    the blocks, where weights or mask are read beside them, by a thread of their own."""
    window = executor.window
    ahead: list[Blocks | None] = []
    for array in (executor.weight, executor.keep):
        beside = whole_of(array)
        ahead.append(
            beside.blocks(window.row_begin, window.row_end, beside.seen, step)
            if isinstance(beside, Beside)
            else None
        )
    for first, block in blocks:
        own = (
            rows_of(array, first, first + len(block)) if rows is None else next(rows)[1]
            for rows, array in zip(ahead, (executor.weight, executor.keep), strict=True)
        )
        yield Chunk(first, block, *own)


def _describe(executor: CompiledExecutor, frame: Frame, chunk: Chunk) -> list[Stored]:
    """Points the problem of a frame to a chunk; returns the arrays that it then points to."""
    plan, problem = executor.plan, frame.problem
    n_rows, n_energy = len(chunk.data), plan.energy.size
    if chunk.first_row < 0 or chunk.first_row + n_rows > plan.n_time or not n_rows:
        raise DataError(
            f"{plan.name}: a chunk of {n_rows} rows from row {chunk.first_row} on does not fit the "
            f"time axis of {plan.n_time} points"
        )
    data, problem["data_type"] = as_read(chunk.data)
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
    problem["first_row"], problem["chunk_rows"] = chunk.first_row, n_rows
    kept = list(arrays.values())
    if frame.external is not None:
        rows = slice(chunk.first_row, chunk.first_row + n_rows)
        own = [np.ascontiguousarray(array[:, rows]) for array in frame.external]
        problem["external"], problem["spectra"] = (address(array) for array in own)
        kept += own
    return kept
