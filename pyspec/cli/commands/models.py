"""Models as the command line names them: file or job, model, dynamics, axes, values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import read_job
from pyspec.cli.jobs.loader import job_model
from pyspec.errors import DataError, ModelError, PassError
from pyspec.model import (
    Model,
    load_dynamics,
    load_model,
    load_models,
    load_profile,
    load_time_model,
)
from pyspec.model.build.load import is_of_laws
from pyspec.model.yaml.reader import Mapping, open_source, read
from pyspec.passes import after

Array = npt.NDArray[np.float64]


def is_job(path: Path) -> bool:
    """Whether a YAML file is a job: it names its data and its models."""
    try:
        root = read(open_source(path))
    except ModelError:
        return False
    keys = {key.text for key, _ in root.items} if isinstance(root, Mapping) else set()
    return {"data", "models"} <= keys


def load_named(
    path: Path, name: str | None, dynamics: Sequence[str], profiles: Sequence[str]
) -> Model:
    """One model with what its options add: ``GLP_01_x0=decay``, ``A=none,up,down@0.25``. If the
    file holds laws alone, or `name` names laws, it is the model of a trace."""
    of_laws = is_of_laws(path, name)
    if name is None and not of_laws and len(models := load_models(path)) > 1:
        raise ModelError(f"{path}: has the models {', '.join(models)}; say which: --model NAME")
    model = load_time_model(path, name) if of_laws else load_model(path, name)
    for text in profiles:
        parameter, names, _ = _law(text, "--profile")
        model.add_profile(parameter, load_profile(path, names[0], parameter))
    for text in dynamics:
        parameter, names, frequency = _law(text, "--dynamics")
        law_names = names if len(names) > 1 else names[0]
        model.add_dynamics(parameter, load_dynamics(path, law_names, parameter, frequency))
    return model


def chosen_model(
    path: Path, name: str | None, dynamics: Sequence[str], profiles: Sequence[str]
) -> Model:
    """The model of a job, or the named one of a model file with what the options add."""
    if not is_job(path):
        model = load_named(path, name, dynamics, profiles)
    elif name or dynamics or profiles:
        raise DataError(f"{path} is a job: model and dynamics are written there")
    else:
        model = job_model(read_job(path))
    model.check()
    return model


def _law(text: str, option: str) -> tuple[str, list[str], float]:
    parameter, _, rest = text.partition("=")
    names, _, pace = rest.partition("@")
    laws = [name.strip() for name in names.split(",") if name.strip()]
    try:
        frequency = float(pace) if pace else -1.0
    except ValueError:
        frequency = math.nan
    if not parameter or not laws or frequency != frequency:
        raise FlagError(
            f"{option} {text}: write PARAMETER=MODEL, such as GLP_01_x0=decay, or with sub-cycles "
            "GLP_01_x0=irf,up,down@0.25"
        )
    return parameter, laws, frequency


def axis_of(text: str, option: str) -> Array:
    """ "0:20:400" (from:to:points) or "0,1,2.5" as an axis."""
    try:
        if ":" in text:
            low, high, points = text.split(":")
            if int(points) < 1:
                raise ValueError
            return np.linspace(float(low), float(high), int(points))
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise FlagError(
            f"{option} {text}: write from:to:points, such as 0:20:400, or the values, 0,1,2.5"
        ) from None


def set_named(model: Model, texts: Sequence[str]) -> None:
    """Sets values: ``GLP_01_A=12``."""
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise FlagError(f"--set {text}: write PARAMETER=VALUE, such as GLP_01_A=12") from None
        model.set_values({name.strip(): number})


def passes_behind(last: str) -> frozenset[str]:
    """The passes behind one that ``--after`` names."""
    try:
        return after(last)
    except PassError as error:
        raise FlagError(str(error).replace("after:", "--after:", 1)) from error


def give_axes(model: Model) -> None:
    """Axes of a few points, so that the model can be lowered."""
    profiled = any(par.profile is not None for par in model.parameters.values())
    moving = [par.dynamics for par in model.parameters.values() if par.dynamics is not None]
    needs_time = moving or model.is_time_model
    pace = max((dynamics.frequency for dynamics in moving), default=1.0)
    model.set_axes(
        energy=np.linspace(0.0, 1.0, 5),
        time=np.linspace(-1.0, 2.0, 4) / max(pace, 1.0) if needs_time else None,
        aux=np.linspace(0.0, 1.0, 3) if profiled else None,
    )
