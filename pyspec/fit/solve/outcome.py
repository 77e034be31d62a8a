"""What the native solver found, under the names that lmfit has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.fit.parameters import FitParameters

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: A residual of 64 last digits of the data is rounding: this share of them, squared.
ROUNDING = (64 * float(np.finfo(float).eps)) ** 2

_MESSAGES = {
    "converged": "Converged: the optimum is {distance:.1g} standard errors away",
    "exact": "Converged: the model meets the data to rounding",
    "stalled": "Stalled: no step makes χ² smaller, but the optimum seems {distance:.2g} standard "
    "errors away",
    "slow": "Stopped: over the last evaluations χ² fell by less than a hundredth, and the optimum "
    "seems {distance:.2g} standard errors away; start nearer, or give the parameters bounds",
}


def information_criteria(
    chisqr: float, n: int, n_fitted: int, is_known: bool
) -> tuple[float, float]:
    """AIC and BIC of n points and so many fitted values, as lmfit has them: of n ln(chi²/n), or
    where the noise `is_known` of chi², which is -2 log likelihood itself but for a constant."""
    log_likelihood = chisqr
    if not is_known:
        log_likelihood = n * float(np.log(max(chisqr, 1e-250 * n) / n))
    return log_likelihood + 2 * n_fitted, log_likelihood + float(np.log(n)) * n_fitted


class Ended(NamedTuple):
    """How the solver ended, and how far from the optimum, in standard errors; "exact" where the
    model meets the data to rounding."""

    end: str
    distance: float

    @property
    def text(self) -> str:
        """The same in words. To write a number takes longer than much of a fit."""
        return _MESSAGES.get(self.end, self.end).format(distance=self.distance)


class NativeOutcome:
    """How a fit of the native solver ended, at `theta`, which nobody changes; the attributes are
    those of lmfit.MinimizerResult.

    `end`, `chisqr` and `distance` are those that the solver `ended` with. Statistics (`ndata` and
    so on) are worked out where the fit is assessed; `aic` and `bic`, of what `counted` holds, when
    they are asked for, as are `covar` and `message`.
    """

    method, end, distance = "native", "", np.nan
    aborted = success = errorbars = False
    ndata = nvarys = nfree = 0
    redchi = np.nan
    counted: tuple[float, int, int, bool] = (np.nan, 0, 0, True)
    _covar: Array | None = None
    _message = ""

    def __init__(
        self,
        problem: FitProblem,
        params: FitParameters,
        theta: Array,
        ended: tuple[str, float, float],
    ) -> None:
        self.problem = problem
        self.theta: Array = theta
        self.params = params
        self.var_names = list(params.limits)
        self.end, self.chisqr, self.distance = end, chisqr, distance = ended
        if end == "converged" or end == "degenerate":
            self.success = True
            end = "exact" if chisqr <= ROUNDING * problem.data_square else "converged"
        elif end == "running" or end == "limit":
            self.aborted = True
        self.ended = tuple.__new__(Ended, (end, distance))  # without a call of Python's

    @property
    def covar(self) -> Array | None:
        """(n, n) covariance of `var_names`, None without standard errors."""
        if self._covar is None and self.errorbars and self.params.spread is not None:
            self._covar = self.params.spread.covariance()
        return self._covar

    @covar.setter
    def covar(self, values: Array | None) -> None:
        self._covar = values

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return information_criteria(*self.counted)[0]

    @property
    def bic(self) -> float:
        """The Bayesian information criterion."""
        return information_criteria(*self.counted)[1]

    @property
    def message(self) -> str:
        """How it ended, in words."""
        return self._message or self.ended.text

    @message.setter
    def message(self, text: str) -> None:
        self._message = text


def count(outcome: Any, n_points: int, n_linear: int, is_known: bool) -> None:
    """Writes the statistics of `n_points`, masked ones left out, into an outcome of either kind
    that knows `var_names` and `chisqr`; `n_linear` amplitudes were fitted beside the parameters,
    and `is_known` says whether the noise was."""
    n_fitted = len(outcome.var_names) + n_linear
    outcome.ndata, outcome.nvarys = n_points, len(outcome.var_names)
    outcome.nfree = max(n_points - n_fitted, 1)
    outcome.redchi = outcome.chisqr / outcome.nfree
    counted = outcome.chisqr, n_points, n_fitted, is_known
    if isinstance(outcome, NativeOutcome):
        outcome.counted = counted
    else:
        outcome.aic, outcome.bic = information_criteria(*counted)
