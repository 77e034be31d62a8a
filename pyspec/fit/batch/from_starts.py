"""The best of the fits from several starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.cases import Cases, Listed
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.loop import fit_cases
from pyspec.fit.batch.solved import Solved
from pyspec.fit.ending import Start
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, make_progress
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import EndedInC, run_fit
from pyspec.fit.starts import Ended, drawn_starts, with_starts


@dataclass(kw_only=True, eq=False, repr=False)
class Starts(Batch[Ended]):
    """Fits of one problem from many starts. The user's start is the first, and is fitted by itself;
    of the others C makes those that it can. Only the best result is kept.

    Attributes
    ----------
    returns : what a fit returns
    progress : tells of each evaluation; then C makes none of the fits
    best : that of the fits that Python made
    """

    problem: FitProblem
    returns: type[FitResult]
    progress: bool | Callback | None = None
    best: Ended | None = field(default=None, init=False)

    @property
    def label(self) -> str:
        return self.problem.label

    def in_c(self) -> InC | None:
        is_here = self.problem.only is not None and self.problem.in_memory
        return super().in_c() if is_here and self.progress in (None, False) else None

    @property
    def is_empty(self) -> bool:
        return self.best is None

    def case(
        self, number: int, checksum: int | None = None
    ) -> tuple[FitProblem, Mapping[str, float]]:
        return self.problem, self.cases.values_of(number)

    def kept(
        self, number: int, status: str, message: str, result: FitResult | None = None
    ) -> Ended:
        ended = super().kept(number, status, message, result)
        if result is None:
            ended.start = replace(ended.start, start=self.cases.values_of(number))
        elif ended.is_better(self.best):
            if self.best is not None:
                self.best.result = None
            self.best, ended.result = ended, result
        return ended

    def _fit(
        self, problem: FitProblem, start: Mapping[str, float], ended: EndedInC | None = None
    ) -> FitResult:
        reporter = make_progress(self.progress, self.label)
        return result_of(run_fit(problem, self.how, reporter, start, ended), self.returns)

    def made_in_c(self, number: int, solved: Solved) -> Ended:
        own = solved.fitted[number]
        start, values = (
            dict(zip(solved.names, row[number].tolist(), strict=True))
            for row in (solved.start, solved.theta)
        )
        chisqr, success = float(own["chisqr"]), not solved.is_lost[number]
        ended = Start(start, values, chisqr, success, self.message_of(number, solved))
        variance = chisqr / int(solved.n_free[number]) if solved.is_scaled else 1.0
        return Ended.at(ended, variance, self.problem.data_square, int(own["nfev"]))


def best_from_starts(
    problem: FitProblem,
    how: How,
    seeds: Mapping[str, float] | None,
    n_starts: int,
    seed: int,
    *,
    progress: bool | Callback | None = None,
    kind: type[FitResult] = FitResult,
) -> FitResult:
    """The fit of the lowest chi² from `n_starts` starts; its `starts` lists all of them, and its
    findings say where they disagree.

    Ctrl-C ends them with the best so far. Raises what the first start raised if all of them fail.
    """
    starts = list(drawn_starts(problem, seeds, n_starts, seed))
    batch = Starts(
        cases=Cases(Listed(file.measurement for file in problem.files[:1]), starts),
        how=how,
        compiled=problem.compiled,
        like=problem.measurement,
        backend=problem.backend,
        kind=Ended,
        n_first=1,
        problem=problem,
        returns=kind,
        progress=progress,
    )
    interrupted = fit_cases(batch)
    made, best = batch.made, -1
    ended = {k: batch.fit_at(k) for k in range(n_starts) if made[k] or k in batch.others}
    for k, fit in ended.items():
        if (fit.result is not None or not interrupted) and fit.is_better(ended.get(best)):
            best = k
    if best < 0:
        return batch.again(min(ended))  # which raises again what it raised
    result = ended[best].result
    if result is None:  # C made it, or another one is as good within rounding
        result = batch.again(best)
    drawn = {"n_starts": n_starts, "seed": seed}
    return with_starts(result, [*ended.values()], ended[best], drawn, interrupted)
