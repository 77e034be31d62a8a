"""The search for better optima beside the one that a fit has found, for example with another time
zero beside a coherent artifact."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.progress import StopFit
from pyspec.fit.solve.covariance import gauss_newton
from pyspec.fit.solve.native import NativeSolver

if TYPE_CHECKING:
    from pyspec.fit.objective import Objective
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: Ends at which a fit need not go on.
ENDED = ("converged", "degenerate", "stalled", "slow")

#: After so many evaluations a slow fit first looks for other optima. From a time zero that is far
#: off it may take thousands of them to reach an optimum that is not the best.
CREEPS = 100

#: How often a search goes on from a better point, for each file.
MOST_BETTER = 4

#: ROUGH is how near to its end a trial comes, in standard errors, before it is compared. SLIGHT is
#: the decrease of chi² that then counts, in units of the variance of a point: the fall that is left
#: to its end.
ROUGH = 0.03
SLIGHT = ROUGH**2

#: An optimum is a rival if its chi² is higher by less than RIVAL, in units of the variance of a
#: point. It may be the best one for other data that scatter about the same model. Below NEAR it is
#: the same optimum.
RIVAL, NEAR = 100.0, 0.01

#: Those that a fit is cautious about are not excluded by two standard deviations.
DOUBTFUL = 4.0

#: Residuals beside the data below which they are taken for rounding.
ROUNDING = 1e-10

#: Of their parameters so many are named at most.
MOST_NAMED = 3


def starts_beside(problem: FitProblem, theta: Array) -> list[Array]:
    """Starts towards other optima than the one at `theta`. With several files, first all files move
    together. Then each file moves alone: only its own parameters change."""
    if problem.others is not None:
        return problem.others
    if problem.only is not None:
        return problem.only.beside(theta)
    together: list[Array] = []
    single: list[Array] = []
    for file, gather in zip(problem.files, problem.gathers, strict=True):
        starts = file.beside(theta[gather])
        together = together or [theta.copy() for _ in starts]
        for start, all_files in zip(starts, together, strict=False):
            all_files[gather] = start
        for start in file.beside(theta[gather], alone=True):
            single.append(theta.copy())
            single[-1][gather] = start
    distinct = {moved.tobytes(): moved for moved in (*together, *single)}
    return list(distinct.values())


class Look:
    """A search from one optimum to the next, each better than the one before.

    Parameters
    ----------
    problem : says where to look
    trial : a fit from there for a while, and roughly
    finish : a fit from there to its end
    best : the end of a fit, or a fit that creeps; then the best
    n_points : residuals that count
    """

    #: What ended the search, None where nothing did.
    cut_short: BaseException | None = None
    #: Starts to the other optima nearly as good; None of a search that was cut short.
    rivals: list[Array] | None = None

    def __init__(
        self,
        objective: Objective,
        trial: Callable[[Array], NativeSolver],
        finish: Callable[[Array], NativeSolver],
        best: NativeSolver,
        n_points: int,
    ) -> None:
        self.objective, self.problem = objective, objective.problem
        self.trial, self.finish = trial, finish
        self.best = best
        self.n_points = n_points
        self._left = MOST_BETTER * len(self.problem.files)
        self._others: list[NativeSolver] = []

    def run(self) -> None:
        """Goes on until nothing is better. A limit or Ctrl-C ends the search; it ends the fit only
        where a better point is on its way to an optimum."""
        account = self.objective.evaluations
        try:
            self._go_on()
            while self.best.end == "limit":  # a fit that creeps, and a trial that did not end
                self.best = self.finish(self.best.theta)
                if self.best.end not in ENDED:
                    return
                self._go_on()
        except (StopFit, KeyboardInterrupt) as end:
            insists = account.hold is not None and account.hold.insists
            is_better = account.best < self.best.chisqr - self._slight()
            if insists or is_better or self.best.end not in ENDED:
                raise
            self.cut_short = end
        else:
            self.rivals = [solver.theta for solver in self._rivals()]

    def _go_on(self) -> None:
        """To the best that trials lead to."""
        starts, k, failed = starts_beside(self.problem, self.best.theta), 0, 0
        while self._left and failed < len(starts):
            trial = self.trial(starts[k % len(starts)])
            if trial.end == "limit":
                self.objective.evaluations.left()  # raises where none are
            k, failed = k + 1, failed + 1
            if trial.end == "not_finite":
                continue
            if trial.chisqr < self.best.chisqr - self._slight():
                better = self.finish(trial.theta) if trial.end in ENDED else trial
                self.best, trial = better, self.best
                starts, failed = starts_beside(self.problem, better.theta.copy()), 0
                self._left -= 1
            self._others.append(trial)

    def _slight(self) -> float:
        return SLIGHT * self._variance()

    def _variance(self) -> float:
        """That of a point; of data without noise that of their rounding."""
        chisqr = max(self.best.chisqr, ROUNDING**2 * self.problem.data_square)
        return chisqr / max(self.n_points - self.best.theta.size, 1)

    def _rivals(self) -> list[NativeSolver]:
        """Other optima, or points on the way to them, that are nearly as good: the best first."""
        kept, variance = [self.best], self._variance()
        for other in sorted(self._others, key=lambda solver: solver.chisqr):
            if (other.chisqr - kept[-1].chisqr) / variance > NEAR and self._above(other) < RIVAL:
                kept.append(other)
        return kept[1:]

    def _above(self, other: NativeSolver) -> float:
        """By how much chi² is higher elsewhere, in units of the variance of a point."""
        return (other.chisqr - self.best.chisqr) / self._variance()

    def findings(self) -> list[Finding]:
        """What ended the search; or that another optimum cannot be told from the best one."""
        if self.cut_short is not None:
            is_signal = isinstance(self.cut_short, KeyboardInterrupt)
            ended = "interrupted" if is_signal else str(self.cut_short)
            return [Finding(Kind.SEARCH_CUT_SHORT, (), {"end": ended})]
        doubtful = (solver for solver in self._rivals() if self._above(solver) < DOUBTFUL)
        other = next((solver for solver in doubtful if solver.end in ENDED), None)
        if other is None:
            return []
        is_joint = len(self.problem.files) > 1
        # The parameters that differ most, in standard errors.
        covariance, _ = gauss_newton(self.best.factor()[:, :-1])
        n = self.best.theta.size
        errors = np.ones(n) if covariance is None else np.sqrt(covariance.diagonal())
        away = np.abs(other.theta - self.best.theta) / np.where(errors > 0, errors, np.inf)
        far = np.argsort(-away)[:MOST_NAMED].tolist()
        there, here = (solver.theta[far].tolist() for solver in (other, self.best))
        numbers = {"there": tuple(there), "here": tuple(here), "joint": is_joint}
        places = tuple(self.problem.names[k] for k in far)
        above = float(self._above(other))
        return [Finding(Kind.EQUIVALENT_OPTIMA, places, {"above": above, **numbers})]
