"""The page of the passes: what each does, and its report for two problems."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pyspec.formula.absorbed import absorbed
from pyspec.ir import build_graph, print_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.passes import PASSES, Pace, run
from pyspec.simulate import problem

LEAD = """
[One model](one_model.md) is followed from its file to numbers on a page of its own.

A model is built as a graph: what feeds what. Passes make from it the graph that is scheduled, and
find out of each node what a kernel may use. Every model that is lowered goes through them: fits,
joint fits, slices, evaluations, simulations, `pyspec explain`. Only `backend="tree"`, which walks
the model as it is written, does not.
"""

SWITCHES = """
The graph is verified after each pass that changes it. Any of them can be left out, and the numbers
stay the same to rounding:

```python
from pyspec import build_graph
from pyspec.executor import make_plan
from pyspec.passes import run

graph, facts, report = run(build_graph(model), without=("share",))
plan = make_plan(model, without=("share", "classify"))
```

In a shell, `PYSPEC_PASSES=-share,-classify` leaves these out everywhere, `PYSPEC_PASSES=fold` runs
that one alone, and `PYSPEC_PASSES=none` none of them. Without `classify` nothing is known of the
nodes: everything that is computed moves in time and depends on every free parameter.
`pyspec explain --passes` prints the report of a model, `--after=share` its graph after a pass, and
`python -m bench.passes` what each pass, and each fact, saves. What `absorb` does to each formula of
a model stands there, too; `encode(…, absorb=False)` makes a program without it, and
`python -m bench.absorb` compares both for all functions of the table.
"""

SEED = "A doublet whose first height decays: `seed_amplitude` of the benchmarks."

TIED = """\
doublet:
  GLP:
    A: [12, True, 0, 50]
    x0: [84, True, 80, 90]
    F: [1.1, True, 0.3, 3]
    m: [0.3, False]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
parameters:
  area: ["GLP_01_A * GLP_01_F * pi / 2"]
"""

DECAY = """\
decay:
  expFun: {A: [2, True, -9, 9], tau: [3, True, 0.1, 50], t0: [0, False]}
"""

PACES = {
    Pace.STATIC: "it does not: one line for all times, which stays until an input changes",
    Pace.HEIGHT: "only the height of a peak: a line at height 1, times a trace",
    Pace.SEPARABLE: "one shape times a trace",
    Pace.MOVING: "the shape moves: every time is computed",
}


def pages() -> dict[str, str]:
    """compiler.md."""
    parts = ["# From a model to a plan", LEAD.strip()]
    parts += [f"**{name}**: {_about(work)}" for name, work in PASSES.items()]
    parts += [f"**absorb**, in formulas: {_about(absorbed)}", _paces()]
    parts += ["## Leaving passes out", SWITCHES.strip()]
    parts.append("## The seed problem\n\n" + SEED)
    parts.append(_block(_report(problem("seed_amplitude").model())))
    parts.append("## A tied doublet\n\nWhat is tied leaves something to fold, drop and share.")
    parts += [f"```yaml\n{TIED}```", _block(_report(_tied()))]
    parts.append("Its graph, after the passes, on axes of three points:")
    left, _, _ = run(build_graph(_tied()))
    parts.append(_block(print_graph(left).rstrip()))
    return {"compiler.md": "\n\n".join(parts)}


def _about(work: Callable[..., Any]) -> str:
    """The docstring of the file of a pass."""
    module = inspect.getmodule(work)
    text = inspect.cleandoc((module and module.__doc__) or "")
    return text.partition(": ")[2].replace("``", "`")


def _paces() -> str:
    rows = [f"| {pace.name.lower()} | {text} |" for pace, text in PACES.items()]
    head = "How a component changes in time is one of\n\n| pace | what moves |\n|---|---|\n"
    return head + "\n".join(rows)


def _report(model: Model) -> str:
    _, _, report = run(build_graph(model))
    return "\n".join(str(step) for step in report)


def _tied() -> Model:
    model = load_model(TIED, "doublet")
    law = load_dynamics(DECAY, "decay", model.parameters["GLP_01_A"])
    model.add_dynamics("GLP_01_A", law)
    model.set_axes(energy=np.array([80.0, 85.0, 90.0]), time=np.array([-1.0, 0.0, 1.0]))
    return model


def _block(text: str) -> str:
    return f"```text\n{text}\n```"
