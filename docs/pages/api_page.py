"""The page of the public names: every one of ``pyspec.__all__``, described by its docstring.

On the site Sphinx puts the docstrings there; on the repository page the directives stay as they
are, with the names and the subjects.
"""

from __future__ import annotations

import inspect
from typing import Any

import pyspec
import pyspec.components
import pyspec.fit
import pyspec.fit.amplitudes.amplitudes
import pyspec.fit.amplitudes.species
import pyspec.fit.results.prediction
import pyspec.io
import pyspec.plot

LEAD = """
Every name that `from pyspec import …` takes, with its docstring. Names of its rooms that scripts
use, such as `from pyspec.plot import plot_traces`, follow. `help(pyspec.fit_model)` shows the
same in Python. Plots take more options than are listed here: they are the fields of `PlotConfig`.
`pyspec.components` has a class for each [function](functions/index.md), and `pyspec.functions`
their references in NumPy. What is not on this page may change without notice.
"""
#: Heading → the packages whose names stand under it.
SUBJECTS = {
    "Files and projects": ("pyspec.workflow", "pyspec.build"),
    "Models and measurements": ("pyspec.model",),
    "Fits": ("pyspec.fit",),
    "Pictures and reports": ("pyspec.plot",),
    "Reading and saving": ("pyspec.io",),
    "Simulation": ("pyspec.simulate",),
    "Functions of your own": ("pyspec.functions", "pyspec.formula"),
    "From a model to a plan": ("pyspec.ir", "pyspec.plan", "pyspec.executor"),
    "Errors and warnings": ("pyspec.errors",),
}

#: Names of rooms that pages and results lead to, by their heading.
IN_ROOMS = {
    "Models and measurements": [
        f"components.{name}"
        for name in ("expr", "fixed", "free", "moving", "profiled", "registered", "shared")
    ],
    "Fits": [
        "fit.SliceFit",
        "fit.Start",
        "fit.amplitudes.amplitudes.Amplitudes",
        "fit.amplitudes.species.Associated",
        "fit.results.prediction.Prediction",
    ],
    "Pictures and reports": [
        f"plot.{name}"
        for name in pyspec.plot.__all__
        if name not in pyspec.__all__ and name != "PlotError"
    ],
    "Reading and saving": [
        "io.by_reference",
    ],
    "Errors and warnings": ["plot.PlotError"],
}


def directive(name: str) -> str:
    """How Sphinx is told to describe a public name."""
    thing: Any = pyspec
    for part in name.split("."):
        thing = getattr(thing, part)
    if inspect.ismodule(thing):
        return f"```{{eval-rst}}\n.. automodule:: {thing.__name__}\n   :members:\n```"
    if not inspect.isclass(thing):
        return f"```{{eval-rst}}\n.. autofunction:: pyspec.{name}\n```"
    members = "" if issubclass(thing, BaseException) else "\n   :members:\n   :inherited-members:"
    return f"```{{eval-rst}}\n.. autoclass:: pyspec.{name}{members}\n```"


def subject(name: str) -> str:
    """The heading under which a public name stands."""
    thing = getattr(pyspec, name)
    home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
    for heading, packages in SUBJECTS.items():
        if home.startswith(packages):
            return heading
    raise LookupError(f"{name} of {home} has no heading in SUBJECTS of docs/pages/api_page.py")


def pages() -> dict[str, str]:
    """api.md."""
    names = [name for name in pyspec.__all__ if not name.startswith("__")]
    parts = ["# Public names", LEAD.strip()]
    for heading in SUBJECTS:
        parts += [f"## {heading}"]
        here = [name for name in names if subject(name) == heading]
        for name in sorted(here + IN_ROOMS.get(heading, []), key=lambda one: one.split(".")[-1]):
            parts.append(f"### {name.rpartition('.')[2]}\n\n{directive(name)}")
    return {"api.md": "\n\n".join(parts)}
