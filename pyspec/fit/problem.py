"""The residual as an optimizer sees it: one executor call for each evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import Runner, make_executor
from pyspec.fit.buffers import BufferPool
from pyspec.fit.caution import cautions
from pyspec.fit.covariance import jacobian
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.parameters import followers, start_parameters
from pyspec.fit.progress import Silent
from pyspec.model import Measurement, Model, Par

Array = npt.NDArray[np.float64]

#: Expected counts are taken to be at least this, as the deviance does.
POISSON_FLOOR = 1e-3


class StopFit(Exception):  # noqa: N818  (not an error: the best point is kept)
    """Ends a running optimizer; the best point so far is kept."""


class FitProblem:
    """Model, measurement and backend, callable with lmfit.Parameters.

    Keeps the best point seen, counts evaluations, and refuses values that are not finite by
    naming the parameter. Pickles without its executor, which is made again on first use.

    `executor` is one made before, for many measurements of one model; `fixed` holds values of
    fixed parameters that differ from those of the model.
    """

    def __init__(
        self,
        model: Model,
        measurement: Measurement,
        backend: str,
        executor: Runner | None = None,
        fixed: Mapping[str, float] | None = None,
    ) -> None:
        self.model = model
        self.measurement = measurement
        self.backend = backend
        self.fixed = None if fixed is None else dict(fixed)
        self._executor: Runner | None = executor
        self.names: tuple[str, ...] = tuple(self.executor.opt_param_names)
        self.max_nfev: int | None = None
        self._start()

    def make_executor(self) -> Runner:
        """The executor of this problem."""
        return make_executor(self.model, self.measurement, self.backend)

    def _start(self) -> None:
        self.progress: Silent = Silent()
        self.nfev = 0
        self.best = np.inf
        self.best_theta = np.full(len(self.names), np.nan)
        self._theta = np.empty(len(self.names))
        self._pool: BufferPool | None = None
        self._params: Any = None
        self._gather: list[Any] = []
        self.sizes = [1.0] * len(self.names)

    def __getstate__(self) -> dict[str, Any]:
        lost = ("_executor", "progress", "max_nfev", "_theta", "_pool", "_params", "_gather")
        return {name: value for name, value in self.__dict__.items() if name not in lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.names, self._executor, self.max_nfev = state["names"], None, None
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
            self._refuse(theta)
        self.progress.update(self.nfev, chisqr, self.best)
        return residual

    def run(self, theta: Array) -> Array:
        """The model over the window at `theta`."""
        return np.asarray(self.executor.run(theta, self.fixed))

    def slopes(self, theta: Array, bounds: Sequence[tuple[float, float]], free: list[int]) -> Array:
        """(n_points, n_free) derivatives whose Gram matrix is the information: of the residual,
        or with counting statistics of the model over sqrt(variance). Exact where the executor
        knows them, else by finite differences."""
        if not self.is_poisson:
            if getattr(self.executor, "has_jacobian", False):
                exact: Array = self.executor.jacobian(theta, self.fixed)  # type: ignore[attr-defined]
                return exact[free].T
            return jacobian(self.residual, theta, bounds, free, self.sizes)
        expected = self.run(theta)
        scale = self.measurement.loss_scale
        weight = np.sqrt(scale / np.maximum(expected, POISSON_FLOOR / scale))
        if self.measurement.keep is not None:
            weight[~self.measurement.window(self.measurement.keep)] = 0.0
        self.nfev += 2 * len(free)
        slopes = jacobian(lambda at: self.run(at).ravel(), theta, bounds, free, self.sizes)
        slopes *= weight.reshape(-1, 1)
        return slopes

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        return explain_nonfinite(self.model, theta)

    def _refuse(self, theta: Array) -> None:
        when = "at the start" if self.nfev == 1 else f"at evaluation {self.nfev}"
        values = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.names, theta, strict=True))
        raise FitError(
            f"{self.label}: the residual is not finite {when}: "
            f"{self.explain(theta)}. Free parameters there: {values}"
        )
