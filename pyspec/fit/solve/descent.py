"""The native solver on a problem: limits, progress, and the search over jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pyspec.executor.normal import pack_triangle, unpack
from pyspec.fit.objective import Objective
from pyspec.fit.progress import Silent
from pyspec.fit.solve.covariance import gauss_newton, root_of
from pyspec.fit.solve.jumps import Bounds, Jumps, middle, reach, search
from pyspec.fit.solve.native import MOST_EVALUATIONS, NativeSolver, Watch
from pyspec.fit.solve.other_optima import CREEPS, ENDED, ROUGH, Look, starts_beside
from pyspec.fit.solve.search import BACK, REDUCED, WAYS, Search
from pyspec.plan.places import interval, number_of

Array = npt.NDArray[np.float64]

#: Evaluations that a fit within one interval, or away from a trap, may take; the best is then
#: fitted to its end.
TRIAL_EVALUATIONS = 40

#: A decrease of chi² by less than this, in units of the variance of a point, is none.
SLIGHT = 1e-6


def watch_of(objective: Objective) -> Watch:
    """The function that is called after an evaluation of the solver, each time or now and then. It
    counts evaluations, ends the fit at a signal or when the time is up, and shows progress."""
    account, progress = objective.evaluations, objective.progress
    before, is_timed = account.count, account.max_seconds is not None
    is_shown = type(progress) is not Silent
    signals = None if account.hold is None else account.hold.signals

    def watch(nfev: int, chisqr: float, best: float) -> None:
        account.count = max(account.count, before + nfev)
        if is_timed or (signals is not None and signals.count):
            account.check_end()
        if is_shown:
            progress.update(before + nfev, chisqr, min(best, account.best))

    return watch


#: The next intervals are clearly worse than the best one if their chi² is higher by this many
#: variances of a point.
FAR = 4.0


class Descent:
    """Fits of one problem by the native solver; `best` is the best of them, `intervals` what is
    known of jump parameters. Limits and Ctrl-C end a fit by an exception: `best` is there then,
    too. `look` is the search for other optima beside one; None where there was none."""

    look: Look | None = None

    def __init__(
        self, objective: Objective, n_points: int, tolerance: float, is_scaled: bool = True
    ) -> None:
        self.objective, self.problem = objective, objective.problem
        self.n_points, self.is_scaled = n_points, is_scaled
        self.tolerance = tolerance
        self.data_square = self.problem.data_square
        self.best: NativeSolver | None = None
        self.intervals: dict[str, tuple[float, float]] = {}
        #: Jump parameters that ended where there are no samples, or whose jumps are not known.
        self.lost: list[str] = []
        self.eliminates = False  # whether linear parameters are eliminated first

    def run(self, start: Array, bounds: Bounds, linear: Sequence[int] = ()) -> NativeSolver:
        """Fits from start values, over all intervals where a parameter moves a jump. The parameters
        at the places `linear` are eliminated first, and the fit of all begins where that ends."""
        problem, begin = self.problem, start
        jumps = Jumps.of(problem, bounds)
        if linear:
            self.eliminates = True
            within = jumps.frozen(start)
            begin = self._eliminated(np.clip(start, *within), within, linear)
        if not jumps.places:
            if starts_beside(problem, begin):
                return self._best_beside(begin, start, bounds)
            return self.freed(self.fit(begin, bounds), start, bounds)
        within = jumps.frozen(begin)
        first = self._trial(np.clip(begin, *within), within)
        if first.end == "not_finite":
            return first
        first = self.freed(first, start, jumps.frozen(first.theta))
        noise = 1e-12 * first.chisqr + np.finfo(float).eps ** 2 * self.data_square
        slight = SLIGHT / max(self.n_points - start.size, 1)
        ties: dict[int, list[float]] = {}
        solver = search(first, self._trial, jumps, noise, ties, slight)
        solver = self._settle(solver, jumps)
        for index, jump in jumps.places.items():
            name = problem.names[index]
            if jump.is_rough:
                self.lost.append(name)
                continue
            low, high = reach(solver, index, jumps, problem.chisqr_at, noise)
            error, is_inside = self._by_slopes(solver, index, jumps)
            if error and is_inside:
                continue
            if error:
                at = float(solver.theta[index])
                low, high = min(low, at - error), max(high, at + error)
            for value in ties.get(index, ()) if not jump.pinned else ():
                also = interval(jump.at(solver.theta), value)
                low, high = min(low, also[0]), max(high, also[1])
            if not (np.isfinite(low) and np.isfinite(high)):
                self.lost.append(name)
            least, most = jumps.limits(index)
            self.intervals[name] = max(low, least), min(high, most)
        return solver

    def _by_slopes(self, solver: NativeSolver, index: int, jumps: Jumps) -> tuple[float, bool]:
        """The standard error of a jump parameter, if it says more than the interval, and whether
        the fit ended inside of the interval. The error is 0 if the interval says more.

        The place of a line with two heights follows from its slopes and from its jump. The error
        holds if it is short compared with the interval, or if the next intervals fit nearly as
        well."""
        jump, n = jumps.places[index], solver.theta.size
        covariance, empty = gauss_newton(solver.factor()[:, :-1]) if jump.is_smooth else (None, [])
        if covariance is None or index in empty:
            return 0.0, False
        variance = solver.chisqr / max(self.n_points - n, 1)
        error = float(np.sqrt(variance * covariance[index, index]))
        places, at = jump.at(solver.theta), float(solver.theta[index])
        k = number_of(places, at)
        low, high = jumps.inside(index, places, k)
        least, most = jumps.limits(index)
        if not error < most - least:
            return 0.0, False
        if low < at < high and error <= 0.5 * (high - low):
            return error, True
        for beside in (k - 1, k + 1):
            if 0 <= beside <= places.size:
                begin, end = jumps.frozen(solver.theta)
                begin[index], end[index] = jumps.inside(index, places, beside)
                if begin[index] <= end[index]:
                    trial = self._trial(np.clip(solver.theta, begin, end), (begin, end))
                    if trial.chisqr < solver.chisqr + FAR * variance:
                        return error, low < at < high
        return 0.0, False

    def _eliminated(self, start: Array, bounds: Bounds, linear: Sequence[int]) -> Array:
        """The end of a fit that solves for some parameters; `start` where the model is not finite
        there: the ordinary fit asks for this point, and refuses it."""
        account = self.objective.evaluations
        before = account.count, account.best, account.best_theta
        left = account.left()
        start = self._better_start(start, bounds, linear)
        most, tolerance = MOST_EVALUATIONS, self.tolerance
        solver = NativeSolver(start, *bounds, self.n_points, self.data_square, most, tolerance)
        is_counts = self.problem.is_poisson
        self._run(Search(solver, start, linear, REDUCED, left, is_counts=is_counts), solver)
        if solver.end == "not_finite":
            account.count, account.best, account.best_theta = before
            return start
        if solver.end == "limit":
            account.left()  # raises
        return solver.theta

    def _better_start(self, start: Array, bounds: Bounds, linear: Sequence[int]) -> Array:
        """For counts: a start with linear parameters from plain least squares, if its deviance is
        smaller. Slopes of the deviance lead nowhere from heights far off, such as those of negative
        counts."""
        problem, account = self.problem, self.objective.evaluations
        if not problem.is_poisson or not linear:
            return start
        first, squares = problem.chisqr_at(start), problem.of_squares()
        pairs = list(zip(bounds[0].tolist(), bounds[1].tolist(), strict=True))
        with Objective(squares).sums(pairs, each=True) as sums:
            whole = unpack(sums(start, "gram"))
        account.count += 1
        self.objective.progress.update(account.count, first, min(first, account.best))
        if not np.isfinite(whole).all():
            return start

        def parabola(theta: Array, form: str) -> Array:
            change = np.append(start - theta, 1.0)
            moved = np.eye(start.size + 1)
            moved[:, -1] = change
            gram = moved.T @ whole @ moved
            return pack_triangle(root_of(gram) if form == "factor" else gram)

        held = np.setdiff1d(np.arange(start.size), linear)
        low, high = bounds[0].copy(), bounds[1].copy()
        low[held] = high[held] = start[held]
        solver = NativeSolver(
            start, low, high, self.n_points, squares.data_square, MOST_EVALUATIONS
        )
        solver.run(parabola, lambda nfev, chisqr, best: None)
        better = solver.theta
        return better if problem.chisqr_at(better) < first else start

    def _run(self, search: NativeSolver | Search, solver: NativeSolver) -> None:
        """Runs a solver, or a search with it. Its evaluations count for all."""
        objective, account = self.objective, self.objective.evaluations
        try:
            objective.solve(search, watch_of(objective))
        finally:
            chisqr = solver.chisqr
            if self.best is None or chisqr < account.best:
                self.best = solver
                account.best, account.best_theta = chisqr, solver.theta

    def _trial(self, start: Array, bounds: Bounds) -> NativeSolver:
        return self.fit(start, bounds, TRIAL_EVALUATIONS)

    def _settle(self, solver: NativeSolver, jumps: Jumps) -> NativeSolver:
        """The end of a search, to the tolerance. A parameter is put into the middle of its interval
        if the data do not determine its place there. This happens with an onset and a height."""
        start = solver.theta.copy()
        free = [(-np.inf, np.inf)] * start.size
        slopes = self.objective.slopes(start, free, list(range(start.size)))
        _, undetermined = gauss_newton(slopes)
        for index, jump in jumps.places.items():
            if jump.pinned:
                places = jump.at(start)
                ends = jumps.inside(index, places, number_of(places, start[index]))
                start[index] = middle(*ends, start[index])
        low, high = jumps.frozen(start)
        for index in jumps.places.keys() & set(undetermined):
            start[index] = low[index] = high[index] = middle(low[index], high[index], start[index])
        settled = self.fit(start, (low, high))
        return solver if settled.end == "not_finite" else settled

    def freed(self, solver: NativeSolver, start: Array, bounds: Bounds) -> NativeSolver:
        """The solver, which goes on where it has ended in doubt (csrc/solver/lm_ways.c): some
        parameters go back to their `start`, and heights are eliminated."""
        if solver.end not in ENDED:
            return solver
        solver.settle(self.n_points, 0, self.is_scaled, {})
        if not solver.is_weak:
            return solver
        linear, is_counts = self.linear(), self.problem.is_poisson
        left = self.objective.evaluations.left()
        better = self._better_start(np.clip(start, *bounds), bounds, linear) if is_counts else None
        reduces = BACK if self.eliminates else WAYS
        search = Search(solver, start, linear, reduces, left, better, is_counts=is_counts)
        self._run(search, solver)
        return solver

    def _best_beside(self, begin: Array, start: Array, bounds: Bounds) -> NativeSolver:
        """The best of the optima beside that of a fit from `begin`, which may creep to it."""

        def trial(theta: Array) -> NativeSolver:
            start, tolerance = np.clip(theta, *bounds), max(self.tolerance, ROUGH)
            return self.fit(start, bounds, TRIAL_EVALUATIONS, tolerance)

        def finish(theta: Array) -> NativeSolver:
            return self.freed(self.fit(theta, bounds), start, bounds)

        first = self.fit(begin, bounds, CREEPS)
        if first.end == "limit":
            self.objective.evaluations.left()  # raises where none are
        first = self.freed(first, start, bounds)
        if first.end == "not_finite":
            return first
        self.look = look = Look(self.objective, trial, finish, first, self.n_points)
        look.run()
        return look.best

    def linear(self) -> list[int]:
        """Places of the parameters that the model is linear in, unless it has free amplitudes,
        which are eliminated in every fit."""
        problem = self.problem
        names = () if problem.n_amplitudes else problem.linear_names
        return [problem.names.index(name) for name in names]

    def fit(
        self,
        start: Array,
        bounds: Bounds,
        most: int = MOST_EVALUATIONS,
        tolerance: float | None = None,
    ) -> NativeSolver:
        """One fit within bounds, to a tolerance of its own or that of all."""
        account = self.objective.evaluations
        most = min(most, account.left() or most)
        tolerance = self.tolerance if tolerance is None else tolerance
        solver = NativeSolver(start, *bounds, self.n_points, self.data_square, most, tolerance)
        self._run(solver, solver)
        return solver
