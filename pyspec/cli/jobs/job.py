"""Job files: what to read, which model, how to fit, where to write."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt

from pyspec.calls import whole
from pyspec.cli.jobs.fields import Fields, Limits, given, open_job
from pyspec.cli.jobs.kinds import fits, words
from pyspec.errors import FitError, shortened
from pyspec.executor import backend_name
from pyspec.fit import canonical_method
from pyspec.fit.evaluations import check_limits
from pyspec.fit.options import StagedOptions, check_options
from pyspec.fit.solve.methods import checked_linear
from pyspec.io.read import one_file
from pyspec.io.readers import WORDS
from pyspec.model.data.axes import check_axis, check_weights
from pyspec.model.yaml.reader import Mapping, Scalar
from pyspec.plot import PlotConfig
from pyspec.plot.config import ALIASES, FIELDS

Array = npt.NDArray[np.float64]

FIT_TYPES = ("2d", "spectrum", "baseline", "slices", "trace")

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


@dataclass(frozen=True)
class InputSpec:
    """One of `inputs:`, the file of its values, and how that is read."""

    path: Path
    options: dict[str, Any]


@dataclass
class FitSpec:
    """`fit:`, what is fitted and how."""

    type: str | None
    spectrum: float | tuple[float, float] | None
    options: dict[str, Any]
    workers: int | None
    progress: bool


@dataclass
class Job:
    """A whole job file. All paths are absolute or relative to the working directory. `auxiliary`
    are arguments of File, `noise` those of :meth:`pyspec.File.set_noise`; sigma may be a path."""

    path: Path
    name: str
    data: DataSpec
    models: Path
    model: str | None
    dynamics: list[Law]
    profiles: list[Law]
    auxiliary: dict[str, Any]
    inputs: dict[str, InputSpec]
    energy_limits: Limits | None
    time_limits: Limits | None
    exclude: list[Limits]
    exclude_times: list[Limits]
    baseline: Limits | None
    noise: dict[str, Any] | None
    fit: FitSpec
    folder: Path
    archive: bool
    plot: PlotConfig
    plot_given: frozenset[str]
    fields: Fields = field(repr=False)
    command: str = ""
    unsure: dict[str, str] = field(default_factory=dict)


def read_job(path: str | Path) -> Job:
    """Reads and checks a job file. Raises :class:`JobError` with file and line."""
    file = Path(path)
    top, home = open_job(file), file.parent
    name, data = top.text("name", file.stem), _data(top, home)
    model = top.text("model", None)  # first: no misspelt 'models'
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
        **_limits(top),
        baseline=top.limits("baseline"),
        noise=_noise(top, home),
        fit=_fit(top),
        **_output(top, home),
        **_plot(top),
        **_first(top),
        fields=top,
    )
    top.done()
    return job


def _data(top: Fields, home: Path) -> DataSpec:
    own = top.fields("data")
    if not own.given:
        raise top.wrong("data", "is missing; give 'data:' and below it 'path: my_data.csv'")
    path = home / own.need("path", "the file with the data")
    options = _reading(own, home, path)
    options |= {key: own.text(key, None) for key in ("energy_scale", "to")}
    options |= {key: own.number(key, None) for key in ("photon_energy", "work_function")}
    options |= {key: own.flag(key, False) for key in ("jacobian", "transpose", "sort")}
    options |= {"errors": own.plain("errors"), "units": own.by_name("units")}
    shift = own.fields("shift")
    spec = DataSpec(
        path=path,
        options=given(options),
        shift={axis: shift.number(axis, 0.0) for axis in shift.nodes},
        select=_places(own),
        at={key: _whole(own, value) for key, value in _places(own, "at").items()},
        mean=own.words("mean") or [],
        rename=own.by_name("rename"),
        mask=own.choice("mask", ("nan",), None),
        fields=own,
    )
    own.done()
    return spec


def _reading(own: Fields, home: Path, path: Path) -> dict[str, Any]:
    """How the file `path` is read: arguments of :func:`pyspec.read`."""
    return {
        "format": own.choice("format", WORDS, None),
        **{key: own.text(key, None) for key in ("layout", "delimiter", "decimal")},
        **{key: _axis(own, key, home, path) for key in ("energy", "time")},
        **{key: own.plain(key) for key in ("data", "columns", "block")},
    }


def _axis(own: Fields, key: str, home: Path, path: Path) -> Any:
    """An axis: the path of a file beside the job or the data, or the value as it stands."""
    value = own.plain(key)
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


def _whole(own: Fields, value: Place) -> int:
    if isinstance(value, int):
        return value
    raise own.wrong("at", f"gives positions, whole numbers from 0, not {value!r}; see 'select:'")


def _places(own: Fields, key: str = "select") -> dict[str, Place]:
    """Axis → number or (from, to)."""
    inner = own.fields(key)
    found: dict[str, Place] = {}
    for axis in inner.nodes:
        value: Any = inner.plain(axis)
        pair = inner.pair(axis) if isinstance(value, list) else None
        if pair is None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise inner.wrong(axis, f"give a number or [from, to], not {value!r}")
        found[axis] = value if pair is None else pair
    return found


def _inputs(top: Fields, home: Path, data: Path) -> dict[str, InputSpec]:
    """Files of values, or columns of a file: without a path of that of the data."""
    inner, found = top.fields("inputs"), {}
    for name, (_, value) in inner.nodes.items():
        if isinstance(value, Scalar):
            found[name] = InputSpec(home / inner.need(name, "a file"), {})
            continue
        own = inner.fields(name)
        file = own.text("path", None)
        path = data if file is None else home / file
        options = given(_reading(own, home, path))
        own.done()
        if file is None and not options:
            raise inner.wrong(name, "has no path; write 'path: reference.csv', or 'columns: ref'")
        found[name] = InputSpec(path, options)
    return found


def _law(own: Fields, home: Path, moves: bool) -> Law:
    if len(own.nodes) == 1 and not own.nodes.keys() & {"parameter", "model"}:
        ((name, (_, value)),) = own.nodes.items()
        model = value.text if isinstance(value, Scalar) else "…"
        raise own.wrong(name, f"write '- {{parameter: {name}, model: {model}}}'")
    parameter = own.need("parameter", "the name of a parameter, such as GLP_01_x0")
    models = own.words("model")
    if not models:
        raise own.wrong("model", "is missing; give the name of a model of time laws")
    path = own.text("path", None)
    frequency = own.number("frequency", -1.0) if moves else -1.0
    own.done()
    return Law(parameter, models, None if path is None else home / path, frequency, own)


def _auxiliary(top: Fields) -> dict[str, Any]:
    own = top.fields("auxiliary")
    if not own.given:
        return {"aux_axis": None, "aux_weights": None}
    values, weights = own.numbers("values"), own.numbers("weights")
    span, points = own.pair("range"), own.whole("points", None, 1)
    own.done()
    if [one is not None for one in (values, span, points)] not in ([1, 0, 0], [0, 1, 1]):
        raise top.wrong(
            "auxiliary", "give 'values: [0, 1, 2]', or 'range: [0, 5]' and 'points: 20'"
        )
    places = values if span is None else np.linspace(*span, points or 1)
    with top.blame("auxiliary"):
        axis = check_axis(places, "auxiliary")
        check_weights(weights, axis.size)
    return {"aux_axis": axis, "aux_weights": weights}


def _limits(top: Fields) -> dict[str, Any]:
    own = top.fields("limits")
    found = {
        **{f"{key}_limits": own.limits(key) for key in ("energy", "time")},
        **{key: own.ranges(key) for key in ("exclude", "exclude_times")},
    }
    own.done()
    return found


def _noise(top: Fields, home: Path) -> dict[str, Any] | None:
    own = top.fields("noise")
    if not own.given:
        return None
    kind = own.choice("type", ("gaussian", "poisson", "none"), "gaussian")
    sigma: Any = own.plain("sigma")
    scale = own.number("scale", 1.0)
    own.done()
    if isinstance(sigma, str) and sigma.strip():
        sigma = home / sigma
    elif sigma is not None and (
        isinstance(sigma, bool) or not (isinstance(sigma, (int, float)) and 0 < sigma < math.inf)
    ):
        raise own.wrong("sigma", "give a positive number, or the path of a file of that shape")
    if kind == "gaussian" and sigma is None:
        raise top.wrong("noise", "gaussian noise needs 'sigma:', its standard deviation")
    if kind == "poisson" and sigma is not None:
        raise own.wrong("sigma", "counts have no sigma of their own; 'scale:' is counts per unit")
    if kind == "none" and sigma is not None:
        raise own.wrong("sigma", "is of no use with 'type: none'; leave it out, or the type")
    if kind != "poisson" and "scale" in own.nodes:
        raise own.wrong("scale", "belongs to 'type: poisson': counts for each unit of the data")
    if not scale > 0:
        raise own.wrong("scale", "must be positive: counts for each unit of the data")
    return {
        "noise_type": "unknown" if kind == "none" else kind,
        "sigma": sigma,
        "scale": scale if kind == "poisson" else None,
    }


def _fit(top: Fields) -> FitSpec:
    own = top.fields("fit")
    kind = own.choice("type", FIT_TYPES, None)
    node = own.plain("spectrum")
    spectrum = own.pair("spectrum") if isinstance(node, list) else own.number("spectrum", None)
    options: dict[str, Any] = {
        "method": own.checked("method", canonical_method),
        "backend": own.checked("backend", backend_name),
        "max_nfev": own.whole("max_evaluations", None, 1),
        "stages": own.whole("stages", None, 1),
    }
    if own.plain("scale_errors") is not None:
        options["scale_covar"] = own.flag("scale_errors", True)
    inner = own.fields("options")
    options |= {key: _option(inner, key) for key in inner.nodes}
    workers, progress = own.whole("workers", None, 1), own.flag("progress", True)
    for key in own.nodes:
        if key not in own.known and key in get_type_hints(StagedOptions):
            raise own.wrong(key, f"is an option: write 'options: {{{key}: …}}' below 'fit:'")
    own.done()
    chosen = {key: value for key, value in options.items() if value is not None}
    return FitSpec(kind, spectrum, chosen, workers, progress)


def _option(inner: Fields, key: str) -> object:
    """An argument of fits, of the kind that it takes."""
    value = inner.plain(key)
    hints = get_type_hints(StagedOptions)
    if key not in hints:
        if key in _ELSEWHERE:
            raise inner.wrong(key, f"is no option; write {_ELSEWHERE[key]}")
        with inner.blame(key):
            check_options("fit", {key: value})
    hint = hints.get(key, Any)
    if key == "linear" and isinstance(value, str):
        with inner.blame(key):
            checked_linear(value)
    if value is not None and not fits(value, hint):
        raise inner.wrong(key, f"must be {words(hint)}, not {shortened(value)}")
    if value is not None and key in _CHECKS:
        with inner.blame(key):
            _CHECKS[key](value)
    return value


#: Keys that are no options of a fit, and the field of a job for each.
_ELSEWHERE = {
    **dict.fromkeys(("sigma", "noise", "weights"), "'noise: {sigma: 0.4}'"),
    **dict.fromkeys(("energy", "time", "limits"), "'limits: {energy: [82, 90]}'"),
    **dict.fromkeys(("workers", "n_workers"), "'workers: 2' below 'fit:'"),
    **dict.fromkeys(("type", "spectrum", "scale_errors"), "it below 'fit:'"),
    "mask": "'mask: nan' below 'data:'",
    "client": "--scheduler behind 'pyspec fit'",
}

#: What a fit would refuse once the data are read.
_CHECKS: dict[str, Callable[[Any], object]] = {
    "n_starts": lambda given: whole("n_starts", given, 1, FitError),
    "seed": lambda given: whole("seed", given, 0, FitError),
    "max_nfev": lambda given: check_limits(given, None),
    "max_seconds": lambda given: check_limits(None, given),
}


def _first(top: Fields) -> dict[str, Any]:
    """How ``pyspec new`` began the job."""
    own = top.fields("first")
    found = {"command": own.text("command", "") or "", "unsure": own.by_name("unsure")}
    own.done()
    return found


def _output(top: Fields, home: Path) -> dict[str, Any]:
    node = top.node("output")
    if node is not None and not isinstance(node, Mapping):
        word = top.plain("output")
        if not isinstance(word, str):
            raise top.wrong("output", "give the name of a folder, such as 'output: results'")
        return {"folder": home / word, "archive": True}
    own = top.fields("output")
    folder, archive = own.text("folder", "results"), own.flag("archive", True)
    own.done()
    return {"folder": home / folder, "archive": archive}


def _plot(top: Fields) -> dict[str, Any]:
    own, config = top.fields("plot"), PlotConfig()
    named = {key: own.plain(key) for key in (*FIELDS, *ALIASES)}
    own.done()
    named = {key: value for key, value in named.items() if value is not None}
    for key, value in named.items():
        with own.blame(key):
            config.update(**{key: value})
    return {"plot": config, "plot_given": frozenset(ALIASES.get(key, key) for key in named)}
