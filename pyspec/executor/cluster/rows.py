"""Which worker sums which rows of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, TypeAlias, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from pyspec.errors import ClusterError
from pyspec.executor.chunks import STRIP
from pyspec.executor.cluster.engine import Chunked, Client, Future
from pyspec.executor.cluster.worker import Computed, FilePlan, FileShare, Piece, Place
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.protocol import Scalar, Stored
from pyspec.executor.source import SourceExecutor
from pyspec.model import Measurement
from pyspec.model.data.lazy_weights import Beside, Veiled
from pyspec.model.data.source import Seen, Source, source_of

Mask: TypeAlias = npt.NDArray[np.bool_]

#: What a worker gets: rows of each file, and the chunks of dask that these stand in.
Rows = dict[str, tuple[dict[int, FileShare], list[Future]]]


def placed_rows(
    client: Client,
    files: Sequence[FilePlan],
    executors: Sequence[CompiledExecutor],
    workers: Sequence[str],
) -> Rows:
    """Worker → what it sums. Rows in memory, and those that workers read from a store, are shared
    evenly; chunks of dask are summed where they are."""
    shares_of: Rows = {address: ({}, []) for address in workers}

    def give(k: int, address: str, piece: Piece) -> None:
        shares, _ = shares_of.setdefault(address, ({}, []))
        shares.setdefault(k, FileShare(files[k])).pieces.append(piece)

    for k, executor in enumerate(executors):
        if collection_of(executor) is None:
            for address, piece in zip(workers, pieces(executor, len(workers)), strict=False):
                give(k, address, piece)
            continue
        for address, piece, future in chunks_of_dask(client, executor, workers):
            futures = shares_of.setdefault(address, ({}, []))[1]
            futures.append(future)
            assert isinstance(piece.data, Computed)
            give(k, address, replace(piece, data=Place(len(futures) - 1, piece.data)))
    return {address: share for address, share in shares_of.items() if share[0]}


def collection_of(executor: CompiledExecutor) -> Chunked | None:
    """The dask array that holds the data; None for other data."""
    return executor.source.collection if isinstance(executor, SourceExecutor) else None


def ranges(begin: int, end: int, n: int) -> list[tuple[int, int]]:
    """Rows begin to end - 1 in up to `n` parts of about one size, which begin at multiples of
    :data:`STRIP`."""
    inner = (begin + (end - begin) * k / n for k in range(1, n))
    cuts = [begin, *(round(cut / STRIP) * STRIP for cut in inner), end]
    cuts = sorted({min(max(cut, begin), end) for cut in cuts})
    return list(pairwise(cuts))


def without_data(executor: CompiledExecutor) -> FilePlan:
    """A file as it goes to each worker."""
    measurement = replace(executor.measurement, data=None, weight=None, keep=None)
    lines = (_line(executor.weight), _line(executor.keep))
    return FilePlan(executor.plan, executor.packed, measurement, *lines)


def _line(array: npt.NDArray[Scalar] | None) -> npt.NDArray[Scalar] | None:
    """An array that is the same along an axis, once; None for others."""
    if array is None or source_of(array) is not None or 0 not in array.strides:
        return None
    return np.array(array[:1] if array.strides[0] == 0 else array[:, :1])


def pieces(executor: CompiledExecutor, n: int) -> Iterator[Piece]:
    """The rows of the window in up to `n` pieces: rows in memory, or a source that the worker
    opens."""
    window, data = executor.window, executor.measurement.data
    for begin, end in ranges(window.row_begin, window.row_end, n):
        held: Stored | Source
        if isinstance(executor, SourceExecutor):
            source = executor.source
            held = source.given if isinstance(source, Veiled) else source
        else:
            assert data is not None
            held = np.asarray(data[begin:end])
        yield _piece(executor, begin, end, held)


def _piece(executor: CompiledExecutor, begin: int, end: int, data: Stored | Source) -> Piece:
    """Rows with the weights and the mask that differ from point to point."""
    weight = _own_rows(executor.weight, begin, end)
    keep = _own_rows(executor.keep, begin, end)
    seen = executor.seen.within(begin, end) if isinstance(executor, SourceExecutor) else Seen()
    return Piece(begin, end, data, weight, keep, seen)


def _own_rows(
    array: npt.NDArray[Scalar] | None, begin: int, end: int
) -> npt.NDArray[Scalar] | None:
    if array is None or _line(array) is not None:
        return None
    beside = source_of(array)
    own: npt.NDArray[Scalar] = (
        beside.of_rows(begin, end) if isinstance(beside, Beside) else array[begin:end]
    )
    return own


def keep_on_workers(
    client: Client, array: Chunked, name: str, counts: Mask | None = None
) -> Chunked:
    """A dask array whose chunks are computed and stay in the memory of the workers. Chunks without
    a row that `counts`, (n_rows,), are not computed, and are 0.

    Raises :class:`ClusterError` for chunks that split the energies, or that cannot be computed.
    """
    from distributed import futures_of, wait

    rows = array.chunks[0]
    if len(array.chunks[1]) > 1:
        raise ClusterError(
            f"{name}: chunks of {array.chunks[1][0]} of {array.shape[1]} energies; a worker needs "
            f"whole spectra: write data = data.rechunk(({rows[0]}, -1))"
        )
    if not all(size == size for size in rows):
        raise ClusterError(f"{name}: chunks of unknown size; write data.compute_chunk_sizes()")
    kept = client.persist(array if counts is None else _where_rows_count(array, counts))
    futures = futures_of(kept)
    wait(futures)
    for future in futures:
        if future.status != "finished":
            error = future.exception() if future.status == "error" else "it was lost"
            k, (_, begin, end) = next(
                chunk for chunk in enumerate(chunks_in(kept)) if chunk[1][0] == future.key
            )
            raise ClusterError(
                f"{name}: chunk {k}, rows {begin} to {end - 1}, cannot be read: {error}"
            )
    return kept


def rows_that_count(client: Client, measurement: Measurement) -> Mask:
    """(n_time,) rows of the window that are not masked as a whole. A mask by reference is read by
    the workers."""
    assert measurement.data is not None
    n_time, keep = len(measurement.data), measurement.keep
    counting = np.zeros(n_time, dtype=np.bool_)
    begin, end = measurement.rows or (0, n_time)
    counting[begin:end] = True
    if keep is None or keep.ndim < 2 or (source_of(keep) is None and keep.strides[0] == 0):
        return counting
    places = ranges(begin, end, max(1, len(client.nthreads())))
    if source_of(keep) is None:
        parts: list[Mask] = [np.any(keep[low:high], axis=1) for low, high in places]
    else:
        own_rows = [_own_rows(keep, *place) for place in places]
        answers = client.gather(
            [client.submit(_any_of_each, rows, pure=False) for rows in own_rows]
        )
        parts = [np.asarray(rows, np.bool_) for rows in answers]
    counting[begin:end] = np.concatenate(parts)
    return counting


def _any_of_each(keep: Source) -> Mask:
    # By the thread of the task: arrays of dask that another one of a worker computes wait for it.
    places = pairwise([*range(0, len(keep), keep.step), len(keep)])
    return np.concatenate([keep.rows(*place).any(axis=1) for place in places])


def _where_rows_count(array: Any, counts: Mask) -> Chunked:
    """The array; chunks without a row that counts are 0, and take no memory."""
    import dask.array
    from dask.highlevelgraph import HighLevelGraph

    chunks = chunks_in(array)
    if all(counts[begin:end].any() for _, begin, end in chunks):
        return cast(Chunked, array)
    name = f"counts-{uuid4().hex}"
    graph: dict[Any, object] = {}
    for k, (key, begin, end) in enumerate(chunks):
        zeros = np.broadcast_to, np.zeros((), array.dtype), (end - begin, array.shape[1])
        graph[name, k, 0] = key if counts[begin:end].any() else zeros
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[array])
    made: Any = dask.array.Array(layers, name, array.chunks, meta=array._meta)
    return cast(Chunked, made)


def chunks_in(array: Chunked) -> list[tuple[str, int, int]]:
    """(key, first row, end) of each chunk."""
    ends = np.cumsum(array.chunks[0]).tolist()
    keys = [row[0] for row in array.__dask_keys__()]
    return list(zip(keys, [0, *ends[:-1]], ends, strict=True))


def chunks_of_dask(
    client: Client, executor: CompiledExecutor, workers: Sequence[str]
) -> Iterator[tuple[str, Piece, Future]]:
    """(worker, piece, future of its rows) of the chunks of a dask array, which stay where they are.
    Where rows are summed in strips, those that two workers hold are put together."""
    from distributed import futures_of

    assert isinstance(executor, SourceExecutor)
    source, array, window = executor.source, collection_of(executor), executor.window
    assert array is not None
    by_key = {future.key: future for future in futures_of(array)}
    where = client.who_has(list(by_key.values()))
    held = []
    for key, begin, end in chunks_in(array):
        if end > window.row_begin and begin < window.row_end:
            places = where.get(key) or where.get(str(key)) or [workers[0]]
            held.append((min(places), begin, end, by_key[key]))
    strips: set[int] = set()
    in_strips = executor.in_strips("gram")
    for address, run in groupby(held, key=lambda chunk_held: chunk_held[0]):
        members = list(run)
        begin = max(members[0][1], window.row_begin)
        end = min(members[-1][2], window.row_end)
        if in_strips:
            if begin > window.row_begin and begin % STRIP:
                strips.add(begin // STRIP * STRIP)
                begin = min(-(-begin // STRIP) * STRIP, end)
            if end < window.row_end and end % STRIP:
                strips.add(end // STRIP * STRIP)
                end = max(end // STRIP * STRIP, begin)
        for _, first, last, future in members:
            low, high = max(first, begin), min(last, end)
            if low < high:
                chunk = Computed(source, source.bounds(first) or (0, first, last))
                yield address, _piece(executor, low, high, chunk), future
    for strip in sorted(strips):
        low, high = max(strip, window.row_begin), min(strip + STRIP, window.row_end)
        (future,) = futures_of(client.persist(array[low:high].rechunk((-1, -1))))
        address = next(chunk_held[0] for chunk_held in held if chunk_held[1] <= low < chunk_held[2])
        number, _, _ = source.bounds(low) or (0, low, high)
        yield address, _piece(executor, low, high, Computed(source, (number, low, high))), future
