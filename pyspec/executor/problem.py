"""What is fitted together: models with their measurements, and where each finds its parameters.

A parameter of scope "project" is one parameter of all parts that have it; any other belongs to its
own part and is called ``file00_GLP_01_A``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.functions.grid import mean_step
from pyspec.model import Measurement, Model, Par
from pyspec.plan import CompiledModel, compile_model

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Mean steps that differ by less are the same: the rounding of axes.
SAME_STEP = 1e-9


class Part(NamedTuple):
    """A model and what it is fitted to; `fixed` are values of fixed parameters in place of those of
    the model."""

    compiled: CompiledModel
    measurement: Measurement
    fixed: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """Parts that are fitted together.

    Attributes
    ----------
    parts : each with its own axes, window, noise and loss
    names : the free parameters of all, the order of theta
    gather : of each part, (n_own,) the places of its own parameters in theta
    full : of each part, name of a parameter there → its name here
    """

    parts: tuple[Part, ...]
    names: tuple[str, ...]
    gather: tuple[Ints, ...]
    full: tuple[Mapping[str, str], ...]

    @classmethod
    def of(cls, files: Sequence[tuple[Model, Measurement | None]]) -> Problem:
        """That of several files, whose parameters are in the order of the files, shared ones where
        they first occur.

        Raises :class:`ModelError` where files that share a parameter give it other bounds or fix
        it.
        """
        if not files:
            raise ModelError("a joint fit needs at least one file")
        first: dict[str, tuple[int, Par]] = {}
        place: dict[str, int] = {}
        gather: list[Ints] = []
        full: list[dict[str, str]] = []
        for index, (model, _) in enumerate(files):
            names: dict[str, str] = {}
            for name, par in model.parameters.items():
                shared = par.scope == "project"
                names[name] = name if shared else f"file{index:02d}_{name}"
                if shared:
                    _check_shared(par, index, *first.setdefault(name, (index, par)))
            own = [names[name] for name in model.opt_param_names]
            gather.append(np.array([place.setdefault(n, len(place)) for n in own], np.int64))
            full.append(names)
        parts = [
            Part(compile_model(model), measurement)
            for model, measurement in in_steps_of_the_first(files)
        ]
        return cls(tuple(parts), tuple(place), tuple(gather), tuple(full))

    @property
    def models(self) -> list[Model]:
        """Those of the parts."""
        return [part.compiled.model for part in self.parts]

    @cached_property
    def start(self) -> Array:
        """(n,) the values of the models, shared ones where they first occur."""
        theta = np.empty(len(self.names))
        for model, own in zip(reversed(self.models), reversed(self.gather), strict=True):
            theta[own] = model.theta()
        return theta


def in_steps_of_the_first(
    files: Sequence[tuple[Model, Measurement | None]],
) -> list[tuple[Model, Measurement]]:
    """The files. If files share the strength of a Shirley, all of them use the mean energy step of
    the first. They then have the same loss per eV."""
    adjusted: list[tuple[Model, Measurement]] = []
    first: float | None = None
    for model, own_measurement in files:
        measurement = own_measurement or Measurement()
        fed = [component for component in model.components if component.op.kind == "SPECTRUM_FED"]
        shares = any(par.scope == "project" for component in fed for par in component.parameters)
        if model.energy is not None and shares:
            own = mean_step(model.energy)
            first = own if first is None else first
            if abs(own - first) > SAME_STEP * first and measurement.energy_step != first:
                measurement = replace(measurement, energy_step=first)
        adjusted.append((model, measurement))
    return adjusted


def _check_shared(par: Par, index: int, first: int, other: Par) -> None:
    if (par.vary, par.min, par.max) != (other.vary, other.min, other.max):
        raise ModelError(
            f"{par.place}: {par.name} is shared by the project, but file {index} and file {first} "
            "give it other bounds or hold it fixed; write the same entry in both models"
        )
