"""``pyspec new DIR DATA``: a job and a model for a file, with start values that are read off it."""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from pyspec.cli.fields import FlagError
from pyspec.cli.show import part_of, reading_options, refuse_yaml
from pyspec.components import GLP, LinBack, Offset, Shirley, fixed, free
from pyspec.io import Dataset, read
from pyspec.model import Model
from pyspec.model.guess import MAX_PEAKS, count_peaks
from pyspec.model.scales import losses_last

Array = npt.NDArray[np.float64]

#: The model in models.yaml, and the law of a series.
MODEL, LAW = "peaks", "decay"

#: Digits of start values.
DIGITS = 4

#: A spectrum has two signs where each reaches this share of the other.
DIPS = 0.2

#: A Shirley is worth its parameter where a spectrum falls by this share of its range.
LITTLE = 0.02

JOB = """\
# What to fit, and how. Run it with:   pyspec fit job.yaml
# 'pyspec new' without a file of data writes a job with all other fields, explained.

name: {name}

data:
{data}
models: models.yaml               # start values that were read off the data: correct them there
model: {model}

# limits:                         # fit only this; both ends count
#   energy: {energy}
{series}
{noise}

fit:
  type: {kind}
output: results                   # report.html, parameters.csv and .json, fit.png, fits.h5
"""

NOISE = (
    "# noise: {type: poisson}          # for counts; or {type: gaussian, sigma: 0.4}, known noise"
)

NO_ERRORS = "noise: {type: none}               # not all standard errors of the file are above 0"

SERIES = """\
#   time: {time}

# baseline: [from, to]            # these times are averaged and fitted first, as the start

# The heights are free at each time: results/report.html draws them. With the law for one of them in
# models.yaml, or where the residual shows that a line moves, for its place (GLP_01_x0):
# dynamics:
#   - {{parameter: GLP_01_A, model: {law}}}
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


def texts_for(given: Namespace) -> dict[str, str]:
    """The texts of job.yaml and models.yaml by name, for the data that `given` names.

    Raises :class:`FlagError` for data without an energy axis, or with axes besides energy and time.
    """
    if (given.peaks or 1) > MAX_PEAKS:
        raise FlagError(
            f"--peaks {given.peaks}: start values are read off a spectrum for {MAX_PEAKS} peaks at "
            "most; add others in models.yaml"
        )
    refuse_yaml(given.data_path)
    options = reading_options(given)
    dataset = part_of(read(given.data_path, **options), given)
    _check(dataset)
    energy, spectrum = _mean_spectrum(dataset)
    _check_size(dataset, energy.size, given.peaks or 1)
    model = _first_model(dataset, energy, spectrum, given.peaks)
    source = Path(dataset.source or given.data_path).name
    is_series = "time" in dataset.dims
    head = HEAD.format(source=source) + (FREE if is_series else "")
    motion = _motion(dataset, model.values["GLP_01_x0"]) if is_series else ""
    job = JOB.format(
        name=_entry(dataset.name),
        data=_data_lines(given, options, dataset),
        model=MODEL,
        energy=_entry(_ends(energy)),
        series=SERIES.format(time=_entry(_ends(dataset.axes["time"])), law=LAW)
        if is_series
        else "",
        noise=NOISE if _errors_hold(dataset) else NO_ERRORS,
        kind="2d" if is_series else "spectrum",
    )
    return {"job.yaml": job, "models.yaml": f"{head}\n{model.to_yaml()}{motion}"}


def _check(dataset: Dataset) -> None:
    if "energy" not in dataset.dims:
        raise FlagError(
            f"{dataset.source}: has no energy axis, and start values are read off spectra; for a "
            "trace over time write a job of 'type: trace', as docs/job_file.md shows"
        )
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


def _check_size(dataset: Dataset, n_energies: int, n_peaks: int) -> None:
    if n_energies >= _least_points(n_peaks):
        return
    what = (
        "a peak on a background needs" if n_peaks == 1 else f"{n_peaks} peaks on a background need"
    )
    word = "energy" if n_energies == 1 else "energies"
    raise FlagError(
        f"{dataset.source}: has values at {n_energies} {word}, and {what} "
        f"{_least_points(n_peaks)} at least"
    )


def _least_points(n_peaks: int) -> int:
    """One more than parameters: two of the background, four of each peak."""
    return 4 * n_peaks + 3


def _errors_hold(dataset: Dataset) -> bool:
    """Whether a fit can take the standard errors that were read, if any were."""
    if dataset.errors is None:
        return True
    errors = np.asarray(dataset.errors, np.float64)[np.isfinite(np.asarray(dataset.data))]
    return bool((np.isfinite(errors) & (errors > 0.0)).all())


def _mean_spectrum(dataset: Dataset) -> tuple[Array, Array]:
    """(energy, mean over time) of the values that are finite, where there are any."""
    data = np.asarray(dataset.data, dtype=np.float64)
    rows = data if data.ndim == 2 else data[None, :]
    finite = np.isfinite(rows)
    count = finite.sum(axis=0)
    seen = count > 0
    means = np.where(finite, rows, 0.0).sum(axis=0)[seen] / count[seen]
    return np.asarray(dataset.axes["energy"], np.float64)[seen], means


def _first_model(dataset: Dataset, energy: Array, spectrum: Array, n_peaks: int | None) -> Model:
    """Peaks on a background, at what can be read off the spectrum, with dips below 0 as peaks of
    negative height. Those of a series have heights of their own at each time."""
    above, below = max(float(spectrum.max()), 0.0), max(float(-spectrum.min()), 0.0)
    is_mirrored = below > 0.0 and above <= DIPS * below
    has_both = not is_mirrored and below > DIPS * above
    shape = np.abs(spectrum) if has_both else -spectrum if is_mirrored else spectrum
    if n_peaks is None:
        n_peaks = count_peaks(shape)
        while energy.size < _least_points(n_peaks):
            n_peaks -= 1
    names = [f"GLP_{k:02}" for k in range(1, n_peaks + 1)]
    has_loss = (
        not is_mirrored
        and not has_both
        and losses_last(dataset.labels, energy) == ""
        and _falls(spectrum)
    )
    places = np.linspace(energy.min(), energy.max(), num=len(names) + 2)[1:-1]
    start = {"Offset_y0": 0.0, "Shirley_pShirley": 0.0, "LinBack_m": 0.0, "LinBack_b": 0.0}
    for name, place in zip(names, places, strict=True):
        start |= {f"{name}_A": 1.0, f"{name}_x0": float(place)}
        start[f"{name}_F"] = float(np.clip(np.ptp(energy) / (4 * n_peaks), *_widths(energy)))
    components = _components(start, names, energy, has_loss)
    guessed = Model(MODEL, components[1:] if has_both else components)  # there 0 is the background
    guessed.set_axes(energy)
    found = guessed.guess(shape)
    for name, value in found.items():
        if is_mirrored and name.startswith("LinBack"):
            found[name] = -value
        elif name.endswith("_A") and (is_mirrored or has_both):
            at = np.argmin(np.abs(energy - found[name.replace("_A", "_x0")]))
            found[name] = math.copysign(value, -1.0 if is_mirrored else spectrum[at])
    for name, value in found.items():
        start[name] = _on(energy, value) if name.endswith("_x0") else _round(value)
    if "time" not in dataset.dims:
        return Model(MODEL, _components(start, names, energy, has_loss))
    positive = bool(spectrum.min() > -LITTLE * float(np.ptp(spectrum)))
    height = free("time", positive=positive)
    return Model(MODEL, _components(start, names, energy, has_loss, height))


def _components(
    start: Mapping[str, float],
    names: Sequence[str],
    energy: Array,
    has_loss: bool,
    height: Any = None,
) -> list[Any]:
    """Components of these start values; with `height`, which is free at each time, that is the one
    of all peaks, and backgrounds are free too."""
    level: Any = None if height is None else free("time")
    low, high = _ends(energy)
    narrowest, widest = _widths(energy)
    if has_loss:
        shirley = Shirley((start["Shirley_pShirley"], 0, None))
        ground = [Offset(level or start["Offset_y0"]), shirley]
    else:
        slope, value = level or start["LinBack_m"], level or start["LinBack_b"]
        ground = [LinBack(m=slope, b=value, xStart=fixed(low), xStop=fixed(high))]
    peaks = [
        GLP(
            A=height or _one_sided(start[f"{name}_A"]),
            x0=(start[f"{name}_x0"], low, high),
            F=(start[f"{name}_F"], narrowest, widest),
            m=(0.3, 0, 1),
        )
        for name in names
    ]
    return [*ground, *peaks]


def _one_sided(height: float) -> tuple[float, float | None, float | None]:
    """A height that keeps its sign: that of a line, or of a dip."""
    return (height, None, 0) if height < 0 else (height, 0, None)


def _falls(spectrum: Array) -> bool:
    """Whether a spectrum ends lower than it begins, by more than little."""
    edge = max(2, spectrum.size // 20)
    first, last = float(np.median(spectrum[:edge])), float(np.median(spectrum[-edge:]))
    return first - last > LITTLE * float(np.ptp(spectrum))


def _motion(dataset: Dataset, x0: float) -> str:
    """A law for the height of the first peak, from the trace at its place."""
    time, energy = dataset.axes["time"], dataset.axes["energy"]
    data = np.asarray(dataset.data, np.float64)
    known = np.isfinite(data)
    columns = np.flatnonzero(known.any(axis=0))
    at = int(columns[np.argmin(np.abs(energy[columns] - x0))])
    trace, times = data[known[:, at], at], time[known[:, at]]
    onset = 0.0 if time[0] < 0.0 < time[-1] else float(time[0])
    before = trace[times < onset] if (times < onset).any() else trace[-1:]
    moved = trace[times >= onset] - before.mean()
    span = float(time[-1]) - onset
    return MOTION.format(
        law=LAW,
        level=_round(float(before.mean())),
        height=_round(float(max(moved, key=abs, default=0.0))),
        tau=_round(span / 4.0),
        least=_round(_step(time) / 10.0),
        most=_round(10.0 * span),
        onset=_on(time, onset),
    )


def _data_lines(given: Namespace, options: Mapping[str, Any], dataset: Dataset) -> str:
    """The fields below ``data:``, with which a job reads what these options read."""
    folder, path = given.folder, Path(given.data_path)
    fields: dict[str, Any] = {"path": _seen_from(folder, path), **options}
    for axis in ("energy", "time"):
        if axis in options and Path(options[axis]).is_file():
            fields[axis] = _seen_from(path.parent, Path(options[axis]))
    for key, pairs, value_of in (
        ("select", given.select, _place),
        ("at", given.at, int),
        ("rename", given.rename, str),
    ):
        if pairs:
            split = [text.partition("=") for text in pairs]
            fields[key] = {axis.strip(): value_of(value) for axis, _, value in split}
    if given.mean:
        fields["mean"] = list(given.mean)
    if dataset.n_bad:
        fields["mask"] = "nan"
    return "".join(f"  {key}: {_entry(value)}\n" for key, value in fields.items())


def _seen_from(folder: Path, path: Path) -> str:
    """A path for who is in a folder."""
    return str(path) if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()


def _place(value: str) -> Any:
    """What --select takes, 10, 0.09 or 281:292, as a job has it."""
    words = [word.strip() for word in value.split(":")]
    numbers = [int(word) if word.lstrip("+-").isdigit() else float(word) for word in words]
    return numbers[0] if len(numbers) == 1 else numbers


def _entry(value: Any) -> str:
    """A value on one line of YAML."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")


def _ends(axis: Array) -> tuple[float, float]:
    return _on(axis, float(axis.min())), _on(axis, float(axis.max()))


def _widths(energy: Array) -> tuple[float, float]:
    """Between which widths a peak can be told from a background."""
    span = float(np.ptp(energy))
    return _round(min(2 * _step(energy), span / 4)), _round(span / 2)


def _step(axis: Array) -> float:
    return float(np.median(np.abs(np.diff(axis))))


def _on(axis: Array, value: float) -> float:
    """A place on an axis, to about a hundredth of a step."""
    return round(value, 2 - math.floor(math.log10(_step(axis))))


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
