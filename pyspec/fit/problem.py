"""The residual as an optimizer sees it: one executor call for each evaluation."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, suggest
from pyspec.executor import CompiledExecutor, Runner, make_executor, make_plan
from pyspec.executor.normal import pack_triangle, unpack
from pyspec.fit.buffers import BufferPool
from pyspec.fit.caution import cautions
from pyspec.fit.covariance import jacobian
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.jumps import jump_places
from pyspec.fit.native import NativeSolver, Watch, root_of
from pyspec.fit.parameters import followers, start_parameters
from pyspec.fit.progress import Silent, StopFit
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model, Par
from pyspec.passes import classify_columns, jump_parameters
from pyspec.plan import ScheduledPlan

Array = npt.NDArray[np.float64]

#: Expected counts are taken to be at least this, as the deviance does.
POISSON_FLOOR = 1e-3


#: Classes of Jacobian columns that may be switched off.
CLASSES = ("constant", "structured")


def checked_classes(without: Collection[str]) -> frozenset[str]:
    """The classes as a set. Raises :class:`FitError` for names that are none."""
    given = {without} if isinstance(without, str) else set(without)
    for name in sorted(given - set(CLASSES)):
        raise FitError(
            f"jacobian_without={name!r} is no class of columns that can be switched off"
            f"{suggest(name, list(CLASSES))}; there are {', '.join(CLASSES)}"
        )
    return frozenset(given)


class FitProblem:
    """Model, measurement and backend, callable with lmfit.Parameters.

    Keeps the best point seen, counts evaluations, and refuses values that are not finite by
    naming the parameter. Pickles without its executor, which is made again on first use.

    `executor` is one made before, for many measurements of one model; `fixed` holds values of
    fixed parameters that differ from those of the model; `without` names classes of Jacobian
    columns that are switched off, for comparison.
    """

    def __init__(
        self,
        model: Model,
        measurement: Measurement,
        backend: str,
        executor: Runner | None = None,
        fixed: Mapping[str, float] | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.model = model
        self.measurement = measurement
        self.backend = backend
        self.fixed = None if fixed is None else dict(fixed)
        self.without = checked_classes(without)
        self._executor: Runner | None = executor
        self.names: tuple[str, ...] = tuple(self.executor.opt_param_names)
        self._start()

    def make_executor(self) -> Runner:
        """The executor of this problem."""
        if "constant" in self.without and self.backend == "compiled":
            return CompiledExecutor(make_plan(self.model), self.measurement, lines=False)
        return make_executor(self.model, self.measurement, self.backend)

    def _start(self) -> None:
        self.progress: Silent = Silent()
        self.limit(None, None)
        self.nfev = 0
        self.best = np.inf
        self.best_theta = np.full(len(self.names), np.nan)
        self._theta = np.empty(len(self.names))
        self._pool: BufferPool | None = None
        self._params: Any = None
        self._gather: list[Any] = []
        self.sizes = [1.0] * len(self.names)

    def __getstate__(self) -> dict[str, Any]:
        lost = {"_executor", "progress", "max_nfev", "max_seconds", "_deadline"}
        lost |= {"_theta", "_pool", "_params", "_gather"}
        return {name: value for name, value in self.__dict__.items() if name not in lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.names, self._executor = state["names"], None
        self._start()
        self.__dict__.update(state)

    # what is fitted

    @property
    def label(self) -> str:
        """How errors call it."""
        return self.model.name

    @property
    def executor(self) -> Runner:
        """The executor that answers."""
        if self._executor is None:
            self._executor = self.make_executor()
        return self._executor

    @property
    def parameters(self) -> dict[str, Par]:
        """All parameters by name."""
        return self.model.parameters

    def release(self) -> None:
        """Gives the executor up; it is made again when it is needed."""
        self._executor = None

    @property
    def is_weighted(self) -> bool:
        """Whether the noise of the data is known: weights, or counting statistics."""
        return self.measurement.weight is not None or self.is_poisson

    @property
    def is_poisson(self) -> bool:
        """Whether the residual is a Poisson deviance."""
        return self.measurement.loss == "poisson"

    @property
    def n_residuals(self) -> int:
        """Points of the window, masked ones included."""
        data = self.measurement.data
        assert data is not None
        return int(self.measurement.window(data).size)

    @property
    def data_square(self) -> float:
        """chi² of a model that is 0 everywhere: what rounding of chi² is measured by."""
        return self.measurement.square()

    @property
    def n_points(self) -> int:
        """Points of the window that count."""
        if self.measurement.keep is None:
            return self.n_residuals
        return int(np.count_nonzero(self.measurement.window(self.measurement.keep)))

    def start(self, seeds: Mapping[str, float] | None = None) -> tuple[Any, tuple[str, ...]]:
        """lmfit.Parameters to start from, and the names moved off a bound."""
        data = self.measurement.data
        seen = None if data is None else self.measurement.window(data)
        params, moved = start_parameters(self.model, {**(self.fixed or {}), **(seeds or {})}, seen)
        self.sizes = [getattr(params[name], "unit", 1.0) for name in self.names]
        return params, moved

    def followers(self, values: Mapping[str, float]) -> dict[str, tuple[float, dict[str, float]]]:
        """Value and gradient of every expression parameter."""
        return followers(self.model, values)

    def expression(self, name: str) -> str:
        """The text of an expression parameter."""
        return str(self.model.parameters[name].expr)

    def cautions(self, values: Mapping[str, float]) -> list[str]:
        """What may mislead at these values."""
        return cautions(self.model, values, self.measurement)

    # what an optimizer calls

    def limit(self, max_nfev: int | None, max_seconds: float | None) -> None:
        """How much a fit may take from here on; None is no limit."""
        self.max_nfev, self.max_seconds = max_nfev, max_seconds
        self._deadline = None if max_seconds is None else time.perf_counter() + max_seconds

    def check_time(self) -> None:
        """Raises :class:`StopFit` where the time is up."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise StopFit(f"stopped after max_seconds = {self.max_seconds:g}")

    def reuse_buffer(self, reuse: bool) -> None:
        """Whether residual arrays come from a pool: only for an optimizer that copies them."""
        self._pool = BufferPool(self.n_residuals) if reuse else None

    def theta_of(self, params: Any) -> Array:
        """The free values of lmfit.Parameters, in the order of the plan."""
        return np.array([params[name].value for name in self.names], dtype=np.float64)

    def __call__(self, params: Any) -> Array:
        """The residual (data - model) * weight over the window, flat; for lmfit."""
        if params is not self._params:
            self._params = params
            self._gather = [params[name] for name in self.names]
        theta = self._theta
        for index, par in enumerate(self._gather):
            theta[index] = par.value
        return self.residual(theta)

    def residual(self, theta: Array) -> Array:
        """The residual at `theta`; keeps the best point, refuses what is not finite."""
        if self.max_nfev is not None and self.nfev >= self.max_nfev:
            raise StopFit(f"stopped after max_nfev = {self.max_nfev} evaluations")
        self.check_time()
        out = None if self._pool is None else self._pool.take()
        residual: Array = self.executor.residual(theta, self.fixed, out=out)
        self.nfev += 1
        # One pass over the residual: chi², and a look for NaN and inf. einsum, because BLAS
        # would start threads that idle on the cores between two evaluations.
        chisqr = float(np.einsum("i,i", residual, residual))
        if chisqr < self.best:
            self.best = chisqr
            self.best_theta[:] = theta
        elif not np.isfinite(chisqr) and not np.isfinite(residual).all():
            self.refuse(theta)
        self.progress.update(self.nfev, chisqr, self.best)
        return residual

    def run(self, theta: Array) -> Array:
        """The model over the window at `theta`."""
        return np.asarray(self.executor.run(theta, self.fixed))

    def derivatives(self, theta: Array, bounds: Sequence[tuple[float, float]]) -> Array:
        """(n_free, n_residuals) derivatives of the residual: exact where the executor knows them,
        by central differences elsewhere."""
        executor: Any = self.executor
        known = hasattr(executor, "known_jacobian")
        columns = list(range(len(self.names)))
        if known:
            columns = sorted({*executor.unknown_columns, *self._switched_off})
        exact: Array = np.empty((0, 0))
        if known:
            exact = executor.known_jacobian(theta, self.fixed)
        if not columns:
            return exact
        differences = jacobian(self._plain, theta, bounds, columns, self.sizes).T
        self.nfev += 2 * len(columns)
        if not known:
            return differences
        exact[columns] = differences
        return exact

    @property
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""
        return bool(getattr(self.executor, "has_jacobian", False)) and not self._switched_off

    @cached_property
    def _switched_off(self) -> list[int]:
        """Columns that are to be finite differences, though they are known."""
        if "structured" not in self.without:
            return []
        columns = classify_columns(build_graph(self.model))
        return [k for k, column in enumerate(columns) if column.kind == "structured"]

    def _plain(self, theta: Array) -> Array:
        return np.array(self.executor.residual(theta, self.fixed))

    def slopes(self, theta: Array, bounds: Sequence[tuple[float, float]], free: list[int]) -> Array:
        """(m, n_free) matrix whose Gram matrix is the information: derivatives of the residual, or
        with counting statistics of the model over sqrt(variance); or a factor of these."""
        if self.in_c:
            executor: Any = self.executor
            if not self.is_poisson:
                factor = executor.normal(theta, self.fixed, "factor")
                return unpack(factor, symmetric=False)[:, free]
            return root_of(unpack(executor.normal(theta, self.fixed, "fisher")))[:, free]
        if not self.is_poisson:
            return self.derivatives(theta, bounds)[free].T
        expected = self.run(theta)
        scale = self.measurement.loss_scale
        weight = np.sqrt(scale / np.maximum(expected, POISSON_FLOOR / scale))
        if self.measurement.keep is not None:
            weight[~self.measurement.window(self.measurement.keep)] = 0.0
        self.nfev += 2 * len(free)
        slopes = jacobian(lambda at: self.run(at).ravel(), theta, bounds, free, self.sizes)
        slopes *= weight.reshape(-1, 1)
        return slopes

    def jumps(self) -> dict[str, Array]:
        """Free parameters that move a jump over the samples → the values where they do."""
        found = jump_places(self.plan)
        if not found:
            return {}
        certain = jump_parameters(build_graph(self.model))
        return {name: places for name, places in found.items() if name in certain}

    @property
    def plan(self) -> ScheduledPlan:
        """The plan of the model."""
        plan = getattr(self.executor, "plan", None)
        return plan if isinstance(plan, ScheduledPlan) else make_plan(self.model)

    def solve(self, solver: NativeSolver, watch: Watch) -> None:
        """Runs the solver of C: all of it there, or with evaluations from here where these need
        Python."""
        executor: Any = self.executor
        if self.in_c:
            with executor.fit_parts(self.fixed) as parts:
                solver.run_parts(parts, watch, each=self.progress.each)
            return
        bounds = solver.bounds

        def evaluate(theta: Array, form: str) -> Array:
            residual = self._plain(theta)
            chisqr = np.array([np.einsum("i,i", residual, residual)])
            if form == "value" or not np.isfinite(chisqr[0]):
                return chisqr
            columns = np.vstack([-self.derivatives(theta, bounds), residual])
            if form == "factor":
                return pack_triangle(np.asarray(np.linalg.qr(columns.T, mode="r")))
            return pack_triangle(columns @ columns.T)

        solver.run(evaluate, watch)

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        return explain_nonfinite(self.model, theta)

    def refuse(self, theta: Array) -> None:
        """Raises :class:`FitError`: the residual is not finite at `theta`, and why."""
        when = "at the start" if self.nfev == 1 else f"at evaluation {self.nfev}"
        values = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.names, theta, strict=True))
        raise FitError(
            f"{self.label}: the residual is not finite {when}: "
            f"{self.explain(theta)}. Free parameters there: {values}"
        )
