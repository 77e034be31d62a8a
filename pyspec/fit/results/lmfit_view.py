"""What users of lmfit type: the same things under lmfit's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, answered
from pyspec.errors import FitError
from pyspec.fit.ending import Ending
from pyspec.fit.linear.predict import linear_components
from pyspec.fit.objective import Objective
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.components import every_component
from pyspec.fit.results.same_data import need_fitted
from pyspec.fit.results.table import Correlated
from pyspec.fit.solve.stages import minimizer_of
from pyspec.fit.uncertainty.mcmc import sample
from pyspec.fit.uncertainty.samples import MC, MCMCResult
from pyspec.model.plugins import handed

Array = npt.NDArray[np.float64]


#: Names of lmfit for what has another name here, or that make objects of lmfit.
LMFIT = frozenset(
    ("best_fit", "best_values", "chain", "correl", "eval_components", "fit_report", "init_fit",
     "init_values", "lmfit", "minimizer", "params")
)  # fmt: skip


class LmfitNames:
    """The part of a FitResult that answers to lmfit's names. Objects of lmfit are made when they
    are asked for: they take longer than the fit of one spectrum."""

    @property
    def problem(self) -> FitProblem:
        """What was fitted."""
        raise NotImplementedError

    ending: Ending
    _outcome: Any
    _minimizer: Any
    _params: FitParameters
    _of_many: bool
    _message: str
    nfev: int
    settings: dict[str, Any]

    @cached_property
    def message(self) -> str:
        """How the fit ended."""
        return self._message or f"{self.ending.text}."

    @property
    def chisqr(self) -> float:
        """The sum of the squared (weighted) residuals; of counts their deviance."""
        return float(self.ending.chisqr)

    @property
    def redchi(self) -> float:
        """The same over the degrees of freedom."""
        return float(self.ending.redchi)

    @property
    def _scale_covar(self) -> bool:
        return bool(self.settings["scale_covar"])

    @property
    def lmfit(self) -> Any:
        """The fit as an ``lmfit.MinimizerResult``."""
        if self._outcome is None:
            from pyspec.fit.units import Found

            self._outcome = Found(self)
        return self._outcome

    @property
    def params(self) -> Any:
        """The ``lmfit.Parameters`` of the fit; changing them changes no other number of it. Free
        and fixed parameters, then the followers (expression parameters) with value and propagated
        standard error; ``expr`` and ``user_data`` have the text of an expression, which lmfit does
        not evaluate."""
        return self.lmfit.params

    @property
    def correl(self: Any) -> Mapping[str, Mapping[str, float]]:
        """Correlations of the free parameters: ``correl[a][b]``."""
        names, own = self.free_names, self.ending.places.tolist()
        found = self.ending.correlations.tolist()
        rows = {k: {names[j]: found[k][j] for j in own if j != k} for k in own}
        return Named({name: Correlated(name, rows.get(k, {})) for k, name in enumerate(names)})

    @property
    def minimizer(self) -> Any:
        """The ``lmfit.Minimizer``, for ``lmfit.conf_interval(result.minimizer, result.lmfit)``;
        None for one file of a joint fit."""
        if self._minimizer is None and not self._of_many:
            need_fitted(self)
            names = self.problem.names
            objective = Objective(self.problem, self._params.sizes_of(names))
            self._minimizer = minimizer_of(objective, self.params, self._scale_covar)
        return self._minimizer

    @answered
    def conf_interval(
        self: Any,
        p_names: str | Sequence[str] | None = None,
        sigmas: Any = (1, 2, 3),
        *,
        trace: bool = False,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Any:
        """Intervals by profile likelihood: one parameter is moved away from its best value, the
        others are fitted again at every step, until chi² has risen by as much as the probability
        requires.

        Where the noise is known (weights, counts), this is z² for z standard deviations; elsewhere
        it follows from Fisher's distribution and chi² / (n - k), as in lmfit. `scale_covar` decides
        which, as for standard errors.

        Parameters
        ----------
        p_names : a free parameter or several; all if None
        sigmas : standard deviations, or probabilities below 1
        trace : also return the points that were tried
        progress : True for a bar, or a function (parameters done, all)

        Returns
        -------
        a dict that prints as a table
            name → [(probability, value), ...] from the far lower end over (0.0, best value) to the
            far upper end, as of :func:`lmfit.conf_interval`. An end at a bound is the bound; it is
            infinite where chi² never rises so much. With `trace` also name → {parameter: values,
            "prob": probabilities}.

        Where a better optimum turns up on the way, intervals stay those about the values of the
        fit, and hold the other one where no higher chi² parts them. A :class:`ModelWarning` says
        where it is, and so do the ``findings`` of the dict.

        Raises :class:`FitError` for one file of a joint fit, and where a fit without success is not
        at its best optimum, :class:`CallError` for a name that is not free."""
        if self._of_many:
            raise FitError("this is one file of a joint fit; ask the joint result for intervals")
        need_fitted(self)
        from pyspec.fit.uncertainty.profile import (
            confidence_intervals,  # it needs SciPy, which takes long
        )

        return confidence_intervals(self, self.problem.names, p_names, sigmas, trace, progress)

    #: The samples of :meth:`sample`; None before.
    mcmc: MCMCResult | None = None

    def sample(
        self: Any,
        settings: MC | None = None,
        *,
        progress: bool | Callable[[int, int], object] | None = None,
        **options: Any,
    ) -> MCMCResult:
        """Samples the posterior around this fit by Markov chains (emcee), and keeps the samples
        in `mcmc`; the fit stays as it is.

        The posterior is flat within the bounds. Noise that was declared is taken as it is; else
        it is sampled too. Options are the fields of :class:`pyspec.MC` and override those of
        `settings`: ``result.sample(steps=2000, seed=1)``. `progress` is True for a bar, or a
        function (steps done, all). A chain shorter than 50 autocorrelation times is a
        :class:`ModelWarning`, kept in ``samples.cautions``, and so are a fit that did not converge
        and Ctrl-C, which keeps the steps so far (``samples.interrupted``). Raises :class:`FitError`
        without emcee.
        """
        given = MC(use_mc=1, **options) if settings is None else replace(settings, **options)
        need_fitted(self)
        samples = sample(self, given, progress)
        self.mcmc = samples
        return samples

    @property
    def best_fit(self: Any) -> Array:
        """:attr:`fit` under lmfit's name."""
        found: Array = self.fit
        return found

    @property
    def best_values(self: Any) -> dict[str, float]:
        """:attr:`values` under lmfit's name."""
        found: dict[str, float] = self.values
        return found

    @property
    def init_values(self: Any) -> dict[str, float]:
        """:attr:`start` under lmfit's name."""
        found: dict[str, float] = self.start
        return found

    @property
    def init_fit(self: Any) -> Array:
        """The model at the start values: ``curve("start")``."""
        found: Array = self.curve("start")
        return found

    @property
    def weighted_residual(self: Any) -> Array:
        """What the fit minimises, of the shape of `data`: ``(data - fit) / sigma``, for counts the
        signed root of the deviance, 0 where masked. Its squares sum to `chisqr`."""
        need_fitted(self)
        residual = np.array(self.problem.executor.residual(self.theta, self.problem.fixed))
        return residual.reshape(self.data.shape)

    @property
    def chain(self: Any) -> Array:
        """(n_steps, n_walkers, n_free) the samples of ``method="emcee"``, parameters in the order
        of `free_names`. Raises :class:`FitError` for other methods."""
        chain = getattr(self.lmfit, "chain", None)
        if chain is None:
            raise FitError(f"{self.method} samples nothing; fit with method='emcee'")
        places = [self.lmfit.var_names.index(name) for name in self.free_names]
        return np.asarray(chain)[..., places]

    def fit_report(self: Any, **options: Any) -> str:
        """The report of :func:`lmfit.fit_report`, with its `options`."""
        import lmfit

        return str(lmfit.fit_report(self.lmfit, **options))

    def eval_components(self: Any) -> dict[str, Array]:
        """Every component on its own, name → an array of the shape of `fit`, in file order; they
        add up to `fit`, within rounding.

        Raises :class:`FitError` for a trace, whose kernels act on laws and add nothing themselves,
        and where a component reads the spectrum of lines whose amplitudes are free.
        """
        if self.is_trace:
            raise FitError(
                f"{self.model_name} is a trace: its kernels act on its laws, so these do not add "
                "up; see result.fit"
            )
        if self.problem.free is not None and self.linear is not None:
            return linear_components(self.problem.free, self.theta, self.linear)
        return every_component(self.model, self.values, self.measurement, self.backend)

    def plot(self: Any, **options: Any) -> Any:
        """Data, fit and residual; returns the Figure. Options as of
        :func:`pyspec.plot.plot_fit`."""
        return handed("plot_fit", "pyspec.plot")(self, **options)
