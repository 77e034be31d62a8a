"""Sums of a fit whose rows lie elsewhere: with a source that is read in chunks, or with the workers
of a cluster. Both are stores of rows, below one loop that asks them for what it needs.

A store returns nodes of the tree over the row number (:mod:`pyspec.executor.nodes`). Their sum has
the bits of a sum over all rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import triangle_size
from pyspec.executor.protocol import Array, SumsOfFit, Values
from pyspec.executor.span import Reading, Span, span_of


@dataclass(frozen=True)
class Job:
    """What to sum of one file: a triangle, or what a `reading` says."""

    file: int
    theta: Array
    fixed: Values
    form: str
    strips: bool
    reading: Reading | None = None

    def of_rows(self, begin: int, end: int) -> Job:
        """The same for who holds some of the rows."""
        if self.reading is None:
            return self
        return replace(self, reading=self.reading.of_rows(begin, end))


class RowStore(Protocol):
    """Who holds the rows of the files of a fit, and sums them where they are."""

    @property
    def isa(self) -> str | None:
        """The build of the kernels that sums; None: that of this process."""

    def nodes(self, jobs: Sequence[Job]) -> list[Nodes]:
        """The nodes of each job over all rows of its file, in the order of these."""


class RowSums:
    """The sums of files whose rows a store holds.

    Parameters
    ----------
    files : the executor of each, and where it finds its parameters in theta of the fit
    first : which of the files of the store is the first of these
    """

    def __init__(
        self,
        store: RowStore,
        files: Sequence[tuple[CompiledExecutor, npt.NDArray[np.int64]]],
        first: int = 0,
    ) -> None:
        self.store, self.files, self.first = store, files, first

    def at(self, theta: Array, fixed: Values, form: str) -> Array:
        """The triangle at theta, of all rows; see :meth:`CompiledExecutor.normal`."""
        return self._sum([None] * len(self.files), theta, fixed, form)

    @contextmanager
    def of_fit(self, fixed: Values) -> Iterator[SumsOfFit]:
        """The sums of one fit, which asks for the rows where it has to."""
        with ExitStack() as stack:
            isa = self.store.isa
            spans = [
                stack.enter_context(span_of(executor, fixed, isa)) for executor, _ in self.files
            ]
            yield lambda theta, form: self._sum(spans, theta, fixed, form)

    def _sum(self, spans: Sequence[Span | None], theta: Array, fixed: Values, form: str) -> Array:
        jobs = [
            Job(self.first + k, theta[places], fixed, form, executor.in_strips(form))
            for k, (executor, places) in enumerate(self.files)
        ]
        apart = [executor.is_apart(form) for executor, _ in self.files]
        nodes = self._nodes([s if own else None for s, own in zip(spans, apart, strict=True)], jobs)
        if any(apart) and not all(np.isfinite(own.triangles).all() for own in nodes):
            # By the order of operations alone? Row by row says it.
            nodes = self.store.nodes([replace(job, strips=False) for job in jobs])
        triangle = np.zeros(triangle_size(1 if form == "value" else theta.size + 1))
        for own, (_, places) in zip(nodes, self.files, strict=True):
            collect(own, places.size, form, triangle, places)
        return triangle

    def _nodes(self, spans: Sequence[Span | None], jobs: Sequence[Job]) -> list[Nodes]:
        """The sums of each file; those with a span are asked for what is to be read."""
        nodes_by_file: dict[int, Nodes] = {}
        due: dict[int, Job] = {}
        for k, (span, job) in enumerate(zip(spans, jobs, strict=True)):
            reading = None if span is None else span.ask(job.theta, job.form)
            if span is None or reading is not None:
                due[k] = replace(job, reading=reading)
        while due:
            again: dict[int, Job] = {}
            for k, nodes in zip(due, self.store.nodes(list(due.values())), strict=True):
                span = spans[k]
                if span is None:
                    nodes_by_file[k] = nodes
                elif (reading := span.take(nodes)) is not None:
                    again[k] = replace(jobs[k], reading=reading)
            due = again
        for k, span in enumerate(spans):
            if span is not None:
                nodes_by_file[k] = Nodes(np.zeros((1, 2), np.int64), span.answer()[np.newaxis])
        return [nodes_by_file[k] for k in range(len(spans))]
