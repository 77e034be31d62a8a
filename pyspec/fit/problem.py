"""The residual as an optimizer sees it: one executor call for each evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import make_executor
from pyspec.fit.buffers import BufferPool
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.progress import Silent
from pyspec.model import Measurement, Model

Array = npt.NDArray[np.float64]


class StopFit(Exception):  # noqa: N818  (not an error: the best point is kept)
    """Ends a running optimizer; the best point so far is kept."""


class FitProblem:
    """Model, measurement and backend, callable with lmfit.Parameters.

    Keeps the best point seen, counts evaluations, and refuses values that are not finite by
    naming the parameter. Pickles without its executor, which is made again on first use.
    """

    def __init__(self, model: Model, measurement: Measurement, backend: str) -> None:
        self.model = model
        self.measurement = measurement
        self.backend = backend
        self._executor: Any = make_executor(model, measurement, backend)
        self.names: tuple[str, ...] = tuple(self._executor.opt_param_names)
        self.max_nfev: int | None = None
        self._start()

    def _start(self) -> None:
        self.progress: Silent = Silent()
        self.nfev = 0
        self.best = np.inf
        self.best_theta = np.full(len(self.names), np.nan)
        self._theta = np.empty(len(self.names))
        self._pool: BufferPool | None = None
        self._params: Any = None
        self._gather: list[Any] = []

    def __getstate__(self) -> dict[str, Any]:
        kept = ("model", "measurement", "backend", "names", "nfev", "best", "best_theta")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.names, self._executor, self.max_nfev = state["names"], None, None
        self._start()
        self.__dict__.update(state)

    @property
    def executor(self) -> Any:
        """The executor that answers."""
        if self._executor is None:
            self._executor = make_executor(self.model, self.measurement, self.backend)
        return self._executor

    def reuse_buffer(self, reuse: bool) -> None:
        """Whether residual arrays come from a pool: only for an optimizer that copies them."""
        data = self.measurement.data
        assert data is not None
        self._pool = BufferPool(self.measurement.window(data).size) if reuse else None

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
        residual: Array = self.executor.residual(theta, out=out)
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

    def _refuse(self, theta: Array) -> None:
        when = "at the start" if self.nfev == 1 else f"at evaluation {self.nfev}"
        values = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.names, theta, strict=True))
        raise FitError(
            f"{self.model.name}: the residual is not finite {when}: "
            f"{explain_nonfinite(self.model, theta)}. Free parameters there: {values}"
        )
