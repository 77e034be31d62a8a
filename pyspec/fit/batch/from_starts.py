"""The best of the fits from several starts, here or by the workers of a pool."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pyspec.errors import FitError
from pyspec.fit.batch.fits import FitMaker
from pyspec.fit.batch.pools import Pool
from pyspec.fit.batch.run import fit_cases
from pyspec.fit.batch.solved import Solved
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, Silent, make_progress
from pyspec.fit.results.ended import Start
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import Ended, drawn_starts, first_error, with_starts


@dataclass
class Best:
    """How the fits from starts ended, by their numbers, and the result of the best."""

    ended: dict[int, Ended] = field(default_factory=dict)
    #: Of the best; of workers those of the best of each part.
    results: dict[int, FitResult] = field(default_factory=dict)
    number: int = -1

    def put(self, number: int, own: Ended, result: FitResult | None = None) -> None:
        """A fit that has ended, with its result where there is one."""
        self.ended[number] = own
        if own.is_better(self.ended.get(self.number)):
            self.number = number
            if result is not None:
                self.results = {number: result}

    @property
    def is_empty(self) -> bool:
        """Whether there is no result."""
        return not self.results

    @property
    def interrupted(self) -> bool:
        """Whether a signal came while one of them ran."""
        return any(one.interrupted for one in self.ended.values())

    def take(self, first: int, part: Best) -> int:
        """Those of a worker. Returns how many have ended."""
        self.ended |= part.ended
        self.results |= part.results
        return len(part.ended)

    def best(self, numbers: Sequence[int]) -> int:
        """The best of these, looked at in their order; -1 where all of them failed."""
        found = Best()
        for k in numbers:
            found.put(k, self.ended[k])
        return found.number

    def __getstate__(self) -> dict[str, Any]:
        """The problem of the results is where they go."""
        results = {k: copy.copy(one) for k, one in self.results.items()}
        for one in results.values():
            vars(one).update(_problem=None, _minimizer=None)
        return {**self.__dict__, "results": results}


@dataclass
class FromStarts(ABC):
    """Fits of the same problem from any start. It is sent to workers without what it makes."""

    how: How

    #: What a fit returns.
    kind: ClassVar[type[FitResult]] = FitResult

    def __getstate__(self) -> dict[str, Any]:
        return {name: one for name, one in self.__dict__.items() if name != "problem"}

    @cached_property
    def problem(self) -> FitProblem:
        """What is fitted from each start."""
        return self.make_problem()

    @abstractmethod
    def make_problem(self) -> FitProblem:
        """Makes it."""

    def batch(self, starts: Sequence[Mapping[str, float]]) -> FitMaker[Any] | None:
        """The same fits as cases of a batch, where they are that."""
        return None

    def in_c(
        self, starts: Sequence[Mapping[str, float]], n_threads: int | None = None
    ) -> dict[int, Ended]:
        """How those fits ended that C makes, by their places; where a signal comes those that have
        ended by then."""
        batch = self.batch(starts) if starts else None
        made = None if batch is None else batch.in_c()
        found: dict[int, Ended] = {}
        if batch is not None and made is not None:
            with suppress(KeyboardInterrupt):
                for begin, own in made.run(current_hold().check, False, n_threads):
                    is_lost = made.solved.is_lost[begin : begin + len(own)]
                    for k in (begin + np.flatnonzero(own & ~is_lost)).tolist():
                        found[k] = self._ended(batch, made.solved, k)
        return found

    def _ended(self, batch: FitMaker[Any], solved: Solved, k: int) -> Ended:
        """How one that C made ended."""
        own = solved.fitted[k]
        start, values = (
            dict(zip(solved.names, row[k].tolist(), strict=True))
            for row in (solved.start, solved.theta)
        )
        chisqr, nfev = float(own["chisqr"]), int(own["nfev"])
        variance = chisqr / int(solved.n_free[k]) if solved.is_scaled else 1.0
        return Ended.at(
            Start(start, values, chisqr, True, batch.said(k, solved, k)),
            variance,
            self.problem.data_square,
            nfev,
        )

    def fit(
        self,
        start: Mapping[str, float] | None,
        reporter: Silent | None = None,
    ) -> FitResult:
        """The fit from one start."""
        return result_of(run_fit(self.problem, self.how, reporter or Silent(), start), self.kind)


@dataclass
class _Starts:
    """Fits from starts that follow each other, of which the first has the number `first`."""

    fits: FromStarts
    starts: Sequence[Mapping[str, float]]
    first: int = 0
    #: Tells of each evaluation; then C makes none of the fits.
    progress: bool | Callback | None = None

    plural: ClassVar[str] = "starts"

    @property
    def label(self) -> str:
        """What messages call the model."""
        return self.fits.problem.label

    def sink(self) -> Best:
        """Keeps the best."""
        return Best()

    def part(self, numbers: Sequence[int]) -> _Starts:
        """Those at some numbers."""
        starts = self.starts[numbers[0] - self.first : numbers[-1] + 1 - self.first]
        return _Starts(self.fits, starts, numbers[0])

    def begin_part(self) -> None:
        """Any worker can fit them."""

    def in_turn(
        self, best: Best, check: Callable[[], None], each: bool, n_threads: int | None
    ) -> Iterator[int]:
        """Makes all fits and yields 1 after each, as :meth:`pyspec.fit.batch.run.Job.in_turn` does.

        The user's start is fitted by itself. C makes the others together where it can; the best of
        them is then fitted again by itself."""
        known: Mapping[int, Ended] = {}
        alone = int(self.first == 0)
        for place, start in enumerate(self.starts):
            if place == alone and self.progress in (None, False):
                known = self.fits.in_c(self.starts[alone:], n_threads)
            number, own = self.first + place, known.get(place - alone)
            if own is not None:
                best.put(number, own)
            else:
                check()
                self._fit(number, start, best)
                if best.interrupted:
                    return
            yield 1
        if best.number >= 0 and best.number not in best.results:
            best.results = {best.number: self._result(self.starts[best.number - self.first])}

    def _fit(self, number: int, start: Mapping[str, float], best: Best) -> None:
        try:
            result = self._result(start)
        except FitError as error:
            best.put(number, Ended.failed(start, error))
        else:
            best.put(number, Ended.of(result), result)

    def _result(self, start: Mapping[str, float]) -> FitResult:
        return self.fits.fit(start, make_progress(self.progress, self.label))


def best_from_starts(
    fits: FromStarts,
    seeds: Mapping[str, float] | None,
    n_starts: int,
    seed: int,
    pool: Pool | None,
    hold: Hold,
    progress: bool | Callback | None,
) -> FitResult:
    """The fit of the lowest chi² from `n_starts` starts, by the workers of a pool or in turn here;
    its `starts` lists all of them, and its findings say where they disagree.

    Ctrl-C, or a cluster that is gone, ends them with the best so far. Raises what the first start
    raised if all of them fail.
    """
    starts = list(drawn_starts(fits.problem, seeds, n_starts, seed))
    job, best = _Starts(fits, starts, 0, progress if pool is None else None), Best()
    reporter = Silent() if pool is None else make_progress(progress, job.label)

    told, nfev, low = 0, 0, math.inf

    def tell(new: int) -> None:
        nonlocal told, nfev, low
        for one in [*best.ended.values()][told:] if pool is not None else ():
            told, nfev = told + 1, nfev + one.nfev
            low = min(low, one.start.chisqr) if one.error is None else low
            reporter.update(nfev, one.start.chisqr, low)

    try:
        interrupted, gone = fit_cases(job, n_starts, best, pool, hold, tell)
    finally:
        reporter.close()
    in_order = sorted(best.ended)
    number = best.best([k for k in in_order if k in best.results] if interrupted else in_order)
    ended = [best.ended[k] for k in in_order]
    if number < 0:
        raise first_error(ended)
    if number not in best.results:  # as good as the best, within rounding
        best.results[number] = fits.fit(starts[number])
    result = best.results[number]
    result._problem = fits.problem
    if gone:
        kept = f"{len(ended)} of {n_starts} starts had ended, their best point is kept"
        result.success, result.message = False, f"{gone}; {kept}"
    drawn = {"n_starts": n_starts, "seed": seed}
    return with_starts(result, ended, best.ended[number], drawn, interrupted)
