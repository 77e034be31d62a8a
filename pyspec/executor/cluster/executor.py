"""The executor of a file whose rows are summed by a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import ClassVar

from pyspec.executor.cluster.sums import ClusterSums
from pyspec.executor.cluster.worker import Job
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import collect
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
        apart = self.local.is_apart(form)
        given = self.plan.values(theta, self.opt_param_names, self.plan.theta, "free")
        (nodes,) = self.sums.sum([Job(self.file, given, fixed, form, apart)])
        if apart and not nodes.are_finite:  # by the order of operations alone?
            (nodes,) = self.sums.sum([Job(self.file, given, fixed, form, False)])
        return collect(nodes, len(self.opt_param_names), form)

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """The parts of a fit in this process."""
        return self.local.parts(fixed)

    def rest(self) -> None:
        """Frees work memory."""
        self.local.rest()
