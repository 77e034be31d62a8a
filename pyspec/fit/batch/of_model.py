"""Many fits of one model: to many measurements, or from many starts."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.errors import PyspecError
from pyspec.fit.batch.batch import Batch, Made
from pyspec.fit.batch.fits import Status
from pyspec.fit.batch.from_starts import best_from_starts
from pyspec.fit.batch.pools import make_pool
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.fit.progress import Steps
from pyspec.fit.results.ended import state_of
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.methods import NATIVE, check_linear
from pyspec.fit.solve.native import native_options
from pyspec.fit.solve.stages import EndedInC
from pyspec.formula import op_of
from pyspec.model import Measurement, Model
from pyspec.plan import CompiledModel, compile_model

Array = npt.NDArray[np.float64]

Kind = TypeVar("Kind", bound=Status)


@dataclass(kw_only=True)
class ModelBatch(Batch[Kind]):
    """Fits of one model.

    Attributes
    ----------
    model : nobody changes it
    like : a measurement from which those of the fits differ
    kind : what is kept of a fit
    n_starts : of each fit
    row : of the data of case 0 in a series
    rivals : the other optima of the original fit, when data are drawn again; None if they are not
        known
    """

    model: Model
    like: Measurement
    backend: str
    kind: type[Kind]
    n_starts: int = 1
    row: int = 0
    rivals: list[Array] | None = None

    @property
    def label(self) -> str:
        return self.model.name

    @property
    def plural(self) -> str:
        return self.kind.plural

    @cached_property
    def compiled(self) -> CompiledModel:
        """The model, compiled in each process."""
        return compile_model(self.model)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "compiled"}

    def template(self) -> tuple[CompiledModel, Measurement, str] | None:
        return None if self.n_starts > 1 else (self.compiled, self.like, self.backend)

    def begin_part(self) -> None:
        """Raises :class:`ModelError` where this process lacks a function of the model: then no fit
        can run here."""
        groups = [self.model.components]
        for par in self.model.parameters.values():
            groups += [part.components for part in (par.dynamics, par.profile) if part is not None]
        for component in (part for group in groups for part in group):
            op_of(component.function)

    def run(
        self,
        hold: Hold,
        progress: bool | Callable[[int, int], object] | None,
        client: Any,
        n_workers: int | None,
        workers: str = "processes",
    ) -> tuple[Made[Kind], bool]:
        """All fits in their order, and whether a signal ended them: then the status of those that
        did not begin is "not run".

        Raises :class:`FitError` for options that no fit could have, and KeyboardInterrupt as
        :meth:`make_all`.
        """
        methods, options = self.how.methods, self.how.options
        check_linear(self.label, methods, options)
        if methods[-1] == NATIVE:
            native_options(self.label, options)
        pool, n, done = make_pool(self.label, client, n_workers, workers), len(self.cases), 0
        if pool is not None and workers == "threads":
            self.stop = threading.Event()
        steps, each = Steps(progress, f"{self.label}, {self.plural}"), callable(progress)

        def tell(numbers: range) -> None:
            nonlocal done
            for k in range(len(numbers)) if each else range(len(numbers) - 1, len(numbers)):
                steps.update(done + k + 1, n)
            done += len(numbers)

        fits = Made(self, n)
        try:
            interrupted, gone = self.make_all(fits, pool, hold, tell, each)
        finally:
            self.stop = None
            steps.close()
        if gone:
            told = f"{fits.n_done} of {n} {self.plural} are kept"
            warnings.warn(f"{self.label}: {gone}; {told}", stacklevel=stack_outside())
        fits.left = "not run", gone or "interrupted before it ended"
        return fits, interrupted

    # one fit

    def case(
        self, number: int, checksum: int | None = None
    ) -> tuple[FitProblem, Mapping[str, float]]:
        place = number - self.first
        measurement, values = self.cases.measurement(place), self.cases.values_of(place)
        names = self.compiled.model.fixed_names if values else ()
        fixed = {name: value for name, value in values.items() if name in names}
        free = {name: value for name, value in values.items() if name not in fixed}
        problem = problem_of(
            self.compiled, measurement, self.backend, None, fixed or None, checksum=checksum
        )
        return (problem if self.rivals is None else problem.beside(self.rivals)), free

    def fit(self, number: int) -> Kind:
        try:
            result = self.result(number)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return self.kept(number, "failed", str(error), None)
        state = state_of(result.success, result.without_effect)
        status = {"converged": "converged", "NOT determined": "undetermined"}.get(state, "stopped")
        if result.interrupted:
            status = "interrupted"
        return self.kept(number, status, result.message, result)

    def kept(self, number: int, status: str, message: str, result: FitResult | None) -> Kind:
        return self.kind.of(number, self.row + number, status, message, result)

    def result(self, number: int) -> FitResult:
        """The result of one fit."""
        problem, start = self.case(number)
        if self.n_starts == 1:
            return self._fit(problem, start)
        drawn = self.n_starts, self.start_seeds[number - self.first]
        result = best_from_starts(problem, self.how, start, *drawn, current_hold(), stop=self.stop)
        return self._named(result)

    def _fit(
        self,
        problem: FitProblem,
        start: Mapping[str, float],
        ended: EndedInC | None = None,
    ) -> FitResult:
        return self._named(super()._fit(problem, start, ended))

    def _named(self, result: FitResult) -> FitResult:
        result.fit_type = self.kind.fit_type
        result.problem.files[0].use(None)
        return result
