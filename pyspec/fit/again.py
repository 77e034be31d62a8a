"""Fits that are made again: what they begin with, and what to know of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import one_of, stack_outside
from pyspec.errors import DataError, FitError, ModelWarning, several
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.joint_fit import fit_joint
from pyspec.fit.results.ended import title_of
from pyspec.fit.results.joint import JointResult, data_of_each
from pyspec.fit.results.result import FitResult
from pyspec.fit.single import fit_model
from pyspec.fit.slices.fit import fit_slices
from pyspec.fit.slices.results import SliceResults
from pyspec.model import Measurement, Model
from pyspec.model.build.free import free_parameters

#: Where a fit that is made again starts from, by `start`.
STARTS = {
    "best": "the best values of an earlier fit",
    "initial": "the start values of an earlier fit",
}

#: Values that are named in a warning.
SHOWN = 5


def settings_again(
    result: FitResult | SliceResults,
    options: Mapping[str, object] = MappingProxyType({}),
    start: str = "best",
) -> dict[str, Any]:
    """The settings of a fit as arguments of another one, and `options` over them; random starts are
    among them with ``start="initial"``."""
    settings = dict(result.settings if isinstance(result, FitResult) else settings_of(result))
    methods = settings.pop("methods")
    arguments = {"backend": result.backend, "method": tuple(methods), **settings}
    if start == "best" and arguments.pop("n_starts", None):
        arguments.pop("seed", None)
    return {**arguments, **options}


def settings_of(slices: SliceResults) -> dict[str, Any]:
    """How slices were run."""
    first = next((fit.result.settings for fit in slices if fit.result is not None), None)
    return dict(first or {"methods": ["native"], "scale_covar": True})


def refit(
    result: FitResult,
    data: npt.ArrayLike | None,
    start: str,
    model: Model | None,
    options: Mapping[str, object],
) -> FitResult:
    """See :meth:`pyspec.FitResult.refit`."""
    one_of("start", start, tuple(STARTS), DataError)
    if isinstance(result, JointResult):
        if model is not None:
            raise FitError(
                "refit: a joint fit has a model for each file, so model= is of single fits; fit "
                "changed models by fit_joint([(model, measurement), ...])"
            )
        return _refit_files(result, data, start, options)
    measurement = _with_data(result._problem.measured(data), result.model_name)
    refitted = fit_model(
        model or _model_at(result, start), measurement, **settings_again(result, options, start)
    )
    refitted.fit_type, refitted.file_name = result.fit_type, result.file_name
    refitted.started_from = STARTS[start]
    _caution_alone(result, refitted)
    return refitted


def _refit_files(
    joint: JointResult, data: object, start: str, options: Mapping[str, object]
) -> JointResult:
    """The files of a joint fit fitted together again; `data` are those of each."""
    parts = [
        (_model_at(file, start), _with_data(file._problem.measured(own), file.model_name))
        for file, own in zip(joint.files, data_of_each(data, len(joint)), strict=True)
    ]
    settings = {"names": joint.names, **settings_again(joint, options, start)}
    again = fit_joint(parts, **settings)
    again.started_from = STARTS[start]
    return again


def refit_slices(
    slices: SliceResults, data: npt.ArrayLike | None, start: str, options: Mapping[str, object]
) -> SliceResults:
    """See :meth:`pyspec.SliceResults.refit`."""
    one_of("start", start, tuple(STARTS), DataError)
    starts, values = slices.start, slices.values
    columns = {
        name: (starts if start == "initial" and name in slices.free_names else values)[name]
        for name, par in slices.model.parameters.items()
        if par.formula is None and par.free is None
    }
    seeds = [
        {name: float(column[k]) for name, column in columns.items() if np.isfinite(column[k])}
        for k in range(len(slices))
    ]
    arguments: dict[str, Any] = {"seeds": seeds, "times": slices.time}
    arguments |= settings_again(slices, options, start)
    refitted = fit_slices(
        slices.model, _with_data(slices._measured(data), slices.model_name), **arguments
    )
    refitted.file_name, refitted.started_from = slices.file_name, STARTS[start]
    return refitted


def _with_data(measurement: Measurement, name: str) -> Measurement:
    if measurement.data is None:
        raise DataError(f"{name}: it was saved without data; hand them over: refit(data)")
    return measurement


def _model_at(result: FitResult, start: str) -> Model:
    """The model of a fit at its best values, or at those it began with."""
    if start == "best":
        return result.model.copy()
    model = result._problem.model.copy()
    model.set_values(result.start)
    return model


def _caution_alone(before: FitResult, result: FitResult) -> None:
    """Says of a file that was fitted together with others which shared parameters this file now has
    for itself, and how to fit all of them again."""
    if not before._is_joint_member:
        return
    parameters = result.problem.model.parameters
    shared = [name for name in result.free_names if parameters[name].scope == "project"]
    then, now = before.values, result.values
    shown = [f"{name} {then[name]:.6g} → {now[name]:.6g}" for name in shared]
    free = free_parameters(parameters)
    shown += [name for name, par in free.items() if par.free is not None and par.free.shared]
    if not shown:
        return
    told = Finding(Kind.REFITTED_ALONE, tuple(shared), {"what": several(shown, SHOWN)})
    result._findings = (*result._findings, told)
    title = title_of(before.fit_type, before.model_name, before.file_name)
    warnings.warn(f"{title}: {told}", ModelWarning, stack_outside())
