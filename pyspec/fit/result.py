"""What a fit returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import FitError
from pyspec.fit.by_reference import fit_of, residual_of, squares_of
from pyspec.fit.components import spectrum_components
from pyspec.fit.doubts.when_asked import when_asked
from pyspec.fit.export import fit_dataset, plain_fit
from pyspec.fit.linear import Amplitudes, LinearProblem
from pyspec.fit.linear.amplitudes import amplitudes_of
from pyspec.fit.linear.gaps import open_fit
from pyspec.fit.linear.predict import predict_linear
from pyspec.fit.lmfit_names import LmfitNames
from pyspec.fit.moving import Moving, moving_parameters
from pyspec.fit.parameters import FitParameters
from pyspec.fit.predict import Prediction, predict
from pyspec.fit.problem import FitProblem
from pyspec.fit.same_data import data_of, need_same
from pyspec.fit.slot_names import SlotNames
from pyspec.fit.solve.outcome import Ended
from pyspec.fit.spread import Correlated, correlation_matrix, covariance_of
from pyspec.fit.statistics import TOGETHER, goodness, state_of, title_of
from pyspec.fit.table import CorrelationTable, ParameterRow, ParameterTable
from pyspec.model import Measurement, Model
from pyspec.model.show import html_table

Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class FitResult(LmfitNames, SlotNames):
    """One finished (or stopped) fit.

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
    degenerate : True if the data do not determine some free parameters, `without_effect`
    at_bound : name → "min" or "max" for parameters that ended at a bound: no standard error
    without_effect : free parameters that the data do not determine at all
    intervals : name → (low, high] for parameters that move a jump over the samples, such as an
        onset without an instrument: all that the data say, in place of a standard error
    started_from : where the start values come from, such as "the baseline fit"; "" if not known
    starts : tuple of :class:`pyspec.fit.starts.Start`, how fits from several starts ended
        (`n_starts=`)
    model_name, fit_type, file_name : where the fit belongs; fit_type is "baseline", "spectrum",
        "2d", "trace", "sbs" or ""
    target : what a trace shows, such as the name of a parameter
    spent : how long an evaluation on a cluster took, in the sums and outside; None without one
    chisqr, redchi : sum of the squared (weighted) residuals; the same over the degrees of freedom
    n_data, n_free : points that count; free parameters, amplitudes free along an axis included
    """

    problem: FitProblem
    _outcome: Any
    _params: FitParameters
    _message: str | Ended
    method: str
    backend: str
    settings: dict[str, Any]
    start: dict[str, float]
    seconds: float
    nfev: int
    success: bool
    interrupted: bool = False
    degenerate: bool = False
    at_bound: dict[str, str] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    started_from: str = ""
    starts: tuple[Any, ...] = ()
    fit_type: str = ""
    file_name: str = ""
    target: str = ""
    spent: Any = None
    _cautions: tuple[str, ...] = ()
    _warned: tuple[str, ...] = ()
    _minimizer: Any = None
    _of_many: bool = False
    #: Where it is not `redchi`: that of all files of a joint fit, NaN where nothing scatters.
    _variance: float | None = None
    _fit: Array | None = field(default=None, init=False)
    _raw: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        problem, outcome = self.problem, self._outcome
        self.chisqr, self.redchi = float(outcome.chisqr), float(outcome.redchi)
        self.n_data = int(outcome.ndata)
        self.n_free = len(problem.names) + problem.n_linear
        self.model_name: str = problem.model.name

    @cached_property
    def theta(self) -> Array:
        """(n_free,) the best values of the free parameters, read-only."""
        theta = self.problem.theta_of(self._params.value)
        theta.flags.writeable = False
        return theta

    @cached_property
    def expressions(self) -> dict[str, str]:
        """Name → text of the expression that a parameter follows."""
        return dict(self._params.expressions)

    def __getstate__(self) -> dict[str, Any]:
        made = ("linear", "model", "theta", "_fit")
        return {name: one for name, one in self.__dict__.items() if name not in made}

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before these numbers are used, such as noise that differs along an axis.
        Some are worked out when they are first asked for."""
        return (*self._cautions, *self._when_asked)

    @cautions.setter
    def cautions(self, sentences: tuple[str, ...]) -> None:
        self._cautions, self._when_asked = tuple(sentences), ()

    @cached_property
    def _when_asked(self) -> tuple[str, ...]:
        return when_asked(self)

    @property
    def is_trace(self) -> bool:
        """Whether values against time were fitted: then there is no energy axis."""
        return self.problem.model.is_time_model and not isinstance(self.problem, LinearProblem)

    @property
    def energy(self) -> Array:
        """(n_columns,) energies of the fit window. Raises :class:`FitError` for a trace."""
        energy = self.problem.model.energy
        if energy is None or self.is_trace:
            raise FitError(f"{self.model_name} is a trace against time, without energies; see time")
        columns = self.problem.measurement.columns
        return energy if columns is None else energy[slice(*columns)]

    @property
    def time(self) -> Array | None:
        """(n_rows,) times of the fit window, None for one spectrum."""
        time, measurement = self.problem.model.time, self.problem.measurement
        window = measurement.columns if self.is_trace else measurement.rows
        return time if time is None or window is None else time[slice(*window)]

    @property
    def axis(self) -> Array:
        """The last axis of the data: energies, or times for a trace."""
        time = self.time
        return time if self.is_trace and time is not None else self.energy

    @property
    def keep(self) -> npt.NDArray[np.bool_]:
        """False where a point of the window is masked."""
        keep = self.problem.measurement.keep
        if keep is None:
            return np.ones(self.data.shape, dtype=bool)
        return self.problem.measurement.window(keep)

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

        Raises :class:`FitError` for another word, or where the start is not known.
        """
        if at not in ("best", "start"):
            raise FitError(f"at must be 'best' or 'start', not {at!r}")
        if at == "best" and not whole:
            return self.fit
        if at == "start" and not self.has_start:
            raise FitError(f"{self.model_name}: the start of this fit is not known")
        theta = self.problem.theta_of(self.start) if at == "start" else self.theta
        return self.problem.run(theta, whole=whole)

    @property
    def has_start(self) -> bool:
        """Whether the start values of all free parameters are known."""
        return all(name in self.start for name in self.problem.names)

    @property
    def sigma(self) -> Array | None:
        """The declared σ of each point of the window: 1 / weight, or for counts the root of what
        the fit expects; None where no noise was declared."""
        return self.problem.measurement.sigma(self.fit)

    def components(self, *, whole: bool = False) -> tuple[dict[str, Array], dict[str, Array]]:
        """(peaks, backgrounds) of a 1D fit, name → (n_columns,); they add up to `fit`. `whole`
        takes all energies, (n_energy,)."""
        columns = None if whole else self.problem.measurement.columns
        return spectrum_components(self.problem.model, self.values, columns)

    def moving(self) -> Moving | None:
        """The parameters that move in time over the fit window, with one standard error each;
        None for the fit of one spectrum. See :class:`pyspec.fit.moving.Moving`."""
        return moving_parameters(self.problem, self.theta, self.stderr, self.correl)

    def predict(
        self, energy: npt.ArrayLike | None = None, time: npt.ArrayLike | None = None
    ) -> Prediction:
        """The fitted model on other axes, with standard errors. Components that sum over the grid
        of the data (Shirley, gaussCONV) are interpolated between its points; outside of them they
        raise :class:`DataError`. A fit with free spectra can be predicted at other times only, one
        with free traces at other energies only."""
        if isinstance(self.problem, LinearProblem):
            need_same(self.problem)
            return predict_linear(self, self.problem, energy, time)
        return predict(self.problem, self.theta, self.stderr, self.correl, energy, time)

    @cached_property
    def linear(self) -> Amplitudes | None:
        """The amplitudes that were free at each energy or each time, with standard errors; None
        where the model has none."""
        problem = self.problem
        if not isinstance(problem, LinearProblem):
            return None
        need_same(problem)
        return amplitudes_of(self, problem)

    def _lost(self) -> list[int]:
        """The places of the parameters that the data do not determine."""
        return [k for k, name in enumerate(self.problem.names) if name in self.without_effect]

    def _spread(self) -> tuple[Array, float]:
        """The covariance of the parameters, and the variance of a point of weight 1."""
        covariance = covariance_of(self.problem.names, self.stderr, self.correl)
        variance = self.redchi if self._variance is None else self._variance
        return covariance, variance if self._scale_covar else 1.0

    # what was fitted

    @cached_property
    def model(self) -> Model:
        """The model at the best values, with its axes, a copy; `start` has those it began at."""
        model, values, fixed = self.problem.model.copy(), self.values, self.problem.fixed or ()
        model.set_values({name: values[name] for name in (*self.free_names, *fixed)})
        return model

    @property
    def measurement(self) -> Measurement:
        """Data, window, noise, mask, labels and units."""
        return self.problem.measurement

    @property
    def labels(self) -> Mapping[str, str]:
        """What "energy", "time" and "data" are, as the data say: "binding energy"."""
        return self.problem.measurement.labels

    @property
    def units(self) -> Mapping[str, str]:
        """Their units: "eV"."""
        return self.problem.measurement.units

    # numbers

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value of every parameter, in the order of the model."""
        return Named({name: self._params.value[name] for name in self.problem.parameters})

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that were fitted, in the order of `theta`."""
        return self.problem.names

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return Named({name: self._params.error(name) for name in self.problem.parameters})

    @property
    def table(self) -> ParameterTable:
        """All parameters as a table, in the order of the model."""
        rows = []
        for name, own in self.problem.parameters.items():
            rows.append(
                ParameterRow(
                    name=name,
                    value=self._params.value[name],
                    stderr=self._params.error(name),
                    vary=name in self._params.limits,
                    min=float(own.min),
                    max=float(own.max),
                    expr=self.expressions.get(name),
                    init=self.start.get(name),
                    at_bound=self.at_bound.get(name, ""),
                )
            )
        return ParameterTable(rows)

    @property
    def correl(self) -> Mapping[str, Mapping[str, float]]:
        """Correlations of the free parameters: ``correl[a][b]``."""
        correl = self._params.correl
        return Named({one: Correlated(one, correl(one)) for one in self.problem.names})

    @property
    def correlations(self) -> CorrelationTable:
        """Correlations of the free parameters that have a standard error, as a table."""
        names = [name for name in self.problem.names if name in self._params.stderr]
        return CorrelationTable(names, correlation_matrix(names, self.correl))

    @property
    def statistics(self) -> dict[str, float]:
        """How good the fit is: ``chi2_raw`` (sum of squares in the units of the data) and
        ``chi2_red_raw``, ``chi2`` and ``chi2_red`` (weighted; NaN where no noise is known),
        ``r2``, ``aic``, ``bic``. See :func:`pyspec.fit.statistics.goodness`."""
        return self._goodness(*squares_of(self))

    def _goodness(self, raw: float, total: float) -> dict[str, float]:
        return goodness(self, raw, total)

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset``: data, fit, residual on the axes of the window, with labels and
        units where these are known; value, stderr, init of the parameters; facts of the fit and
        its cautions as attributes."""
        return fit_dataset(self, open_fit(self, np.array(self.fit)))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain Python values that JSON can hold."""
        return plain_fit(self)

    # for people

    def _lines(self) -> list[str]:
        state = state_of(self.success, self.without_effect, self.message)
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
            *(f"Caution: {text}" for text in self._told()),
        ]

    def _told(self) -> Sequence[str]:
        """The cautions as people read them."""
        return self.cautions

    def __str__(self) -> str:
        return "\n".join([*self._lines(), str(self.table)])

    def __repr__(self) -> str:
        state = state_of(self.success, self.without_effect, self.message).lower()
        return (
            f"<FitResult {self.model_name} {self.fit_type or self.method}: {state}, "
            f"redchi {self.redchi:.6g}, nfev {self.nfev}>"
        )

    def _repr_html_(self) -> str:
        title, *lines = (escape(line) for line in self._lines())
        return f"<b>{title}</b><br>{'<br>'.join(lines)}" + html_table(self.table._cells())
