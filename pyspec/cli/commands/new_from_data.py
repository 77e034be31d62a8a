"""``pyspec new DIR DATA``: a job and a model for a file, with start values that are read off it."""

from __future__ import annotations

import os
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from pyspec.cli.commands.show import part_of, place_of, reading_options, refuse_yaml
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.syntax_hints import for_flags
from pyspec.errors import visible
from pyspec.io import Dataset, read
from pyspec.io.read import one_file
from pyspec.io.units import TAKEN, guess_kind
from pyspec.model import load_model
from pyspec.model.guess.lines import least_points
from pyspec.model.guess.look import PEAKS, First, Scan, Wanted, first_model, mean_spectrum
from pyspec.model.guess.numerics import step_of
from pyspec.model.guess.texts import ends_of, on_axis, rounded
from pyspec.model.guess.traces import LEAST
from pyspec.model.guess.values import MAX_PEAKS

Array = npt.NDArray[np.float64]

#: The law of a series whose heights are free.
LAW = "decay"

JOB = """\
# What to fit, and how. Run it with:   pyspec fit job.yaml
# 'pyspec new' without a file of data writes a job with all other fields, explained.

name: {name}

data:
{data}
models: models.yaml               # start values that were read off the data: correct them there
model: {model}

{limits}
{noise}

fit:
  type: {kind}{options}
output: results                   # report.html, parameters.csv and .json, fit.png, fits.h5

first:                            # how this job began; 'pyspec fit' repeats what was unsure
  command: {command}
  unsure: {unsure}
"""

LIMITS = """\
# limits:                         # fit only this; both ends count
"""

WINDOW = """\
limits:                           # fit only this; both ends count
  energy: [{low}, {high}]
"""

NOISE = (
    "# noise: {type: poisson}          # for counts; or {type: gaussian, sigma: 0.4}, known noise"
)

COUNTED = "# noise: {type: poisson}          # these are whole numbers: of counts take the # away"

NO_ERRORS = "noise: {type: none}               # not all standard errors of the file are above 0"

STARTS = """
  # options: {n_starts: 10}       # other starts too: decays have more than one optimum"""

SERIES = """
# baseline: [from, to]            # these times are averaged and fitted first, as the start
"""

DYNAMICS = """
dynamics:                         # what moves in time
"""

MOVES = f"""
# The heights are free at each time: results/report.html draws them. With the law for one of them in
# models.yaml, or where the residual shows that a line moves, for its place (GLP_01_x0):
# dynamics:
#   - {{parameter: GLP_01_A, model: {LAW}}}
"""

HEAD = """\
# Start values read off {source}. 'pyspec ops' lists the functions, 'pyspec explain
# models.yaml' says what a model means.
#
#   [value, vary, min, max]   or   [value, vary]   or   ["expression"]
"""

FREE = """\
#   {free: time}: a value of its own at each time, which needs no start value
"""

MOTION = """
# How a parameter moves in time: p(t) = p + D(t). See dynamics in job.yaml; the height of the first
# peak then is   A: [{level}, True]   in place of {{free: time}}, and so are those of all others.
{law}:
  expFun:                         # A exp(-(t - t0)/tau) from t0 on
    A: [{height}, True]
    tau: [{tau}, True, {least}, {most}]
    t0: [{onset}, False]
"""


class Begun(NamedTuple):
    """A first model of a file: the texts of its job, and what they say of the data."""

    texts: dict[str, str]
    first: First
    notes: list[str]
    dataset: Dataset


def begin(args: Namespace, command: str) -> Begun:
    """job.yaml and models.yaml for the data that `args` names; `command` is written into the job.

    Raises :class:`FlagError` for data of other axes than energy and time, or too few of them.
    """
    if (args.peaks or 1) > MAX_PEAKS:
        raise FlagError(
            f"--peaks {args.peaks}: start values are read off a spectrum for {MAX_PEAKS} peaks at "
            "most; add others in models.yaml"
        )
    refuse_yaml(args.data_path)
    options = reading_options(args)
    dataset = part_of(read(args.data_path, **options), args)
    _check(dataset)
    scan = scan_of(dataset)
    _check_values(dataset, scan, args.peaks)
    first = first_model(scan, Wanted(args.kind, args.peaks, args.decays))
    notes, model = list(first.notes), first.text
    if first.fit == "2d" and first.name == PEAKS and not first.dynamics and "GLP" in model:
        model += _motion(dataset, model)
    if dataset.dims != ("time",) and any(TAKEN in note for note in dataset.notes):
        notes.append(f"The axis was taken for an energy, {for_flags(TAKEN)}")
    moves = "{free: time}" in model and not first.dynamics
    source = visible(Path(dataset.source or args.data_path).name)
    wrapped = [line for note in notes for line in textwrap.wrap(f"{note}.", width=98)]
    comments = "".join(f"{line}\n" for line in ("#", *(f"# {line}" for line in wrapped)))
    head = HEAD.format(source=source) + (FREE if moves else "") + (comments if notes else "")
    data = ""
    for key, value in data_fields(args, Path(args.data_path), options, dataset).items():
        if isinstance(value, Path) and not value.is_absolute():  # as seen from the folder
            value = Path(os.path.relpath(value, args.folder)).as_posix()
        data += f"  {key}: {_entry(str(value) if isinstance(value, Path) else value)}\n"
    job = JOB.format(
        name=_entry(dataset.name),
        data=data,
        model=first.name,
        limits=_limits(dataset, first) + (MOVES if moves else ""),
        noise=_noise(dataset),
        kind=first.fit,
        options=STARTS if "expFun" in model and first.fit == "trace" else "",
        command=_entry(command),
        unsure=_entry({doubt.what: doubt.option for doubt in first.unsure}),
    )
    return Begun({"job.yaml": job, "models.yaml": f"{head}\n{model}"}, first, notes, dataset)


def scan_of(dataset: Dataset) -> Scan:
    """What first models know of a file."""
    axes = [
        None if axis is None else np.asarray(axis, np.float64)
        for axis in (dataset.energy, dataset.time)
    ]
    data = np.asarray(dataset.data, np.float64)
    return Scan(data, axes[0], axes[1], dict(dataset.labels), dict(dataset.units))


def _check_values(dataset: Dataset, scan: Scan, n_peaks: int | None) -> None:
    """Refuses too few values for any model."""
    if scan.energy is not None:
        size, peaks = mean_spectrum(scan)[0].size, n_peaks or 1
        if size < least_points(peaks):
            subject = "a peak on a background needs"
            if peaks > 1:
                subject = f"{peaks} peaks on a background need"
            raise FlagError(
                f"{dataset.source}: has values at {size} {'energy' if size == 1 else 'energies'}, "
                f"and {subject} {least_points(peaks)} at least"
            )
        return
    if n_peaks is not None:
        raise FlagError(
            f"--peaks {n_peaks}: is for spectra; {dataset.source}: is a trace over time"
        )
    size = int(np.isfinite(scan.data).sum())
    if size < LEAST:
        raise FlagError(
            f"{dataset.source}: has values at {size} times, and laws of time are read off {LEAST} "
            "at least"
        )


def _limits(dataset: Dataset, first: First) -> str:
    """The window of a survey, or an offer of one; and what moves in a series."""
    if first.windows:
        return WINDOW.format(low=first.windows[0].low, high=first.windows[0].high)
    offered = [
        f"#   {axis}: {_entry(ends_of(dataset.axes[axis]))}\n" for axis in dataset.dims[::-1]
    ]
    text = LIMITS + "".join(offered) + (SERIES if first.fit == "2d" else "")
    if first.dynamics:
        moved = [
            f"  - {{parameter: {parameter}, model: {law}}}\n" for parameter, law in first.dynamics
        ]
        text += DYNAMICS + "".join(moved)
    return text


def _check(dataset: Dataset) -> None:
    if dataset.extra == ("column",):
        raise FlagError(
            f"{dataset.source}: has more than one column beside the axis, "
            f"{dataset.labels.get('column', 'column')}; choose with --columns x y, by name or "
            "number from 0, and --errors name if one holds standard errors; or say --rename "
            "column=time if each is a time"
        )
    if dataset.extra:
        middle = " ".join(f"--at {dim}={dataset.axes[dim].size // 2}" for dim in dataset.extra)
        raise FlagError(
            f"{dataset.source}: has the axes {', '.join(dataset.dims)}, and a job fits a spectrum "
            f"or a series; take one place, {middle}, or --mean {' '.join(dataset.extra)}"
        )
    unit = dataset.units.get("energy", "")
    if guess_kind("", unit) == "time":
        exchanged = " time=energy" if "time" in dataset.dims else ""
        raise FlagError(
            f"{dataset.source}: has an energy axis in {unit}, a unit of time; say --rename "
            f"energy=time{exchanged} if these are times, else --units energy= with theirs"
        )


def _noise(dataset: Dataset) -> str:
    """The line of the noise: an offer, unless the errors that were read must be left out."""
    data = np.asarray(dataset.data, np.float64)
    finite = data[np.isfinite(data)]
    if dataset.errors is not None:
        errors = np.asarray(dataset.errors, np.float64)[np.isfinite(data)]
        return NOISE if (np.isfinite(errors) & (errors > 0.0)).all() else NO_ERRORS
    whole = finite.size > 0 and bool((finite >= 0).all() and (finite == np.rint(finite)).all())
    return COUNTED if whole else NOISE


def _motion(dataset: Dataset, model: str) -> str:
    """A law for the height of the first peak of a model, from the trace at its place."""
    x0 = load_model(model, PEAKS).values["GLP_01_x0"]
    time, energy = dataset.axes["time"], dataset.axes["energy"]
    data = np.asarray(dataset.data, np.float64)
    finite = np.isfinite(data)
    columns = np.flatnonzero(finite.any(axis=0))
    at = int(columns[np.argmin(np.abs(energy[columns] - x0))])
    trace, times = data[finite[:, at], at], time[finite[:, at]]
    onset = 0.0 if time[0] < 0.0 < time[-1] else float(time[0])
    before = trace[times < onset] if (times < onset).any() else trace[-1:]
    moved = trace[times >= onset] - before.mean()
    span = float(time[-1]) - onset
    return MOTION.format(
        law=LAW,
        level=rounded(float(before.mean())),
        height=rounded(float(max(moved, key=abs, default=0.0))),
        tau=rounded(span / 4.0),
        least=rounded(step_of(time) / 10.0),
        most=rounded(10.0 * span),
        onset=on_axis(time, onset),
    )


def data_fields(
    args: Namespace, path: Path, options: Mapping[str, Any], dataset: Dataset
) -> dict[str, object]:
    """The fields below ``data:``, with which a job reads what these options read; files are
    paths."""
    fields = {"path": path, **options}
    for axis in ("energy", "time"):
        near = one_file(axis, options[axis], (Path(), path.parent)) if axis in options else None
        if near is not None:
            fields[axis] = near
    for key, pairs, value_of in (
        ("select", args.select, place_of),
        ("at", args.at, lambda _, value: int(value)),
        ("rename", args.rename, lambda _, value: value),
    ):
        if pairs:
            split = [(text, *text.partition("=")[::2]) for text in pairs]
            fields[key] = {axis.strip(): value_of(text, value) for text, axis, value in split}
    if args.mean:
        fields["mean"] = list(args.mean)
    if dataset.n_bad:
        fields["mask"] = "nan"
    return fields


def _entry(value: object) -> str:
    """A value on one line of YAML. Characters that no name has, and bytes that are no UTF-8, are
    escapes."""
    letters = not isinstance(value, str) or value.isprintable()
    # The dumper in C takes no bytes that are no UTF-8.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper) if letters else yaml.SafeDumper
    text: str = yaml.dump(
        value, Dumper=dumper, default_flow_style=True, width=10_000, allow_unicode=letters,
        sort_keys=False,
    )  # fmt: skip
    return text.removesuffix("\n").removesuffix("\n...")
