"""Energy models written as lines, with laws and profiles that are lines too."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pyspec.model import Model, load_dynamics, load_model, load_profile

ENERGY, TIME = np.linspace(80.0, 90.0, 21), np.linspace(-2.0, 9.0, 23)

PEAK = "GLP: {A: [9, true], x0: [84, false], F: [1, false], m: [0.3, false]}"
SHAPED = "GLP: {A: [9, true], x0: [84, true], F: [1, true], m: [0.3, true]}"
OFFSET = "Offset: {y0: [1, true]}"
SHIRLEY = "Shirley: {pShirley: [0.01, true]}"
DECAY = "expFun: {A: [2, true], tau: [3, true], t0: [0.1, false]}"
ONSET = "expFun: {A: [2, true], tau: [3, false], t0: [0.1, true]}"


def free(text: str) -> str:
    """A number without a flag, [2], is free."""
    return re.sub(r"\[(-?[\d.]+)\]", r"[\1, true]", text)


def yaml(name: str, *lines: str) -> str:
    """A model of lines that are functions."""
    return free(f"{name}:\n" + "".join(f"  {line}\n" for line in lines))


def energy_model(
    *lines: str,
    moves: dict[str, Any] | None = None,
    profiles: dict[str, str] | None = None,
    quantities: str = "",
    time: bool = True,
) -> Model:
    """A model of some lines; moves and profiles are lines too, lists of them are sub-cycles."""
    made = load_model(yaml("m", *lines) + free(quantities), "m")
    for target, line in (profiles or {}).items():
        made.add_profile(target, load_profile(yaml("p", line), "p", target))
    for target, laws in (moves or {}).items():
        parts = laws if isinstance(laws, list) else [laws]
        text = "".join(yaml(f"d{k}", *part.split("\n")) for k, part in enumerate(parts))
        names = [f"d{k}" for k in range(len(parts))]
        frequency = 0.25 if len(names) > 1 else -1.0
        loaded = load_dynamics(text, names, target, frequency)
        made.add_dynamics(target, loaded)
    made.set_axes(energy=ENERGY, time=TIME if time else None, aux=np.array([0.0, 0.5, 2.0]))
    return made
