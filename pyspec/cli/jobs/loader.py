"""From a job to its data, and to a File that holds them with the models of the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.cli.jobs.job import Job, Place
from pyspec.errors import DataError, ModelError, suggest
from pyspec.io import Dataset, read
from pyspec.model import Model, load_model, load_time_model
from pyspec.model.build.inputs import file_inputs, needed_inputs
from pyspec.model.data.windows import slack
from pyspec.workflow import File, Project

Array = npt.NDArray[np.float64]


def load_data(job: Job) -> Dataset:
    """Reads the data and takes the part that the job asks for."""
    spec = job.data
    with spec.fields.blame("path"):
        dataset = read(spec.path, **spec.options)
    with spec.fields.blame("shift"):
        dataset = dataset.shift(**spec.shift)
    for axis, value in spec.select.items():
        with spec.fields.blame("select"):
            dataset = select(dataset, axis, value)
    with spec.fields.blame("at"):
        dataset = dataset.at(**spec.at)
    if spec.mean:
        with spec.fields.blame("mean"):
            dataset = dataset.mean(*spec.mean)
    with spec.fields.blame("rename"):
        dataset = dataset.rename(**spec.rename)
    if dataset.extra:
        raise spec.fields.wrong("path", _what_is_left(dataset))
    if dataset.n_bad and spec.mask is None:
        raise spec.fields.wrong(
            "path",
            f"{dataset.n_bad} values are NaN or infinite; write 'mask: nan' below 'data:' to leave "
            "them out of the fit",
        )
    return dataset


def select(
    dataset: Dataset, axis: str, value: Place, at: str = "'at: {{{axis}: {value}}}'"
) -> Dataset:
    """The part at one place of an axis. A number with a decimal point is a value, a pair a range. A
    whole number is a value or a position, whichever is possible; where both are, it is refused, and
    the message writes `at` for the position."""
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


def file_of(job: Job, dataset: Dataset) -> File:
    """The data as a File: with the noise, the limits, the baseline and the model of the job."""
    inputs = {name: _values(job, *spec) for name, spec in job.inputs.items()}
    values = {name: input_data.data for name, input_data in inputs.items()}
    with job.fields.blame("inputs"):
        file_inputs(values, (dataset.energy, dataset.time, job.auxiliary["aux_axis"]))
    with job.data.fields.blame("path"):
        file = File.from_dataset(
            dataset, _project(job), errors=job.noise is None, inputs=values, **job.auxiliary
        )
    if job.noise is not None:
        with job.fields.blame("noise"):
            file.set_noise(**{**job.noise, "sigma": _sigma(job, dataset)})
    with job.fields.blame("limits"):
        file.set_fit_limits(**job.limits)
    if job.baseline is not None:
        with job.fields.blame("baseline"):
            file.define_baseline(*job.baseline)
    model = _add_model(job, file, dataset.dims)
    _refuse_other_inputs(job, file, model, inputs)
    return file


def job_model(job: Job) -> Model:
    """The model of a job with what moves, without data and the axes of these."""
    return _add_model(job, File(_project(job), **job.auxiliary), ())


def _project(job: Job) -> Project:
    project = Project(None, job.name, None, show_output=False)
    project.plot_config = job.plot
    return project


def _add_model(job: Job, file: File, dims: tuple[str, ...]) -> Model:
    """Loads the model of the job into a file, with its profiles and dynamics."""
    with job.fields.blame("models"):
        source = Path(file.project.resolve(job.models))
    with job.fields.blame("model" if job.model else "models"):
        model = _loaded(source, job.model, dims)
    file.add_model(model)
    for law in job.profiles:
        with law.fields.blame("model" if law.parameter in model.parameters else "parameter"):
            file.add_par_profile(model.name, law.parameter, law.path or source, law.models)
    for law in job.dynamics:
        with law.fields.blame("model" if law.parameter in model.parameters else "parameter"):
            file.add_time_dependence(
                model.name, law.parameter, law.path or source, law.models, frequency=law.frequency
            )
    return model


def _loaded(source: Path, name: str | None, dims: tuple[str, ...]) -> Model:
    """The model for data with `dims`: laws of time for a trace, else a model of energies."""
    first, second = load_model, load_time_model
    if dims == ("time",):
        first, second = second, first
    try:
        return first(source, name)
    except ModelError as error:
        if len(dims) > 1:
            raise
        try:
            model = second(source, name)
        except ModelError:
            raise error from None
        if not dims:
            return model
        other = "energy" if dims == ("time",) else "time"
        raise ModelError(
            f"{error}; the axis of the data is {dims[0]}: if it is {other}, write "
            f"'rename: {{{dims[0]}: {other}}}' below 'data:'"
        ) from None


def _values(job: Job, path: Path, options: dict[str, Any]) -> Dataset:
    """A file of values with their axis, or of values alone; or a column of it."""
    with job.fields.blame("inputs"):
        try:
            dataset = read(path, **options)
        except DataError:
            if options:
                raise
            dataset = read(path, energy="index")
        if dataset.data.ndim != 1:
            raise DataError(f"{path}: has shape {dataset.shape}; give one line of values")
    return dataset


def _refuse_other_inputs(job: Job, file: File, model: Model, inputs: dict[str, Dataset]) -> None:
    """Refuses inputs that the model does not read, and inputs with values on another axis than that
    of the data. The model checks their number."""
    needed = needed_inputs(model)
    axes = {"energy": file.energy, "time": file.time, "auxiliary": file.aux_axis}
    for name, dataset in inputs.items():
        if name not in needed:
            hint = suggest(name, list(needed))
            raise job.fields.wrong(
                "inputs", f"no function of the model reads an input {name!r}{hint}"
            )
        own, axis = dataset.time if dataset.energy is None else dataset.energy, axes[needed[name]]
        if own is None or axis is None or own.size != axis.size:
            continue  # of its size the model says more
        counted = np.array_equal(own, np.arange(own.size))
        if not counted and not np.allclose(own, axis, rtol=1e-6, atol=1e-9 * float(np.ptp(axis))):
            raise job.fields.wrong(
                "inputs",
                f"{job.inputs[name][0]}: the values belong to another {needed[name]} axis, "
                f"{own[0]:g} to {own[-1]:g}; interpolate them to that of the data",
            )


def _sigma(job: Job, dataset: Dataset) -> object:
    """The standard deviations of the noise, read where they are a file."""
    assert job.noise is not None
    sigma = job.noise["sigma"]
    if not isinstance(sigma, Path):
        return sigma
    return read(sigma, energy="index", time="index" if dataset.data.ndim > 1 else None).data
