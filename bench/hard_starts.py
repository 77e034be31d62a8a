"""Fits from hard starts: ``python -m bench.hard_starts --json FILE``.

Starts at bounds, badly scaled or degenerate models, peaks far away. The optimum of each is the best
of many tightly converged fits that begin at the truth, around it, and where the methods
ended. For each method: whether it reached the optimum (chi² within 1e-8 of it; with clean data
below 1e-20 of theirs), and whether it says so. A success is false where the optimum is not
reached, unless a refined fit stays there too (a local minimum, which no local method can tell from
another), and wherever the data do not determine all parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from bench.measure import arguments_of, finish, print_rows
from bench.problems.hard_cases import Array, Case, at_bounds, degenerate, far, noise_free, scales
from bench.problems.hard_cases_time import series, traces
from pyspec.errors import ModelWarning, PyspecError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit import fit_model
from pyspec.fit.solve.methods import known_methods

#: The methods compared: a method of fit_model, and its options.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "native": ("native", {}),
    "native, eliminated": ("native", {"linear": "eliminate"}),
    "leastsq": ("leastsq", {}),
    "leastsq, as lmfit has it": ("leastsq", {"ftol": 1.5e-8, "xtol": 1.5e-8}),
}

#: Where a fit ends that does not end by itself.
MAX_NFEV = 3000

#: How near chi² must come, relative to the optimum; of clean data, relative to theirs.
NEAR, CLEAN = 1e-8, 1e-20

#: At a local minimum the derivatives are at right angles to the residual, to this cosine, and,
#: scaled, at least so independent.
STATIONARY, INDEPENDENT = 1e-3, 1e-9


@dataclass(frozen=True)
class Ending:
    """How one method ended. `excess` is chi² relative to the optimum, minus 1; of clean data, chi²
    relative to theirs. `local` says that it ended in a local minimum."""

    case: str
    method: str
    reached: bool
    excess: float
    success: bool
    local: bool
    determined: bool
    nfev: int
    message: str

    @property
    def false_success(self) -> bool:
        """Whether the fit claims what it has not found, or what cannot be found."""
        return self.success and not (self.determined and (self.reached or self.local))

    @property
    def shy(self) -> bool:
        """Whether it found what can be found, and does not say so."""
        return self.reached and self.determined and not self.success


def all_cases() -> list[Case]:
    """The table."""
    return [*at_bounds(), *scales(), *degenerate(), *far(), *noise_free(), *traces(), *series()]


class Optimum:
    """The best chi² of a case that is known."""

    def __init__(self, case: Case) -> None:
        model, self.measurement = case.model(), case.measurement()
        self.executor = CompiledExecutor(make_plan(model), self.measurement)
        names = model.opt_param_names
        self.low = np.array([model.parameters[name].min for name in names])
        self.high = np.array([model.parameters[name].max for name in names])
        self.clean = case.noise == 0.0 and self.measurement.loss == "squares"
        self.best = np.inf
        self.theta = model.theta()
        rng = np.random.default_rng(len(case.name))
        true = case.true_theta()
        # A line that nobody sees must not come to fit noise.
        for spread in (0.0,) if case.undetermined else (0.0, 0.01, 0.03, 0.1):
            self.refine(true * (1 + spread * rng.uniform(-1, 1, true.size)))
        self.refine(model.theta())
        data = self.measurement.data
        assert data is not None
        self.power = float(np.sum(self.measurement.window(data) ** 2))

    def chisqr(self, theta: Array) -> float:
        """The sum of squares."""
        residual = self.executor.residual(theta)
        total = float(residual @ residual)
        return total if np.isfinite(total) else np.inf

    def refine(self, start: Array) -> float:
        """chi² of the best point that tight fits reach from here; remembers the best of all."""
        theta = np.clip(start, self.low, self.high)
        if not np.isfinite(self.chisqr(theta)):
            return np.inf
        with np.errstate(all="ignore"):
            theta = min((theta, *self._fits(theta)), key=self.chisqr)
            theta = self._polish(theta)
        found = self.chisqr(theta)
        if found < self.best:
            self.best, self.theta = found, theta
        return found

    def _fits(self, theta: Array) -> Iterable[Array]:
        """MINPACK, and where that leaves the bounds or nears one, a method that knows them."""
        found = self._fit("lm", theta)
        if found is not None:
            near = 1e-6 * np.minimum(np.abs(found), self.high - self.low)
            if (found - self.low > near).all() and (self.high - found > near).all():
                yield found
                return
        found = self._fit("dogbox", theta)
        if found is not None:
            yield found

    def _fit(self, method: str, theta: Array) -> Array | None:
        bounds: dict[str, Any] = {} if method == "lm" else {"bounds": (self.low, self.high)}
        room = 1e-10 * np.where(np.isfinite(self.high - self.low), self.high - self.low, 1.0)
        try:
            found = least_squares(
                self._residual,
                theta if method == "lm" else np.clip(theta, self.low + room, self.high - room),
                self._derivatives,
                method=method,
                ftol=1e-14,
                xtol=1e-14,
                gtol=1e-15 if method == "lm" else None,
                x_scale=np.where(theta == 0.0, 1.0, np.abs(theta)),
                max_nfev=200,
                **bounds,
            )
        except (ValueError, np.linalg.LinAlgError):  # it left the domain of a function
            return None
        return np.asarray(found.x)

    def _residual(self, theta: Array) -> Array:
        residual = self.executor.residual(theta)
        return residual if np.isfinite(residual).all() else np.full(residual.size, 1e150)

    def _derivatives(self, theta: Array) -> Array:
        return np.nan_to_num(self.executor.jacobian(theta).T)

    def _polish(self, theta: Array) -> Array:
        """Undamped Gauss-Newton steps over the parameters that are not held at a bound, as long
        as they gain."""
        at = self.chisqr(theta)
        for _ in range(30):
            slopes, residual = self._derivatives(theta), self.executor.residual(theta)
            pull = -(slopes.T @ residual)
            width = np.minimum(np.abs(theta), self.high - self.low)
            held = ((theta - self.low <= 1e-9 * width) & (pull < 0)) | (
                (self.high - theta <= 1e-9 * width) & (pull > 0)
            )
            size = np.sqrt(np.einsum("ij,ij->j", slopes, slopes))
            free = ~held & (size > 0)
            step = np.zeros_like(theta)
            if free.any():
                scaled = slopes[:, free] / size[free]
                step[free] = np.linalg.lstsq(scaled, -residual, rcond=1e-13)[0] / size[free]
            trial = np.where(held & (pull < 0), self.low, np.where(held, self.high, theta))
            trial = np.clip(trial + step, self.low, self.high)
            new = self.chisqr(trial)
            if not new < at:
                break
            theta, at = trial, new
        return theta

    def excess(self, chisqr: float) -> float:
        """How far above the optimum, relative to it; to the data where these are clean."""
        return chisqr / self.power if self.clean else chisqr / self.best - 1.0

    def reached(self, chisqr: float) -> bool:
        """Whether this is the optimum."""
        return self.excess(chisqr) <= (CLEAN if self.clean else NEAR)

    def is_local(self, theta: Array) -> bool:
        """Whether refined fits stay here, and every parameter has information of its own. On a
        plateau they stay too, but what little the parameters do points downhill."""
        before = self.chisqr(theta)
        best = self.best, self.theta
        after = self.refine(theta)
        self.best, self.theta = best
        if not after >= before * (1 - NEAR):
            return False
        inner = (theta > self.low) & (theta < self.high)
        slopes, residual = self._derivatives(theta)[:, inner], self.executor.residual(theta)
        size = np.sqrt(np.einsum("ij,ij->j", slopes, slopes))
        if not (size > 0).all():
            return False
        slopes = slopes / size
        cosines = np.abs(residual @ slopes) / np.sqrt(before)
        singular = np.linalg.svd(slopes, compute_uv=False)
        independent = singular.size == 0 or singular[-1] > INDEPENDENT * singular[0]
        return bool(independent and (cosines < STATIONARY).all())


@dataclass(frozen=True)
class _Fit:
    """What a method returned."""

    chisqr: float
    theta: Array | None
    success: bool
    nfev: int
    message: str


def fit_from(case: Case, method: str) -> _Fit:
    """One fit; an error is an ending without success."""
    kind, options = METHODS[method]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # an exact fit has errors of 0
            result = fit_model(
                case.model(), case.measurement(), method=kind, max_nfev=MAX_NFEV, **options
            )
    except PyspecError as error:
        return _Fit(np.inf, None, False, 0, f"{type(error).__name__}: {error}")
    return _Fit(result.chisqr, result.theta, result.success, result.nfev, result.message)


def run_case(case: Case, methods: Sequence[str]) -> tuple[Optimum, list[Ending]]:
    """Every method on one case. The optimum is at least as good as what they found."""
    optimum = Optimum(case)
    fits = {method: fit_from(case, method) for method in methods}
    for fit in fits.values():
        if fit.theta is not None:
            optimum.refine(fit.theta)
    endings = []
    for method, fit in fits.items():
        reached = optimum.reached(fit.chisqr)
        local = not reached and fit.theta is not None and optimum.is_local(fit.theta)
        endings.append(
            Ending(
                case.name,
                method,
                reached,
                optimum.excess(fit.chisqr),
                fit.success,
                local,
                not case.undetermined,
                fit.nfev,
                fit.message,
            )
        )
    return optimum, endings


def methods_at_hand() -> list[str]:
    """The methods that there are."""
    return [name for name, (kind, _) in METHODS.items() if kind in known_methods()]


def summary(endings: Sequence[Ending], method: str) -> dict[str, Any]:
    """Counts of one method."""
    own = [ending for ending in endings if ending.method == method]
    return {
        "cases": len(own),
        "reached": sum(ending.reached for ending in own),
        "local_minima": sum(ending.local for ending in own),
        "success": sum(ending.success for ending in own),
        "false_success": [ending.case for ending in own if ending.false_success],
        "reached_without_success": [ending.case for ending in own if ending.shy],
        "evaluations": sum(ending.nfev for ending in own),
    }


def main(arguments: list[str] | None = None) -> int:
    """Prints a row for each case and method; returns 1 where native does worse than others."""
    parser = arguments_of("hard_starts", __doc__)
    parser.add_argument("--case", help="only cases whose name contains this")
    given = parser.parse_args(arguments)
    methods = methods_at_hand()
    cases = [case for case in all_cases() if given.case is None or given.case in case.name]
    endings = [ending for case in cases for ending in run_case(case, methods)[1]]
    head = ["case", "method", "reached", "excess", "success", "evaluations", "message"]
    rows = []
    for ending in endings:
        reached = "yes" if ending.reached else "local" if ending.local else "no"
        claim = "yes" if ending.success else "no"
        claim += ", false" if ending.false_success else ""
        numbers = [reached, f"{ending.excess:.1e}", claim, str(ending.nfev)]
        rows.append([ending.case, ending.method, *numbers, ending.message[:100].ljust(100)])
    print_rows(head, rows)
    counts = {method: summary(endings, method) for method in methods}
    for method, count in counts.items():
        print(
            f"\n{method}: {count['reached']} of {count['cases']} optima, "
            f"{count['local_minima']} local minima, {count['success']} successes, of which "
            f"{len(count['false_success'])} false; {count['evaluations']} evaluations"
        )
        for what in ("false_success", "reached_without_success"):
            if count[what]:
                print(f"  {what.replace('_', ' ')}: {'; '.join(count[what])}")
    found = [{**asdict(e), "excess": e.excess if np.isfinite(e.excess) else None} for e in endings]
    finish(given.json, {"summary": counts, "endings": found})
    native = counts.get("native")
    if native is None:
        return 0
    others = [count for name, count in counts.items() if METHODS[name][0] != "native"]
    behind = any(native["reached"] < count["reached"] for count in others)
    return int(behind or bool(native["false_success"]))


if __name__ == "__main__":
    raise SystemExit(main())
