"""What the native solver found, as an object of lmfit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from lmfit.minimizer import MinimizerResult

from pyspec.fit.solve.outcome import NativeOutcome
from pyspec.fit.units import lmfit_parameters

Array = npt.NDArray[np.float64]

#: What both have under one name.
_SAME = (
    *("method", "var_names", "chisqr", "covar", "end", "distance", "aborted", "success"),
    *("errorbars", "message", "ndata", "nvarys", "nfree", "redchi", "aic", "bic"),
)


class NativeResult(MinimizerResult):  # type: ignore[misc]
    """An lmfit.MinimizerResult whose residual is computed when it is asked for."""

    def __init__(self, outcome: NativeOutcome, nfev: int) -> None:
        super().__init__()
        self._residual: Array | None = None
        self._problem = outcome.problem
        self._theta = outcome.theta
        self.nfev = nfev
        self.params = lmfit_parameters(outcome.params)
        self.init_vals = [outcome.params.began[name] for name in outcome.var_names]
        self.init_values = dict(zip(outcome.var_names, self.init_vals, strict=True))
        self.call_kws: dict[str, Any] = {}
        for name in _SAME:
            setattr(self, name, getattr(outcome, name))

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
