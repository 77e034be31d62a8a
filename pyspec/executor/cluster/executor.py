"""The executors of a file, or of several, whose rows are summed by a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pyspec.executor.cluster.sums import ClusterSums
from pyspec.executor.cluster.worker import Job
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.joint import JointExecutor, JointNames
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import triangle_size
from pyspec.executor.protocol import Array, Capabilities, PartsOfFit, Values
from pyspec.plan import ScheduledPlan


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
        self.local, self.sums, self.file = local, sums, file

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
        return replace(can, in_parts=False) if self.sums.is_open else can

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
        if not self.sums.is_open:
            return self.local.normal(theta, fixed, form)
        (nodes,) = _sum(self.sums, [self.job(theta, fixed, form)])
        return collect(nodes, len(self.opt_param_names), form)

    def job(self, theta: Values, fixed: Values, form: str) -> Job:
        """What the workers are asked for."""
        given = self.plan.values(theta, self.opt_param_names, self.plan.theta, "free")
        return Job(self.file, given, fixed, form, self.local.is_apart(form))

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
        self.sums = sums
        super().__init__(self.files, names)

    @property
    def capabilities(self) -> Capabilities:
        """What the files can do together."""
        can = self.files[0].capabilities
        return Capabilities(in_c=True, jacobian=can.jacobian, in_parts=can.in_parts)

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """The triangle of all files together, bit for bit that of a fit in memory."""
        if not self.sums.is_open:
            return super().normal(theta, fixed, form)
        given = self._theta(theta)
        pairs = list(zip(self.files, self.names.gather, strict=True))
        found = _sum(self.sums, [file.job(given[gather], None, form) for file, gather in pairs])
        order = 1 if form == "value" else given.size + 1
        triangle = np.zeros(triangle_size(order))
        for nodes, (file, gather) in zip(found, pairs, strict=True):
            collect(nodes, len(file.opt_param_names), form, triangle, gather)
        return triangle


def _sum(sums: ClusterSums, jobs: list[Job]) -> list[Nodes]:
    """The nodes of each job; where sums over shapes and times apart are not finite, which may be so
    by the order of operations alone, those row by row."""
    found = sums.sum(jobs)
    if any(job.apart for job in jobs) and not all(nodes.are_finite for nodes in found):
        return sums.sum([replace(job, apart=False) for job in jobs])
    return found
