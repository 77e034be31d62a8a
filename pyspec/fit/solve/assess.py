"""What a finished fit says: statistics, bounds, what the data determine, errors, followers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.fit.counts import at_zero, far_from_expected
from pyspec.fit.following import NONE, FollowerErrors
from pyspec.fit.parameters import at_bound
from pyspec.fit.result import FitResult
from pyspec.fit.solve.covariance import gains_beyond, gauss_newton
from pyspec.fit.solve.determined import Point, Verdict, described, judge, without_trace
from pyspec.fit.solve.jumps import beyond, not_searched
from pyspec.fit.solve.methods import SAMPLER
from pyspec.fit.solve.near import is_found, needed, said_at
from pyspec.fit.solve.outcome import Ended, NativeOutcome, count
from pyspec.fit.solve.stages import Run
from pyspec.fit.spread import Spread, scaled

Array = npt.NDArray[np.float64]

#: Below this share of the data, squared, a residual is rounding and has no standard deviation.
ROUNDING = 1e-16


def assess(run: Run, settings: dict[str, Any], kind: type[FitResult]) -> FitResult:
    """The result of a run that has ended."""
    return _Assessment(run).result(settings, kind)


class _Assessment:
    def __init__(self, run: Run) -> None:
        self.run, self.problem, self.outcome = run, run.problem, run.outcome
        self.params = run.params
        self.solver, self.intervals = run.solver, run.intervals
        self.scale_covar, self.n_points = run.scale_covar, run.n_points
        self.nfev = run.nfev
        #: The bounds that parameters ended at: name → "min" or "max".
        self.bound = self._sides()
        self.is_poisson, self.is_weighted = self.problem.is_poisson, self.problem.is_weighted
        #: What the solver is sure of: the data determine every parameter.
        self.certain = None if self.solver is None or self.is_poisson else self.solver.certain
        self.cautions: list[str] = list(run.cautions)
        #: What is said as a warning, too.
        self.warned: list[str] = []
        #: (m, n) root of the information and (n,) Jᵀr at the end, where they were worked out.
        self.information: tuple[Array, Array] | None = None

    def result(self, settings: dict[str, Any], kind: type[FitResult]) -> FitResult:
        """Statistics, bounds, covariance and followers, as a result."""
        run, problem = self.run, self.problem
        self._statistics()
        verdict = self._verdict()
        for k, side in verdict.next_to:
            self.bound[problem.names[k]] = "min" if side < 0 else "max"
        lost = map(problem.names.__getitem__, verdict.lost)
        empty = dict.fromkeys([*self._covariance(), *lost, *run.lost])
        self._drop_errors(empty)
        is_optimum = verdict.distance <= needed(run)
        self.is_found = is_found(run, verdict.distance)
        self._add_followers()
        if self.is_weighted and not run.stopped and math.isfinite(self.outcome.redchi):
            said = float(self.outcome.redchi), self.outcome.nfree, self.scale_covar
            self.cautions += far_from_expected(problem, self.params.value, *said)
        self._doubt()
        if not isinstance(self.outcome, NativeOutcome):
            from pyspec.fit.units import complete

            complete(self.outcome, self.params, self.nfev)
        return kind(
            problem=problem,
            _outcome=self.outcome,
            _params=self.params,
            _message=self._message(empty, verdict, is_optimum),
            method=" then ".join(run.methods),
            backend=problem.backend,
            settings=settings,
            start=Named(run.start),
            seconds=run.seconds,
            nfev=self.nfev,
            success=self._succeeded() and not empty and is_optimum,
            interrupted=run.interrupted,
            degenerate=bool(empty),
            at_bound=self.bound,
            without_effect=tuple(empty),
            intervals=self.intervals,
            _cautions=tuple(self.cautions),
            _warned=tuple(self.warned),
            _minimizer=run.minimizer,
            _variance=math.nan if self._is_saturated() else None,
        )

    def _sides(self) -> dict[str, str]:
        """The native solver reaches bounds to the last bit; the transformations of lmfit do not."""
        found: dict[str, str] = {}
        values, limits = self.params.value, self.params.limits
        for name in self.problem.names:
            value, (low, high, _) = values[name], limits[name]
            if self.solver is None:
                side = at_bound(value, low, high, self.run.start[name])
            else:
                side = "min" if value <= low else "max" if value >= high else ""
            if side and name not in self.intervals:
                found[name] = side
        return found

    def _bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each free parameter, in the order of theta."""
        return [self.params.limits[name][:2] for name in self.problem.names]

    def _statistics(self) -> None:
        """As lmfit's, but masked points do not count."""
        outcome = self.outcome
        before = getattr(outcome, "redchi", None)
        if self.solver is None:
            residual = outcome.residual
            with np.errstate(over="ignore"):
                outcome.chisqr = float(np.einsum("i,i", residual, residual))
        n_linear = self.problem.n_linear_at(self.params.value)
        count(outcome, self.n_points, n_linear, self.is_weighted and not self.scale_covar)
        covar = getattr(outcome, "covar", None)
        if covar is not None and self.scale_covar and before and before != outcome.redchi:
            outcome.covar = covar * (outcome.redchi / before)

    # what the data determine

    def _verdict(self) -> Verdict:
        problem, outcome = self.problem, self.outcome
        chisqr = float(outcome.chisqr)
        if self.run.stopped or self.run.methods[-1] == SAMPLER or not math.isfinite(chisqr):
            return Verdict(0.0)
        is_exact = self._is_exact()
        if self.certain is not None and not (self.bound or self.intervals or is_exact):
            return Verdict(self._distance(self.certain.decrease))
        lower, upper = np.array(self._bounds()).T
        theta = problem.theta_of(self.params.value)
        codes = {"min": -1, "max": 1}
        sides = np.array([codes.get(self.bound.get(name, ""), 0) for name in problem.names])
        # The transformations of lmfit come near to a bound and never reach it.
        theta = np.where(sides, np.where(sides < 0, lower, upper), theta)
        root, downhill = self.information = self._information(theta)
        if not np.isfinite(downhill).all():
            problem.refuse(theta)
        point = Point(
            theta=theta,
            lower=lower,
            upper=upper,
            root=root,
            downhill=downhill,
            sides=sides,
            sizes=np.array(problem.sizes, dtype=np.float64),
            variance=self._variance(),
            chisqr=chisqr,
        )
        apart = [problem.names.index(name) for name in self.intervals]
        verdict = judge(point, problem.chisqr_at, apart)
        if not is_exact:
            return verdict
        lost = {*verdict.lost, *without_trace(point, problem.data_square, apart)}
        return Verdict(0.0, tuple(sorted(lost)), verdict.combinations)

    def _is_exact(self) -> bool:
        """Whether the residual is rounding."""
        return float(self.outcome.chisqr) <= ROUNDING * self.problem.data_square

    def _variance(self) -> float:
        """s² of one point, not below what rounding makes of it."""
        return max(self._scale(), ROUNDING * self.problem.data_square / max(self.n_points, 1))

    def _distance(self, decrease: float) -> float:
        """Standard errors to the optimum where chi² would still fall by `decrease`."""
        if self._is_exact():
            return 0.0
        variance = self._variance()
        if not variance > 0.0:
            return 0.0
        return math.sqrt(decrease / variance)

    def _information(self, theta: Array) -> tuple[Array, Array]:
        """(m, n) root of the information and (n,) Jᵀr at the end; the native solver has them."""
        problem = self.problem
        if self.solver is None:
            found = problem.information(theta, self._bounds())
            self.nfev = max(self.nfev, problem.evaluations.count)
            return found
        factor = self.solver.factor()
        root, downhill = factor[:, :-1], factor[:, :-1].T @ factor[:, -1]
        if self.is_poisson:
            root = problem.slopes(theta, self._bounds(), list(range(theta.size)))
        return root, downhill

    def _drop_errors(self, empty: dict[str, None]) -> None:
        """Parameters that are not determined have no error, nor have those whose error is larger
        than the interval of their bounds: there, the bounds say more than the data."""
        errors, limits = self.params.stderr, self.params.limits
        for name in self.problem.names:
            error, (low, high, _) = errors.get(name), limits[name]
            if error is None:
                continue
            if name in empty:
                del errors[name]
            elif error > high - low:
                self.cautions.append(
                    f"{name} has no standard error: {error:.3g} would be larger than the "
                    f"interval of its bounds, [{low:g}, {high:g}]"
                )
                del errors[name]

    def _doubt(self) -> None:
        """What a wider bound would gain, and what else to doubt."""
        run, problem, outcome = self.run, self.problem, self.outcome
        values = self.params.value
        self.warned = problem.cautions(values)
        if run.stopped or not math.isfinite(outcome.chisqr):
            return
        if self._is_saturated():
            self.cautions.append(
                f"no standard errors: {self.n_points} points and as many free parameters leave no "
                "scatter to take the noise from; declare it, file.set_noise('gaussian', "
                "sigma=...), or Measurement(weight=1 / sigma) with scale_covar=False"
            )
        if self.information is not None:
            held = [problem.names.index(name) for name in {**self.bound, **self.intervals}]
            sides = {problem.names.index(name): side for name, side in self.bound.items()}
            for place, gain in gains_beyond(*self.information, sides, held).items():
                name, side = problem.names[place], sides[place]
                low, high, _ = self.params.limits[name]
                limit = low if side == "min" else high
                fall = gain, float(outcome.chisqr), self._scale()
                self.cautions.append(problem.at_the_bound(name, side, limit, *fall))
        if self.solver is not None:
            for name, ends in self.intervals.items():
                if name not in run.lost:
                    known = problem.bounds_of(self.params), ends, self._scale()
                    self.cautions += beyond(problem, self.solver, name, *known)
        theta = problem.theta_of(values) if self.solver is None else self.solver.theta
        self.cautions += problem.doubts(theta, values, self.bound, float(outcome.chisqr))
        self.cautions += self.warned

    def _covariance(self) -> list[str]:
        """Standard errors and correlations; the names of parameters without information."""
        outcome, problem = self.outcome, self.problem
        names = list(outcome.var_names)
        covar = getattr(outcome, "covar", None)
        empty: list[str] = []
        held = {**self.bound, **self.intervals}
        if self.run.stopped or self._is_saturated():
            covar = outcome.covar = None
        elif self.certain is not None and not held and tuple(names) == problem.names:
            found = Spread(names, self.certain.covariance, self._scale())
            if len(found.names) == len(names):
                self._spread_of(found)
                return empty
            covar, empty = self._gauss_newton(names)  # a variance is too large for a double
        elif covar is None or (
            self.run.methods[-1] != SAMPLER  # whose covariance is that of the chain
            and (
                self.bound
                or self.is_poisson
                or problem.n_linear
                or not np.all(np.isfinite(np.diag(covar)))
            )
        ):
            interior = [name for name in names if name not in held] if held else names
            covar, empty = self._gauss_newton(interior) if interior else (None, [])
        if covar is None:
            outcome.errorbars = False
            return empty
        self._spread_of(Spread(names, covar))
        outcome.covar = covar
        endless = np.flatnonzero(np.isinf(covar.diagonal())).tolist()
        return empty + [names[k] for k in endless]

    def _spread_of(self, found: Spread) -> None:
        self.params.spread, self.params.stderr = found, found.errors()
        self.outcome.errorbars = True

    def _is_saturated(self) -> bool:
        """Whether the noise is to be taken from a scatter that is 0 whatever the data are: there
        are as many parameters as points."""
        n_fitted = len(self.problem.names) + self.problem.n_linear
        return self.scale_covar and self.n_points <= n_fitted

    def _scale(self) -> float:
        """What the covariance of unit noise is multiplied by."""
        return float(self.outcome.redchi) if self.scale_covar else 1.0

    def _gauss_newton(self, interior: list[str]) -> tuple[Array | None, list[str]]:
        outcome, problem = self.outcome, self.problem
        names = list(outcome.var_names)
        columns = list(range(len(names)))
        if interior != list(problem.names):
            columns = [problem.names.index(name) for name in interior]
        if self.solver is not None and not self.is_poisson:
            inner, empty = self.solver.information(columns)
        else:
            theta = problem.theta_of(self.params.value)
            slopes = problem.slopes(theta, self._bounds(), columns)
            self.nfev = problem.evaluations.count
            inner, empty = gauss_newton(slopes)
        if inner is None:
            return None, [interior[k] for k in empty]
        inner = scaled(inner, self._scale())
        if len(interior) == len(names):
            return inner, [interior[k] for k in empty]
        covar = np.full((len(names), len(names)), np.nan)
        places = [names.index(name) for name in interior]
        covar[np.ix_(places, places)] = inner
        return covar, [interior[k] for k in empty]

    def _add_followers(self) -> None:
        """Appends the expression parameters with their values; their standard errors are propagated
        when the first of them is asked for."""
        params, followers = self.params, self.problem.followers
        if followers is NONE:
            return
        known = dict(params.value)
        values = followers.values(known)
        if not values:
            return
        names = list(self.outcome.var_names)
        interior = [name for name in names if name in params.stderr]
        if interior:
            covar: Array = self.outcome.covar.copy()
            if len(interior) < len(names):
                places = [names.index(name) for name in interior]
                covar = covar[np.ix_(places, places)]
            lost = [name for name in names if name not in params.stderr and name not in self.bound]
            params.errors = FollowerErrors(followers, known, interior, covar, lost)
        params.value |= values
        params.expressions = self.problem.expressions(values)

    def _succeeded(self) -> bool:
        """Whether the method ended by itself, at a finite chi²."""
        ended = bool(self.outcome.success) or self.is_found
        return ended and not self.run.stopped and math.isfinite(self.outcome.chisqr)

    def _message(self, empty: dict[str, None], verdict: Verdict, is_optimum: bool) -> str | Ended:
        run, outcome, moved = self.run, self.outcome, self.run.moved
        unusual = self.bound or self.intervals or empty or moved or run.stopped
        is_plain = is_optimum and not unusual
        if is_plain and isinstance(outcome, NativeOutcome) and math.isfinite(outcome.chisqr):
            return outcome.ended
        ended = run.stopped or str(outcome.message).strip()
        if is_optimum and (empty or not self.is_found):
            parts = [ended]
        else:
            parts = said_at(ended, verdict.distance, is_optimum, believed=self._succeeded())
        if not is_optimum:
            parts += at_zero(self.problem, self.problem.theta_of(self.params.value))
        if self.bound:
            parts.append("At a bound: " + ", ".join(f"{n} ({s})" for n, s in self.bound.items()))
        for name, (low, high) in self.intervals.items():
            parts.append(f"{name} moves a jump: it lies above {low:.6g}, up to {high:.6g}")
        if self.intervals and len(self.problem.names) > len(self.intervals):
            parts.append("Standard errors of others hold it fixed, conf_interval does not")
        if not math.isfinite(outcome.chisqr):
            parts.append("chi² is too large for a double; scale the data")
        left = [name for name in empty if name not in self.intervals]
        moving = not_searched(self.problem, left, run.methods[-1]) if left else {}
        if lost := [name for name in empty if name not in moving]:
            parts.append("The data do not determine " + ", ".join(lost))
            parts.append(described(verdict, self.problem.names))
        parts += [f"{name} {what}" for name, what in moving.items()]
        if moved:
            parts.append("Started inside its bound: " + ", ".join(moved))
        return ". ".join(part.rstrip(".") for part in parts if part) + "."
