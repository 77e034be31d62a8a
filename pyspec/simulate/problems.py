"""Problems with a known answer: the demo's, and the seed problems of the benchmarks.

Energies run upwards with the loss side first, as kinetic energies do, so that the Shirley
background rises towards low energies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError, suggest
from pyspec.model import Model, load_dynamics, load_model

Array = npt.NDArray[np.float64]

_STATIC = """\
doublet:
  Offset:
    y0: [{y0}, True, 0, 20]
  LinBack:
    m: [{slope}, True, -1, 1]
    b: [0, False]
    xStart: [0, False]
    xStop: [20, False]
  Shirley:
    pShirley: [{loss}, True, 0, 0.1]
  GLP:
    A: [{A1}, True, 0, 100]
    x0: [{x1}, True, 0, 20]
    F: [{F1}, True, 0.1, 10]
    m: [{m1}, True, 0, 1]
  GLP:
    A: [{A2}, True, 0, 100]
    x0: [{x2}, True, 0, 20]
    F: [{F2}, True, 0.1, 10]
    m: {m2}
"""

_DECAY = """\
{name}:
  expFun:
    A: [{A}, True, -50, 50]
    tau: [{tau}, True, 0.1, 1000]
    t0: [0, False]
"""

_TRUE = {
    "y0": 4.0,
    "slope": 0.12,
    "loss": 0.0024,
    "A1": 20.0,
    "x1": 7.0,
    "F1": 1.6,
    "m1": 0.35,
    "A2": 12.0,
    "x2": 11.6,
    "F2": 2.0,
}

#: Every start is at least 10 % off.
_START = {
    "y0": 3.2,
    "slope": 0.15,
    "loss": 0.0018,
    "A1": 16.0,
    "x1": 7.8,
    "F1": 2.1,
    "m1": 0.5,
    "A2": 14.5,
    "x2": 10.4,
    "F2": 1.6,
}


@dataclass(frozen=True)
class Decay:
    """How a parameter moves: a named dynamics model, true and start values of its expFun."""

    name: str
    truth: dict[str, float]
    start: dict[str, float]

    def yaml(self, start: bool) -> str:
        """The dynamics model as YAML text."""
        return _DECAY.format(name=self.name, **(self.start if start else self.truth))


@dataclass(frozen=True)
class Problem:
    """A model with true and start values, axes and noise; `moves` names what moves in time."""

    name: str
    tied: bool
    moves: dict[str, Decay]
    noise_sd: float = 0.6
    seed: int = 7
    energy: Array = field(default_factory=lambda: np.linspace(0.0, 20.0, 400))
    time: Array = field(default_factory=lambda: np.linspace(-10.0, 90.0, 440))

    def yaml(self, start: bool = True) -> str:
        """The energy model as YAML text, at the start values or at the truth."""
        values: dict[str, object] = dict(_START if start else _TRUE)
        shape = 0.5 if start else 0.35
        values["m2"] = '["GLP_01_m"]' if self.tied else f"[{shape}, True, 0, 1]"
        return _STATIC.format(**values)

    def model(self, start: bool = True) -> Model:
        """The model on its axes, at the start values or at the truth."""
        model = load_model(self.yaml(start), "doublet")
        for name, decay in self.moves.items():
            law = load_dynamics(decay.yaml(start), decay.name, model.parameters[name])
            model.add_dynamics(name, law)
        model.set_axes(energy=self.energy, time=self.time)
        return model

    def data(self, seed: int | None = None) -> Array:
        """(n_time, n_energy) the true model plus Gaussian noise; `seed` of the problem if None."""
        clean = self.model(start=False).evaluate()
        generator = np.random.default_rng(self.seed if seed is None else seed)
        return clean + generator.normal(0.0, self.noise_sd, clean.shape)


_FADE = Decay("fade", {"A": -8.0, "tau": 12.0}, {"A": -6.0, "tau": 18.0})
_SHIFT = Decay("shift", {"A": 1.5, "tau": 30.0}, {"A": 1.1, "tau": 45.0})

PROBLEMS: dict[str, Problem] = {
    "demo": Problem("demo", tied=True, moves={"GLP_01_A": _FADE, "GLP_02_x0": _SHIFT}),
    "seed_amplitude": Problem("seed_amplitude", tied=False, moves={"GLP_01_A": _FADE}),
    "seed_position": Problem("seed_position", tied=False, moves={"GLP_02_x0": _SHIFT}),
}


def problem(name: str) -> Problem:
    """A problem by name: "demo", "seed_amplitude" or "seed_position"."""
    if name not in PROBLEMS:
        raise ModelError(f"unknown problem {name!r}{suggest(name, list(PROBLEMS))}")
    return PROBLEMS[name]
