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
    """A model and its measurement. `text` holds all its models, the energy model is "m"; they
    are read from `files` by name where there are any, which is faster."""

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
    files: dict[str, str] = field(default_factory=dict)

    def model(self) -> Model:
        """The model on its axes. Raises what the loader raises."""
        if self.kind == "TIME_1D":
            model = load_time_model(self._file("m"), "m")
        else:
            model = load_model(self._file("m"), "m")
        for step in self.steps:
            if step.what == "profile":
                if len(step.names) != 1:
                    raise ModelError("a profile has one model")
                name = step.names[0]
                model.add_profile(step.target, load_profile(self._file(name), name, step.target))
            else:
                loaded = load_dynamics(
                    self._file(*step.names), step.names, step.target, step.frequency
                )
                model.add_dynamics(step.target, loaded)
        axes = {"energy": self.energy, "time": self.time}
        if self.aux is not None:
            axes |= {"aux": self.aux, "aux_weights": self.aux_weights}
        model.set_axes(**axes)
        return model

    def _file(self, *names: str) -> str:
        return "".join(self.files[name] for name in names) if self.files else self.text

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
