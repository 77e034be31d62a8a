"""A fit that ended, in numbers: what was fitted, the values, their errors and the curve. What a
user asks of it beyond that is :class:`pyspec.FitResult`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import DataError, FitError
from pyspec.executor import make_executor
from pyspec.executor.protocol import Stored
from pyspec.fit.ending import Ending, Start, information_criteria
from pyspec.fit.findings.finding import Finding
from pyspec.fit.problem import FitProblem, OnDemand
from pyspec.fit.results.by_reference import fit_of, residual_of
from pyspec.fit.results.measured import Measured
from pyspec.fit.results.same_data import OTHERS, is_at_hand, is_same, need_same, reason_to_differ
from pyspec.fit.results.table import CorrelationTable, ParameterRow, ParameterTable
from pyspec.model import Measurement, Model
from pyspec.model.data.source import source_of
from pyspec.plan.start import StartParameters

if TYPE_CHECKING:
    from lmfit import Minimizer
    from lmfit.minimizer import MinimizerResult

Array = npt.NDArray[np.float64]


class Statistics(Named[float]):
    """Numbers by name."""

    kind = "statistic"


@dataclass(eq=False, repr=False, kw_only=True)
class EndedFit(Measured):
    """One finished (or stopped) fit. Its numbers are read from its `ending`.

    Attributes
    ----------
    method, backend, seconds : what ran, on which executor, for how long
    settings : method, tolerances and other options, to run the fit again
    start : name → where a free or fixed parameter began
    nfev : residual evaluations, all of them; those of a part of the rows by their share
    success, message : whether the method ended at an optimum and the data determine every free
        parameter, and how it ended
    interrupted : True if Ctrl-C or SIGTERM came. The values are then the best so far, or the result
        of a fit that had just ended (`success` says which)
    ending : how the fit ended, in arrays, see :class:`pyspec.fit.ending.Ending`
    started_from : where the start values come from, such as "the baseline fit"; "" if not known
    starts : tuple of :class:`pyspec.fit.Start`, how fits from several starts ended
        (`n_starts=`)
    model_name, fit_type, file_name : where the fit belongs; fit_type is "baseline", "spectrum",
        "2d", "trace", "sbs" or ""
    target : what a trace shows, such as the name of a parameter
    spent : how long an evaluation on a cluster took, in the sums and outside; None without one
    """

    _problem: FitProblem | OnDemand
    ending: Ending
    _start: StartParameters
    _values: dict[str, float]
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
    starts: tuple[Start, ...] = ()
    fit_type: str = ""
    file_name: str = ""
    target: str = ""
    spent: object = None
    _findings: tuple[Finding, ...] = ()
    _warned: tuple[Finding, ...] = ()
    _minimizer: Minimizer | None = None
    _rivals: list[Array] | None = None  # starts to optima nearly as good; None: not looked for
    _is_joint_member: bool = False
    _outcome: MinimizerResult | None = None  # what a method of lmfit returned
    _statistics: Mapping[str, float] | None = None  # those of an archive, whose data may be gone
    _fit: Array | None = field(default=None, init=False)
    _raw: float | None = field(default=None, init=False)

    @property
    def problem(self) -> FitProblem:
        """What was fitted: model, measurement and backend.

        Raises :class:`FitError` where what an archive describes gives another χ² than that of the
        fit, such as with another function in Python of the same name."""
        if not isinstance(self._problem, FitProblem):
            problem = self._problem.made()
            if (reason := reason_to_differ(problem)) and is_at_hand(problem):
                now = problem.chisqr_at(self.theta)
                if not is_same(problem, now, self.chisqr):
                    raise FitError(
                        f"{problem.label}: {reason} (χ² at its values is {now:.6g} now, and was "
                        f"{self.chisqr:.6g}); values and errors are those of the archive"
                    )
            self._problem = problem
        return self._problem

    @property
    def measurement(self) -> Measurement:
        """Data, window, noise, mask, labels and units."""
        return self._problem.measured()

    @property
    def model_name(self) -> str:
        """What the model is called; of several files all names."""
        return self._problem.label

    @cached_property
    def model(self) -> Model:
        """The model at the best values, with its axes, a copy; `start` has those it began at."""
        problem, values = self._problem, self.values
        model, fixed = problem.model.copy(), problem.fixed or ()
        model.set_values({name: values[name] for name in (*self.free_names, *fixed)})
        return model

    # how it ended

    @cached_property
    def message(self) -> str:
        """How the fit ended."""
        return self._message or f"{self.ending.text}."

    @property
    def n_data(self) -> int:
        """Points that count."""
        return self.ending.n_points

    @property
    def n_free(self) -> int:
        """Free parameters, amplitudes free along an axis included."""
        return self.ending.theta.size + self.ending.n_amplitudes

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
    def at_bound(self) -> dict[str, str]:
        """Name → "min" or "max" for parameters that ended at a bound: no standard error."""
        return {self.free_names[k]: side for k, side in self.ending.sides.items()}

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The free parameters that the data do not determine."""
        return tuple([self.free_names[k] for k in self.ending.lost])

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Name → (low, high] of parameters that move a jump, such as an onset without an instrument
        response. The data determine only this interval."""
        return {self.free_names[k]: ends for k, ends in self.ending.intervals.items()}

    # curves

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
    def data(self) -> Stored:
        """The data of the fit window, as given (not weighted): (n_rows, n_columns). Raises
        :class:`DataError` where the array was changed since it was fitted."""
        need_same(self.problem)
        return self.problem.files[0].data

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

    # numbers

    @property
    def theta(self) -> Array:
        """(n_free,) the best values of the free parameters, read-only."""
        return self.ending.theta

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that were fitted, in the order of `theta`."""
        return self._problem.names

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value of every parameter, in the order of the model."""
        return Named({row.name: row.value for row in self.table})

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return Named({row.name: row.stderr for row in self.table})

    @cached_property
    def _expressions(self) -> dict[str, str]:
        """Name → text of the expression that a parameter follows."""
        own, parameters = self._start.values, self.problem.parameters
        return {
            name: formula.text
            for name in self._values
            if name not in own and (formula := parameters[name].formula) is not None
        }

    @cached_property
    def _errors(self) -> dict[str, float | None]:
        """Name → standard error of free parameters, and of what follows them."""
        names, followers = self.problem.names, self.problem.followers
        errors = self.ending.stderr.tolist()
        of_free: dict[str, float | None] = {names[k]: errors[k] for k in self.ending.places}
        if len(self._values) == len(self._start.values):
            return of_free
        return of_free | self.ending.followed(names, followers.gradients(self._values))

    @cached_property
    def table(self) -> ParameterTable:
        """All parameters as a table, in the order of the model."""
        rows, held = [], self.at_bound
        for name, own in self.problem.parameters.items():
            rows.append(
                ParameterRow(
                    name=name,
                    value=self._values[name],
                    stderr=self._errors.get(name),
                    vary=name in self._start.limits,
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
    def correl(self) -> Mapping[str, Mapping[str, float]]:
        """Correlations of the free parameters: ``correl[a][b]``."""
        names, own = self.free_names, self.ending.places.tolist()
        matrix = self.ending.correlations.tolist()
        rows = {k: {names[j]: matrix[k][j] for j in own if j != k} for k in own}
        return Named({name: Named(rows.get(k, {})) for k, name in enumerate(names)})

    @property
    def statistics(self) -> dict[str, float]:
        """How good the fit is: ``chi2_raw`` (sum of squares in the units of the data) and
        ``chi2_red_raw``, ``chi2`` and ``chi2_red`` (weighted; NaN where no noise is known),
        ``r2``, ``aic``, ``bic``, those of chi², or where the noise is not known of
        n ln(chi² / n)."""
        if self._statistics is not None:
            return Statistics(self._statistics)
        return self._goodness(*self._squares())

    def _goodness(self, raw: float, total: float) -> Statistics:
        """The statistics by the sums of the squares of the residual, and of the data minus their
        mean."""
        weighted, n, k = self.problem.is_weighted, self.n_data, self.n_free
        numbers = {
            "chi2_raw": raw,
            "chi2_red_raw": raw / max(n - k, 1),
            "chi2": self.chisqr if weighted else float("nan"),
            "chi2_red": self.redchi if weighted else float("nan"),
            "r2": 1.0 - raw / total if total > 0 else float("nan"),
        }
        return Statistics(numbers | dict(zip(("aic", "bic"), criteria_of(self), strict=True)))

    def _squares(self) -> tuple[float, float]:
        """The sums of squares of data - model, and of data - mean, over the points that count, in
        the units of the data. Data by reference are read once."""
        problem = self.problem
        if source_of(problem.measurement.data) is None:
            data = np.asarray(self.data, dtype=np.float64)[self.keep]
            residual = self.residual[self.keep]
            return float(residual @ residual), float(((data - data.mean()) ** 2).sum())
        if self._raw is None:
            plain = replace(problem.measurement, weight=None, loss="squares")
            plain.seen.update(problem.measurement.seen)
            executor = make_executor(problem.model, plain)
            self._raw = float(executor.normal(self.theta, problem.fixed, "value")[0])
        return self._raw, problem.measurement.survey.scatter


def need_fitted(result: EndedFit, now: float | None = None) -> None:
    """Raises :class:`DataError` if the data were changed since a fit. Weights and masks have no
    checksum: χ² at the values of the fit shows a change of them. It costs one evaluation, unless it
    is given as `now`."""
    problem, chisqr = result.problem, result.chisqr
    need_same(problem)
    now = problem.chisqr_at(result.theta) if now is None else now
    if not is_same(problem, now, chisqr):
        raise DataError(
            f"the fit of {problem.label}: its weights or mask were changed after it was fitted "
            f"(χ² at its values is {now:.6g} now, and was {chisqr:.6g}), so {OTHERS}; fit "
            "again, with copies where these arrays are used again"
        )


def criteria_of(fit: EndedFit) -> tuple[float, float]:
    """AIC and BIC, without a pass over the data."""
    is_known = fit.problem.is_weighted and not fit._scale_covar
    return information_criteria(fit.chisqr, fit.n_data, fit.n_free, is_known)


def not_converged(fit: EndedFit) -> str:
    """How a fit ended that did not converge, on one line; "" of one that did."""
    if state_of(fit.success, fit.without_effect) != "NOT converged":
        return ""
    return " ".join(str(fit.message).split()).rstrip(".")


def state_of(success: bool, lost: Sequence[str]) -> str:
    """In two words whether a fit succeeded; where it did not, parameters `lost`, which the data do
    not determine, are the reason."""
    if success:
        return "converged"
    return "NOT determined" if lost else "NOT converged"


def title_of(fit_type: str, model_name: str, file_name: str) -> str:
    """What a fit is called."""
    to = f" to {file_name}" if file_name else ""
    return " ".join(part for part in (fit_type, "fit of", model_name) if part) + to
