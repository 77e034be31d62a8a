"""One fit on its way: its stages, limits, and the best point."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import ClusterError, FitError, PyspecError
from pyspec.fit.counts import refuse_nothing
from pyspec.fit.ending import Ending
from pyspec.fit.evaluations import OUTSIDE, told_of_rows
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.objective import Objective
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent, StopFit
from pyspec.fit.solve.descent import Descent, watch_of
from pyspec.fit.solve.methods import COMPARE, GLOBAL, NATIVE, RANDOM, How, check_linear
from pyspec.fit.solve.native import MOST_EVALUATIONS, TOLERANCE, NativeSolver, native_options
from pyspec.fit.solve.other_optima import ENDED
from pyspec.plan.start import StartParameters

if TYPE_CHECKING:
    import lmfit
    from lmfit.minimizer import MinimizerResult

Array = npt.NDArray[np.float64]

#: The ending, what C is certain of in it, and its evaluations.
EndedInC = tuple[Ending, int, int]


#: Below this tolerance forward differences, good to 8 digits, are the limit.
TIGHT = 1e-10

#: Tolerances of MINPACK, unless the caller sets them. lmfit's 1.5e-8 of χ² is 0.004 standard errors
#: for a thousand points and 0.04 for a hundred thousand. With 1e-14 it comes as near as rounding
#: allows.
OF_MINPACK = {"ftol": 1e-14, "xtol": 1e-14}


def _message(outcome: MinimizerResult, method: str) -> str:
    """How a method of lmfit ended: some say it in a list, under another name, or not at all."""
    message = getattr(outcome, "message", None) or getattr(outcome, "ampgo_msg", None)
    lines = message if isinstance(message, (list, tuple)) else [message or f"{method} ended"]
    return "; ".join(map(str, lines))


def minimizer_of(
    objective: Objective, params: lmfit.Parameters, scale_covar: bool
) -> lmfit.Minimizer:
    """An lmfit.Minimizer that begins with these lmfit.Parameters."""
    import lmfit

    # 'propagate': the objective looks for NaN itself, in the pass that gives chi².
    return lmfit.Minimizer(
        objective, params, nan_policy="propagate", calc_covar=False, scale_covar=scale_covar
    )


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Inside, the generator of all of NumPy begins with this seed; then it goes on as before."""
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)


class Run:
    """One fit on its way: the stages, and what is made of their outcome. `options` are those of the
    last method, `values` those of all parameters, and `theta` of the free ones, read-only."""

    def __init__(
        self,
        problem: FitProblem,
        start: StartParameters,
        methods: tuple[str, ...],
        options: Mapping[str, object],
        scale_covar: bool,
        n_points: int,
    ) -> None:
        self.problem = problem
        self.start, self.values, self.theta = start, dict(start.values), start.theta
        #: What the stages call, and the account of these calls.
        self.objective = Objective(problem, start.units)
        self.methods, self.options = methods, dict(options)
        self.n_points = n_points
        self.scale_covar = scale_covar
        self.intervals: dict[str, tuple[float, float]] = {}
        self.lost: list[str] = []
        self.findings: list[Finding] = []

    #: The lmfit.Minimizer that runs methods of lmfit, and what the last of them returned; None of
    #: the solver in C.
    minimizer: lmfit.Minimizer = None
    outcome: MinimizerResult = None
    solver: NativeSolver | None = None
    #: Of a fit that C has made already.
    ended: EndedInC | None = None
    #: How the solver ended, at which chi², and how far from the optimum.
    end: tuple[str, float, float] = ("", np.nan, np.nan)
    #: Other optima that are nearly as good; None where they were not looked for.
    rivals: list[Array] | None = None
    nfev = 0
    tolerance = 0.0
    stopped = ""
    interrupted = False
    seconds = 0.0

    def go(self, progress: Silent, max_nfev: int | None, max_seconds: float | None = None) -> None:
        """Runs the stages; Ctrl-C and the limits end them with the best point so far. Ctrl-C before
        the first point, and a second one, is a KeyboardInterrupt."""
        objective, hold = self.objective, current_hold()
        account = objective.evaluations
        objective.progress, account.hold = progress, hold
        if max_nfev is not None or max_seconds is not None:
            account.limit(max_nfev, max_seconds, hold)
        start = time.perf_counter()
        try:
            if self.ended is None and hold.signals.count:
                hold.check()
            if self.ended is not None:
                ending, _, account.count = self.ended
                account.best, account.best_theta = ending.chisqr, ending.theta
                self.tolerance, _ = native_options(self.problem.label, self.options)
                self._end_at(ending.theta)
                self.end = ending.end[0], ending.chisqr, ending.end[1]
            elif self.methods == (NATIVE,) and not self.options and self.problem.is_plain:
                self._in_c()
            else:
                self._stages(progress, hold)
        except StopFit as stop:
            self.stopped = str(stop) or "stopped; the best point is kept"
        except ClusterError as gone:
            if not np.isfinite(account.best):
                raise
            self.stopped = f"stopped: {gone}; the best point is kept"
        except KeyboardInterrupt:
            if hold.insists or not np.isfinite(account.best):
                raise
            self.interrupted = True
            self.stopped = f"interrupted after {account.count} evaluations; the best point is kept"
        finally:
            if type(progress) is not Silent:
                progress.close()
                objective.progress = Silent()
            account.hold = None
            if max_nfev is not None or max_seconds is not None:
                account.limit(None, None)
        if self.stopped:
            self._take_best()
        self.nfev = account.count
        self.seconds = time.perf_counter() - start

    def _stages(self, progress: Silent, hold: Hold) -> None:
        """All stages, the last one with the options."""
        rows = told_of_rows(self.problem.files, progress, hold)
        # lmfit changes NumPy's error state for a while; an exception must not leave it so.
        options = {name: value for name, value in self.options.items() if name != "seed"}
        seed = self.options.get("seed", 0)
        with np.errstate(all="ignore"), rows:
            for index, method in enumerate(self.methods):
                options_of_stage = options if index == len(self.methods) - 1 else {}
                if method in RANDOM:
                    options_of_stage = {**options_of_stage, "seed": seed}
                if method == NATIVE:
                    self._native(options_of_stage)
                else:
                    self._of_lmfit(method, options_of_stage)

    def _of_lmfit(self, method: str, options: dict[str, Any]) -> None:
        from pyspec.fit.units import lmfit_parameters

        self.solver, names_of_options = None, [name for name in options if name != "seed"]
        if method == "leastsq":
            options = {**OF_MINPACK, **options}
        params = lmfit_parameters(self.start, self.values)
        minimizer = self.minimizer = minimizer_of(self.objective, params, self.scale_covar)
        tight = [options[name] for name in ("ftol", "xtol", "gtol") if name in options]
        is_tight = any(isinstance(tolerance, Real) and tolerance < TIGHT for tolerance in tight)
        if method == "leastsq" and "Dfun" not in options and (self.problem.in_c or is_tight):
            options = {**options, "Dfun": self._derivatives, "col_deriv": 1}
        drawn = _seeded(options.pop("seed")) if method == GLOBAL else nullcontext()
        account = self.objective.evaluations
        account.may_leave = method in COMPARE
        try:
            with drawn:
                self.outcome = minimizer.minimize(method=method, **options)
            # lmfit 1.2 keeps a method of its own here that cannot be pickled.
            (getattr(self.outcome, "call_kws", None) or {}).pop("Dfun", None)
        except PyspecError:
            raise
        except (ValueError, TypeError, ImportError, NotImplementedError) as error:
            remedy = f"; options given: {', '.join(names_of_options)}" if names_of_options else ""
            raise FitError(f"{self.problem.label}: {method}: {error}{remedy}") from error
        finally:
            account.may_leave = False
        if self.outcome.aborted and np.isfinite(account.best):
            self._to_best(self.outcome)  # lmfit leaves it wherever it was
        self._take_over(self.outcome.params)
        if np.all(self.outcome.residual == OUTSIDE):
            self.objective.refuse(self.theta)
        self.outcome.message = _message(self.outcome, method)
        self.outcome.residual = np.array(self.outcome.residual, dtype=np.float64)

    def _native(self, options: dict[str, object]) -> None:
        """The solver in C. However it ends, the best point is that of `solver`."""
        problem = self.problem
        self.tolerance, eliminates = TOLERANCE, False
        if options:
            self.tolerance, eliminates = native_options(problem.label, options)
        n_points = self.n_points - problem.n_amplitudes
        descent = Descent(self.objective, n_points, self.tolerance, self.scale_covar)
        try:
            linear = descent.linear() if eliminates else []
            if eliminates and not linear and not problem.n_amplitudes:
                self.findings.append(Finding(Kind.NOTHING_LINEAR))
            self.solver = descent.run(self.theta, self.start.bounds, linear)
        except (StopFit, KeyboardInterrupt, ClusterError):
            self.solver = descent.best
            raise
        self.intervals, self.lost = descent.intervals, descent.lost
        if descent.look is not None:
            self.interrupted = isinstance(descent.look.cut_short, KeyboardInterrupt)
            self.findings += descent.look.findings()
            self.rivals = descent.look.rivals
        self._finish_native(self.solver, self.solver.theta)

    def _in_c(self) -> None:
        """The same with its usual options, where one run of the solver is the whole fit. However it
        ends, `solver` has the best point."""
        account, n_points, at = self.objective.evaluations, self.n_points, self.start
        self.tolerance = TOLERANCE
        most = min(MOST_EVALUATIONS, account.left() or MOST_EVALUATIONS)
        square = self.problem.files[0].data_square
        solver = NativeSolver(at.theta, at.lower, at.upper, n_points, square, most)
        self.solver = solver
        try:
            self.objective.solve(solver, watch_of(self.objective))
        finally:
            account.best, account.best_theta = solver.chisqr, solver.theta
        theta = account.best_theta
        if solver.end in ENDED:
            solver.settle(n_points, 0, self.scale_covar, {})
        if solver.is_weak:
            descent = Descent(self.objective, n_points, TOLERANCE, self.scale_covar)
            descent.best = solver
            solver = descent.freed(solver, at.theta, at.bounds)
            theta = solver.theta
        self._finish_native(solver, theta)

    def _finish_native(self, solver: NativeSolver, theta: Array) -> None:
        self.outcome, self.end = None, solver.ended
        if self.end[0] == "not_finite":
            self.objective.refuse(solver.trial)
        if self.end[0] == "limit":
            count = self.objective.evaluations.count
            raise StopFit(f"stopped after max_nfev = {count} evaluations")
        self._end_at(theta)

    def _end_at(self, theta: Array) -> None:
        """Takes the values of the free parameters from a solver in C."""
        self.theta = theta
        self.values.update(zip(self.problem.names, theta.tolist(), strict=True))

    def _take_over(self, params: lmfit.Parameters) -> None:
        """The values that a method of lmfit found."""
        for name, par in params.items():
            self.values[name] = float(par.value)
        self.theta = self.problem.theta_of(self.values)
        self.theta.flags.writeable = False

    def _derivatives(self, params: lmfit.Parameters) -> Array:
        """(n_free, n_points) derivatives of the residual, for MINPACK."""
        problem = self.problem
        bounds = [(float(params[name].min), float(params[name].max)) for name in problem.names]
        order = [problem.names.index(name) for name in params if params[name].vary]
        theta = problem.theta_of(params.valuesdict())
        derivatives = self.objective.derivatives(theta, bounds)
        if not np.isfinite(derivatives).all():
            self.objective.refuse(theta)
        return derivatives[order]

    def _to_best(self, outcome: MinimizerResult) -> None:
        """Moves the outcome of a method of lmfit to the best point so far."""
        account = self.objective.evaluations
        for name, value in zip(self.problem.names, account.best_theta.tolist(), strict=True):
            outcome.params[name].value = value
        nfev = account.count
        outcome.residual = self.objective.residual(account.best_theta.copy())
        account.count = nfev

    def _take_best(self) -> None:
        account = self.objective.evaluations
        if not np.isfinite(account.best):
            raise FitError(f"{self.problem.label}: {self.stopped} without a single finite point")
        if self.solver is not None:
            self._end_at(account.best_theta.copy())
            self.theta.flags.writeable = False
            self.end, self.outcome = ("", *self.solver.ended[1:]), None
            return
        outcome = self.minimizer.result
        self._to_best(outcome)
        self._take_over(outcome.params)
        outcome.aborted, outcome.errorbars, outcome.success = True, False, False
        outcome.message = self.stopped
        outcome.covar = None
        self.outcome = outcome


def enough_points(problem: FitProblem) -> int:
    """How many points count. Raises :class:`FitError` for fewer than free parameters, and for
    counts that are all 0."""
    own = problem.only or problem
    n_fitted, n_points = len(own.names) + own.n_amplitudes, own.n_points
    if n_points < n_fitted:
        raise FitError(
            f"{problem.label}: {n_points} points cannot determine {n_fitted} "
            "free parameters; widen the window, unmask points, or fix some parameters"
        )
    if problem.is_poisson:
        refuse_nothing(problem)
    return n_points


def run_fit(
    problem: FitProblem,
    how: How,
    progress: Silent,
    seeds: Mapping[str, float] | None = None,
    ended: EndedInC | None = None,
) -> Run:
    """Runs the stages on a problem; of a fit that has `ended` it takes that."""
    methods, options, max_nfev, max_seconds, scale_covar = how
    if options:
        check_linear(problem.label, methods, options)
    start, n_points = problem.start(seeds), enough_points(problem)
    if scale_covar is None:
        scale_covar = not problem.is_poisson
    run = Run(problem, start, methods, options, bool(scale_covar), n_points)
    run.ended = ended
    run.go(progress, max_nfev, max_seconds)
    return run
