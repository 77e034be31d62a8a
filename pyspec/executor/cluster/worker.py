"""What runs on a worker: it holds the rows that it was given, and sums them at each theta."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import ClusterError
from pyspec.executor.chunks import Chunk, chunk_nodes, in_strips, weighed
from pyspec.executor.cluster.client import Agreement, this_build
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes
from pyspec.executor.protocol import Blocks, Stored
from pyspec.executor.store import Job
from pyspec.model import Measurement
from pyspec.model.data.lazy_weights import seen_rows, veiled
from pyspec.model.data.source import Seen, Source
from pyspec.plan import PackedPlan, ScheduledPlan

Mask: TypeAlias = npt.NDArray[np.bool_]


class Computed(Source):
    """The rows of one chunk of a dask array, which stand where they do in the whole array.

    Parameters
    ----------
    source : the whole array
    place_of_chunk : its number, first row and end
    rows : of the chunk, where they are at hand
    """

    def __init__(
        self, source: Source, place_of_chunk: tuple[int, int, int], rows: Stored | None = None
    ) -> None:
        self.name, self.shape, self.dtype = source.name, source.shape, source.dtype
        self.chunk, self._place, self._rows = 1, place_of_chunk, rows

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        return self._place

    def read(self, begin: int, end: int) -> Stored:
        first = self._place[1]
        return np.asarray(self._rows)[begin - first : end - first]

    def filled(self, rows: Stored) -> Computed:
        """The same with its rows."""
        return Computed(self, self._place, rows)


@dataclass(frozen=True)
class Place:
    """The location of the rows of a piece: one of the dask chunks of a worker, and the rows in
    it."""

    index: int
    chunk: Computed


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a file, begin to end - 1.

    Attributes
    ----------
    data : the rows; or a source of all rows of the file; or their :class:`Place`
    weight, keep : of these rows, where they differ from point to point; else None
    seen : checksums of the rows as they were first read
    """

    begin: int
    end: int
    data: Stored | Source | Place
    weight: npt.NDArray[np.float64] | None = None
    keep: npt.NDArray[np.bool_] | None = None
    seen: Seen = field(default_factory=Seen)

    def blocks(self, keep: Mask | None = None) -> Blocks:
        """The rows as they are read; `keep` is the mask of these rows."""
        if isinstance(self.data, Source):
            data = veiled(self.data, keep, self.begin)
            yield from data.blocks(self.begin, self.end, self.seen)
        else:
            yield self.begin, np.require(self.data, requirements="A")

    def filled(self, chunks: Sequence[Stored], keep: Mask | None) -> Piece:
        """The same with the rows of its chunk of dask; `keep` is the mask of these rows.

        Raises :class:`DataError` where they are not what they were.
        """
        assert isinstance(self.data, Place)
        chunk = veiled(self.data.chunk.filled(chunks[self.data.index]), keep, self.begin)
        rows = chunk.rows(self.begin, self.end)
        self.seen.check(chunk, self.begin, rows)
        return replace(self, data=rows)


@dataclass
class FilePlan:
    """A file without its data: `weight` and `keep` are those that are the same along an axis, as
    the line (1, n_energy) or (n_time, 1)."""

    plan: ScheduledPlan
    packed: PackedPlan
    measurement: Measurement
    weight: npt.NDArray[np.float64] | None = None
    keep: npt.NDArray[np.bool_] | None = None

    def executor(self) -> CompiledExecutor:
        """The executor that sums its rows."""
        shape = self.plan.shape
        weight = None if self.weight is None else np.broadcast_to(self.weight, shape)
        keep = None if self.keep is None else np.broadcast_to(self.keep, shape)
        measurement = replace(self.measurement, weight=weight, keep=keep)
        return CompiledExecutor(self.plan, measurement, packed=self.packed)


@dataclass
class FileShare:
    """The rows of a file that one worker sums, in their order."""

    file: FilePlan
    pieces: list[Piece] = field(default_factory=list)

    def __getstate__(self) -> dict[str, object]:
        return {"file": self.file, "pieces": self.pieces}

    @cached_property
    def executor(self) -> CompiledExecutor:
        """Made on the worker, once."""
        return self.file.executor()

    def nodes(self, job: Job, isa: str) -> Nodes:
        """The sums of these rows."""
        return chunk_nodes(self.executor, job, self._chunks(job.strips), isa=isa)

    def _chunks(self, strips: bool) -> Iterator[Chunk]:
        if strips:
            blocks = (block for piece in self.pieces for block in self._blocks(piece))
            yield from weighed(self.executor, in_strips(blocks))
            return
        for piece in self.pieces:
            for chunk in weighed(self.executor, self._blocks(piece)):
                begin = chunk.first_row - piece.begin
                rows = begin, begin + len(chunk.data)
                weight = chunk.weight if piece.weight is None else seen_rows(piece.weight, *rows)
                keep = chunk.keep if piece.keep is None else seen_rows(piece.keep, *rows)
                yield Chunk(chunk.first_row, chunk.data, weight, keep)

    def _blocks(self, piece: Piece) -> Blocks:
        return piece.blocks(self._keep_of(piece))

    def filled(self, chunks: Sequence[Stored]) -> FileShare:
        """The same with the rows of chunks of dask."""
        share = FileShare(self.file)
        for piece in self.pieces:
            held = isinstance(piece.data, Place)
            share.pieces.append(piece.filled(chunks, share._keep_of(piece)) if held else piece)
        return share

    def _keep_of(self, piece: Piece) -> Mask | None:
        """The mask of the rows of a piece."""
        if piece.keep is not None or self.executor.keep is None:
            return piece.keep
        return self.executor.keep[piece.begin : piece.end]


@dataclass(frozen=True)
class Answer:
    """What a worker has summed: the nodes of each job, how long it took, and by what."""

    nodes: list[Nodes | None]
    seconds: float
    terms: Agreement


@dataclass
class Share:
    """What a worker holds of the files of a fit: file number → rows."""

    terms: Agreement
    files: dict[int, FileShare]

    def jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs with what this worker needs for its rows."""
        own_jobs = []
        for job in jobs:
            pieces = self.files[job.file].pieces if job.file in self.files else []
            ends = [(piece.begin, piece.end) for piece in pieces]
            rows = (min(begin for begin, _ in ends), max(end for _, end in ends)) if ends else None
            own_jobs.append(job if rows is None else job.of_rows(*rows))
        return own_jobs


def hold(share: Share, *chunks: Stored) -> Share:
    """Takes the share and the chunks of dask that are its rows, on the worker.

    Raises :class:`ClusterError` where this worker cannot sum as the others do.
    """
    build = this_build()
    if build.fingerprint != share.terms.fingerprint or share.terms.isa not in build.isas:
        raise ClusterError(
            f"a worker that joined has another pyspec or processor (runs {', '.join(build.isas)}) "
            f"than the fit began with ({share.terms.isa}); start workers like the others"
        )
    return Share(
        share.terms, {k: file_share.filled(chunks) for k, file_share in share.files.items()}
    )


def sum_share(share: Share, jobs: Sequence[Job]) -> Answer:
    """The sums of the rows that this worker holds."""
    begin = time.perf_counter()
    nodes = [
        share.files[job.file].nodes(job, share.terms.isa) if job.file in share.files else None
        for job in jobs
    ]
    terms = Agreement(this_build().fingerprint, share.terms.isa)
    return Answer(nodes, time.perf_counter() - begin, terms)
