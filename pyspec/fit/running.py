"""One fit on its way: the stages of lmfit, then statistics, bounds, covariance, followers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, PyspecError
from pyspec.fit.covariance import gauss_newton
from pyspec.fit.descent import Descent
from pyspec.fit.methods import NATIVE
from pyspec.fit.native import NativeSolver, native_tolerance
from pyspec.fit.parameters import at_bound, propagate
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent, StopFit

Array = npt.NDArray[np.float64]


#: Below this tolerance forward differences, good to 8 digits, are the limit.
TIGHT = 1e-10


def _is_tight(options: dict[str, Any]) -> bool:
    given = [options[name] for name in ("ftol", "xtol", "gtol") if name in options]
    return any(value is not None and float(value) < TIGHT for value in given)


class Run:
    """One fit on its way: the stages, and what is made of their outcome."""

    def __init__(
        self,
        problem: FitProblem,
        params: Any,
        methods: tuple[str, ...],
        scale_covar: bool,
    ) -> None:
        import lmfit

        self.problem = problem
        self.methods = methods
        self.n_points = problem.n_points
        self.scale_covar = scale_covar
        self.start = {name: float(par.value) for name, par in params.items()}
        # 'propagate': FitProblem looks for NaN itself, in the pass that gives chi².
        self.minimizer = lmfit.Minimizer(
            problem, params, nan_policy="propagate", calc_covar=False, scale_covar=scale_covar
        )
        self.params = params
        self.outcome: Any = None
        self.solver: NativeSolver | None = None
        self.intervals: dict[str, tuple[float, float]] = {}
        self.lost: list[str] = []
        self.stopped = ""
        self.interrupted = False
        self.seconds = 0.0

    def go(
        self,
        progress: Silent,
        max_nfev: int | None,
        options: dict[str, Any],
        max_seconds: float | None = None,
    ) -> None:
        """Runs the stages; Ctrl-C and the limits end them with the best point so far."""
        problem = self.problem
        problem.progress = progress
        problem.limit(max_nfev, max_seconds)
        start = time.perf_counter()
        try:
            # lmfit changes NumPy's error state for a while; an exception must not leave it so.
            with np.errstate(all="ignore"):
                for index, method in enumerate(self.methods):
                    self._stage(method, options if index == len(self.methods) - 1 else {})
        except StopFit as stop:
            self.stopped = str(stop)
        except KeyboardInterrupt:
            if not np.isfinite(problem.best):
                raise
            self.interrupted = True
            self.stopped = f"interrupted after {problem.nfev} evaluations; the best point is kept"
        finally:
            progress.close()
            problem.progress = Silent()
            problem.limit(None, None)
            problem.reuse_buffer(False)
        if self.stopped:
            self._take_best()
        self.nfev = problem.nfev
        self.seconds = time.perf_counter() - start

    def _stage(self, method: str, options: dict[str, Any]) -> None:
        if method == NATIVE:
            self._native(options)
            return
        # Only MINPACK copies what it is given; others may keep the array.
        self.problem.reuse_buffer(method == "leastsq")
        self.solver, given = None, tuple(options)
        if method == "leastsq" and "Dfun" not in options and self._has_derivatives(options):
            options = {**options, "Dfun": self._derivatives, "col_deriv": 1}
        try:
            self.outcome = self.minimizer.minimize(method=method, params=self.params, **options)
        except PyspecError:
            raise
        except (ValueError, TypeError, ImportError, NotImplementedError) as error:
            remedy = f"; options given: {', '.join(given)}" if given else ""
            raise FitError(f"{self.problem.label}: {method}: {error}{remedy}") from error
        self.params = self.outcome.params
        self.outcome.residual = np.array(self.outcome.residual, dtype=np.float64)

    def _native(self, options: dict[str, Any]) -> None:
        """The solver in C. However it ends, the best point is that of `solver`."""
        problem = self.problem
        descent = Descent(problem, self.n_points, native_tolerance(problem.label, options))
        try:
            self.solver = descent.run(self.params)
        except (StopFit, KeyboardInterrupt):
            self.solver = descent.best
            raise
        self.intervals, self.lost = descent.intervals, descent.lost
        self._finish_native(self.solver)

    def _finish_native(self, solver: NativeSolver) -> None:
        problem = self.problem
        if solver.end == "not_finite":
            problem.refuse(solver.trial)
        if solver.end == "limit":
            raise StopFit(f"stopped after max_nfev = {problem.nfev} evaluations")
        for name, value in zip(problem.names, solver.theta, strict=True):
            self.params[name].value = float(value)
        self.outcome = self._native_outcome(solver)

    def _native_outcome(self, solver: NativeSolver) -> Any:
        from pyspec.fit.outcome import NativeOutcome  # lmfit is imported by the first fit

        return NativeOutcome(self.problem, self.params, solver)

    def _has_derivatives(self, options: dict[str, Any]) -> bool:
        return self.problem.in_c or _is_tight(options)

    def _derivatives(self, params: Any) -> Array:
        """(n_free, n_points) derivatives of the residual, for MINPACK."""
        problem = self.problem
        bounds = [(float(params[name].min), float(params[name].max)) for name in problem.names]
        order = [problem.names.index(name) for name in params if params[name].vary]
        return problem.derivatives(problem.theta_of(params), bounds)[order]

    def _take_best(self) -> None:
        problem = self.problem
        if not np.isfinite(problem.best):
            raise FitError(f"{problem.label}: {self.stopped} without a single finite point")
        if self.solver is not None:
            for name, value in zip(problem.names, problem.best_theta, strict=True):
                self.params[name].value = float(value)
            outcome: Any = self._native_outcome(self.solver)
        else:
            outcome = self.minimizer.result
            for name, value in zip(problem.names, problem.best_theta, strict=True):
                outcome.params[name].value = float(value)
            nfev = problem.nfev
            outcome.residual = problem.residual(problem.best_theta.copy())
            problem.nfev = nfev
        outcome.aborted, outcome.errorbars, outcome.success = True, False, False
        outcome.message = self.stopped
        outcome.covar = None
        self.outcome = outcome

    def facts(self, moved: tuple[str, ...]) -> dict[str, Any]:
        """Statistics, bounds, covariance and followers, for a FitResult."""
        problem, outcome = self.problem, self.outcome
        params = outcome.params
        self._statistics()
        free = [name for name in problem.names if name not in self.intervals]
        bound = {name: side for name in free if (side := self._side(name))}
        empty = [*self._covariance(bound), *self.lost]
        interior = [name for name in outcome.var_names if params[name].stderr is not None]
        expressions = self._add_followers(interior)
        return {
            "backend": problem.backend,
            "method": " then ".join(self.methods),
            "seconds": self.seconds,
            "nfev": self.nfev,
            "success": self._succeeded() and not empty,
            "interrupted": self.interrupted,
            "message": self._message(bound, empty, moved),
            "at_bound": bound,
            "without_effect": tuple(empty),
            "intervals": self.intervals,
            "expressions": expressions,
            "start": self.start,
        }

    def _side(self, name: str) -> str:
        """The bound that a parameter ended at. The native solver reaches it to the last bit; the
        transformations of lmfit do not."""
        value, low, high = self._bounded(name)
        if self.solver is not None:
            return "min" if value <= low else "max" if value >= high else ""
        return at_bound(value, low, high, self.start[name])

    def _bounded(self, name: str) -> tuple[float, float, float]:
        par = self.outcome.params[name]
        return float(par.value), float(par.min), float(par.max)

    def _statistics(self) -> None:
        """As lmfit's, but masked points do not count."""
        outcome = self.outcome
        before = getattr(outcome, "redchi", None)
        if self.solver is None:
            residual = outcome.residual
            with np.errstate(over="ignore"):
                outcome.chisqr = float(np.einsum("i,i", residual, residual))
        outcome.ndata = self.n_points
        outcome.nvarys = len(outcome.var_names)
        outcome.nfree = max(self.n_points - outcome.nvarys, 1)
        outcome.redchi = outcome.chisqr / outcome.nfree
        floor = max(outcome.chisqr, 1e-250 * outcome.ndata)
        # With known noise chi² is -2 log likelihood itself, but for a constant.
        log_likelihood = outcome.ndata * float(np.log(floor / outcome.ndata))
        if self.problem.is_weighted and not self.scale_covar:
            log_likelihood = outcome.chisqr
        outcome.aic = log_likelihood + 2 * outcome.nvarys
        outcome.bic = log_likelihood + float(np.log(outcome.ndata)) * outcome.nvarys
        covar = getattr(outcome, "covar", None)
        if covar is not None and self.scale_covar and before and before != outcome.redchi:
            outcome.covar = covar * (outcome.redchi / before)

    def _covariance(self, bound: dict[str, str]) -> list[str]:
        """Standard errors and correlations; the names of parameters without information."""
        outcome, problem = self.outcome, self.problem
        names, params = list(outcome.var_names), outcome.params
        covar = getattr(outcome, "covar", None)
        empty: list[str] = []
        if self.stopped:
            covar = None
        elif (
            covar is None or bound or problem.is_poisson or not np.all(np.isfinite(np.diag(covar)))
        ):
            interior = [n for n in names if n not in bound and n not in self.intervals]
            covar, empty = self._gauss_newton(interior) if interior else (None, [])
        for par in params.values():
            # lmfit gives fixed parameters an error of 0; they have none.
            par.stderr, par.correl = None, None
        if covar is None:
            outcome.errorbars = False
            return empty
        kept = [k for k, name in enumerate(names) if np.isfinite(covar[k, k])]
        errors = np.sqrt(np.diag(covar))
        for i in kept:
            params[names[i]].stderr = float(errors[i])
            params[names[i]].correl = {
                names[j]: float(covar[i, j] / product) if product else 0.0
                for j in kept
                if j != i and (product := errors[i] * errors[j]) >= 0.0
            }
        outcome.covar, outcome.errorbars = covar, True
        problem.reuse_buffer(False)
        return empty

    def _gauss_newton(self, interior: list[str]) -> tuple[Array | None, list[str]]:
        outcome, problem = self.outcome, self.problem
        names = list(outcome.var_names)
        columns = [problem.names.index(name) for name in interior]
        if self.solver is not None and not problem.is_poisson:
            inner, empty = self.solver.information(columns)
        else:
            theta = problem.theta_of(outcome.params)
            bounds = [self._bounded(name)[1:] for name in problem.names]
            slopes = problem.slopes(theta, bounds, columns)
            self.nfev = problem.nfev
            inner, empty = gauss_newton(slopes)
        if inner is None:
            return None, [interior[k] for k in empty]
        covar = np.full((len(names), len(names)), np.nan)
        places = [names.index(name) for name in interior]
        covar[np.ix_(places, places)] = inner * (outcome.redchi if self.scale_covar else 1.0)
        return covar, [interior[k] for k in empty]

    def _add_followers(self, interior: list[str]) -> dict[str, str]:
        """Appends the expression parameters with value and propagated standard error."""
        import lmfit

        outcome = self.outcome
        names, params = list(outcome.var_names), outcome.params
        values = {name: float(par.value) for name, par in params.items()}
        places = [names.index(name) for name in interior]
        covar = outcome.covar[np.ix_(places, places)] if interior else np.zeros((0, 0))
        expressions = {}
        for name, (value, gradient) in self.problem.followers(values).items():
            text = self.problem.expression(name)
            par = lmfit.Parameter(name, value=value, vary=False, user_data=text)
            if not set(gradient).isdisjoint(interior):
                par.stderr = propagate(gradient, interior, covar)
            params.add(par)
            expressions[name] = text
        return expressions

    def _succeeded(self) -> bool:
        """Whether the method ended by itself, at a finite chi²."""
        outcome = self.outcome
        return bool(outcome.success) and not self.stopped and bool(np.isfinite(outcome.chisqr))

    def _message(self, bound: dict[str, str], empty: list[str], moved: tuple[str, ...]) -> str:
        parts = [self.stopped or str(self.outcome.message).strip()]
        if bound:
            parts.append("At a bound: " + ", ".join(f"{n} ({s})" for n, s in bound.items()))
        for name, (low, high) in self.intervals.items():
            parts.append(f"{name} moves a jump: it lies above {low:.6g}, up to {high:.6g}")
        if not np.isfinite(self.outcome.chisqr):
            parts.append("chi² is too large for a double; scale the data")
        if empty:
            parts.append("The data do not determine " + ", ".join(empty))
        if moved:
            parts.append("Started inside its bound: " + ", ".join(moved))
        return ". ".join(part.rstrip(".") for part in parts) + "."
