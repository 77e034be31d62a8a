"""The fits from several starts by processes of this machine or a cluster, several in a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.pools import GoneError, Pool, parts_of, run_parts, warn_lost
from pyspec.fit.batch.solved import Solved
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, Silent, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import Ended, Start, Tries, best_of, drawn_starts, first_error, with_starts


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

    def batch(self, starts: Sequence[Mapping[str, float]]) -> Batch[Any] | None:
        """The same fits as cases of a batch, where they are that."""
        return None

    def in_c(
        self, starts: Sequence[Mapping[str, float]], n_threads: int | None = None
    ) -> dict[int, Ended]:
        """How those fits ended that C makes, by their numbers, as of
        :func:`pyspec.fit.starts.best_of`; where a signal comes those that have ended by then."""
        batch = self.batch(starts) if starts else None
        made = None if batch is None else InC.of(batch)
        found: dict[int, Ended] = {}
        if batch is not None and made is not None:
            with suppress(KeyboardInterrupt):
                for k, is_made in made.run(current_hold().check, False, n_threads):
                    if is_made:
                        found[k] = self._ended(batch, made.solved, k)
        return found

    def _ended(self, batch: Batch[Any], solved: Solved, k: int) -> Ended:
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


def best_from_starts(
    job: FromStarts,
    seeds: Mapping[str, float] | None,
    n_starts: int,
    seed: int,
    pool: Pool | None,
    hold: Hold,
    progress: bool | Callback | None,
) -> FitResult:
    """The best fit from several starts, by the workers of a pool or one after the other here; see
    :func:`pyspec.fit.starts.best_of`."""
    label = job.problem.label
    if pool is not None:
        reporter = make_progress(progress, label)
        return best_of_pool(job, seeds, n_starts, seed, pool, hold, reporter)

    def fit(start: Mapping[str, float] | None) -> FitResult:
        return job.fit(start, make_progress(progress, label))

    in_c = job.in_c if progress in (None, False) else None  # which tells of each evaluation
    return best_of(fit, job.problem, seeds, n_starts, seed, in_c)


def best_of_pool(
    job: FromStarts,
    seeds: Mapping[str, float] | None,
    n_starts: int,
    seed: int,
    pool: Pool,
    hold: Hold,
    reporter: Silent,
) -> FitResult:
    """As of :func:`pyspec.fit.starts.best_of`, from the same starts with the same result."""
    starts = list(drawn_starts(job.problem, seeds, n_starts, seed))
    parts = parts_of(range(n_starts), pool)
    calls = [(_part, (job, part[0], [starts[k] for k in part])) for part in parts]
    ended: dict[int, Ended] = {}
    kept: list[tuple[int, FitResult]] = []
    interrupted, nfev, low, gone = False, 0, float("inf"), ""

    def take(part: list[int], found: tuple[list[Ended], list[tuple[int, FitResult]]]) -> None:
        nonlocal nfev, low
        for k, one in zip(part, found[0], strict=True):
            ended[k], nfev = one, nfev + one.nfev
            low = min(low, one.start.chisqr) if one.error is None else low
            reporter.update(nfev, one.start.chisqr, low)
        kept.extend((part[k], result) for k, result in found[1])

    try:
        for k, found in run_parts(pool, calls, hold):
            if found is not None:
                take(parts[k], found)
        left = [k for k in range(n_starts) if k not in ended]
        if left:
            warn_lost(job.problem.label, len(left), "starts")
        for k in left:
            hold.check()
            take([k], _part(job, k, [starts[k]]))
    except KeyboardInterrupt:
        interrupted = True
    except GoneError as error:
        if not kept:
            raise
        gone = f"{error}; {len(ended)} of {n_starts} starts had ended, their best point is kept"
    finally:
        reporter.close()
    if hold.insists or (interrupted and not kept):
        raise KeyboardInterrupt
    in_order = [ended[k] for k in sorted(ended)]
    best: Ended | None = None
    for one in in_order:
        best = one if one.is_better(best) else best
    if best is None:
        raise first_error(in_order)
    number = next(k for k in sorted(ended) if ended[k] is best)
    found_results = dict(kept)
    if number not in found_results:  # as good as that of its part but for rounding
        found_results[number] = job.fit(starts[number])
    result = found_results[number]
    result._problem = job.problem
    drawn = {"n_starts": n_starts, "seed": seed}
    if gone:
        result.success, result.message = False, gone
    return with_starts(result, in_order, best, drawn, interrupted)


def _part(
    job: FromStarts, first: int, starts: Sequence[Mapping[str, float]]
) -> tuple[list[Ended], list[tuple[int, FitResult]]]:
    """Runs on a worker: how the fits from these starts ended, of which the first has that number,
    and the best of them with its place. C makes the same of them as for one process."""
    tries, alone = Tries(job.fit), first == 0
    known = job.in_c(starts[alone:], 1)
    for place, start in enumerate(starts):
        if place - alone in known:
            tries.take(known[place - alone])
        else:
            tries.run(start)
    if tries.best is not None:
        tries.finish()
    if tries.result is None:
        return tries.ended, []
    # The problem is where it goes.
    vars(tries.result).update(_problem=None, _minimizer=None)
    return tries.ended, [(tries.number, tries.result)]
