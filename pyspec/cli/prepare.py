"""From a job to data, model and measurement."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.cli.fields import JobError
from pyspec.cli.job import InputSpec, Job, Law, NoiseSpec, Place
from pyspec.errors import DataError, suggest
from pyspec.io import Dataset, read
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_profile
from pyspec.model.inputs import needed_inputs
from pyspec.model.windows import excluded, forward_range, index_range, row_range, slack
from pyspec.workflow.noise import Noise, check_sigma, mean_of

Array = npt.NDArray[np.float64]


def load_data(job: Job) -> Dataset:
    """Reads the data and takes the part that the job asks for."""
    spec = job.data
    with spec.fields.blame("path"):
        dataset = read(spec.path, **spec.options)
    if spec.shift:
        with spec.fields.blame("shift"):
            dataset = dataset.shift(**spec.shift)
    for axis, value in spec.select.items():
        with spec.fields.blame("select"):
            dataset = select(dataset, axis, value)
    if spec.at:
        with spec.fields.blame("at"):
            dataset = dataset.at(**spec.at)
    if spec.mean:
        with spec.fields.blame("mean"):
            dataset = dataset.mean(*spec.mean)
    if spec.rename:
        with spec.fields.blame("rename"):
            dataset = dataset.rename(**spec.rename)
    if dataset.extra or dataset.energy is None:
        raise JobError(f"{spec.fields.place('path')}: {_what_is_left(dataset)}")
    if dataset.n_bad and spec.mask is None:
        raise JobError(
            f"{spec.fields.place('path')}: {dataset.n_bad} values are NaN or infinite; write "
            "'mask: nan' below 'data:' to leave them out of the fit"
        )
    return dataset


def select(
    dataset: Dataset, axis: str, value: Place, at: str = "'at: {{{axis}: {value}}}'"
) -> Dataset:
    """The part at one place of an axis: a number with a point is a value, a pair a range; a
    whole number is a value or a position, whichever is possible, and refused where both are, with
    `at` as what to write for the position."""
    if isinstance(value, (tuple, float)) or axis not in dataset.dims:
        return dataset.select(**{axis: value})
    values = dataset.axes[axis]
    low, high, near = float(values.min()), float(values.max()), slack(values)
    inside, position = low - near <= value <= high + near, 0 <= value < values.size
    if inside and position and values[value] != value:
        raise DataError(
            f"{axis}: {value} can be a value or a position; write {value}.0 for the value, or "
            f"{at.format(axis=axis, value=value)} for the position (there {axis} is "
            f"{values[value]:g})"
        )
    if inside:
        return dataset.select(**{axis: float(value)})
    if position:
        return dataset.at(**{axis: value})
    raise DataError(
        f"{axis}: {value} is no value of the axis ({low:g} to {high:g}) and no position "
        f"(0 to {values.size - 1})"
    )


def _what_is_left(dataset: Dataset) -> str:
    if dataset.energy is None:
        return (
            "has no energy axis; write 'rename: {time: energy}' below 'data:' if time is one; jobs "
            "fit no traces over time: that is fit_trace in Python"
        )
    names = ", ".join(dataset.extra)
    if dataset.extra == ("column",):
        return (
            f"has more than one column beside the axis, {dataset.labels.get('column', names)}; "
            "write 'columns: [x, y]' below 'data:', by name or number from 0, and 'errors: name' "
            "if one holds standard errors; or 'rename: {column: time}' if each is a time"
        )
    middle = ", ".join(f"{dim}: {dataset.axes[dim].size // 2}" for dim in dataset.extra)
    return (
        f"has the axes {', '.join(dataset.dims)}, a fit needs energy, or time and energy; write "
        f"'at: {{{middle}}}' (positions from 0) or 'mean: [{names}]' below 'data:', or call "
        f"one of them time: 'rename: {{{dataset.extra[0]}: time}}'"
    )


def load_the_model(job: Job, dataset: Dataset, moving: bool) -> Model:
    """The model on the axes of the data; with dynamics and a time axis if `moving`."""
    model = job_model(job, moving)
    with job.data.fields.blame("path"):
        model.set_axes(energy=dataset.energy, time=dataset.time if moving else None)
    with job.fields.blame("inputs"):
        model.set_axes(inputs=_inputs(job, model, moving))
    return model


def _inputs(job: Job, model: Model, moving: bool) -> dict[str, Array]:
    """What formulas of the model read along its axes, from the files of a job: one column of
    values, or the axis and the values."""
    axes = {"energy": model.energy, "time": model.time, "auxiliary": model.aux}
    needed = needed_inputs(model.components)
    known = needed if moving else needed_inputs(job_model(job).components)
    for name in job.inputs:
        if name not in known:
            raise DataError(
                f"no function of the model reads an input {name!r}{suggest(name, list(known))}"
            )
    found = {}
    for name, spec in job.inputs.items():
        if name not in needed:
            continue  # of a law, which one spectrum does not have
        path, axis = spec.path, axes[needed[name]]
        dataset = _values(spec)
        if dataset.data.ndim != 1:
            raise DataError(f"{path}: has shape {dataset.data.shape}; give one line of values")
        own = dataset.time if dataset.energy is None else dataset.energy
        _refuse_another(path, needed[name], own, axis)
        found[name] = np.asarray(dataset.data, np.float64)
    return found


def _refuse_another(path: Path, what: str, own: Array | None, axis: Array | None) -> None:
    """Values that stand beside an axis have that of the data; a count of the values is none."""
    if own is None or axis is None or own.size != axis.size:
        return  # of its size the model says more
    if np.array_equal(own, np.arange(own.size)):
        return
    if not np.allclose(own, axis, rtol=1e-6, atol=1e-9 * float(np.ptp(axis))):
        raise DataError(
            f"{path}: the values belong to another {what} axis, {own[0]:g} to {own[-1]:g}; "
            "interpolate them to that of the data"
        )


def _values(spec: InputSpec) -> Dataset:
    """A file of values with their axis, or of values alone; or a column of it."""
    if spec.options:
        return read(spec.path, **spec.options)
    try:
        return read(spec.path)
    except DataError:
        return read(spec.path, energy="index")


def job_model(job: Job, moving: bool = True) -> Model:
    """The model of a job with its profiles, auxiliary axis and, if `moving`, dynamics."""
    if not job.models.is_file():
        known = [f.name for f in sorted(job.models.parent.glob("*.y*ml"))]
        hint = suggest(job.models.name, known)
        hint = hint or (f"; the folder holds {', '.join(known)}" if known else "")
        raise job.fields.wrong("models", f"there is no file {str(job.models)!r}{hint}")
    if job.model is None:
        model = load_model(job.models)
    else:
        with job.fields.blame("model"):
            model = load_model(job.models, job.model)
    for law in job.profiles:
        with law.fields.blame("model"):
            profile = load_profile(_source(job, law), law.models[0], law.parameter)
        with law.fields.blame("parameter"):
            model.add_profile(law.parameter, profile)
    if moving:
        for law in job.dynamics:
            with law.fields.blame("model"):
                names: Any = law.models if len(law.models) > 1 else law.models[0]
                source = _source(job, law)
                dynamics = load_dynamics(source, names, law.parameter, law.frequency)
            with law.fields.blame("parameter"):
                model.add_dynamics(law.parameter, dynamics)
    if job.auxiliary is not None:
        axis, weights = job.auxiliary
        with job.fields.blame("auxiliary"):
            model.set_axes(aux=axis, aux_weights=weights)
    return model


def _source(job: Job, law: Law) -> Path:
    return job.models if law.path is None else law.path


@dataclass(frozen=True)
class Windows:
    """Half-open index ranges of the fit and of the baseline; `out` (n_energy,) is True at the
    energies that are left out, None where there are none."""

    rows: tuple[int, int] | None
    columns: tuple[int, int] | None
    baseline: tuple[int, int] | None
    out: npt.NDArray[np.bool_] | None = None


def windows(job: Job, dataset: Dataset) -> Windows:
    """Limits and baseline of a job as index ranges."""
    energy, time = dataset.energy, dataset.time
    assert energy is not None
    with job.fields.blame("limits"):
        columns = index_range(energy, job.energy_limits, "energy") if job.energy_limits else None
        out = excluded(energy, job.exclude, "energy")
        if out is not None and out[slice(*(columns or (None, None)))].all():
            raise DataError("'exclude:' leaves no point of the window; narrow its ranges")
    rows = baseline = None
    if job.time_limits is not None:
        if time is None:
            raise job.fields.wrong("limits", "the data are one spectrum; leave 'time:' out")
        with job.fields.blame("limits"):
            rows = index_range(time, job.time_limits, "time")
    if job.baseline is not None:
        if time is None:
            raise job.fields.wrong("baseline", "the data are one spectrum; leave it out")
        with job.fields.blame("baseline"):
            baseline = row_range(time, *forward_range(job.baseline, "abs", "the range"), "abs")
    return Windows(rows, columns, baseline, out)


def series(job: Job, dataset: Dataset, where: Windows) -> Measurement:
    """All of the data as a Measurement."""
    data, keep = np.asarray(dataset.data), _keep(job, dataset)
    if where.out is not None:
        keep = np.broadcast_to(~where.out, data.shape) if keep is None else keep & ~where.out
    given = {"labels": dataset.labels, "units": dataset.units, **_noise(job, dataset).of_series()}
    return Measurement(data, where.rows, where.columns, keep=keep, **given)


def mean_spectrum(job: Job, dataset: Dataset, where: Windows, rows: tuple[int, int]) -> Measurement:
    """The mean of some spectra as a Measurement; its noise is that of the mean."""
    given = rows, _keep(job, dataset), where.out, _noise(job, dataset), where.columns
    with job.fields.blame("noise"):
        return mean_of(np.asarray(dataset.data), *given, labels=dataset.labels, units=dataset.units)


def _keep(job: Job, dataset: Dataset) -> npt.NDArray[np.bool_] | None:
    return dataset.finite if job.data.mask is not None and dataset.n_bad else None


def _noise(job: Job, dataset: Dataset) -> Noise:
    """The noise of the data as the job says it, else the standard errors that were read."""
    noise, shape = job.noise, dataset.data.shape
    if noise is None and dataset.errors is not None:
        try:
            return Noise("gaussian", check_sigma(dataset.errors, shape, dataset.finite))
        except DataError as error:
            raise JobError(
                f"{job.data.fields.place('path')}: the standard errors that were read: "
                f"{str(error).partition(';')[0]}; 'noise: {{type: none}}' leaves them out"
            ) from None
    if noise is None or noise.type == "none":
        return Noise()
    if noise.type == "poisson":
        return Noise("poisson", scale=noise.scale)
    return Noise("gaussian", _sigma(job, noise, shape, _keep(job, dataset)))


def _sigma(
    job: Job, noise: NoiseSpec, shape: tuple[int, ...], keep: npt.NDArray[np.bool_] | None
) -> Array:
    if isinstance(noise.sigma, Path):
        with job.fields.blame("noise"):
            time = "index" if len(shape) > 1 else None
            found = read(noise.sigma, energy="index", time=time)
        sigma = np.asarray(found.data, dtype=np.float64)
    else:
        sigma = np.asarray(noise.sigma, dtype=np.float64)
    if sigma.ndim and sigma.shape != shape:
        raise job.fields.wrong("noise", f"sigma has shape {sigma.shape}, the data {shape}")
    if keep is not None and sigma.ndim:  # points that are masked need none
        sigma = np.where(keep, sigma, 1.0)
    if not (np.isfinite(sigma) & (sigma > 0)).all():
        raise job.fields.wrong("noise", "sigma must be positive everywhere")
    return sigma
