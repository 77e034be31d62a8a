"""The model that a command is about, from a model file or a job, ready to be lowered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pyspec.cli.fields import FlagError
from pyspec.cli.job import read_job
from pyspec.cli.models import is_job, load_named
from pyspec.cli.prepare import job_model
from pyspec.errors import DataError, PassError
from pyspec.model import Model
from pyspec.passes import after


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
