"""Fits in an archive: everything that is needed to look at them, and to fit again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError
from pyspec.fit import CorrelationTable, FitResult, ParameterTable, fit_model
from pyspec.formula import parse
from pyspec.io.archive import digest, load_archive, save_archive
from pyspec.io.contents import fit_contents, table_of
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class StoredFit:
    """One fit of an archive.

    Attributes
    ----------
    model_name, fit_type, file_name : where the fit belongs
    table : ParameterTable, as it was
    covariance : (n_free, n_free) of `free_names`, NaN where there is none; or None
    statistics : chisqr, redchi, nfev, n_data, n_free, success, message, …
    settings : method, backend, scale_covar and options of the fit
    texts : the YAML of the model, of its dynamics and of its profiles
    energy, time, aux, aux_weights : the full axes, or None
    measured : rows and columns of the window, weight, mask, as a Measurement takes them
    data : what was fitted, where it was stored
    data_sha256 : digest of the data
    versions : of pyspec and the libraries that made the fit
    """

    model_name: str
    fit_type: str
    file_name: str
    table: ParameterTable
    free_names: tuple[str, ...]
    covariance: Array | None
    statistics: Mapping[str, Any]
    settings: Mapping[str, Any]
    texts: Mapping[str, Any]
    energy: Array | None
    time: Array | None
    aux: Array | None
    aux_weights: Array | None
    measured: Mapping[str, Any]
    data: npt.NDArray[Any] | None
    data_sha256: str
    versions: Mapping[str, str]

    @property
    def values(self) -> dict[str, float]:
        """Name → best-fit value."""
        return {row.name: row.value for row in self.table}

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name → standard error, None where there is none."""
        return {row.name: row.stderr for row in self.table}

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

    def model(self, start: str = "best") -> Model:
        """The model with its dynamics, profiles, axes, bounds and values: those of the fit, or
        with ``start="initial"`` those it started from."""
        if start not in ("best", "initial"):
            raise DataError(f"start is 'best' or 'initial', not {start!r}")
        load = load_time_model if self.texts.get("time_model") else load_model
        model = load(str(self.texts["model"]), self.model_name)
        for one in self.texts.get("profiles", []):
            profile = load_profile(one["text"], one["name"], one["target"])
            model.add_profile(one["target"], profile)
        for one in self.texts.get("dynamics", []):
            names = one["names"]
            model.add_dynamics(
                one["target"],
                load_dynamics(one["text"], names, one["target"], one["frequency"]),
            )
        self._restore(model, start)
        model.set_axes(self.energy, self.time, self.aux, self.aux_weights)
        return model

    def _restore(self, model: Model, start: str) -> None:
        """Values, bounds and expressions that were changed after loading."""
        parameters = model.parameters
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
                begin = row.init if start == "initial" and row.init is not None else row.value
                par.value = begin

    def refit(
        self, data: npt.NDArray[Any] | None = None, *, start: str = "best", **options: Any
    ) -> FitResult:
        """Fits again, with the settings of then unless `options` (of fit_model) say otherwise.

        `data` is needed where the archive has none; the window and the axes are those of then.
        Other data than those of then are welcome, as long as they match the axes.
        """
        given = self.data if data is None else np.asarray(data)
        if given is None:
            raise DataError(
                f"{self.model_name}: the archive was saved without data; hand them over: "
                f"refit(data), sha256 {self.data_sha256[:12]}…"
            )
        measurement = Measurement(given, **self.measured)
        model = self.model(start)
        settings: dict[str, Any] = {
            "backend": self.settings["backend"],
            "scale_covar": bool(self.settings["scale_covar"]),
            **self.settings.get("options", {}),
        }
        if not {"method", "stages", "fit_alg_1"} & set(options):
            methods = list(self.settings["methods"])
            settings["stages"] = len(methods)
            settings.update({f"fit_alg_{k + 1}": name for k, name in enumerate(methods)})
        result = fit_model(model, measurement, **{**settings, **options})
        result.fit_type, result.file_name = self.fit_type, self.file_name
        return result

    def same_data(self, data: npt.NDArray[Any]) -> bool:
        """Whether these are the data that were fitted, to the last bit."""
        return digest(np.asarray(data)) == self.data_sha256

    def _title(self) -> str:
        to = f" to {self.file_name}" if self.file_name else ""
        return " ".join(part for part in (self.fit_type, "fit of", self.model_name) if part) + to

    def _lines(self) -> list[str]:
        state = "converged" if self.success else "NOT converged"
        return [
            f"{self.settings['method']} on {self.settings['backend']}: {state}. "
            f"{self.statistics['message']}",
            f"χ² {self.chisqr:.8g}, reduced χ² {self.redchi:.8g}; "
            f"{self.statistics['n_data']} points, {self.statistics['n_free']} free parameters; "
            f"pyspec {self.versions.get('pyspec')}",
        ]

    def __str__(self) -> str:
        return "\n".join([self._title(), *self._lines(), str(self.table)])

    def __repr__(self) -> str:
        return f"<StoredFit {self._title()}: redchi {self.redchi:.6g}>"

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._lines())
        return f"<b>{escape(self._title())}</b><br>{head}{self.table._repr_html_()}"


def save_fit(
    path: str | Path,
    results: FitResult | Iterable[FitResult],
    *,
    with_data: bool = True,
    mode: str = "append",
) -> None:
    """Saves one or several fits to an archive; see :func:`pyspec.io.save_archive` for `mode`.

    Data that several fits share are stored once; without them (`with_data=False`) only their
    digest is, and :meth:`StoredFit.refit` asks for them.
    """
    fits = [results] if isinstance(results, FitResult) else list(results)
    if not fits:
        raise DataError("there is no fit to save yet; fit first")
    for fit in fits:
        if not isinstance(fit, FitResult):
            raise DataError(f"save_fit takes fits, not {type(fit).__name__}")
    arrays = {}
    if with_data:
        for fit in fits:
            data = fit.problem.measurement.data
            assert data is not None
            arrays[digest(data)] = data
    contents = [fit_contents(fit, with_data=with_data) for fit in fits]
    save_archive(path, contents, arrays=arrays, mode=mode)


def load_fits(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
) -> tuple[StoredFit, ...]:
    """The fits of an archive in the order they were saved, of that model, type, file if given.

    Raises :class:`DataError` where the archive cannot be read, or has no such fit.
    """
    contents, arrays = load_archive(path)
    try:
        every = [_stored(one, arrays) for one in contents]
    except KeyError as error:
        raise DataError(
            f"{path}: a fit in it has no {error}; it was not saved by save_fit"
        ) from None
    wanted = {"model_name": model, "fit_type": fit_type, "file_name": file}
    found = [
        fit
        for fit in every
        if all(value in (None, getattr(fit, key)) for key, value in wanted.items())
    ]
    if not found:
        listed = "; ".join(fit._title() for fit in every) or "none"
        raise DataError(f"{path}: has no such fit; it has: {listed}")
    return tuple(found)


def load_fit(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
) -> StoredFit:
    """The last fit of an archive, of that model, type and file if given."""
    return load_fits(path, model=model, fit_type=fit_type, file=file)[-1]


def _stored(contents: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> StoredFit:
    axes, measured = contents["axes"], contents["measurement"]
    measured = {
        key: tuple(value.tolist()) if key in ("rows", "columns") else value
        for key, value in measured.items()
    }
    return StoredFit(
        model_name=contents["model_name"],
        fit_type=contents["fit_type"],
        file_name=contents["file_name"],
        table=table_of(contents["parameters"]),
        free_names=tuple(contents["free_names"]),
        covariance=contents.get("covariance"),
        statistics=contents["statistics"],
        settings=contents["settings"],
        texts=contents["texts"],
        energy=axes.get("energy"),
        time=axes.get("time"),
        aux=axes.get("aux"),
        aux_weights=axes.get("aux_weights"),
        measured=measured,
        data=arrays.get(contents["data_sha256"]),
        data_sha256=contents["data_sha256"],
        versions=contents["versions"],
    )
