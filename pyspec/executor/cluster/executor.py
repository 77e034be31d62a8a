"""The executor of a file, or of several, whose rows are summed by a cluster."""

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
from pyspec.executor.joint import PartsExecutor
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import triangle_size
from pyspec.executor.protocol import Array, Capabilities, PartsOfFit, SumsOfFit, Values
from pyspec.executor.span import Reading, Span, span_of
from pyspec.plan import ScheduledPlan

Ints = npt.NDArray[np.int64]


class ClusterExecutor:
    """Sums from the workers, of all files in one task each; models, residuals and derivatives of
    points from this process.

    Parameters
    ----------
    local : the executor of this process, of one file or of several
    sums : of all files of the fit
    first : which of them is the first of these
    """

    name: ClassVar[str] = "compiled"

    def __init__(
        self, local: CompiledExecutor | PartsExecutor, sums: ClusterSums, first: int = 0
    ) -> None:
        self.local, self.sums_of_all, self._first = local, sums, first
        if isinstance(local, CompiledExecutor):
            self._pairs: _Pairs = [(local, np.arange(len(local.opt_param_names)))]
        else:
            files = [one for one in local.executors if isinstance(one, CompiledExecutor)]
            self._pairs = list(zip(files, local.problem.gather, strict=True))

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta."""
        return self.local.opt_param_names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The order of `fixed`."""
        return self.local.fixed_names

    @property
    def plan(self) -> ScheduledPlan | None:
        """The plan of one file."""
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
        local = self.local
        if isinstance(local, CompiledExecutor):
            given = local.plan.values(theta, "free")
        else:
            given = local.theta_of(theta)
        jobs = [self.job(k, given[own], fixed, form) for k, (_, own) in enumerate(self._pairs)]
        found = self.sums_of_all.sum(jobs)
        # Sums in strips that are not finite may be so by the order of operations alone.
        if any(job.strips for job in jobs) and not all(nodes.are_finite for nodes in found):
            found = self.sums_of_all.sum([replace(job, strips=False) for job in jobs])
        return self._collected(found, form, given.size)

    def job(
        self, k: int, theta: Array, fixed: Values, form: str, reading: Reading | None = None
    ) -> Job:
        """What the workers are asked for of one file."""
        local = self._pairs[k][0]
        given = local.plan.values(theta, "free")
        return Job(self._first + k, given, fixed, form, local.in_strips(form), reading)

    def _collected(self, found: Sequence[Nodes], form: str, n_free: int) -> Array:
        """The triangle of all files, of the nodes of each."""
        triangle = np.zeros(triangle_size(1 if form == "value" else n_free + 1))
        for nodes, (local, gather) in zip(found, self._pairs, strict=True):
            collect(nodes, len(local.opt_param_names), form, triangle, gather)
        return triangle

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit, from all workers where data have to be read."""
        return self._sums(fixed) if self.sums_of_all.is_open else self.local.sums(fixed)

    @contextmanager
    def _sums(self, fixed: Values) -> Iterator[SumsOfFit]:
        sums, files = self.sums_of_all, [local for local, _ in self._pairs]
        with ExitStack() as stack:
            spans = [stack.enter_context(span_of(one, fixed, sums.terms.isa)) for one in files]

            def sums_at(theta: Array, form: str) -> Array:
                at = [theta[places] for _, places in self._pairs]
                apart = [one.is_apart(form) for one in files]
                known = [
                    span if is_apart else None for span, is_apart in zip(spans, apart, strict=True)
                ]
                nodes = self._nodes(known, at, fixed, form)
                are_finite = all(own.are_finite for own in nodes)
                if any(apart) and not are_finite:  # by the order of operations alone?
                    jobs = [self.job(k, own, fixed, form) for k, own in enumerate(at)]
                    nodes = sums.sum([replace(job, strips=False) for job in jobs])
                return self._collected(nodes, form, theta.size)

            yield sums_at

    def _nodes(
        self, spans: Sequence[Span | None], at: Sequence[Array], fixed: Values, form: str
    ) -> list[Nodes]:
        """The sums of each file at its theta; those with a span are asked for what is to be
        read."""
        asked = {k: None if span is None else span.ask(at[k], form) for k, span in enumerate(spans)}
        due = {k: one for k, one in asked.items() if spans[k] is None or one is not None}
        found: dict[int, Nodes] = {}
        while due:
            jobs = [self.job(k, at[k], fixed, form, one) for k, one in due.items()]
            again: dict[int, Reading | None] = {}
            for k, nodes in zip(due, self.sums_of_all.sum(jobs), strict=True):
                span = spans[k]
                if span is None:
                    found[k] = nodes
                elif (reading := span.take(nodes)) is not None:
                    again[k] = reading
            due = again
        found |= {k: _one_node(span.answer()) for k, span in enumerate(spans) if span is not None}
        return [found[k] for k in range(len(spans))]

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """The parts of a fit in this process."""
        return self.local.parts(fixed)

    def rest(self) -> None:
        """Frees work memory."""
        self.local.rest()


#: Files, and where each finds its theta among the parameters of the fit.
_Pairs = list[tuple[CompiledExecutor, Ints]]


def _one_node(triangle: Array) -> Nodes:
    return Nodes(np.zeros((1, 2), np.int64), triangle[np.newaxis])
