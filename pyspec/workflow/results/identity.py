"""Which fit is meant: handles, labels, and what a person gave for a fit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np

from pyspec.calls import one_of
from pyspec.errors import FitError, ModelError, shortened, suggest
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.again import settings_of
from pyspec.model import Measurement
from pyspec.model.data.digest import digest
from pyspec.model.data.source import source_of
from pyspec.plot.protocols import Fit

FIT_TYPES = ("baseline", "spectrum", "sbs", "2d", "trace")

#: Digits of a handle that tables show; as many as are needed are enough to name a fit.
SHORT = 8

#: So many fits are named in a message.
LISTED = 20

#: Words that `select=` takes, which no label may be.
SELECTIONS = ("all", "latest", "best")


def check_type(fit_type: str | None) -> None:
    """Raises :class:`FitError` for an unknown type of fit."""
    if fit_type is not None:
        one_of("fit_type", fit_type, FIT_TYPES, FitError)


def handle_of(fit: Fit) -> str:
    """A name of a fit that follows from what was fitted and what came out: the first digits of a
    sha256. A fit that was saved and loaded keeps it."""
    facts: list[object] = [fit.model_name, fit.fit_type, fit.file_name]
    if isinstance(fit, SliceResults):
        columns = (fit.values, fit.stderr)
        facts += [{k: np.asarray(v).tolist() for k, v in column.items()} for column in columns]
        facts.append(np.asarray(fit.chisqr).tolist())
    else:
        rows = [(r.name, r.value, bool(r.vary), r.min, r.max, r.expr, r.init) for r in fit.table]
        facts += [rows, float(fit.chisqr)]
        measured = fit.measurement
        unknown = measured.weight is None and measured.loss != "poisson"
        if is_scaled_by_scatter(fit) != unknown:  # its errors alone are others
            facts.append({"scale_covar": is_scaled_by_scatter(fit)})
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def is_scaled_by_scatter(fit: FitResult) -> bool:
    """Whether standard errors are scaled by the scatter of the residuals."""
    return bool((fit.settings or {}).get("scale_covar", True))


def stamp(fit: Fit) -> None:
    """Remembers when a fit ended, in UTC."""
    fit.timestamp = datetime.now(timezone.utc).isoformat(timespec="seconds")


def measured_by(fit: Fit) -> Measurement:
    """The Measurement that a fit saw. For a fit that was saved without data they are zeros, with
    its window, noise and mask."""
    measurement = fit.measurement
    if measurement.data is not None:
        return measurement
    model = fit.model
    axes = [model.time] if model.is_time_model else [model.time, model.energy]
    shape = [len(axis) for axis in axes if axis is not None]
    if isinstance(fit, SliceResults):
        heights = [
            array.shape[0]
            for array in (measurement.weight, measurement.keep)
            if array is not None and array.ndim == 2
        ]
        shape = [max([int(fit.rows[-1]) + 1, *heights]), *shape]
    return replace(measurement, data=np.broadcast_to(0.0, shape))


def one_fit(fit: Fit, subject: str) -> FitResult:
    """Returns a fit that is not made of slices; slices have no `subject` in common."""
    if isinstance(fit, SliceResults):
        raise FitError(f"slices have no {subject} in common; ask one: slices[0].result")
    return fit


def matching(
    fits: Iterable[Fit], file: object = None, model: object = None, fit_type: object = None
) -> list[Fit]:
    """The fits of a file, model and type, each one name or several; None: any will do. Raises
    :class:`FitError` for an unknown type."""
    files, models, types = map(names_of, (file, model, fit_type))
    for kind in types or ():
        check_type(kind)
    return [
        fit
        for fit in fits
        if (files is None or fit.file_name in files)
        and (models is None or fit.model_name in models)
        and (types is None or fit.fit_type in types)
    ]


def find_fit(fits: Sequence[Fit], ref: str) -> Fit:
    """The fit of a label or of the beginning of a handle; of equal ones the last.

    Raises :class:`FitError` where there is none, or several.
    """
    if not isinstance(ref, str) or not ref:
        raise FitError(f"{ref!r} names no fit; give a label, or the first digits of a handle")
    matches = {handle_of(fit): fit for fit in fits if fit.label == ref}
    if not matches:
        matches = {handle_of(fit): fit for fit in fits if handle_of(fit).startswith(ref)}
    if len(matches) == 1:
        return next(iter(matches.values()))
    if matches:
        shown = in_words(matches.values())
        raise FitError(f"{ref!r} names several fits: {shown}; give more of the handle of one")
    raise FitError(f"no fit {ref!r}; there are: {in_words(fits)}")


def last_fit(
    fits: Sequence[Fit],
    file: object,
    model: str | None,
    fit_type: str | None,
    handle: str | None,
) -> Fit:
    """The last of the fits of a file, model and type, None for any; or that of a handle.

    Raises :class:`FitError` where there is none, or where several handles begin so.
    """
    if not isinstance(model, (str, type(None))):
        raise FitError(f"model is {shortened(model)}; give the name of one, or none for any")
    if not fits:
        raise FitError("no fit yet; call fit_2d, fit_spectrum, fit_baseline or fit_trace first")
    matches = matching(fits, file, model, fit_type)
    if matches:
        return matches[-1] if handle is None else find_fit(matches, handle)
    hint = suggest(model, [fit.model_name for fit in fits]) if model else ""
    if fit_type == "sbs" and not hint:
        hint = "; fit the slices first: file.fit_slice_by_slice('name')"
    wanted = " ".join(name for name in (fit_type, model) if name)
    where = "" if file is None else f" to {name_of_file(file)}"
    text = f"no fit {wanted} yet{where}{hint}; fits so far: {kinds_of(fits)}"
    raise FitError(text.replace("  ", " "))


def find_named(fits: Sequence[Fit], ref: str) -> Fit:
    """The fit of a label; else the last of a type ("2d") or model; else the one whose handle begins
    so. Of fits that ended in the same second the later in the list is the last."""
    kind = [fit for fit in fits if ref in (fit.fit_type, fit.model_name)]
    if not kind or any(fit.label == ref for fit in fits):
        return find_fit(fits, ref)
    return sorted(kind, key=lambda fit: fit.timestamp)[-1]


def described(fit: Fit) -> str:
    """A fit in a few words, with its handle."""
    named = f" {fit.label!r}" if fit.label else ""
    where = f" to {fit.file_name}" if fit.file_name else ""
    return f"{handle_of(fit)[:SHORT]}{named} ({fit.fit_type} of {fit.model_name}{where})"


def in_words(fits: Iterable[Fit]) -> str:
    """Fits in a few words, one after the other, of many the first of them; "none" for none."""
    all_fits = list(fits)
    more = f", and {len(all_fits) - LISTED} more" if len(all_fits) > LISTED else ""
    return (", ".join(described(fit) for fit in all_fits[:LISTED]) or "none") + more


def kinds_of(fits: Iterable[Fit]) -> str:
    """Of which types and models fits are, each once; "none" for none."""
    return ", ".join(dict.fromkeys(f"{fit.fit_type} of {fit.model_name}" for fit in fits)) or "none"


def selection_of(fit: Fit) -> dict[str, list[int] | None]:
    """The window of a fit: half-open ranges of rows and columns."""
    measured = measured_by(fit)
    rows, columns = measured.rows, measured.columns
    return {
        "e_lim": None if columns is None else [int(k) for k in columns],
        "t_lim": None if rows is None else [int(k) for k in rows],
    }


def sigma_of(fit: Fit) -> float:
    """The standard deviation of the data that a fit saw, where it is the same for all points;
    else NaN."""
    measured = measured_by(fit)
    if measured.weight is None or source_of(measured.weight) is not None:
        return float("nan")
    weight = np.asarray(measured.weight, dtype=np.float64)
    largest = float(weight.max())
    return 1.0 / largest if largest > 0 and float(weight.min()) == largest else float("nan")


def inputs_of(fit: Fit) -> dict[str, object]:
    """The inputs of a fit. These are method and options; window, mask and noise; start, bounds and
    expression of every parameter. They tell whether the fit belongs to a joint fit. For slices they
    have the source of the starts."""
    measured = measured_by(fit)
    settings = vars(fit).get("settings")
    if settings is None and isinstance(fit, SliceResults):
        settings = settings_of(fit)
    options = {**(settings or {}), "backend": fit.backend}
    inputs: dict[str, object] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }
    inputs |= {key: tuple(v) if v else None for key, v in selection_of(fit).items()}
    inputs |= {"mask": mask_of(measured), "noise": noise_of(measured)}
    inputs["data"] = fit.data_sha256[:SHORT]
    inputs["of_joint"] = bool(getattr(fit, "_is_joint_member", False))
    if isinstance(fit, SliceResults):  # whose starts differ from slice to slice
        inputs["started_from"] = fit.started_from
    model = fit.model
    alike = model.copy()  # but for its values, which say what was found
    own = alike.parameters.values()
    alike.set_values({par.name: 0.0 for par in own if par.formula is None and par.free is None})
    inputs["model_structure"] = hashlib.sha256(alike.to_yaml().encode()).hexdigest()[:SHORT]
    starts = {row.name: row.init for row in fit.table} if isinstance(fit, FitResult) else {}
    for name, par in model.parameters.items():
        free = par.vary and par.formula is None
        inputs[f"{name}.init"] = starts.get(name, None if free else par.value)
        inputs[f"{name}.vary"], inputs[f"{name}.expr"] = bool(free), par.expr
        if free:  # the bounds of a fixed parameter change nothing
            inputs[f"{name}.min"], inputs[f"{name}.max"] = float(par.min), float(par.max)
    return inputs


def mask_of(measured: Measurement) -> str:
    """How many points of the window a mask leaves out, and which."""
    if measured.keep is None:
        return "none"
    if source_of(measured.keep) is not None:
        return f"of each point, {digest(measured.keep)[:SHORT]}"
    kept = np.ascontiguousarray(measured.window(np.asarray(measured.keep)))
    left = kept.size - int(np.count_nonzero(kept))
    return f"{left} of {kept.size} points, {digest(kept)[:SHORT]}" if left else "none"


def noise_of(measured: Measurement) -> str:
    """The noise of data in a word, with its size."""
    if measured.loss == "poisson":
        return f"poisson(scale={measured.loss_scale:g})"
    if measured.weight is None:
        return "unknown"
    if source_of(measured.weight) is not None:
        return f"gaussian(sigma of each point, {digest(measured.weight)[:SHORT]})"
    weight = np.asarray(measured.weight, dtype=np.float64)
    if float(weight.min()) == float(weight.max()):
        return f"gaussian(sigma={1.0 / float(weight.max()):g})"
    return f"gaussian(sigma of each point, {digest(weight)[:SHORT]})"


def name_of_file(file: object) -> str | None:
    """A file as results name it: its name, or that of a File."""
    if file is None or isinstance(file, str):
        return file
    name = getattr(file, "name", None)
    if not isinstance(name, str):
        raise FitError(f"file is {file!r}; give its name, or the File")
    return name


def one_name(model: str | Sequence[str], subject: str) -> str:
    """The one name in a name or a list of names."""
    names = name_list(model)
    if len(names) != 1:
        raise ModelError(f"{subject} is {model!r}; name one model")
    return names[0]


def name_list(names: str | Sequence[str]) -> list[str]:
    """A name or several names as a list."""
    return [names] if isinstance(names, str) else list(names)


def listed(values: object) -> list[object]:
    """One thing, or several, as a list."""
    if isinstance(values, Collection) and not isinstance(values, str):
        return list(values)
    return [values]


def names_of(names: object) -> set[str | None] | None:
    """One name, or several, as a set; None for None."""
    return None if names is None else {name_of_file(name) for name in listed(names)}
