"""Job files: what to read, which model, how to fit, where to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt

from pyspec.calls import whole
from pyspec.cli.jobs.fields import Fields, Limits, given_options, open_job
from pyspec.errors import FitError
from pyspec.executor import backend_name
from pyspec.fit.evaluations import check_limits
from pyspec.fit.options import MEANT, FitOptions, check_options
from pyspec.fit.solve.methods import NATIVE, checked_linear, checked_methods
from pyspec.fit.solve.native import native_options
from pyspec.io.read import one_file, read
from pyspec.io.readers import WORDS
from pyspec.model.data.axes import check_axis, check_weights
from pyspec.model.yaml.reader import Scalar, Sequence
from pyspec.plot import PlotConfig
from pyspec.plot.config import ALIASES, FIELDS
from pyspec.workflow.data.noise import make_noise

Array = npt.NDArray[np.float64]

JOB_TYPES = ("2d", "spectrum", "baseline", "slices", "trace")

#: One place on an axis: a value or position, or a range of values.
Place = float | int | tuple[float, float]


@dataclass
class DataSpec:
    """`data:`, what to read and which part of it."""

    path: Path
    options: dict[str, Any]
    shift: dict[str, float]
    select: dict[str, Place]
    at: dict[str, int]
    mean: list[str]
    rename: dict[str, str]
    mask: str | None
    fields: Fields = field(repr=False)


@dataclass
class Law:
    """One entry of `dynamics:` or `profiles:`."""

    parameter: str
    models: list[str]
    path: Path | None
    frequency: float
    fields: Fields = field(repr=False)


@dataclass
class FitSpec:
    """`fit:`, what is fitted and how."""

    type: str | None
    spectrum: float | tuple[float, float] | None
    options: dict[str, Any]
    progress: bool


@dataclass
class Job:
    """A whole job file. All paths are absolute or relative to the working directory. `auxiliary`
    are arguments of File, `noise` those of :meth:`pyspec.File.set_noise`, `limits` those of
    :meth:`pyspec.File.set_fit_limits`; sigma may be a path. `inputs` are files of values, and how
    they are read, `command` and `unsure` what ``pyspec new`` wrote."""

    path: Path
    name: str
    data: DataSpec
    models: Path
    model: str | None
    dynamics: list[Law]
    profiles: list[Law]
    auxiliary: dict[str, Any]
    inputs: dict[str, tuple[Path, dict[str, Any]]]
    limits: dict[str, Any]
    baseline: Limits | None
    noise: dict[str, Any] | None
    fit: FitSpec
    folder: Path
    archive: bool
    plot: PlotConfig
    fields: Fields = field(repr=False)
    command: str = ""
    unsure: dict[str, str] = field(default_factory=dict)


def read_job(path: str | Path) -> Job:
    """Reads and checks a job file. Raises :class:`JobError` with file and line."""
    file = Path(path)
    top, home = open_job(file), file.parent
    name, data = top.value("name", str, file.stem), _data(top, home)
    model = top.value("model", str)  # first: no misspelt 'models'
    models = home / top.need("models", "the YAML file of the models")
    job = Job(
        path=file,
        name=name,
        data=data,
        models=models,
        model=model,
        dynamics=[_law(entry, home, True) for entry in top.several("dynamics")],
        profiles=[_law(entry, home, False) for entry in top.several("profiles")],
        auxiliary=_auxiliary(top),
        inputs=_inputs(top, home, data.path),
        limits=_limits(top),
        baseline=top.value("baseline", Limits),
        noise=_noise(top, home),
        fit=_fit(top),
        **_output(top, home),
        plot=_plot(top),
        fields=top,
    )
    first = top.fields("first")
    job.command = first.value("command", str, "")
    job.unsure = first.value("unsure", dict[str, str], {})
    first.done()
    top.done()
    return job


def _data(top: Fields, home: Path) -> DataSpec:
    own = top.fields("data")
    if not own.is_present:
        raise top.wrong("data", "is missing; give 'data:' and below it 'path: my_data.csv'")
    path = home / own.need("path", "the file with the data")
    at = _places(own, "at")
    for value in at.values():
        if not isinstance(value, int):
            raise own.wrong(
                "at", f"gives positions, whole numbers from 0, not {value!r}; see 'select:'"
            )
    spec = DataSpec(
        path=path,
        options=_reading(own, home, path),
        shift=own.value("shift", dict[str, float], {}),
        select=_places(own, "select"),
        at=at,
        mean=own.value("mean", list[str], []),
        rename=own.value("rename", dict[str, str], {}),
        mask=own.choice("mask", ("nan",), None),
        fields=own,
    )
    own.done()
    return spec


def _reading(own: Fields, home: Path, path: Path) -> dict[str, Any]:
    """How the file `path` is read: arguments of :func:`pyspec.read`."""
    names = [name for name in signature(read).parameters if name not in _NO_FIELDS]
    axes = {name: _axis(own, name, home, path) for name in ("energy", "time")}
    options = {"format": own.choice("format", WORDS, None), **axes}
    return {**given_options(options), **own.call(read, *names)}


#: Arguments of :func:`pyspec.read` that a job has otherwise, or not at all.
_NO_FIELDS = ("path", "format", "energy", "time", "name", "lazy")


def _axis(own: Fields, key: str, home: Path, path: Path) -> object:
    """An axis: the path of a file beside the job or the data, or the value as it stands."""
    value = own.value(key, object)
    if not isinstance(value, str) or value == "index":
        return value
    with own.blame(key):
        file = one_file(key, value, (home, path.parent))
        here = None if file is not None else one_file(key, value, (Path(),))
    if here is not None:
        raise own.wrong(
            key,
            f"is no file seen from the folder of the job, or beside the data; if {here.resolve()} "
            "is meant, give this path",
        )
    return value if file is None else str(file.resolve())


def _places(own: Fields, key: str) -> dict[str, Any]:
    """Axis → number or (from, to)."""
    inner = own.fields(key)
    places = {axis: inner.value(axis, object) for axis in inner.nodes}
    for axis, value in places.items():
        if isinstance(value, list):
            places[axis] = inner.value(axis, tuple[float, float])
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise inner.wrong(axis, f"give a number or [from, to], not {value!r}")
    return places


def _inputs(top: Fields, home: Path, data: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Files of values, or columns of a file: without a path of that of the data."""
    inner = top.fields("inputs")
    inputs: dict[str, tuple[Path, dict[str, Any]]] = {}
    for name, (_, value) in inner.nodes.items():
        if isinstance(value, Scalar):
            inputs[name] = home / inner.need(name, "a file"), {}
            continue
        own = inner.fields(name)
        file = own.value("path", str)
        path = data if file is None else home / file
        options = _reading(own, home, path)
        own.done()
        if file is None and not options:
            raise inner.wrong(name, "has no path; write 'path: reference.csv', or 'columns: ref'")
        inputs[name] = path, options
    return inputs


def _law(own: Fields, home: Path, moves: bool) -> Law:
    if len(own.nodes) == 1 and not own.nodes.keys() & {"parameter", "model"}:
        ((name, (_, value)),) = own.nodes.items()
        model = value.text if isinstance(value, Scalar) else "…"
        raise own.wrong(name, f"write '- {{parameter: {name}, model: {model}}}'")
    parameter = own.need("parameter", "the name of a parameter, such as GLP_01_x0")
    models = own.value("model", list[str])
    if not models:
        raise own.wrong("model", "is missing; give the name of a model of time laws")
    path = own.value("path", str)
    frequency = own.value("frequency", float, -1.0) if moves else -1.0
    own.done()
    return Law(parameter, models, None if path is None else home / path, frequency, own)


def _auxiliary(top: Fields) -> dict[str, Any]:
    own = top.fields("auxiliary")
    if not own.is_present:
        return {"aux_axis": None, "aux_weights": None}
    values, weights = (own.value(key, list[float]) for key in ("values", "weights"))
    span, points = own.value("range", tuple[float, float]), own.whole("points", 1)
    own.done()
    if [setting is not None for setting in (values, span, points)] not in ([1, 0, 0], [0, 1, 1]):
        raise top.wrong(
            "auxiliary", "give 'values: [0, 1, 2]', or 'range: [0, 5]' and 'points: 20'"
        )
    places = values if span is None else np.linspace(span[0], span[1], points or 1)
    with top.blame("auxiliary"):
        axis = check_axis(places, "auxiliary")
        check_weights(weights, axis.size)
    return {"aux_axis": axis, "aux_weights": weights}


def _limits(top: Fields) -> dict[str, Any]:
    own = top.fields("limits")
    limits = {
        **{f"{key}_limits": own.value(key, Limits) for key in ("energy", "time")},
        **{key: own.value(key, list[Limits], []) for key in ("exclude", "exclude_times")},
    }
    own.done()
    return limits


def _noise(top: Fields, home: Path) -> dict[str, Any] | None:
    own = top.fields("noise")
    if not own.is_present:
        return None
    kind = own.choice("type", ("gaussian", "poisson", "none"), "gaussian")
    noise_type = "unknown" if kind == "none" else kind
    word, scale = own.value("sigma", object), own.value("scale", float)
    is_file = isinstance(word, str) and bool(word.strip())
    sigma = home / word if is_file else own.value("sigma", float)
    own.done()
    with top.blame("noise"):
        make_noise(noise_type, 1.0 if is_file else sigma, scale, ())
    return {"noise_type": noise_type, "sigma": sigma, "scale": scale}


def _fit(top: Fields) -> FitSpec:
    own = top.fields("fit")
    kind, node = own.choice("type", JOB_TYPES, None), own.node("spectrum")
    spectrum = own.value("spectrum", tuple[float, float] if isinstance(node, Sequence) else float)
    options = {
        "method": own.checked("method", checked_methods, list[str]),
        "backend": own.checked("backend", backend_name),
        "max_nfev": own.whole("max_evaluations", 1),
        "scale_covar": own.value("scale_errors", bool),
    }
    inner, methods = own.fields("options"), checked_methods(options["method"])
    options |= {key: _option(inner, key) for key in inner.nodes}
    for key in inner.nodes.keys() - get_type_hints(FitOptions).keys() if NATIVE in methods else ():
        with inner.blame(key):
            native_options("fit", {key: options[key]})
    progress = own.value("progress", bool, True)
    for key in [key for key in own.nodes if key not in own.field_names]:
        if key in get_type_hints(FitOptions):
            raise own.wrong(key, f"is an option: write 'options: {{{key}: …}}' below 'fit:'")
        if key in MEANT:
            with own.blame(key):
                check_options("fit", {key: None})
    own.done()
    chosen = {key: value for key, value in options.items() if value is not None}
    return FitSpec(kind, spectrum, chosen, progress)


def _option(inner: Fields, key: str) -> object:
    """An argument of fits, of the kind that it takes."""
    hints = get_type_hints(FitOptions)
    if key in _ELSEWHERE:
        raise inner.wrong(key, f"is no option; write {_ELSEWHERE[key]}")
    value = inner.value(key, hints.get(key, object))
    with inner.blame(key):
        if key not in hints:
            check_options("fit", {key: value})
        if value is not None and key in _CHECKS:
            _CHECKS[key](value)
    return value


#: Keys that are no options of a fit, and the field of a job for each.
_ELSEWHERE = {
    **dict.fromkeys(("sigma", "noise", "weights"), "'noise: {sigma: 0.4}'"),
    **dict.fromkeys(("energy", "time", "limits"), "'limits: {energy: [82, 90]}'"),
    **dict.fromkeys(("type", "spectrum", "scale_errors"), "it below 'fit:'"),
    "mask": "'mask: nan' below 'data:'",
    "client": "--scheduler behind 'pyspec fit'",
}

#: What a fit would refuse once the data are read.
_CHECKS: dict[str, Callable[[Any], object]] = {
    "linear": checked_linear,
    "n_starts": lambda value: whole("n_starts", value, 1, FitError),
    "seed": lambda value: whole("seed", value, 0, FitError),
    "max_nfev": lambda value: check_limits(value, None),
    "max_seconds": lambda value: check_limits(None, value),
}


def _output(top: Fields, home: Path) -> dict[str, Any]:
    if isinstance(top.node("output"), Scalar):
        return {"folder": home / top.value("output", str), "archive": True}
    own = top.fields("output")
    folder, archive = own.value("folder", str, "results"), own.value("archive", bool, True)
    own.done()
    return {"folder": home / folder, "archive": archive}


def _plot(top: Fields) -> PlotConfig:
    own, config = top.fields("plot"), PlotConfig(dpi_save=160)
    for key in (*FIELDS, *ALIASES):
        value = own.value(key, object)
        if value is not None:
            with own.blame(key):
                config.update(**{key: value})
    own.done()
    return config
