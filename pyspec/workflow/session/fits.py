"""The fits of a session: documents in, results and documents with their values out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from pyspec.errors import FitError
from pyspec.fit import (
    FitResult,
    JointResult,
    SliceResults,
    fit_joint,
    fit_model,
    fit_slices,
    fit_trace,
)
from pyspec.model import Model
from pyspec.model.data.windows import slice_of
from pyspec.workflow.fitting.several import seen_from
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.edits import Set, applied
from pyspec.workflow.session.ground import Ground
from pyspec.workflow.session.state import ONE

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: What a fit returns whose values the models take.
Fitted: TypeAlias = "FitResult | JointResult"

#: What is told of a fit as it goes: evaluations, chi², and the lowest so far.
Told: TypeAlias = "Callable[[int, float, float], object]"


class RunOptions(TypedDict, total=False):
    """What a session says of how a fit runs."""

    backend: str | None
    progress: Told | None
    max_seconds: float | None
    scale_covar: bool | None


#: Fits of one model that follow each other at most, until their values come again.
_ROUNDS = 8

#: Seconds behind the first, or the time that it took, after which no further one is begun.
_SECONDS = 5.0


def rounds(
    ground: Ground, document: Document, scope: str, progress: Told | None
) -> tuple[Fitted, Document]:
    """The fit and the document with its values; again from there until nothing changes."""
    began = monotonic()
    result = fitted(ground, document, scope, progress=progress).diagnose()
    after = with_result(ground, document, result)
    seen, end = [result.values], monotonic() + max(monotonic() - began, _SECONDS)
    goes_on = scope != "spectrum" and result.success and not result.interrupted
    for _ in range(_ROUNDS if goes_on else 0):
        if monotonic() > end:
            break
        again = fitted(ground, after, scope).diagnose()
        for part in (again, *again) if isinstance(again, JointResult) else (again,):
            part.nfev, part.seconds = part.nfev + result.nfev, part.seconds + result.seconds
        result, after = again, with_result(ground, after, again)
        if result.values in seen:
            break
        seen.append(result.values)
    return result, after


def shared_by(ground: Ground, document: Document) -> list[str]:
    """The parameters that the files share."""
    if document.model is None or len(ground.files) == 1:
        return []
    pars = document.model.parameters
    return [name for name, par in pars.items() if par.scope == "project"]


def fitted(
    ground: Ground, document: Document, scope: str = "all", **options: Unpack[RunOptions]
) -> Fitted:
    """The fit of "all", of a "spectrum", or of all files, "joint"."""
    model = document.model
    if model is None:
        raise FitError("there is no model to fit; add a component first")
    if ground.file.noise.is_known:
        options["scale_covar"] = False
    options["backend"] = ground.file.project.backend
    if scope == "joint":
        if not shared_by(ground, document):
            raise FitError(
                "no parameter is shared by files; say 'project' in place of True in its entry, or "
                "fit each file by itself"
            )
        parts = []
        for number, there in enumerate(ground.files):
            seen = seen_from(ground, document, number)
            assert seen.model is not None
            parts.append((seen.model, there.measurement(seen)))
        return fit_joint(parts, names=[there.file.name for there in ground.files], **options)
    if ground.kind == "trace":
        assert ground.time is not None
        measured = ground.measurement(document)
        return fit_trace(model, None, ground.time, ground.data, measurement=measured, **options)
    if scope == "spectrum":
        model, measurement = ground.at_row(document)
    else:
        measurement = ground.measurement(document)
    result = fit_model(model, measurement, **options)
    kind = "2d" if scope == "all" and ground.kind == "series" else "spectrum"
    if scope == "spectrum" and ground.kind == "series":
        kind = ONE
    result.fit_type, result.file_name = kind, ground.file.name
    return result


def with_result(ground: Ground, document: Document, result: Fitted) -> Document:
    """The document with the values of a fit, which go into the text to the last digit."""
    if isinstance(result, JointResult):
        shown = document.file
        for number, part in enumerate(result):
            seen = seen_from(ground, document, number)
            document = with_result(ground, seen, part)
        return seen_from(ground, document, shown)
    edits = [Set(name, "value", result.values[name]) for name in result.free_names]
    merge = applied(ground.files[document.file], document, edits)
    assert document.model is not None
    parameters = document.model.parameters
    start = {name: parameters[name].value for name in result.free_names}
    fits = {**document.fits, document.name: result}
    begun = {**document.begun, document.name: start}
    return replace(merge.document, fits=fits, begun=begun)


def slices_of(
    ground: Ground, document: Document, progress: Callable[[int, int], object] | None
) -> SliceResults:
    """The fits of single spectra."""
    if ground.kind != "series" or document.model is None or ground.time is None:
        raise FitError("slices are the spectra of a series; these data are one")
    measurement = ground.measurement(document)
    scaled = False if ground.file.noise.is_known else None
    times = ground.time[slice_of(measurement.rows)]
    return fit_slices(
        ground.still(document), measurement, times=times, progress=progress, scale_covar=scaled
    )


def holding(model: Model | None, held: Collection[str]) -> Model | None:
    """The model in which parameters are not free."""
    free = [] if model is None else [name for name in held if name in model.opt_param_names]
    if model is None or not free or len(free) == len(model.opt_param_names):
        return model
    copy = model.copy()
    for name in free:
        copy.parameters[name].vary, copy.parameters[name].scope = False, "static"
    return copy
