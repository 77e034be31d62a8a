"""A fit under the names of lmfit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit.objective import Objective
from pyspec.fit.results.ended import EndedFit, need_fitted
from pyspec.fit.solve.stages import minimizer_of

if TYPE_CHECKING:
    from lmfit import Minimizer, Parameters
    from lmfit.minimizer import MinimizerResult

Array = npt.NDArray[np.float64]


class LmfitNames(EndedFit):
    """The part of a FitResult that answers to lmfit's names. Objects of lmfit are made when they
    are asked for: they take longer than the fit of one spectrum."""

    @property
    def lmfit(self) -> MinimizerResult:
        """The fit as an ``lmfit.MinimizerResult``."""
        if self._outcome is None:
            from pyspec.fit.units import Found

            self._outcome = Found(self)
        return self._outcome

    @property
    def params(self) -> Parameters:
        """The ``lmfit.Parameters`` of the fit; changing them changes no other number of it. Free
        and fixed parameters, then the followers (expression parameters) with value and propagated
        standard error; ``expr`` and ``user_data`` have the text of an expression, which lmfit does
        not evaluate."""
        return self.lmfit.params

    @property
    def minimizer(self) -> Minimizer | None:
        """The ``lmfit.Minimizer``, for ``lmfit.conf_interval(result.minimizer, result.lmfit)``;
        None for one file of a joint fit."""
        if self._minimizer is None and not self._is_joint_member:
            need_fitted(self)
            objective = Objective(self.problem, self._start.units)
            self._minimizer = minimizer_of(objective, self.params, self._scale_covar)
        return self._minimizer

    @property
    def best_fit(self) -> Array:
        """:attr:`fit` under lmfit's name."""
        return self.fit

    @property
    def best_values(self) -> dict[str, float]:
        """:attr:`values` under lmfit's name."""
        return self.values

    @property
    def init_values(self) -> dict[str, float]:
        """:attr:`start` under lmfit's name."""
        return self.start

    @property
    def init_fit(self) -> Array:
        """The model at the start values: ``curve("start")``."""
        return self.curve("start")

    @property
    def weighted_residual(self) -> Array:
        """What the fit minimises, of the shape of `data`: ``(data - fit) / sigma``, for counts the
        signed root of the deviance, 0 where masked. Its squares sum to `chisqr`."""
        need_fitted(self)
        return self.problem.plain_residual(self.theta).reshape(self.data.shape)

    def fit_report(self, **options: object) -> str:
        """The report of :func:`lmfit.fit_report`, with its `options`."""
        import lmfit

        return str(lmfit.fit_report(self.lmfit, **options))
