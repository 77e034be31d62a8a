"""Fits that are made again: what they begin with, and what to know of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, one_of, stack_outside
from pyspec.errors import CallError, DataError, ModelWarning, several, shortened
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.joint_fit import fit_joint
from pyspec.fit.results.ended import title_of
from pyspec.fit.results.joint import JointResult
from pyspec.fit.results.result import FitResult
from pyspec.fit.single import fit_model
from pyspec.fit.slices.fit import fit_slices
from pyspec.fit.slices.results import SliceResults
from pyspec.model import Measurement, Model
from pyspec.model.build.free import free_parameters
from pyspec.model.plugins import hand_in

#: Where a fit that is made again starts from, by `start`.
STARTS = {
    "best": "the best values of an earlier fit",
    "initial": "the start values of an earlier fit",
}

#: Values that are named in a warning.
SHOWN = 5

#: Values that moved by more than this, in standard errors, were fitted to other data.
MOVED = 0.01


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
        return refit_joint(result.files, start=start, **options)
    measurement = _with_data(result._problem.measured(data), result.model_name)
    refitted = fit_model(
        model or _model_at(result, start), measurement, **settings_again(result, options, start)
    )
    refitted.fit_type, refitted.file_name = result.fit_type, result.file_name
    refitted.started_from = STARTS[start]
    _caution_alone(result, refitted)
    return refitted


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


@answered
def refit_joint(
    fits: Sequence[FitResult | SliceResults], *, start: str = "best", **options: Any
) -> JointResult:
    """Fits the files of a joint fit together again, from what an archive holds of each.

    From the best values this takes one or two evaluations. It recovers what the parts do not hold:
    the covariance across files, curves, and spectra that several files share.

    Parameters
    ----------
    fits : the fits of all files, as :func:`pyspec.load_fits` returns them, with their data. Other
        fits of the archive are left out: baselines, slices, earlier joint fits of the same model
    start : "best", or "initial" for the start values of the saved fit
    options : of :func:`pyspec.fit_joint`; they override the settings that were saved

    Returns a :class:`JointResult`. Its findings say where values have moved, as they do where other
    files took part in the saved fit.

    Raises :class:`DataError` for fewer than two fits and for fits without data. It also raises it
    for fits of several joint fits without a last one, because their models or their files differ.
    """
    single = isinstance(fits, FitResult) and not isinstance(fits, JointResult)
    listed: list[Any] = [fits] if single else list(fits)
    parts = [fit for fit in listed if isinstance(fit, FitResult)]
    joined = _last_joint([fit for fit in parts if fit._is_joint_member])
    beside = (FitResult, SliceResults) if joined else FitResult
    other = next((fit for fit in listed if not isinstance(fit, beside)), None)
    if other is not None:
        raise CallError(
            f"refit_joint takes the fits of load_fits(path), not {shortened(other)}; slices and "
            "paths have no part in a joint fit"
        )
    parts = joined or parts
    if len(parts) < 2:
        raise DataError(
            f"refit_joint got {len(parts)} fit; give those of all files that were fitted together"
        )
    settings = settings_again(parts[0], options, start)
    names = [fit.file_name or f"file{k:02d}" for k, fit in enumerate(parts)]
    joint = fit_joint(
        [(_model_at(fit, start), _with_data(fit.measurement, fit.model_name)) for fit in parts],
        names=settings.pop("names", names),
        **settings,
    )
    joint.started_from = STARTS[start]
    gone = {name for fit, part in zip(parts, joint, strict=True) for name in _moved(fit, part)}
    if gone:
        told = Finding(Kind.MOVED, tuple(sorted(gone)))
        joint._findings = (*joint._findings, told)
    return joint


def _last_joint(joined: Sequence[FitResult]) -> list[FitResult]:
    """The parts of that joint fit after which none of its files has another one of the same model.
    Parts of one fit have the seconds that it took in common."""
    last = {(fit.file_name, fit.model_name): fit.seconds for fit in joined}
    fits: dict[float, dict[object, FitResult]] = {}
    for fit in joined:  # a part that was saved again, with samples, takes the place of the first
        own = fit.file_name or (fit.data_sha256, *fit.values.values())
        fits.setdefault(fit.seconds, {})[own] = fit
    ends = [
        list(parts.values())
        for seconds, parts in fits.items()
        if all(last[fit.file_name, fit.model_name] == seconds for fit in parts.values())
    ]
    if fits and len(ends) != 1:
        of = [
            ", ".join(fit.file_name or "no name" for fit in each.values()) for each in fits.values()
        ]
        models = [next(iter(each.values())).model_name for each in fits.values()]
        shown = ", ".join(f"'{model} of {files}'" for model, files in zip(models, of, strict=True))
        raise DataError(
            f"refit_joint got the parts of {len(fits)} joint fits, {shown}; give those of one, "
            f"such as load_fits(path, model={joined[-1].model_name!r}), or of its files alone"
        )
    return ends[0] if ends else []


def _moved(result: FitResult, again: FitResult) -> list[str]:
    """The free parameters of a fit that ended elsewhere than before."""
    values, stderr, values_again = result.values, result.stderr, again.values
    return [
        name
        for name in again.free_names
        if (error := stderr.get(name)) and abs(values_again[name] - values[name]) > MOVED * error
    ]


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


hand_in("refit", refit)
hand_in("refit_slices", refit_slices)
