"""One random model as a person would hand it in: YAML text, calls, axes, a measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.model import (
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)

Array = npt.NDArray[np.float64]


class Step(NamedTuple):
    """A call that lets a parameter move, or differ along the auxiliary axis."""

    what: str  # "dynamics" or "profile"
    target: str
    names: tuple[str, ...]
    frequency: float = -1.0


@dataclass
class Case:
    """A model and its measurement. `text` holds all its models, the energy model is "m"."""

    seed: int
    kind: str  # "1D", "2D" or "TIME_1D"
    text: str
    steps: list[Step] = field(default_factory=list)
    energy: Any = None
    time: Any = None
    aux: Any = None
    aux_weights: Any = None
    measurement: dict[str, Any] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)

    def model(self) -> Model:
        """The model on its axes. Raises what the loader raises."""
        if self.kind == "TIME_1D":
            model = load_time_model(self.text, "m")
        else:
            model = load_model(self.text, "m")
        for step in self.steps:
            if step.what == "profile":
                if len(step.names) != 1:
                    raise ModelError("a profile has one model")
                loaded = load_profile(self.text, step.names[0], step.target)
                model.add_profile(step.target, loaded)
            else:
                model.add_dynamics(
                    step.target, load_dynamics(self.text, step.names, step.target, step.frequency)
                )
        axes = {"energy": self.energy, "time": self.time}
        if self.aux is not None:
            axes |= {"aux": self.aux, "aux_weights": self.aux_weights}
        model.set_axes(**axes)
        return model

    def replay(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""

        def plain(axis: Any) -> Any:
            return None if axis is None else np.asarray(axis).tolist()

        return {
            "seed": self.seed,
            "kind": self.kind,
            "yaml": self.text,
            "steps": [list(step) for step in self.steps],
            "energy": plain(self.energy),
            "time": plain(self.time),
            "aux": plain(self.aux),
            "aux_weights": plain(self.aux_weights),
            "measurement": {key: str(value) for key, value in self.measurement.items()},
        }
