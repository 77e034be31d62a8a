"""What a fit returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, answered
from pyspec.errors import FitError
from pyspec.fit.ending import Ending
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.found import Found
from pyspec.fit.linear import Amplitudes
from pyspec.fit.linear.amplitudes import amplitudes_of
from pyspec.fit.linear.gaps import open_fit
from pyspec.fit.linear.predict import predict_linear
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem, OnDemand
from pyspec.fit.results.by_reference import fit_of, residual_of
from pyspec.fit.results.components import spectrum_components
from pyspec.fit.results.export import fit_dataset, plain_fit
from pyspec.fit.results.lmfit_view import LMFIT, LmfitNames
from pyspec.fit.results.measured import Measured
from pyspec.fit.results.moving import Moving, moving_parameters
from pyspec.fit.results.prediction import Prediction, predict
from pyspec.fit.results.same_data import data_of, need_same
from pyspec.fit.results.statistics import TOGETHER, Statistics, state_of, statistics_of, title_of
from pyspec.fit.results.table import CorrelationTable, ParameterRow, ParameterTable
from pyspec.model import Measurement, Model
from pyspec.model.plugins import handed
from pyspec.model.show import html_table

Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class FitResult(Found, LmfitNames, Measured):
    """One finished (or stopped) fit. Its numbers are read from its `ending`.

    Attributes
    ----------
    method, backend, seconds : what ran, on which executor, for how long
    settings : method, tolerances and other options, to run the fit again
    start : name → where a free or fixed parameter began
    nfev : residual evaluations, all of them; those of a part of the rows by their share
    success, message : whether the method ended at an optimum and the data determine every free
        parameter, and how it ended
    interrupted : True if Ctrl-C or SIGTERM came: the values are the best so far, or those of a fit
        that had just ended (`success` says which)
    ending : how the fit ended, in arrays, see :class:`pyspec.fit.ending.Ending`
    started_from : where the start values come from, such as "the baseline fit"; "" if not known
    starts : tuple of :class:`pyspec.fit.starts.Start`, how fits from several starts ended
        (`n_starts=`)
    model_name, fit_type, file_name : where the fit belongs; fit_type is "baseline", "spectrum",
        "2d", "trace", "sbs" or ""
    target : what a trace shows, such as the name of a parameter
    spent : how long an evaluation on a cluster took, in the sums and outside; None without one
    """

    _problem: FitProblem | OnDemand
    ending: Ending
    _params: FitParameters
    _message: str
    method: str
    backend: str
    settings: dict[str, Any]
    start: dict[str, float]
    seconds: float
    nfev: int
    success: bool
    interrupted: bool = False
    started_from: str = ""
    starts: tuple[Any, ...] = ()
    fit_type: str = ""
    file_name: str = ""
    target: str = ""
    spent: Any = None
    _findings: tuple[Finding, ...] = ()
    _warned: tuple[Finding, ...] = ()
    _minimizer: Any = None
    _rivals: list[Array] | None = None  # starts to optima nearly as good; None: not looked for
    _of_many: bool = False
    _of: tuple[Any, int] | None = None
    _outcome: Any = None  # what a method of lmfit returned
    _statistics: Mapping[str, float] | None = None  # those of an archive, whose data may be gone
    _fit: Array | None = field(default=None, init=False)
    _raw: float | None = field(default=None, init=False)

    @property
    def problem(self) -> FitProblem:
        """What was fitted: model, measurement and backend."""
        if not isinstance(self._problem, FitProblem):
            self._problem = self._problem.made()
        return self._problem

    # how it ended

    @property
    def n_data(self) -> int:
        """Points that count."""
        return self.ending.n_points

    @property
    def n_free(self) -> int:
        """Free parameters, amplitudes free along an axis included."""
        return self.ending.theta.size + self.ending.n_linear

    @property
    def model_name(self) -> str:
        """What the model is called; of several files all names."""
        return self._problem.label

    @property
    def theta(self) -> Array:
        """(n_free,) the best values of the free parameters, read-only."""
        return self.ending.theta

    @property
    def at_bound(self) -> dict[str, str]:
        """Name → "min" or "max" for parameters that ended at a bound: no standard error."""
        return {self.free_names[k]: side for k, side in self.ending.sides.items()}

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The free parameters that the data do not determine."""
        return tuple([self.free_names[k] for k in self.ending.lost])

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Name → (low, high] of parameters that move a jump, such as an onset that no instrument
        smears: all that the data say."""
        return {self.free_names[k]: ends for k, ends in self.ending.intervals.items()}

    @cached_property
    def _expressions(self) -> dict[str, str]:
        """Name → text of the expression that a parameter follows."""
        own, parameters = self._params.began, self.problem.parameters
        return {
            name: formula.text
            for name in self._params.value
            if name not in own and (formula := parameters[name].formula) is not None
        }

    def __dir__(self) -> list[str]:
        """The names of pyspec; those of lmfit are known, too."""
        return sorted({*super().__dir__()} - LMFIT)

    def __getstate__(self) -> dict[str, Any]:
        made = ("linear", "model", "_fit")
        found = {name: one for name, one in self.__dict__.items() if name not in made}
        if self._of is not None:  # what is found about all files goes along, their data do not
            found |= {"_of_end": self._of_end, "_of": None}
        return found

    @property
    def is_trace(self) -> bool:
        """Whether values against time were fitted: then there is no energy axis."""
        return self.problem.is_trace

    @property
    def energy(self) -> Array:
        """(n_columns,) energies of the fit window. Raises :class:`FitError` for a trace."""
        energy = self.problem.axis("energy")
        if energy is None:
            raise FitError(f"{self.model_name} is a trace against time, without energies; see time")
        return energy

    @property
    def time(self) -> Array | None:
        """(n_rows,) times of the fit window, None for one spectrum."""
        return self.problem.axis("time")

    @property
    def axis(self) -> Array:
        """The last axis of the data: energies, or times for a trace."""
        time = self.time
        return time if self.is_trace and time is not None else self.energy

    @property
    def data(self) -> npt.NDArray[Any]:
        """The data of the fit window, as given (not weighted): (n_rows, n_columns). Raises
        :class:`DataError` where the array was changed since it was fitted."""
        return data_of(self.problem)

    @property
    def fit(self) -> Array:
        """The model at the best fit, over the fit window: (n_rows, n_columns). For data by
        reference above 256 MiB only the rows that are asked for are evaluated:
        ``result.fit[100:200]``."""
        if self._fit is None:
            self._fit = fit_of(self.problem, self.theta)
        return self._fit

    @property
    def residual(self) -> Array:
        """data - fit over the fit window, in the units of the data (not weighted); by reference
        where `fit` is."""
        return residual_of(self.data, self.fit)

    def curve(self, at: str = "best", *, whole: bool = False) -> Array:
        """The model at the "best" or the "start" values, over the fit window, or over the whole
        axes of the data.

        Raises :class:`FitError` for another word, or where the start is not known."""
        if at not in ("best", "start"):
            raise FitError(f"at must be 'best' or 'start', not {at!r}")
        if at == "best" and not whole:
            return self.fit
        if at == "start" and not {*self.free_names} <= {*self.start}:
            raise FitError(f"{self.model_name}: the start of this fit is not known")
        theta = self.problem.theta_of(self.start) if at == "start" else self.theta
        return self.problem.run(theta, whole=whole)

    def components(self, *, whole: bool = False) -> tuple[dict[str, Array], dict[str, Array]]:
        """(peaks, backgrounds) of a 1D fit, name → (n_columns,); they add up to `fit`. `whole`
        takes all energies, (n_energy,)."""
        measurement = self.problem.measurement
        seen = measurement.without_data() if whole else measurement
        return spectrum_components(self.problem.model, self.values, seen)

    def moving(self) -> Moving | None:
        """The parameters that move in time over the fit window, with one standard error each;
        None for the fit of one spectrum. See :class:`pyspec.fit.results.moving.Moving`."""
        return moving_parameters(self.problem, self.ending)

    @answered
    def predict(
        self, energy: npt.ArrayLike | None = None, time: npt.ArrayLike | None = None
    ) -> Prediction:
        """The fitted model on other axes, with standard errors. Components that sum over the grid
        of the data (Shirley, gaussCONV) are interpolated between its points; outside of them they
        raise :class:`DataError`. A fit with free spectra can be predicted at other times only, one
        with free traces at other energies only."""
        if self.problem.free is not None:
            need_same(self.problem)
            return predict_linear(self.problem.free, self.ending, energy, time)
        return predict(self.problem, self.ending, energy, time)

    @cached_property
    def linear(self) -> Amplitudes | None:
        """The amplitudes that were free at each energy or each time, with standard errors; None
        where the model has none."""
        problem = self.problem
        if problem.free is None:
            return None
        need_same(problem)
        return amplitudes_of(problem.free, self.ending)

    # what was fitted

    @property
    def joint(self) -> FitResult | None:
        """Of one file of a joint fit that of all files; else None, and of one that was loaded."""
        return None if self._of is None else self._of[0]

    @cached_property
    def model(self) -> Model:
        """The model at the best values, with its axes, a copy; `start` has those it began at."""
        given, values = self._problem, self.values
        model, fixed = given.model.copy(), given.fixed or ()
        model.set_values({name: values[name] for name in (*self.free_names, *fixed)})
        return model

    @property
    def measurement(self) -> Measurement:
        """Data, window, noise, mask, labels and units."""
        return self._problem.measured()

    def refit(
        self,
        data: Any = None,
        *,
        start: str = "best",
        model: Model | None = None,
        **options: Any,
    ) -> FitResult:
        """Fits again, with the settings of then unless `options` (of :func:`fit_model`) say
        otherwise: from the best values, or with ``start="initial"`` from where it began. `data`
        take the place of those of then, as an archive may not hold them, and a changed `model`
        that of the model, with the noise and the settings of then. Of one file of a joint
        fit it warns of the parameters that files share: they are those of this file alone."""
        found: FitResult = handed("refit", "pyspec.fit")(self, data, start, model, options)
        return found

    # numbers

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value of every parameter, in the order of the model."""
        return Named({row.name: row.value for row in self.table})

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that were fitted, in the order of `theta`."""
        return self._problem.names

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return Named({row.name: row.stderr for row in self.table})

    @cached_property
    def _errors(self) -> dict[str, float | None]:
        """Name → standard error of free parameters, and of what follows them."""
        names, followers = self.problem.names, self.problem.followers
        errors = self.ending.stderr.tolist()
        found: dict[str, float | None] = {names[k]: errors[k] for k in self.ending.places.tolist()}
        if len(self._params.value) == len(self._params.began):
            return found
        return found | self.ending.followed(names, followers.gradients(self._params.value))

    @cached_property
    def table(self) -> ParameterTable:
        """All parameters as a table, in the order of the model."""
        rows, held = [], self.at_bound
        for name, own in self.problem.parameters.items():
            rows.append(
                ParameterRow(
                    name=name,
                    value=self._params.value[name],
                    stderr=self._errors.get(name),
                    vary=name in self._params.limits,
                    min=float(own.min),
                    max=float(own.max),
                    expr=self._expressions.get(name),
                    init=self.start.get(name),
                    at_bound=held.get(name, ""),
                )
            )
        return ParameterTable(rows)

    @property
    def correlations(self) -> CorrelationTable:
        """Correlations of the free parameters that have a standard error, as a table."""
        own = self.ending.places
        names = [self.free_names[k] for k in own.tolist()]
        matrix = self.ending.correlations[np.ix_(own, own)]
        np.fill_diagonal(matrix, 1.0)
        return CorrelationTable(names, matrix)

    @property
    def statistics(self) -> dict[str, float]:
        """How good the fit is: ``chi2_raw`` (sum of squares in the units of the data) and
        ``chi2_red_raw``, ``chi2`` and ``chi2_red`` (weighted; NaN where no noise is known),
        ``r2``, ``aic``, ``bic``. See :func:`pyspec.fit.results.statistics.goodness`."""
        if self._statistics is not None:
            return Statistics(self._statistics)
        return statistics_of(self)

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset``: data, fit, residual on the axes of the window, with labels and
        units where these are known; value, stderr, init of the parameters; facts of the fit and
        its findings as attributes."""
        return fit_dataset(self, open_fit(self, np.array(self.fit)))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain Python values that JSON can hold."""
        return plain_fit(self)

    # for people

    def _lines(self) -> list[str]:
        state = state_of(self.success, self.without_effect)
        origin = f", from {self.started_from}" if self.started_from else ""
        time = f" in {self.seconds:.3g} s" if np.isfinite(self.seconds) else ""  # a stored slice
        if self.starts:
            agree = sum(one.agrees for one in self.starts)
            origin += f"; {agree} of {len(self.starts)} starts agree"
        return [
            title_of(self.fit_type, self.model_name, self.file_name),
            f"{self.method} on {self.backend}: {state}. {self.message}",
            f"{self.nfev} evaluations{time}{origin}; {self.n_data} points, "
            f"{self.n_free} free parameters",
            f"χ² {self.chisqr:.8g}, reduced χ² {self.redchi:.8g}",
            *([TOGETHER] if self._of_many else []),
            *([] if self.spent is None else [str(self.spent)]),
            *self.finding_lines(),
        ]

    def __str__(self) -> str:
        return "\n".join([*self._lines(), str(self.table)])

    def __repr__(self) -> str:
        state = state_of(self.success, self.without_effect).lower()
        return (
            f"<FitResult {self.model_name} {self.fit_type or self.method}: {state}, "
            f"redchi {self.redchi:.6g}, nfev {self.nfev}>"
        )

    def _repr_html_(self) -> str:
        title, *lines = (escape(line) for line in self._lines())
        return f"<b>{title}</b><br>{'<br>'.join(lines)}" + html_table(self.table._cells())
