"""What a fit returns."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.components import spectrum_components
from pyspec.fit.export import confidence_intervals, fit_statistics, result_dataset
from pyspec.fit.problem import FitProblem
from pyspec.fit.table import (
    CorrelationTable,
    ParameterRow,
    ParameterTable,
    correlation_matrix,
    html_table,
)

Array = npt.NDArray[np.float64]


class FitResult:
    """One finished (or stopped) fit.

    Attributes
    ----------
    params : lmfit.Parameters
        free and fixed parameters, then the followers (expression parameters) with value and
        propagated standard error; the text of an expression is in ``user_data``
    chisqr, redchi : float
        sum of the squared (weighted) residuals; the same over the degrees of freedom
    nfev : int
        residual evaluations, all of them
    n_data, n_free : int
        points that count, free parameters
    success, message : bool, str
        whether the method converged, and what it said
    interrupted : bool
        True if Ctrl-C ended the fit; the values are then the best so far
    at_bound : dict
        name → "min" or "max" for parameters that ended at a bound: no standard error
    without_effect : tuple of str
        free parameters that the data do not determine at all
    intervals : dict
        name → (low, high] for parameters that move a jump over the samples, such as an onset
        without an instrument: this interval is all that the data say, there is no standard error
    method, backend, seconds
        what ran, on which executor, for how long
    model_name, fit_type, file_name : str
        where the fit belongs; fit_type is "baseline", "spectrum", "2d", "trace", "sbs" or ""
    energy, time : arrays of the fit window; time is None for one spectrum
    target : str
        what a trace shows, such as the name of a parameter
    settings : dict
        method, tolerances and other options, to run the fit again
    correl : dict of dicts
        correlation of two free parameters
    linear : tuple of str
        parameters solved linearly; empty for methods of lmfit
    lmfit : lmfit.MinimizerResult
    minimizer : lmfit.Minimizer
        ``lmfit.conf_interval(result.minimizer, result.lmfit)``
    """

    def __init__(self, problem: FitProblem, minimizer: Any, outcome: Any, **facts: Any) -> None:
        self.problem = problem
        self.minimizer = minimizer
        self.lmfit = outcome
        self.params = outcome.params
        self.backend: str = facts["backend"]
        self.method: str = facts["method"]
        self.seconds: float = facts["seconds"]
        self.message: str = facts["message"]
        self.success: bool = facts["success"]
        self.interrupted: bool = facts["interrupted"]
        self.at_bound: dict[str, str] = facts["at_bound"]
        self.without_effect: tuple[str, ...] = facts["without_effect"]
        self.intervals: dict[str, tuple[float, float]] = facts.get("intervals", {})
        self.settings: dict[str, Any] = facts.get("settings", {})
        self.expressions: dict[str, str] = facts["expressions"]
        self.start: dict[str, float] = facts["start"]
        self.nfev: int = facts["nfev"]
        self.chisqr = float(outcome.chisqr)
        self.redchi = float(outcome.redchi)
        self.n_data = int(outcome.ndata)
        self.n_free = int(outcome.nvarys)
        self.linear: tuple[str, ...] = ()
        self.model_name: str = problem.model.name
        self.fit_type = ""
        self.target = ""
        self.file_name = ""
        self.theta: Array = np.array([self.params[name].value for name in problem.names])
        self._names: tuple[str, ...] = tuple(problem.parameters)
        self._fit: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_fit": None}

    # arrays of the window

    @property
    def is_trace(self) -> bool:
        """Whether values against time were fitted: then there is no energy axis."""
        return self.problem.model.is_time_model

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
        """The data of the fit window, as given (not weighted): (n_rows, n_columns)."""
        measurement = self.problem.measurement
        assert measurement.data is not None
        return measurement.window(measurement.data)

    @property
    def fit(self) -> Array:
        """The model at the best fit, over the fit window: (n_rows, n_columns)."""
        if self._fit is None:
            self._fit = self.problem.run(self.theta)
            self._fit.setflags(write=False)
        return self._fit

    @property
    def residual(self) -> Array:
        """data - fit over the fit window, in the units of the data (not weighted)."""
        return np.asarray(self.data - self.fit, dtype=np.float64)

    def components(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """(peaks, backgrounds) of a 1D fit, name → (n_columns,); they add up to `fit`."""
        return spectrum_components(
            self.problem.model, self.values, self.problem.measurement.columns
        )

    # numbers

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value of every parameter, in the order of the model."""
        return {name: float(self.params[name].value) for name in self._names}

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that were fitted, in the order of `theta`."""
        return self.problem.names

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return {name: self.params[name].stderr for name in self._names}

    @property
    def table(self) -> ParameterTable:
        """All parameters as a table, in the order of the model."""
        rows = []
        parameters = self.problem.parameters
        for name in self._names:
            par = self.params[name]
            own = parameters[name]
            rows.append(
                ParameterRow(
                    name=name,
                    value=float(par.value),
                    stderr=None if par.stderr is None else float(par.stderr),
                    vary=bool(par.vary),
                    min=float(own.min),
                    max=float(own.max),
                    expr=self.expressions.get(name),
                    init=self.start.get(name),
                    at_bound=self.at_bound.get(name, ""),
                )
            )
        return ParameterTable(rows)

    @property
    def correl(self) -> dict[str, dict[str, float]]:
        """Correlations of the free parameters: ``correl[a][b]``."""
        return {name: dict(self.params[name].correl or {}) for name in self.problem.names}

    @property
    def correlations(self) -> CorrelationTable:
        """Correlations of the free parameters that have a standard error, as a table."""
        names = [name for name in self.problem.names if self.params[name].stderr is not None]
        return CorrelationTable(names, correlation_matrix(names, self.correl))

    @property
    def statistics(self) -> dict[str, float]:
        """How good the fit is: ``chi2_raw`` (sum of squares in the units of the data) and
        ``chi2_red_raw``, ``chi2`` and ``chi2_red`` (weighted; NaN where no noise is known),
        ``r2``, ``aic``, ``bic``."""
        return fit_statistics(self)

    def conf_interval(self, **options: Any) -> Any:
        """Intervals by profile likelihood: :func:`lmfit.conf_interval`, all free parameters.

        Takes many fits. Raises :class:`FitError` where lmfit cannot find them.
        """
        return confidence_intervals(self, **options)

    def to_dataset(self) -> Any:
        """An ``xarray.Dataset``: data, fit, residual on the axes of the window; value, stderr,
        init of the parameters; facts of the fit as attributes."""
        return result_dataset(self)

    to_xarray = to_dataset

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain Python values that JSON can hold."""
        return {
            "model": self.model_name,
            "fit_type": self.fit_type,
            "file": self.file_name,
            "method": self.method,
            "backend": self.backend,
            "success": self.success,
            "interrupted": self.interrupted,
            "message": self.message,
            "nfev": self.nfev,
            "seconds": self.seconds,
            "statistics": {name: _json(value) for name, value in self.statistics.items()},
            "n_data": self.n_data,
            "n_free": self.n_free,
            "chisqr": self.chisqr,
            "redchi": self.redchi,
            "at_bound": dict(self.at_bound),
            "without_effect": list(self.without_effect),
            "parameters": [
                {key: _json(value) for key, value in row.items()} for row in self.table.to_dict()
            ],
            "correlations": self.correl,
        }

    # for people

    def _head(self) -> list[str]:
        title = " ".join(part for part in (self.fit_type, "fit of", self.model_name) if part)
        if self.file_name:
            title += f" to {self.file_name}"
        state = "converged" if self.success else "NOT converged"
        return [
            title,
            f"{self.method} on {self.backend}: {state}. {self.message}",
            f"{self.nfev} evaluations in {self.seconds:.3g} s; {self.n_data} points, "
            f"{self.n_free} free parameters",
            f"χ² {self.chisqr:.8g}, reduced χ² {self.redchi:.8g}",
        ]

    def __str__(self) -> str:
        return "\n".join([*self._head(), str(self.table)])

    def __repr__(self) -> str:
        state = "converged" if self.success else "not converged"
        return (
            f"<FitResult {self.model_name} {self.fit_type or self.method}: {state}, "
            f"redchi {self.redchi:.6g}, nfev {self.nfev}>"
        )

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._head()[1:])
        return f"<b>{escape(self._head()[0])}</b><br>{head}" + html_table(self.table._cells())


def _json(value: Any) -> Any:
    """JSON has no infinities: an open bound is None."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
