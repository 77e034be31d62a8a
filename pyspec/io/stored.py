"""Fits as they come out of an archive: to look at, and to fit again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import DataError, ModelError
from pyspec.fit import (
    CorrelationTable,
    FitResult,
    MCMCResult,
    ParameterTable,
    SliceResults,
    fit_model,
    fit_slices,
)
from pyspec.fit.batch.fits import states_of
from pyspec.fit.findings.counted import Counted, gathered, lines_of
from pyspec.fit.findings.finding import Finding
from pyspec.fit.predict import Prediction
from pyspec.fit.statistics import TOGETHER, state_of, title_of
from pyspec.fit.table import SliceTable
from pyspec.formula import parse
from pyspec.io.addresses import as_given, measured_again
from pyspec.io.contents import Ends
from pyspec.io.restored import (
    REFIT_FROM,
    caution_alone,
    findings_of,
    named_alike,
    restored_fit,
    restored_slices,
    slice_seeds,
    text_of,
)
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)
from pyspec.model.digest import digest
from pyspec.model.free import single_valued

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Stored(ABC):
    """What all fits of an archive have.

    Attributes
    ----------
    model_name, fit_type, file_name : where the fit belongs
    table : ParameterTable, as it was; for slices the model's, before the fits
    settings : method, backend, scale_covar and options of the fit
    texts : the YAML of the model, of its dynamics and of its profiles
    energy, time, aux, aux_weights : the full axes of the model, or None
    inputs : further arrays along them that functions by formula read, by name
    measured : rows and columns of the window, weight, mask, as a Measurement takes them
    data : what was fitted, where it was stored
    data_sha256 : digest of the data
    by_reference : where data, weights and mask stand that were too large for the archive
    versions : of pyspec and the libraries that made the fit
    """

    model_name: str
    fit_type: str
    file_name: str
    table: ParameterTable
    settings: Mapping[str, Any]
    texts: Mapping[str, Any]
    energy: Array | None
    time: Array | None
    aux: Array | None
    aux_weights: Array | None
    inputs: Mapping[str, Array]
    measured: Mapping[str, Any]
    data: npt.NDArray[Any] | None
    data_sha256: str
    by_reference: tuple[Mapping[str, Any], ...]
    versions: Mapping[str, str]

    def model(self, start: str = "best") -> Model:
        """The model with its dynamics, profiles, axes, bounds and values: those of the fit, or
        with ``start="initial"`` those it started from."""
        if start not in ("best", "initial"):
            raise DataError(f"start is 'best' or 'initial', not {start!r}")
        load = load_time_model if self.texts.get("time_model") else load_model
        model = load(text_of(self.texts["model"]), self.model_name)
        model.elsewhere = {n: parse(one) for n, one in self.texts.get("elsewhere", {}).items()}
        for one in self.texts.get("profiles", []):
            profile = load_profile(text_of(one["text"]), one["name"], one["target"])
            model.add_profile(one["target"], profile)
        for one in self.texts.get("dynamics", []):
            law = load_dynamics(text_of(one["text"]), one["names"], one["target"], one["frequency"])
            model.add_dynamics(one["target"], law)
        self._restore(model, start)
        axes = (self.energy, self.model_time, self.aux, self.aux_weights)
        model.set_axes(*axes, inputs=self.inputs or None)
        return model

    @property
    def model_time(self) -> Array | None:
        """The time axis of the model; slices have a model of one spectrum."""
        return self.time

    def _restore(self, model: Model, start: str) -> None:
        """Values, bounds and expressions that were changed after loading."""
        parameters = single_valued(model.parameters)
        if set(parameters) != set(self.table.names):
            raise ModelError(
                f"{self.model_name}: its text gives the parameters {', '.join(parameters)}, the "
                f"archive has {', '.join(self.table.names)}; it was written by pyspec "
                f"{self.versions.get('pyspec')}, use that version to fit again"
            )
        for row in self.table:
            par = parameters[row.name]
            par.vary, par.min, par.max = row.vary, row.min, row.max
            if row.expr != par.expr:
                par.formula = None if row.expr is None else parse(row.expr, par.where)
            if row.expr is None:
                begin = row.init if start == "initial" else None
                par.value = row.value if begin is None else begin

    def measurement(self, data: npt.NDArray[Any] | None = None) -> Measurement:
        """Data, window, weights and mask of the fit; `data`, any that match the axes, are needed
        where the archive has neither those of then nor their address."""
        return measured_again(self, data)

    def refit_options(
        self, options: Mapping[str, Any] = MappingProxyType({}), *, start: str = "best"
    ) -> dict[str, Any]:
        """The settings of then as arguments of a fit, and `options` over them; random starts are
        among them with ``start="initial"``."""
        given: dict[str, Any] = {
            "backend": self.settings["backend"],
            "scale_covar": bool(self.settings["scale_covar"]),
            **self.settings.get("options", {}),
        }
        if start == "best" and given.pop("n_starts", None):
            given.pop("seed", None)
        if not {"method", "stages", "fit_alg_1"} & set(options):
            given["stages"] = len(self.settings["methods"])
            given |= {f"fit_alg_{k}": one for k, one in enumerate(self.settings["methods"], 1)}
        return {**given, **options}

    def same_data(self, data: npt.NDArray[Any]) -> bool:
        """Whether these are the data that were fitted, to the last bit."""
        return digest(as_given(data)) == self.data_sha256

    @property
    def title(self) -> str:
        """Type, model and file in words."""
        return title_of(self.fit_type, self.model_name, self.file_name)

    @abstractmethod
    def _lines(self) -> list[str]:
        """What is said of the fit, line by line."""

    def __str__(self) -> str:
        return "\n".join([self.title, *self._lines(), str(self._shown())])

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._lines())
        return f"<b>{escape(self.title)}</b><br>{head}{self._shown()._repr_html_()}"

    def _shown(self) -> ParameterTable | SliceTable:
        """The table that people read."""
        return self.table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredFit(Stored):
    """One fit of an archive; what it has in common with slices stands at :class:`Stored`.

    Attributes
    ----------
    free_names : the free parameters, in the order of theta
    covariance : (n_free, n_free), NaN where there is none; or None
    statistics : chisqr, redchi, nfev, n_data, n_free, success, message, …
    mcmc : samples of the posterior, an :class:`MCMCResult`; None where none were made
    intervals : of parameters that move a jump, see :class:`pyspec.FitResult`
    of_joint : whether other files were fitted together with this one
    left : what all files leave undetermined, as :attr:`Ending.left` has it; or None
    """

    free_names: tuple[str, ...]
    covariance: Array | None
    statistics: Mapping[str, Any]
    mcmc: MCMCResult | None
    intervals: Mapping[str, tuple[float, float]]
    of_joint: bool
    left: tuple[Array, Array] | None

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value."""
        return Named({row.name: row.value for row in self.table})

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return Named({row.name: row.stderr for row in self.table})

    @property
    def chisqr(self) -> float:
        """Sum of the squared (weighted) residuals."""
        return float(self.statistics["chisqr"])

    @property
    def redchi(self) -> float:
        """`chisqr` over the degrees of freedom."""
        return float(self.statistics["redchi"])

    @property
    def success(self) -> bool:
        """Whether the fit converged."""
        return bool(self.statistics["success"])

    @property
    def correlations(self) -> CorrelationTable:
        """Correlations of the free parameters that have a standard error."""
        if self.covariance is None:
            return CorrelationTable((), np.zeros((0, 0)))
        kept = np.flatnonzero(np.isfinite(np.diag(self.covariance)))
        part = self.covariance[np.ix_(kept, kept)]
        error = np.sqrt(np.diag(part))
        matrix = part / np.outer(error, error)
        np.fill_diagonal(matrix, 1.0)
        return CorrelationTable([self.free_names[k] for k in kept], matrix)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the fit found out about itself; see :attr:`FitResult.findings`."""
        return findings_of(self.statistics)

    def refit(
        self, data: npt.NDArray[Any] | None = None, *, start: str = "best", **options: Any
    ) -> FitResult:
        """Fits again, with the settings of then unless `options` (of fit_model) say otherwise;
        from the best values, or with ``start="initial"`` from the start values of then. Of one file
        of a joint fit it warns of the parameters that files share: they are those of this file."""
        given = self.refit_options(options, start=start)
        result = fit_model(self.model(start), self.measurement(data), **given)
        result.fit_type, result.file_name = self.fit_type, self.file_name
        result.started_from = REFIT_FROM[start]
        caution_alone(self, result)
        return result

    def to_result(self, data: npt.NDArray[Any] | None = None) -> FitResult:
        """The fit as a FitResult, without fitting: for pictures, reports and predictions.
        `data` are needed where the archive has none."""
        result = restored_fit(self, self.measurement(data))
        result.mcmc = self.mcmc
        result.fit_type, result.file_name = self.fit_type, self.file_name
        return named_alike(result, self)

    def predict(
        self, energy: npt.ArrayLike | None = None, time: npt.ArrayLike | None = None
    ) -> Prediction:
        """The fitted model on other axes with standard errors, without fitting; as of
        :meth:`FitResult.predict`. Needs the data in the archive: what sums over a grid is computed
        on theirs."""
        return self.to_result().predict(energy, time)

    def plot(self, **options: Any) -> Any:
        """Data, fit and residual; returns the Figure. Options as of
        :func:`pyspec.plot.plot_fit`."""
        return self.to_result().plot(**options)

    def _lines(self) -> list[str]:
        lost, message = self.statistics["without_effect"], self.statistics["message"]
        state = state_of(self.success, lost)
        return [
            f"{self.settings['method']} on {self.settings['backend']}: {state}. {message}",
            f"χ² {self.chisqr:.8g}, reduced χ² {self.redchi:.8g}; "
            f"{self.statistics['n_data']} points, {self.statistics['n_free']} free parameters; "
            f"pyspec {self.versions.get('pyspec')}",
            *([TOGETHER] if self.of_joint else []),
            *lines_of([(one.severity, str(one)) for one in self.findings]),
        ]

    def __repr__(self) -> str:
        return f"<StoredFit {self.title}: redchi {self.redchi:.6g}>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredSlices(Stored):
    """A slice-by-slice fit of an archive; what it has in common with a fit stands at
    :class:`Stored`.

    Attributes
    ----------
    time, rows : (n,) the times of the slices, and their rows in the data
    values, stderr, start : name → (n,), NaN where there is none
    redchi, chisqr, nfev : (n,)
    status, message : how each slice ended
    findings_text : what each slice found out about itself, as JSON, a line for each finding
    ends : bounds, intervals and what has no effect in each slice
    statistics : name → (n,) of :attr:`FitResult.statistics`, n_data and n_free, NaN where a slice
        has no result; archives did not hold them at first, and then it is empty
    """

    rows: npt.NDArray[np.int64]
    values: Mapping[str, Array]
    stderr: Mapping[str, Array]
    start: Mapping[str, Array]
    redchi: Array
    chisqr: Array
    nfev: Array
    status: tuple[str, ...]
    message: tuple[str, ...]
    findings_text: tuple[str, ...]
    ends: tuple[Ends, ...]
    started_from: str
    statistics: Mapping[str, Array]
    covariance: Array | None

    def __len__(self) -> int:
        return len(self.status)

    @property
    def success(self) -> npt.NDArray[np.bool_]:
        """(n,) which slices converged."""
        return np.array([status == "converged" for status in self.status], dtype=bool)

    @property
    def findings(self) -> tuple[Counted, ...]:
        """What the fits found out, each kind once; see :attr:`SliceResults.findings`."""
        each = [findings_of({"findings": text}) for text in self.findings_text]
        return gathered(zip(np.asarray(self.time).tolist(), each, strict=True), len(self))

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that were fitted."""
        return tuple(row.name for row in self.table if row.kind == "free")

    def _shown(self) -> SliceTable:
        return SliceTable(self)

    @property
    def model_time(self) -> None:
        """A slice is one spectrum."""
        return

    def at(self, index: int) -> ParameterTable:
        """The table of one slice, counted from 0 in the window."""
        if not -len(self) <= index < len(self):
            raise DataError(f"{self.title}: has the slices 0 to {len(self) - 1}, not {index}")

        def number(column: Mapping[str, Array], name: str) -> float | None:
            value = float(column[name][index])
            return None if np.isnan(value) else value

        rows = []
        for row in self.table:
            value, stderr = number(self.values, row.name), number(self.stderr, row.name)
            init, bound = number(self.start, row.name), self.ends[index].at_bound.get(row.name, "")
            found = float("nan") if value is None else value
            rows.append(replace(row, value=found, stderr=stderr, init=init, at_bound=bound))
        return ParameterTable(rows, f"slice {index}: {self.status[index]}")

    def refit(
        self, data: npt.NDArray[Any] | None = None, *, start: str = "initial", **options: Any
    ) -> SliceResults:
        """Fits all slices again, with the settings of then unless `options` (of fit_slices) say
        otherwise; from the start values of then, or with ``start="best"`` from the best."""
        model, seeds = self.model(start), slice_seeds(self, start)
        given = {"seeds": seeds, "times": self.time} | self.refit_options(options, start=start)
        result = fit_slices(model, self.measurement(data), **given)
        result.file_name, result.started_from = self.file_name, REFIT_FROM[start]
        return result

    def to_result(self, data: npt.NDArray[Any] | None = None) -> SliceResults:
        """The fits as SliceResults, without fitting; `data` are needed where there are none."""
        result = restored_slices(self, self.measurement(data))
        result.file_name, result.started_from = self.file_name, self.started_from
        return named_alike(result, self)

    def _lines(self) -> list[str]:
        return [
            f"{self.settings['method']} on {self.settings['backend']}: {len(self)} slices, "
            f"{states_of(self.status)}; pyspec {self.versions.get('pyspec')}",
            *lines_of([(one.severity, str(one)) for one in self.findings]),
        ]

    def __repr__(self) -> str:
        return f"<StoredSlices {self.title}: {len(self)} slices>"
