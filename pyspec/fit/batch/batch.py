"""What many fits of one model share, and one of them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.errors import PyspecError
from pyspec.executor import Executor
from pyspec.executor.compiled import CompiledExecutor
from pyspec.fit.batch.cases import Cases
from pyspec.fit.batch.fits import Fit, FitMaker, Kept, Made
from pyspec.fit.batch.from_starts import FromStarts, best_from_starts
from pyspec.fit.batch.in_c import InC, with_arrays
from pyspec.fit.batch.pools import make_pool
from pyspec.fit.batch.run import fit_cases
from pyspec.fit.batch.solved import Solved
from pyspec.fit.ending import Ending, bounds_said
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.fit.progress import Silent, Steps
from pyspec.fit.results.ended import state_of
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import NATIVE, How, check_linear
from pyspec.fit.solve.native import NativeSolver, native_options
from pyspec.fit.solve.stages import run_fit
from pyspec.formula import op_of
from pyspec.model import Measurement, Model
from pyspec.plan import CompiledModel, compile_model

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class _Stop(Silent):
    """Ends a fit in a thread when the others are to end."""

    def __init__(self, event: threading.Event | None) -> None:
        self.event = event

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        if self.event is not None and self.event.is_set():
            raise KeyboardInterrupt


#: What a batch makes for itself, in each process.
_MADE_AGAIN = ("_compiled",)


@dataclass
class Batch(FitMaker[Fit]):
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

    def said(self, number: int, solved: Solved, place: int) -> str:
        if solved.moved or solved.is_lost[place]:  # which of them, and to where
            return self.result_of(number, solved, place).message
        said = Ending.of(end=("converged", float(solved.fitted["reached"][place]))).text
        return f"{said}. {bounds_said(solved.sides(place))}".strip(". ") + "."

    def numbers_of(
        self, solved: Solved, place: int
    ) -> tuple[dict[str, float], dict[str, float | None]]:
        """Name → value, and standard error, of all parameters of a fit that C made."""
        columns = (self.columns(what, solved, np.array([place])) for what in ("values", "stderr"))
        values, errors = ({name: float(one[0]) for name, one in found.items()} for found in columns)
        names = self._compiled.parameters
        known = {name: error for name, error in errors.items() if not np.isnan(error)}
        return {name: values[name] for name in names}, {name: known.get(name) for name in names}

    def columns(self, what: str, solved: Solved, made: Ints) -> Mapping[str, Any]:
        if what == "stderr":
            found = dict(zip(solved.names, solved.stderr(made).T, strict=True))
            return found | self._errors_of_followers(solved, made)
        free = solved.theta if what == "values" else solved.start
        known: dict[str, Any] = dict(zip(solved.names, free[made].T, strict=True))
        known |= zip(solved.fixed_names, solved.fixed[made].T, strict=True)
        if what == "values":
            with np.errstate(all="ignore"):
                known |= self._compiled.followers.columns(known)
        return known

    def _errors_of_followers(self, solved: Solved, made: Ints) -> dict[str, Array]:
        """As :meth:`Ending.followed`, of fits that C made: only parameters that a bound holds lack
        an error there."""
        found: dict[str, Array] = {}
        if not self._compiled.followers.names:
            return found
        gradients = self._compiled.followers.gradients(self.columns("values", solved, made))
        covariance = solved.covariance(made)
        has_error = np.isfinite(np.einsum("kii->ki", covariance))
        known = np.where(has_error[:, :, None] & has_error[:, None, :], covariance, 0.0)
        for name, slopes in gradients.items():
            own = [k for k, leaf in enumerate(solved.names) if leaf in slopes]
            g = np.zeros(has_error.shape)
            for k in own:
                g[:, k] = slopes[solved.names[k]]
            squares = np.einsum("ki,kij,kj->k", g, known, g)
            none = ~has_error[:, own].any(axis=1)
            found[name] = np.where(none, np.nan, np.sqrt(np.maximum(squares, 0.0)))
        return found

    def checksums(self, places: range) -> Sequence[int] | None:
        """Of the data of cases that follow each other; None where results are not made of them when
        they are asked for."""
        return None

    def seen(self, place: int) -> Measurement | None:
        """The measurement at a place; None where it cannot be fitted."""
        try:
            return self.cases.case(place)[0]
        except PyspecError:
            return None

    def part(self, numbers: Sequence[int]) -> Batch[Fit]:
        """The batch of fits that follow each other, with their cases alone."""
        own = slice(numbers[0] - self.first, numbers[-1] + 1 - self.first)
        cases, seeds = self.cases.part(own), self.start_seeds[own]
        return replace(self, first=numbers[0], cases=cases, start_seeds=seeds)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}
        return {**kept, "stop": None}

    @property
    def label(self) -> str:
        """What messages call the model."""
        return self.model.name

    def sink(self) -> Kept[Fit]:
        """Keeps these fits in memory."""
        return Kept(len(self.cases), self.first)

    def run(
        self,
        hold: Hold,
        progress: bool | Callable[[int, int], object] | None,
        client: Any,
        n_workers: int | None,
        workers: str = "processes",
    ) -> tuple[Made[Fit], bool]:
        """All fits in their order, and whether a signal ended them: then the status of those that
        did not begin is "not run".

        Raises :class:`FitError` for options that no fit could have, KeyboardInterrupt where a
        signal came before the first fit, or a second one.
        """
        methods, options = self.how.methods, self.how.options
        check_linear(self.label, methods, options)
        if methods[-1] == NATIVE:
            native_options(self.label, options)
        pool = make_pool(self.label, client, n_workers, workers)
        if pool is not None and workers == "threads":
            self.stop = threading.Event()
        n, done = len(self.cases), 0
        steps, kept = Steps(progress, f"{self.label}, {self.plural}"), self.sink()

        def tell(new: int) -> None:
            nonlocal done
            first = done + 1 if callable(progress) else done + new
            done += new
            for k in range(first, done + 1):
                steps.update(k, n)

        try:
            how = tell, callable(progress), self.stop
            interrupted, gone = fit_cases(self, n, kept, pool, hold, *how)
        finally:
            self.stop = None
            steps.close()
        if gone:
            told = f"{kept.n_done} of {n} {self.plural} are kept"
            warnings.warn(f"{self.label}: {gone}; {told}", stacklevel=stack_outside())
        return Made(self, kept, ("not run", gone or "interrupted before it ended")), interrupted

    def in_turn(
        self, kept: Kept[Fit], check: Callable[[], None], each: bool, n_threads: int | None
    ) -> Iterator[int]:
        """All fits, those that C can make by C: how many have ended since the last time, with
        `each` 1, before the next one begins. `check` raises KeyboardInterrupt where they are to
        end."""
        in_c = self.in_c()
        kept.solved = None if in_c is None else in_c.solved
        none = iter([(0, np.zeros(len(self.cases), bool))])
        for begin, made in none if in_c is None else in_c.run(check, each, n_threads):
            done = 0
            for place in np.flatnonzero(~made).tolist():
                if place > done:
                    yield place - done
                check()
                number = self.first + begin + place
                fit = kept.others[number] = self.fit(number)
                if fit.status == "interrupted":
                    return
                yield 1
                done = place + 1
            if len(made) > done:
                yield len(made) - done

    def in_c(self) -> InC | None:
        how = self.how
        if (
            how.methods != (NATIVE,)
            or not how.options.keys() <= {"tolerance"}
            or (how.max_seconds is not None or self.n_starts > 1 or self.backend != "compiled")
        ):
            return None
        try:
            like = next((one for one in map(self.seen, range(len(self.cases))) if one), None)
            if like is None or type(like.data) is not np.ndarray or like.loss != "squares":
                return None
            stack, _ = self.cases.stack([0], like)
            compiled = self._compiled
            if compiled.outline is None or compiled.outline.has_free or compiled.jumps:
                return None
            problem = self._problem(with_arrays(like, stack.at(0)), None)
            executor = problem.executor
            if type(executor) is not CompiledExecutor or not executor.capabilities.in_c:
                return None
            sizes = problem.start()[0].sizes_of(problem.names)
            return InC(self.cases, how, like, problem, sizes, self.checksums)
        except PyspecError:  # each fit says so
            return None

    def begin_part(self) -> None:
        """Raises :class:`ModelError` where this process lacks a function of the model: then no fit
        can run here."""
        groups = [self.model.components]
        for par in self.model.parameters.values():
            groups += [one.components for one in (par.dynamics, par.profile) if one is not None]
        for component in (one for group in groups for one in group):
            op_of(component.function)

    @cached_property
    def _compiled(self) -> CompiledModel:
        return compile_model(self.model)

    def fit(self, number: int) -> Fit:
        """What is kept of one fit; a failure becomes its status."""
        try:
            result = self.result(number)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return self.kept(number, "failed", str(error), None)
        said = state_of(result.success, result.without_effect)
        status = {"converged": "converged", "NOT determined": "undetermined"}.get(said, "stopped")
        if result.interrupted:
            status = "interrupted"
        return self.kept(number, status, result.message, result)

    def _described(
        self, number: int
    ) -> tuple[Measurement, dict[str, float] | None, dict[str, float]]:
        """The measurement of one fit, values of fixed parameters, and where it starts."""
        measurement, given = self.cases.case(number - self.first)
        names = self._compiled.model.fixed_names if given else ()
        fixed = {name: value for name, value in given.items() if name in names}
        free = {name: value for name, value in given.items() if name not in fixed}
        return measurement, fixed or None, free

    def result_of(self, number: int, solved: Solved, place: int) -> FitResult:
        """The result of one fit that C made. What asks for its data refuses them where they were
        changed since then."""
        measurement, fixed, free = self._described(number)
        known = int(solved.checksums[place])
        problem = problem_of(self._compiled, measurement, self.backend, None, fixed, checksum=known)
        result = self._fit(problem, free, solved.solver(place))
        result.seconds = solved.seconds / len(solved)
        return result

    def result(self, number: int) -> FitResult:
        """The result of one fit."""
        measurement, fixed, free = self._described(number)
        problem = self._problem(measurement, fixed)
        if self.n_starts == 1:
            return self._fit(problem, free)
        seed = self.start_seeds[number - self.first]
        fits = _OfCase(self.how, self, problem, problem.executor)
        return best_from_starts(fits, free, self.n_starts, seed, None, current_hold(), None)

    def _problem(
        self,
        measurement: Measurement,
        fixed: Mapping[str, float] | None,
        executor: Executor | None = None,
    ) -> FitProblem:
        """The problem of one fit."""
        return problem_of(self._compiled, measurement, self.backend, executor, fixed)

    def _fit(
        self,
        problem: FitProblem,
        start: Mapping[str, float] | None,
        ended: NativeSolver | None = None,
    ) -> FitResult:
        result = result_of(run_fit(problem, self.how, _Stop(self.stop), start, ended))
        result.fit_type = self.fit_type
        problem.files[0].use(None)
        return result


@dataclass
class _OfCase(FromStarts):
    """The fits of one case of a batch from several starts."""

    many: Batch[Any]
    case: FitProblem
    executor: Executor

    def make_problem(self) -> FitProblem:
        return self.case

    def fit(self, start: Mapping[str, float] | None, reporter: Silent | None = None) -> FitResult:
        self.case.files[0].use(self.executor)
        return self.many._fit(self.case, start)
