"""A small series to build models on, and random edits of a session."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec import File
from pyspec.workflow.session.edits import (
    Add,
    ChooseModel,
    DropLaw,
    Edit,
    Exclude,
    Include,
    Law,
    NewModel,
    Remove,
    RemoveModel,
    Set,
    Window,
    Yaml,
)
from pyspec.workflow.session.session import Session

TEXT = """\
# A line that moves.
line:
  Offset:
    y0: [2, True, 0, 20]     # the level
  GLP:  # the line
    A: [10.0, True, 0, 100]  # height
    x0: [5, True, 0, 10]
    F: [1.5, True, .1, 5]
    m: [0.3, False]

# What moves it.
shift:
  expFun:
    A: [0.5, True]
    tau: [3, True, 0.01, 100]   # of the return
    t0: [0, False]

attached:
  line:
    GLP_01_x0: {dynamics: [shift]}  # the place
"""

ENERGY, TIME = np.linspace(0.0, 10.0, 41), np.linspace(-2.0, 10.0, 13)


def small_file(name: str = "scan") -> File:
    """Spectra over time with a line that moves, and noise of a fixed seed."""
    rng = np.random.default_rng(5)
    place = 5.0 + np.where(TIME >= 0, 0.8 * np.exp(-TIME / 3.0), 0.0)
    lines = 12.0 * np.exp(-(((ENERGY - place[:, None]) / 0.8) ** 2))
    data = 3.0 + lines + 0.2 * rng.standard_normal(lines.shape)
    return File(data=data, energy=ENERGY, time=TIME, name=name)


def doublet(name: str = "doublet", place: float = 83.5) -> File:
    """Two lines 3 apart that move together from time 0 on, on a constant background."""
    rng = np.random.default_rng(8)
    energy, time = np.linspace(80.0, 90.0, 101), np.linspace(-2.0, 8.0, 41)
    at = place + np.where(time >= 0, 0.6 * np.exp(-time / 2.0), 0.0)[:, None]
    data = 5.0 + 0.3 * rng.standard_normal((time.size, energy.size))
    for height, distance in ((20.0, 0.0), (12.0, 3.0)):
        data += height * np.exp(-4.0 * np.log(2.0) * (energy - at - distance) ** 2)
    return File(data=data, energy=energy, time=time, name=name)


def session(text: str | None = TEXT, *, files: int = 1) -> Session:
    """A session on these data, or on several files with them."""
    names = ["scan", "other", "third"][:files]
    return Session([small_file(name) for name in names], text)


def random_edit(found: Session, rng: np.random.Generator) -> Edit:
    """An edit that a person could ask for; some are refused."""
    model = found.document.model
    names = [] if model is None else list(model.parameters)
    parts = [] if model is None else [one.name for one in model.components]
    name = str(rng.choice(names)) if names else "nothing"
    part = str(rng.choice(parts)) if parts else "nothing"
    value = float(np.round(rng.normal(3.0, 4.0), int(rng.integers(0, 12))))
    low, high = sorted(rng.uniform(0.0, 10.0, 2).tolist())
    function = str(rng.choice(["GLP", "Gauss", "Offset", "Shirley", "LinBack", "Voigt", "DS"]))
    law = str(rng.choice(["expFun", "gaussCONV", "linFun", "stepFun", "gaussIRF"]))
    text = found.text
    cuts = sorted(int(k) for k in rng.integers(0, len(text) + 1, 2))
    made: list[Edit] = [
        Set(name, "value", value),
        Set(name, "value", value),
        Set(name, str(rng.choice(["min", "max"])), None if rng.random() < 0.3 else value),
        Set(name, "vary", [True, False, "project"][int(rng.integers(3))]),
        Set(name, "expr", f"{rng.choice(names)} + {value!r}" if names else "1"),
        Set(name, "expr", ""),
        Add(function, {"energy": low, "height": abs(value), "width": 1.0}),
        Add(function),
        Remove(part),
        Law(name, law),
        Law(name, law),
        DropLaw(name, None if rng.random() < 0.5 else "expFun_01"),
        Window(energy=(low, high)),
        Window(energy=None, time=(low - 2.0, high)),
        Exclude("energy", low, high),
        Exclude("time", low - 2.0, min(high, low + 3.0) - 2.0),
        Include(str(rng.choice(["energy", "time"])), low, high),
        NewModel(f"m{int(rng.integers(4))}", found.document.name if model is not None else None),
        ChooseModel(str(rng.choice(found.models))),
        RemoveModel(found.document.name),
        Yaml(text[: cuts[0]] + text[cuts[1] :]),
        Yaml(text + "\n# seen\n"),
    ]
    return made[int(rng.integers(len(made)))]


def bits(found: Session) -> Any:
    """What a document is, to the last bit."""
    document = found.document
    model = document.model
    numbers = None
    if model is not None:
        pars = model.parameters.values()
        numbers = [(p.name, repr(p.value), repr(p.min), repr(p.max), p.vary, p.expr) for p in pars]
    window = document.energy_limits, document.time_limits, document.excluded
    others = {number: (one.values, one.excluded) for number, one in document.others.items()}
    return document.text, document.name, numbers, window, document.file, repr(others)
