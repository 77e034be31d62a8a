"""What the native solver found, as lmfit reports a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from lmfit.minimizer import MinimizerResult

from pyspec.fit.native import NativeSolver

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: A residual of this many last digits of the data is rounding.
LAST_DIGITS = 64

_MESSAGES = {
    "converged": "Converged: the optimum is {distance:.1g} standard errors away",
    "exact": "Converged: the model meets the data to rounding",
    "stalled": "Stalled: no step makes χ² smaller, but the optimum seems {distance:.2g} standard "
    "errors away",
}


class NativeOutcome(MinimizerResult):  # type: ignore[misc]
    """An lmfit.MinimizerResult whose residual is computed when it is asked for."""

    def __init__(self, problem: FitProblem, params: Any, solver: NativeSolver) -> None:
        super().__init__()
        self._residual: Array | None = None
        self._problem = problem
        self._theta: Array = solver.theta.copy()
        self.method = "native"
        self.params = params
        self.var_names = [name for name, par in params.items() if par.vary]
        self.init_values = {name: float(params[name].init_value) for name in self.var_names}
        self.init_vals = list(self.init_values.values())
        self.chisqr = solver.chisqr
        self.covar: Array | None = None
        self.aborted = solver.end in ("running", "limit")
        self.errorbars = False
        self.success = solver.end in ("converged", "degenerate")
        self.end = solver.end
        self.distance = solver.distance
        self.message = self._text(problem)
        self.call_kws: dict[str, Any] = {}

    def _text(self, problem: FitProblem) -> str:
        end = "converged" if self.end == "degenerate" else self.end
        small = (LAST_DIGITS * np.finfo(float).eps) ** 2 * problem.data_square
        if end == "converged" and self.chisqr <= small:
            end = "exact"
        return _MESSAGES.get(end, end).format(distance=self.distance)

    @property
    def residual(self) -> Array:
        """(n_residuals,) at the best fit."""
        if self._residual is None:
            problem = self._problem
            self._residual = np.array(problem.executor.residual(self._theta, problem.fixed))
        return self._residual

    @residual.setter
    def residual(self, values: Array) -> None:
        self._residual = values
