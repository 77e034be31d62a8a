"""The page of the passes: what each does, and its report for two problems."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.memory import built_in
from docs.markdown import block, table
from pyspec.formula.absorbed import absorbed
from pyspec.ir import build_graph, print_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.passes import PASSES, Pace, run
from pyspec.plan.memory import CHOICES, registers
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

MEMORY = """
Where results of steps lie is planned (`pyspec/memory/`): spectra that sums and backgrounds read,
and registers of [functions by formula](howto/own_functions.md). A plan is made in three moves. No
number depends on any of them (`pytest tests/memory`).

- An *order* of the steps, operands first. *given* is that of the formula. *v1* takes the step
  that frees most, as it looked when the step became ready. *v2*, the default, counts what is
  freed less what the result takes, with a little for a result that another takes over, and looks
  again at what it is about to take. *v3* has the same score without the bonus, and is told when a
  step becomes the last reader.
- *Lifetimes*, from the step that writes to the last one that reads. The parts of the Faddeeva
  function are other names of pieces of one result. A sum goes on in place of the first spectrum
  that it adds, where nothing reads that later: a model written as a list has a single spectrum,
  whatever its backgrounds read. Registers do not go on in place: the C reads operands while it
  writes, and the check refuses such programs.
- *Places*: one behind the other (*apart*), in the lowest gap that is large enough (*first*, the
  default), or in the smallest such gap (*best*).

Registers of a chunk, one kilobyte each (eight for Voigt), for value and all derivatives of
functions that are also in the table, and for eight lines in one formula:
"""

WORK = """
Lifetimes save up to four of five registers, the order one or two of some; best fit places as
first fit does, because nearly all results have one size. `python -m bench.memory` counts random
functions and drawn graphs too, and prints the work memory of a thread. That is laid out by phases
(`csrc/memory.h`): what resolves traces, what computes spectra, and what prepares sums over
energies and times apart is never there at the same time and lies in the same place; so do, while
spectra are computed, columns that a background reads, residuals of a block, and sums on their way
to theta. `pyspec explain --memory` prints all of this for a model.
"""

SEED = "A doublet whose first height decays: `seed_amplitude` of the benchmarks."

TIED = """\
doublet:
  GLP:
    A: [12, True, 0, 50]
    x0: [84, True, 80, 90]
    F: [1.1, True, 0.3, 3]
    m: [1.0, False]
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
    parts += ["## Memory", MEMORY.strip(), _registers(), WORK.strip()]
    parts.append("## The seed problem\n\n" + SEED)
    parts.append(block(_report(problem("seed_amplitude").model())))
    parts.append("## A tied doublet\n\nWhat is tied leaves something to fold, drop and share.")
    parts += [f"```yaml\n{TIED}```", block(_report(_tied()))]
    parts.append("Its graph, after the passes, on axes of three points:")
    left, _, _ = run(build_graph(_tied()))
    parts.append(block(print_graph(left)))
    return {"compiler.md": "\n\n".join(parts)}


def _about(work: Callable[..., Any]) -> str:
    """The docstring of the file of a pass."""
    module = inspect.getmodule(work)
    text = inspect.cleandoc((module and module.__doc__) or "")
    return text.partition(": ")[2].replace("``", "`")


def _paces() -> str:
    rows = [(pace.name.lower(), text) for pace, text in PACES.items()]
    return f"How a component changes in time is one of\n\n{table(('pace', 'what moves'), rows)}"


def _registers() -> str:
    """Registers of functions by formula for each choice of the planner, as a table."""
    own = built_in()
    rows = [
        (f"{choice.order}, {choice.fit}", *(str(registers(one, choice)) for one in own.values()))
        for choice in CHOICES
        if choice.in_place
    ]
    return table(("order, place", *own), rows)


def _report(model: Model) -> str:
    _, _, report = run(build_graph(model))
    return "\n".join(str(step) for step in report)


def _tied() -> Model:
    model = load_model(TIED, "doublet")
    law = load_dynamics(DECAY, "decay", model.parameters["GLP_01_A"])
    model.add_dynamics("GLP_01_A", law)
    model.set_axes(energy=np.array([80.0, 85.0, 90.0]), time=np.array([-1.0, 0.0, 1.0]))
    return model
