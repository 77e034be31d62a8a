"""What all slices of a fit share, and the fit of one of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.executor import Executors
from pyspec.fit.plain import judged
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent
from pyspec.fit.result import FitResult
from pyspec.fit.slices.results import SliceFit
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import best_of
from pyspec.fit.statistics import state_of
from pyspec.model import Measurement, Model
from pyspec.model.measurement import row_of

Array = npt.NDArray[np.float64]


class _Stop(Silent):
    """Ends a fit in a thread when the others are to end."""

    def __init__(self, event: threading.Event | None) -> None:
        self.event = event

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        if self.event is not None and self.event.is_set():
            raise KeyboardInterrupt


#: What a job makes for itself, in each process.
_MADE_AGAIN = ("_executors", "_like")


@dataclass
class Job:
    """What all slices share: the model and the options."""

    model: Model
    series: Measurement
    backend: str
    methods: tuple[str, ...]
    options: dict[str, Any]
    max_nfev: int | None
    max_seconds: float | None
    scale_covar: bool | None
    seeds: Sequence[Mapping[str, float]]
    n_starts: int = 1
    #: Of the random starts of each fit: the same ones wherever it is fitted.
    start_seeds: Sequence[int] = ()
    stop: Any = field(default=None, repr=False)

    #: What results are called.
    fit_type: ClassVar[str] = "slice"

    #: A problem from which the others take what the model alone decides.
    _like: FitProblem | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}
        return {**kept, "stop": None}

    @cached_property
    def _executors(self) -> Executors:
        return Executors(self.model, self.backend)

    def fit(self, index: int, row: int) -> SliceFit:
        """Fits one slice; a failure becomes its status."""
        assert self.model is not None
        try:
            result = self._result(index, row)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return SliceFit(index, row, "failed", str(error), None)
        said = state_of(result.success, result.without_effect, result.message)
        status = {"converged": "converged", "NOT determined": "undetermined"}.get(said, "stopped")
        if result.interrupted:
            status = "interrupted"
        return SliceFit(index, row, status, result.message, result)

    def case(self, index: int, row: int) -> tuple[Measurement, Mapping[str, float]]:
        """What one fit is of, and values by name in place of those of the model."""
        return row_of(self.series, row), self.seeds[index] if self.seeds else {}

    def _result(self, index: int, row: int) -> FitResult:
        measurement, given = self.case(index, row)
        executor = self._executors(measurement)
        fixed = {name: value for name, value in given.items() if name in executor.fixed_names}
        free = {name: value for name, value in given.items() if name not in fixed}
        described = self.model, measurement, self.backend, executor, fixed or None
        known = self._executors.outline
        self._like = problem = FitProblem(*described, like=self._like, outline=known)
        if self.n_starts == 1:
            return self._fit(problem, free)

        def fit(start: Mapping[str, float] | None) -> FitResult:
            return self._fit(FitProblem(*described, like=problem, outline=known), start)

        return best_of(fit, problem, free, self.n_starts, self.start_seeds[index])

    def _fit(self, problem: FitProblem, start: Mapping[str, float] | None) -> FitResult:
        run, moved = run_fit(
            problem,
            self.methods,
            self.options,
            _Stop(self.stop),
            self.max_nfev,
            self.scale_covar,
            start,
            self.max_seconds,
        )
        result = judged(run, moved, self.options)
        result.fit_type = self.fit_type
        problem.use(None)
        return result
