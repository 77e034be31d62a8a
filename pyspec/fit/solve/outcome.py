"""What the native solver found, under the names that lmfit has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit.parameters import FitParameters
from pyspec.fit.solve.native import NativeSolver

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: A residual of this many last digits of the data is rounding.
LAST_DIGITS = 64
EPSILON = float(np.finfo(float).eps)

_MESSAGES = {
    "converged": "Converged: the optimum is {distance:.1g} standard errors away",
    "exact": "Converged: the model meets the data to rounding",
    "stalled": "Stalled: no step makes χ² smaller, but the optimum seems {distance:.2g} standard "
    "errors away",
    "slow": "Stopped: over the last evaluations χ² fell by less than a hundredth, and the optimum "
    "seems {distance:.2g} standard errors away; start nearer, or give the parameters bounds",
}


class NativeOutcome:
    """How a fit of the native solver ended; the attributes are those of lmfit.MinimizerResult.

    `end` and `distance` are those of the solver. Statistics (`ndata` and so on) are worked out
    where the fit is assessed.
    """

    def __init__(self, problem: FitProblem, params: FitParameters, solver: NativeSolver) -> None:
        self.problem = problem
        self.theta: Array = solver.theta.copy()
        self.params = params
        self.var_names = [name for name, par in params.items() if par.vary]
        self.chisqr = solver.chisqr
        self.covar: Array | None = None
        self.end = solver.end
        self.distance = solver.distance
        self.aborted = self.end in ("running", "limit")
        self.success = self.end in ("converged", "degenerate")
        self.errorbars = False
        self.message = self._text(problem)
        self.ndata = self.nvarys = self.nfree = 0
        self.redchi = self.aic = self.bic = np.nan

    def _text(self, problem: FitProblem) -> str:
        end = "converged" if self.end == "degenerate" else self.end
        small = (LAST_DIGITS * EPSILON) ** 2 * problem.data_square
        if end == "converged" and self.chisqr <= small:
            end = "exact"
        return _MESSAGES.get(end, end).format(distance=self.distance)
