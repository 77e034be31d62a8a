"""What many fits of one model share, and one of them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol

import numpy as np

from pyspec.errors import PyspecError
from pyspec.executor import Executor, Executors
from pyspec.fit.batch.fits import Fit
from pyspec.fit.linear import LinearProblem
from pyspec.fit.plain import judged
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent
from pyspec.fit.result import FitResult
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import best_of
from pyspec.fit.statistics import state_of
from pyspec.formula import op_of
from pyspec.model import Measurement, Model


class _Stop(Silent):
    """Ends a fit in a thread when the others are to end."""

    def __init__(self, event: threading.Event | None) -> None:
        self.event = event

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        if self.event is not None and self.event.is_set():
            raise KeyboardInterrupt


#: A measurement, and values by name in place of those of the model.
Case = tuple[Measurement, Mapping[str, float]]


class Cases(Protocol):
    """What each fit of a batch is of."""

    def case(self, place: int) -> Case: ...
    def part(self, places: slice) -> Cases: ...


#: What a problem is of: model, measurement, backend, executor and fixed values.
Described = tuple[Model, Measurement, str, Executor, Mapping[str, float] | None]

#: What a batch makes for itself, in each process.
_MADE_AGAIN = ("_executors", "_like")


@dataclass
class Batch(ABC, Generic[Fit]):
    """What all fits share: the model, and how each runs. Fits are known by their numbers; a part of
    a batch begins with the number `first`."""

    model: Model
    cases: Cases
    backend: str
    how: How
    n_starts: int = 1
    #: Of the random starts of each fit: the same ones wherever it is fitted.
    start_seeds: Sequence[int] = ()
    first: int = 0
    stop: Any = field(default=None, repr=False)

    #: What results are called, and many of them.
    fit_type: ClassVar[str]
    plural: ClassVar[str]

    #: A problem from which the others take what the model alone decides.
    _like: FitProblem | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def kept(self, number: int, status: str, message: str, result: FitResult | None) -> Fit:
        """What is kept of a fit: one of :data:`pyspec.fit.batch.fits.STATUS`, what it says, and
        its result where there is one."""

    def part(self, numbers: Sequence[int]) -> Batch[Fit]:
        """The batch of fits that follow each other, with their cases alone."""
        own = slice(numbers[0] - self.first, numbers[-1] + 1 - self.first)
        cases, seeds = self.cases.part(own), self.start_seeds[own]
        return replace(self, first=numbers[0], cases=cases, start_seeds=seeds)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}
        return {**kept, "stop": None}

    def need_functions(self) -> None:
        """Raises :class:`ModelError` where this process lacks a function of the model: then no fit
        can run here."""
        groups = [self.model.components]
        for par in self.model.parameters.values():
            groups += [one.components for one in (par.dynamics, par.profile) if one is not None]
        for component in (one for group in groups for one in group):
            op_of(component.function)

    @cached_property
    def _executors(self) -> Executors:
        return Executors(self.model, self.backend)

    def fit(self, number: int) -> Fit:
        """What is kept of one fit; a failure becomes its status."""
        try:
            result = self.result(number)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return self.kept(number, "failed", str(error), None)
        said = state_of(result.success, result.without_effect, result.message)
        status = {"converged": "converged", "NOT determined": "undetermined"}.get(said, "stopped")
        if result.interrupted:
            status = "interrupted"
        return self.kept(number, status, result.message, result)

    def result(self, number: int) -> FitResult:
        """The result of one fit."""
        place = number - self.first
        measurement, given = self.cases.case(place)
        executor = self._executors(measurement)
        fixed = {name: value for name, value in given.items() if name in executor.fixed_names}
        free = {name: value for name, value in given.items() if name not in fixed}
        described = self.model, measurement, self.backend, executor, fixed or None
        problem = self._problem(described)
        if self.n_starts == 1:
            return self._fit(problem, free)

        def fit(start: Mapping[str, float] | None) -> FitResult:
            return self._fit(self._problem(described), start)

        return best_of(fit, problem, free, self.n_starts, self.start_seeds[place])

    def _problem(self, described: Described) -> FitProblem:
        """The problem of one fit."""
        known = self._executors.outline
        if known.has_free:
            return LinearProblem(*described)
        self._like = FitProblem(*described, like=self._like, outline=known)
        return self._like

    def _fit(self, problem: FitProblem, start: Mapping[str, float] | None) -> FitResult:
        result = judged(run_fit(problem, self.how, _Stop(self.stop), start))
        result.fit_type = self.fit_type
        problem.use(None)
        return result
