"""Fits of data by reference: every sum is a pass over the blocks of a source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pyspec.errors import DataError, PlanError
from pyspec.executor.chunks import chunk_nodes, in_strips, weighed
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes
from pyspec.executor.protocol import Array, Blocks, Capabilities, Values
from pyspec.executor.store import Job, RowSums
from pyspec.executor.team import choose_threads
from pyspec.model import Measurement
from pyspec.model.data.lazy_weights import veiled
from pyspec.model.data.source import source_of
from pyspec.plan import PackedPlan, ScheduledPlan

#: Threads that sum blocks side by side, at most: each holds a block.
THREADS = 16


#: Sums with derivatives, each of which asks for the data again.
_SUMS = Capabilities(in_c=True, in_parts=False)


class SourceExecutor(CompiledExecutor):
    """C evaluation of a plan on data that are read block by block. It gives models and sums. It
    gives no residuals and no derivatives of each point, which would be as large as the data.

    Attributes
    ----------
    watch : called with the rows read so far after each block of an evaluation; it may raise
    """

    watch: Callable[[int], object] | None = None
    isa = None  # the kernels of this process sum

    def __init__(
        self,
        plan: ScheduledPlan,
        measurement: Measurement,
        *,
        packed: PackedPlan | None = None,
    ) -> None:
        source = source_of(measurement.data)
        assert source is not None
        name = plan.name or "the model"
        if plan.external_names:
            raise PlanError(
                f"{name}: {plan.in_python} needs Python for "
                "every row, which data by reference do not allow; write it as a formula, in a "
                "section functions: of the model file"
            )
        if source.shape != plan.shape:
            raise DataError(
                f"data have shape {source.shape}, the axes of {name} have {plan.shape} (times, "
                "energies)"
            )
        for role, array in (("weight", measurement.weight), ("mask", measurement.keep)):
            if (beside := source_of(array)) is not None and beside.shape != plan.shape:
                raise DataError(
                    f"{beside.name}: the {role} has shape {beside.shape}, the data {plan.shape}; "
                    "give each point its own"
                )
        weight = None if source_of(measurement.weight) is not None else measurement.weight
        keep = None if source_of(measurement.keep) is not None else measurement.keep
        own = replace(measurement, data=None, weight=weight, keep=keep)
        super().__init__(plan, own, packed=packed)
        self._by_reference, self.seen = measurement, measurement.seen
        if weight is None:
            self.weight = measurement.weight
        if keep is None:
            self.keep = measurement.keep
        self.source = veiled(source, self.keep)
        self.rows = RowSums(self, [(self, np.arange(len(self.opt_param_names)))])

    def __reduce__(self) -> tuple[object, ...]:
        return SourceExecutor, (self.plan, self._by_reference)

    def is_apart(self, form: str) -> bool:
        """As in memory; not with weights or a mask that are read with the data."""
        beside = (self.weight, self.keep)
        return all(source_of(array) is None for array in beside) and super().is_apart(form)

    @property
    def capabilities(self) -> Capabilities:
        """Sums with derivatives, each of which asks for the data again."""
        return _SUMS

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """Loads the data. Raises :class:`DataError` where that is too large."""
        measurement = self._by_reference
        loaded = replace(
            measurement,
            data=np.asarray(measurement.data),
            weight=None if measurement.weight is None else np.asarray(measurement.weight),
            keep=None if measurement.keep is None else np.asarray(measurement.keep),
        )
        whole = CompiledExecutor(self.plan, loaded, packed=self.packed)
        return whole.residual(theta, fixed)

    def nodes(self, jobs: Sequence[Job]) -> list[Nodes]:
        """The sums of each job over the blocks: as a store, this has the rows of one file."""
        threads, nodes = min(choose_threads([self]), THREADS), []
        for job in jobs:
            blocks = in_strips(self._blocks()) if job.strips else self._blocks()
            chunks = weighed(self, blocks, self.source.step)
            nodes.append(chunk_nodes(self, job, chunks, threads=threads))
        return nodes

    def _blocks(self) -> Blocks:
        """The rows of the window, watched."""
        begin, end = self.window.row_begin, self.window.row_end
        for first, block in self.source.blocks(begin, end, self.seen):
            if self.watch is not None:
                self.watch(first + len(block) - begin)
            yield first, block
