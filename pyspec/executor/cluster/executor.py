"""The executor of a file, or of several, whose rows are summed by a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pyspec.executor.cluster.sums import ClusterSums
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.joint import PartsExecutor
from pyspec.executor.protocol import Array, Capabilities, PartsOfFit, SumsOfFit, Values
from pyspec.executor.store import RowSums
from pyspec.plan import ScheduledPlan


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
        self.local, self.sums_of_all = local, sums
        if isinstance(local, CompiledExecutor):
            files = [(local, np.arange(len(local.opt_param_names)))]
        else:
            compiled = [one for one in local.executors if isinstance(one, CompiledExecutor)]
            files = list(zip(compiled, local.problem.gather, strict=True))
        self._rows = RowSums(sums, files, first)

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
        return self._rows.at(given, fixed, form)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit, from all workers where data have to be read."""
        return self._rows.of_fit(fixed) if self.sums_of_all.is_open else self.local.sums(fixed)

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """The parts of a fit in this process."""
        return self.local.parts(fixed)

    def rest(self) -> None:
        """Frees work memory."""
        self.local.rest()
