"""The problem of a fit whose amplitudes are free at each energy or each time.

The optimizer sees the residual that remains once they are solved for (variable projection), and
the other parameters alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, PlanError
from pyspec.executor import Executor, LinearExecutor, executor_of
from pyspec.fit.findings.coincide import coinciding
from pyspec.fit.findings.deep import of_any_sign
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.linear.time_zero import beside
from pyspec.fit.problem import FitProblem
from pyspec.fit.refusals import check_registered
from pyspec.fit.same_data import need_same
from pyspec.model import Measurement, Par
from pyspec.model.free import dispersed, single_valued
from pyspec.model.windows import slice_of
from pyspec.plan import CompiledModel, compile_model
from pyspec.plan.following import Followers, Following
from pyspec.plan.places import Places

Array = npt.NDArray[np.float64]


class LinearProblem(FitProblem):
    """Model, measurement and backend; the amplitudes are no parameters.

    `of_joint` is the problem of all files, and which of them this is, where amplitudes are shared.
    """

    of_joint: tuple[Any, int] | None = None

    #: All starts that this fit tries beside its optimum, `rivals` of a fit of data that scatter
    #: about the same model; None where these are not known.
    others: list[Array] | None = None

    def make_executor(self) -> Executor:
        """Of one of several files that share amplitudes it is that of their joint fit."""
        if self.of_joint is None:
            check_registered(self.model, self.parameters)
            return executor_of(self.compiled, self.measurement, self.backend)
        joint, index = self.of_joint
        return joint.executor.executors[index]  # type: ignore[no-any-return]

    def of_any_sign(self) -> LinearProblem:
        """The same with amplitudes that may be negative."""
        given = compile_model(of_any_sign(self.model)), self.measurement, self.backend
        return LinearProblem(*given, fixed=self.fixed)

    @property
    def linear(self) -> LinearExecutor:
        """The executor, which solves for the amplitudes."""
        executor = self.executor
        assert isinstance(executor, LinearExecutor)
        return executor

    @property
    def is_trace(self) -> bool:
        return False

    @property
    def n_linear(self) -> int:  # type: ignore[override]
        """Amplitudes of all energies or times, at the end of a fit without those that the data do
        not determine, which are held at 0."""
        return self.linear.n_linear - self.n_lost

    n_lost: int = 0

    def n_linear_at(self, values: Mapping[str, float]) -> int:
        with np.errstate(all="ignore"):
            lost = self.linear.undetermined(self.theta_of(values), self.fixed)
        self.n_lost = sum(lost.values())
        return self.n_linear

    @cached_property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters but the amplitudes that are free, and what depends on the energy."""
        return single_valued(self.model.parameters)

    @cached_property
    def followers(self) -> Followers:
        """The expression parameters among these."""
        return Following.of(self.parameters, self.outline.followers)

    @cached_property
    def dispersed(self) -> frozenset[str]:
        """Parameters that differ from energy to energy: they have no single value."""
        return dispersed(self.model.parameters)

    def jumps(self) -> Mapping[str, Places]:
        if self.dispersed:
            return {}
        try:
            return super().jumps()
        except PlanError:
            return {}

    def jump_parameters(self) -> Collection[str]:
        if self.dispersed:  # no plan says at which energies they are
            return ()
        try:
            return super().jump_parameters()
        except PlanError:
            return ()

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        if self.others is not None:
            return self.others
        with np.errstate(all="ignore"):
            return beside(self.linear.designer, theta, self.fixed, alone=alone)

    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window. Over the whole axes it is NaN where there are no data to
        solve for amplitudes: outside of the window, along the axis of these."""
        need_same(self)  # which the amplitudes are solved from
        found = np.asarray(self.executor.run(theta, self.fixed))
        if not whole:
            return found
        measured, model = self.measurement, self.model
        assert model.time is not None
        assert model.energy is not None
        everywhere = np.full((model.time.size, model.energy.size), np.nan)
        rows = slice_of(measured.rows)
        everywhere[rows, slice_of(measured.columns)] = found
        return everywhere

    def doubts(
        self, theta: Array, values: Mapping[str, float], sides: Any, chisqr: float | None = None
    ) -> list[Finding]:
        found = super().doubts(theta, values, sides, chisqr)
        with np.errstate(all="ignore"):
            lost = self.linear.undetermined(theta, self.fixed)
            found += coinciding(self.linear.designer, theta, self.fixed)
        axis = {"energy": "energies", "time": "times"}[self.linear.designer.axis]
        return found + [
            Finding(Kind.AMPLITUDES_UNDETERMINED, (name,), {"count": count, "axis": axis})
            for name, count in lost.items()
        ]

    def explain(self, theta: Array) -> str:
        if self.dispersed:
            return "a parameter that depends on the energy leaves the domain of its function"
        return super().explain(theta)


def problem_of(
    compiled: CompiledModel,
    measurement: Measurement,
    backend: str,
    executor: Executor | None = None,
    fixed: Mapping[str, float] | None = None,
    without: Collection[str] = (),
) -> FitProblem:
    """The problem of a model, with or without free amplitudes."""
    given = compiled, measurement, backend, executor, fixed, without
    model = compiled.model
    if compiled.outline is None or not compiled.outline.has_free:
        return FitProblem(*given)
    if measurement.data is not None and np.ndim(measurement.data) != 2:
        raise FitError(
            f"{model.name}: amplitudes that are free need data of times and energies, not "
            f"{np.ndim(measurement.data)}D data"
        )
    return LinearProblem(*given)
