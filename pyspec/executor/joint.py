"""The executor of several parts: one residual, one sum.

Parts whose executor is compiled are evaluated in one C call; a part that needs another executor
slows down no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.errors import PlanError
from pyspec.executor.amplitudes.executor import stack_of
from pyspec.executor.amplitudes.stacked import Stack
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import Opens, Parts, fit_parts, triangle_size
from pyspec.executor.problem import Problem
from pyspec.executor.protocol import (
    Array,
    Capabilities,
    Executor,
    SumsOfFit,
    SumsOfRows,
    Values,
)
from pyspec.model.theta import values_of

Ints = npt.NDArray[np.int64]


def _summing(executor: Executor) -> Executor:
    """An executor that sums [J r]. Raises :class:`PlanError`."""
    if not executor.capabilities.in_c:
        raise PlanError(f"the {executor.name} executor has no derivatives; use compiled")
    return executor


class PartsExecutor:
    """Runs the executors of the parts of a problem as one; spectra and residuals are concatenated.

    Attributes
    ----------
    problem : the parts, and where each finds its parameters
    executors : one for each part
    stack : where parts share free amplitudes, what solves for those of all; else None
    rows : what sums all parts together, where their rows lie elsewhere
    """

    name: ClassVar[str] = "joint"
    plan: ClassVar[None] = None
    rows: SumsOfRows | None = None

    def __init__(self, problem: Problem, executors: Sequence[Executor]) -> None:
        self.problem, self.executors = problem, tuple(executors)
        for executor, gather in zip(self.executors, problem.gather, strict=True):
            if len(executor.opt_param_names) != gather.size:
                raise PlanError("these executors do not belong to the parts of the problem")
        self.stack = stack_of(self.executors, problem)
        #: Who answers together, and where each of them finds its theta: the stack, or the parts.
        self._blocks: list[tuple[Executor, Ints]]
        if self.stack is None:
            self._blocks = list(zip(self.executors, problem.gather, strict=True))
        else:
            self._blocks = [(self.stack, np.arange(len(problem.names)))]

    def __repr__(self) -> str:
        return f"<PartsExecutor: {len(self.opt_param_names)} free parameters, {self.executors!r}>"

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta: the free parameters of the problem."""
        return self.problem.names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """Fixed values belong to the parts; a joint run takes none."""
        return ()

    def settled(self, theta: Array) -> AbstractContextManager[None]:
        """Inside of this block each part knows the theta of the others."""
        return nullcontext() if self.stack is None else self.stack.settled(theta)

    def rest(self) -> None:
        """Frees the work memory of all parts."""
        for executor in (*self.executors, *(block for block, _ in self._blocks)):
            executor.rest()

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The models of all parts over their windows, flattened, one after the other."""
        free = self.theta_of(theta)
        return np.concatenate([block.run(free[gather]).ravel() for block, gather in self._blocks])

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """The residuals of all parts, one after the other."""
        free = self.theta_of(theta)
        each = [executor.residual(free[gather]) for executor, gather in self._blocks]
        return np.concatenate(each)

    @property
    def capabilities(self) -> Capabilities:
        """What the parts can do together: all of them in C, or some derivatives."""
        unknown: set[int] = set()
        for executor, gather in self._blocks:
            own = executor.capabilities
            places = gather[list(own.unknown_columns)] if own.jacobian else gather
            unknown.update(places.tolist())
        can = [executor.capabilities for executor, _ in self._blocks]
        return Capabilities(
            jacobian=True,
            unknown_columns=tuple(sorted(unknown)),
            in_c=all(own.in_c for own in can),
            in_parts=self.rows is None and all(own.in_parts for own in can),
        )

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """Derivatives of the residual, (n_free, n); see :meth:`CompiledExecutor.jacobian`."""
        if self.capabilities.unknown_columns and not known_only:
            raise PlanError("a file without closed derivatives is among these; use differences")
        free = self.theta_of(theta)
        blocks = []
        for executor, gather in self._blocks:
            if executor.capabilities.jacobian:
                own = executor.jacobian(free[gather], known_only=True)
            else:
                own = np.zeros((gather.size, executor.residual(free[gather]).size))
            block = np.zeros((free.size, own.shape[1]))
            block[gather] = own
            blocks.append(block)
        return np.concatenate(blocks, axis=1)

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """The triangle of all parts together; see :meth:`CompiledExecutor.normal`."""
        free = self.theta_of(theta)
        if self.rows is not None:
            return self.rows.at(free, fixed, form)
        return self._joined(
            [_summing(e).normal(free[g], None, form) for e, g in self._blocks], form
        )

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit of all parts together."""
        return self._sums() if self.rows is None else self.rows.of_fit(fixed)

    @contextmanager
    def _sums(self) -> Iterator[SumsOfFit]:
        with ExitStack() as stack:
            each = [
                (stack.enter_context(_summing(executor).sums()), g) for executor, g in self._blocks
            ]
            yield lambda theta, form: self._joined([sums(theta[g], form) for sums, g in each], form)

    def _joined(self, triangles: Sequence[Array], form: str) -> Array:
        """The triangle of all parts, of that of each."""
        if self.stack is not None:
            return triangles[0]
        n_free = len(self.problem.names)
        total = np.zeros(triangle_size(1 if form == "value" else n_free + 1))
        for own, gather in zip(triangles, self.problem.gather, strict=True):
            all_rows = Nodes(np.zeros((1, 2), np.int64), own[np.newaxis])
            collect(all_rows, gather.size, form, total, gather)
        return total

    def parts(self, fixed: Values = None) -> AbstractContextManager[Parts]:
        """All parts as the C loop of a fit uses them."""
        opens: list[Opens] = []
        for executor, _ in self._blocks:
            summing = _summing(executor)
            assert isinstance(summing, (CompiledExecutor, Stack))
            opens.append(summing)
        gathers = [gather for _, gather in self._blocks]
        return fit_parts(opens, gathers, len(self.problem.names), None)

    def theta_of(self, theta: Values) -> Array:
        """(n,) values given by name, in order, or not at all."""
        return values_of(theta, self.problem.names, self.problem.start, "free", "joint fit")
