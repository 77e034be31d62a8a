"""The executors of a file, or of several, whose rows are summed by a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.executor.cluster.sums import ClusterSums
from pyspec.executor.cluster.worker import Job
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.joint import JointExecutor, JointNames
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import triangle_size
from pyspec.executor.protocol import Array, Capabilities, PartsOfFit, SumsOfFit, Values
from pyspec.executor.span import Reading, Span, span_of
from pyspec.plan import ScheduledPlan

Ints = npt.NDArray[np.int64]


class ClusterExecutor:
    """Sums from the workers; models, residuals and derivatives of points from this process.

    Parameters
    ----------
    local : the executor of this process
    sums : of all files of the fit
    file : which of them this is
    """

    name: ClassVar[str] = "compiled"

    def __init__(self, local: CompiledExecutor, sums: ClusterSums, file: int = 0) -> None:
        self.local, self.sums_of_all, self.file = local, sums, file

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta."""
        return self.local.opt_param_names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The order of `fixed`."""
        return self.local.fixed_names

    @property
    def plan(self) -> ScheduledPlan:
        """The plan of the file."""
        return self.local.plan

    @property
    def capabilities(self) -> Capabilities:
        """Those of this process; while the fit runs, sums alone come from the cluster."""
        can = self.local.capabilities
        return replace(can, in_parts=False) if self.sums_of_all.is_open else can

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window."""
        return self.local.run(theta, fixed)

    def residual(self, theta: Values, fixed: Values = None, out: Array | None = None) -> Array:
        """As of :meth:`CompiledExecutor.residual`."""
        return self.local.residual(theta, fixed, out)

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """As of :meth:`CompiledExecutor.jacobian`."""
        return self.local.jacobian(theta, fixed, known_only=known_only)

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """The triangle of a fit in memory, bit for bit, from all workers."""
        if not self.sums_of_all.is_open:
            return self.local.normal(theta, fixed, form)
        (nodes,) = _sum(self.sums_of_all, [self.job(theta, fixed, form)])
        return collect(nodes, len(self.opt_param_names), form)

    def job(self, theta: Values, fixed: Values, form: str, reading: Reading | None = None) -> Job:
        """What the workers are asked for."""
        given = self.plan.values(theta, "free")
        return Job(self.file, given, fixed, form, self.local.in_strips(form), reading)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit, from all workers where data have to be read."""
        if not self.sums_of_all.is_open:
            return self.local.sums(fixed)
        places = [np.arange(len(self.opt_param_names))]
        return _sums_of_fit(self.sums_of_all, [self], places, fixed)

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """The parts of a fit in this process."""
        return self.local.parts(fixed)

    def rest(self) -> None:
        """Frees work memory."""
        self.local.rest()


class ClusterJointExecutor(JointExecutor):
    """Several files, whose rows the workers sum in one task each."""

    def __init__(
        self, locals_: Sequence[CompiledExecutor], names: JointNames, sums: ClusterSums
    ) -> None:
        self.files = [ClusterExecutor(local, sums, k) for k, local in enumerate(locals_)]
        self.sums_of_all = sums
        super().__init__(self.files, names)

    @property
    def capabilities(self) -> Capabilities:
        """What the files can do together."""
        can = self.files[0].capabilities
        return Capabilities(in_c=True, jacobian=can.jacobian, in_parts=can.in_parts)

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """The triangle of all files together, bit for bit that of a fit in memory."""
        if not self.sums_of_all.is_open:
            return super().normal(theta, fixed, form)
        given = self._theta(theta)
        pairs: _Pairs = list(zip(self.files, self.names.gather, strict=True))
        found = _sum(
            self.sums_of_all, [file.job(given[gather], None, form) for file, gather in pairs]
        )
        return _collected(found, pairs, form, given.size)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit of all files together."""
        if not self.sums_of_all.is_open:
            return super().sums(fixed)
        return _sums_of_fit(self.sums_of_all, self.files, self.names.gather, None)


#: Files, and where each finds its theta among the parameters of the fit.
_Pairs = list[tuple[ClusterExecutor, Ints]]


def _sum(sums: ClusterSums, jobs: list[Job]) -> list[Nodes]:
    """The nodes of each job; where sums in strips are not finite, which may be so by the order of
    operations alone, those row by row."""
    found = sums.sum(jobs)
    if any(job.strips for job in jobs) and not all(nodes.are_finite for nodes in found):
        return sums.sum([replace(job, strips=False) for job in jobs])
    return found


def _collected(found: Sequence[Nodes], pairs: _Pairs, form: str, n_free: int) -> Array:
    """The triangle of all files, of the nodes of each."""
    triangle = np.zeros(triangle_size(1 if form == "value" else n_free + 1))
    for nodes, (file, gather) in zip(found, pairs, strict=True):
        collect(nodes, len(file.opt_param_names), form, triangle, gather)
    return triangle


@contextmanager
def _sums_of_fit(
    sums: ClusterSums, files: Sequence[ClusterExecutor], gather: Sequence[Ints], fixed: Values
) -> Iterator[SumsOfFit]:
    """The sums of a fit of these files; `gather` says where each finds its theta."""
    pairs: _Pairs = list(zip(files, gather, strict=True))
    with ExitStack() as stack:
        spans = [stack.enter_context(span_of(f.local, fixed, sums.terms.isa)) for f in files]

        def sums_at(theta: Array, form: str) -> Array:
            at = [theta[places] for _, places in pairs]
            apart = [file.local.is_apart(form) for file in files]
            known = [
                span if is_apart else None for span, is_apart in zip(spans, apart, strict=True)
            ]
            nodes = _nodes_of_files(sums, files, known, at, fixed, form)
            are_finite = all(own.are_finite for own in nodes)
            if any(apart) and not are_finite:  # by the order of operations alone?
                jobs = [file.job(own, fixed, form) for file, own in zip(files, at, strict=True)]
                nodes = sums.sum([replace(job, strips=False) for job in jobs])
            return _collected(nodes, pairs, form, theta.size)

        yield sums_at


def _nodes_of_files(
    sums: ClusterSums,
    files: Sequence[ClusterExecutor],
    spans: Sequence[Span | None],
    at: Sequence[Array],
    fixed: Values,
    form: str,
) -> list[Nodes]:
    """The sums of each file at its theta; those with a span are asked for what is to be read."""
    asked = {k: None if span is None else span.ask(at[k], form) for k, span in enumerate(spans)}
    due = {k: reading for k, reading in asked.items() if spans[k] is None or reading is not None}
    found: dict[int, Nodes] = {}
    while due:
        read = sums.sum([files[k].job(at[k], fixed, form, one) for k, one in due.items()])
        again: dict[int, Reading | None] = {}
        for k, nodes in zip(due, read, strict=True):
            span = spans[k]
            if span is None:
                found[k] = nodes
            elif (reading := span.take(nodes)) is not None:
                again[k] = reading
        due = again
    found |= {k: _one_node(span.answer()) for k, span in enumerate(spans) if span is not None}
    return [found[k] for k in range(len(files))]


def _one_node(triangle: Array) -> Nodes:
    return Nodes(np.zeros((1, 2), np.int64), triangle[np.newaxis])
