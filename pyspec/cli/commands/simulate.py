"""``pyspec simulate``: data from a model."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Container
from typing import Any

from pyspec.cli.commands.models import axis_of, is_job, load_named, set_named
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import read_job
from pyspec.cli.jobs.loader import file_of, job_model, load_data
from pyspec.errors import DataError
from pyspec.model import Model
from pyspec.plot import plot_data
from pyspec.plot.figure import as_remark
from pyspec.simulate import Simulator
from pyspec.workflow.fitting.defaults import prepared_model

FORMATS = {".csv": "csv", ".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5"}


def run(args: Namespace) -> int:
    """Writes simulated data; returns the exit code."""
    output, facts = args.output, args.facts
    kind = FORMATS.get(output.suffix.lower())
    if kind is None:
        raise DataError(f"{output}: data are written as {', '.join(FORMATS)}; choose one of them")
    model = _model(args)
    texts = {axis: getattr(args, axis) for axis in ("energy", "time", "aux")}
    axes: dict[str, Any] = {
        axis: axis_of(text, f"--{axis}") for axis, text in texts.items() if text is not None
    }
    _refuse_unused(model, axes)
    if axes:
        model.set_axes(**axes)
    _need_axes(model)
    set_named(model, args.set)
    simulator = _simulator(model, args.noise, args.seed)
    _, noisy, _ = simulator.simulate()
    simulator.save_data(output, kind, [noisy])
    shape = " × ".join(str(size) for size in noisy.shape)
    snr = simulator.get_snr("dB")
    ratio = f", signal to noise {snr:.3g} dB" if math.isfinite(snr) else ""
    print(f"{model.name}: {shape} points, {_noise_words(simulator)}{ratio}")
    print(f"Written: {output}")
    facts.update(model=model.name, shape=noisy.shape, noise=simulator.noise_model, snr_db=snr)
    facts.update(values=model.values, written=[output])
    if args.picture:
        with as_remark("picture"):
            target = output.with_suffix(".png")
            plot_data(noisy, model.energy, model.time, save_path=target, title=model.name,
                      dpi_save=150)  # fmt: skip
            facts["written"].append(target)
            print(f"Picture: {target}")
    return 0


def _refuse_unused(model: Model, axes: Container[str]) -> None:
    """Raises :class:`FlagError` for an axis that the data would not have."""
    if "aux" in axes and all(par.profile is None for par in model.parameters.values()):
        raise FlagError(
            f"--aux: no parameter of {model.name} has a profile along it; add one, --profile "
            "GLP_01_A=depth, or leave --aux out"
        )
    if "energy" in axes and model.is_time_model:
        raise FlagError(
            f"--energy: {model.name} has laws of time alone and makes a trace; leave --energy out, "
            "or name a model of spectra and let a parameter move, --dynamics GLP_01_A="
            f"{model.name}"
        )


def _need_axes(model: Model) -> None:
    moved = [par.name for par in model.parameters.values() if par.dynamics is not None]
    if model.energy is None and not model.is_time_model:
        raise FlagError("which energies? give --energy from:to:points, such as --energy 0:20:400")
    if model.time is None and (moved or model.is_time_model):
        name = moved[0] if moved else model.name
        raise FlagError(f"{name} moves; give --time from:to:points, such as --time -10:90:200")


def _model(args: Namespace) -> Model:
    if not is_job(args.path):
        return load_named(args.path, args.model, args.dynamics, args.profile)
    if args.dynamics or args.profile or args.model:
        raise DataError(
            f"{args.path} is a job: model and dynamics are written there, not given here"
        )
    job = read_job(args.path)
    if args.energy is not None and (args.time is not None or not job.dynamics):
        return job_model(job)
    file = file_of(job, load_data(job))
    model = file.select_model()
    if not model.is_time_model:
        return prepared_model(file, model.name)
    model.set_axes(time=file.time, inputs=dict(file.inputs) or None)
    return model


def _simulator(model: Model, noise: str, seed: int | None) -> Simulator:
    kind, _, level = noise.partition(":")
    try:
        number = float(level) if level else None
    except ValueError:
        number = -1.0
    if kind == "none" and number is None:
        return Simulator(model, noise_type="none", noise_level=0.0, seed=seed)
    if number is None or number < 0 or kind not in ("gaussian", "poisson", "counts"):
        raise FlagError(
            f"--noise {noise}: write gaussian:0.02 (of the largest value), poisson:5 (counts for "
            "each unit of the data), counts:1e5 (counts in each spectrum) or none"
        )
    if kind == "gaussian":
        return Simulator(model, noise_type="gaussian", noise_level=number, seed=seed)
    if number == 0:
        raise FlagError(f"--noise {noise}: counts must be above 0")
    if kind == "poisson":
        return Simulator(model, noise_type="poisson", noise_level=1.0 / number, seed=seed)
    return Simulator(model, "photon_counting", counts_per_delay=number, seed=seed)


def _noise_words(simulator: Simulator) -> str:
    noise = simulator.noise_model
    if noise["noise_type"] == "gaussian":
        return f"gaussian noise of sigma {noise['sigma']:.4g}"
    if noise["noise_type"] == "poisson":
        return f"counting noise, {noise['scale']:.4g} counts for each unit"
    return "no noise"
