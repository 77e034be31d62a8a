"""The page of the passes: what each does, and its report for two problems."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.inside.memory import built_in
from docs.pages.markdown import block, table
from pyspec._library import CONSTANTS
from pyspec.formula.program.absorbed import absorbed
from pyspec.ir import build_graph, print_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.passes import PASSES, Pace, run
from pyspec.passes.basis import basis, parts_of, turned
from pyspec.passes.expand import expand, expanded
from pyspec.plan import can_lower_2d
from pyspec.plan.basis import BasisPlan, basis_plans
from pyspec.plan.memory import CHOICES, registers
from pyspec.simulate import problem

LEAD = """
[One model](one_model.md) is followed from its file to numbers on a page of its own.

A model is built as a graph: what feeds what. It has a node for each law, kernel and component of
the model file, and no more. An instrument of two Gaussians is two nodes over the same laws. A
sub-cycle knows its frequency and its turn. A resolution is one node. Passes make from it the graph
that is scheduled, and find out of each node what a kernel may use. Every model that is lowered goes
through them: fits, joint fits, slices, evaluations, simulations, `pyspec explain`. Only
`backend="tree"`, which walks the model as it is written, does not.
"""

SWITCHES = """
The graph is verified after each pass that changes it. Any but `expand` can be left out, and the
numbers stay the same to rounding:

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
`python -m bench.inside.passes` what each pass, and each fact, saves. What `absorb` does to each
formula of a model stands there, too; `encode(…, absorb=False)` makes a program without it, and
`python -m bench.inside.absorb` compares both for all functions of the table.
"""

MEMORY = """
Where results of steps lie is planned (`pyspec/memory/`): spectra that sums and backgrounds read,
and registers of [functions by formula](../howto/own_functions.md). A plan is made in three moves.
No number depends on any of them (`pytest tests/memory`).

- An *order* of the steps, operands first. The order *given* is that of the formula. Order *v1*,
  the default, takes the step that frees most at the moment it becomes ready. Order *v2* scores a
  step by the memory it frees less the memory of its result. A result that replaces another one
  gets a small bonus, and the score is renewed just before a step is taken. Order *v3* has the
  same score without the bonus. It renews the score when a step becomes the last reader. Over 300
  random functions v1 needs 1,686 registers, the order given 1,698, v3 1,704 and v2 1,707.
- *Lifetimes*, from the step that writes to the last one that reads. The parts of the Faddeeva
  function are other names of pieces of one result. A sum is written over the first spectrum that
  it adds if nothing reads that spectrum later. A model written as a list therefore has a single
  spectrum, whatever its backgrounds read. Registers do not go on in place: the C reads operands
  while it writes, and the check refuses such programs.
- *Places*: one after the other (*apart*), in the lowest gap that is large enough (*first*, the
  default), or in the smallest such gap (*best*).

Registers of a chunk, for value and all derivatives. One register has one kilobyte (eight for
Voigt). The functions are also in the table; the last column is eight lines in one formula:
"""

WORK = """
Lifetimes save up to four of five registers, the order one or two of some. Best fit gives the same
places as first fit, because nearly all results have one size. `python -m bench.inside.memory`
counts random functions and drawn graphs too, and prints the work memory of a thread. The work
memory of a thread is laid out by phases (`csrc/walk/memory.h`). Resolving traces, computing spectra
and preparing separate sums happen at different times and share their memory. While spectra are
computed, columns of a background, residuals of a block and partial sums share memory too. `pyspec
explain --memory` prints all of this for a model.
"""

SEED = "A doublet whose first height decays: `seed_amplitude` of the benchmarks."

FREE = """
Two species, each with a free spectrum, and a time zero that depends on the energy. A FREE_VECTOR is
an amplitude that a fit solves for at each energy, or each time; an AXIS is the energy itself, which
expressions may read. There is no plan of the whole, and `can_lower_2d` names each node that stands
against it. A fit has plans of the functions that the amplitudes are multiplied with, each plan for
several of them, found in one walk.
"""

CHIRPED = """\
parameters:
  onset: [0.1, True]
  chirp: [0.5, True]
  seen: ["onset + chirp * (1 - (550 / energy) ** 2)"]
kinetics:
  relaxation: {A -> B: k1, B: k2}
chirped:
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  relaxation: {k1: [2, True, 0.5, 50], k2: [0.1, True, 0.001, 1], t0: ["seen"],
               spectra: {free: energy}}
"""

TURNED = """
`pyspec/passes/basis.py` makes a result of each amplitude: the model with that amplitude 1 and all
others 0. Functions of time that are the same at all energies are traces of one plan, through
whatever kernels stand above them. What depends on the energy is *turned*: a row is an energy, the
abscissae are times, the law under its instrument is a component, and the energy itself a trace that
expressions read row by row. Kernels on the samples, sub-cycles, functions in Python and formulas
with inputs cannot be turned, and are refused by name. The graph above becomes
"""

NODES = """
and its plan has these nodes, which C runs over the rows:
"""

BACK = """
`model_of(graph)` leads back to a model, whose YAML loads to an equal graph; `fit_model` and
`fit_joint` take graphs in place of models. A parameter that two functions of a graph share becomes
a quantity that theirs are tied to. What no model file can say is refused, with what differs in the
one that comes near.
"""

#: Steps of a plan.
STEPS = ("LAW", "BASE", "EXPRESSION", "COMPONENT", "ADD", "CONVOLVE", "PROFILE", "EXTERNAL")

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
    """inside/compiler.md."""
    parts = ["# From a model to a plan", LEAD.strip()]
    parts += [f"**{name}**: {_about(work)}" for name, work in {"expand": expand, **PASSES}.items()]
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
    model = load_model(CHIRPED, "chirped")
    model.set_axes(energy=np.array([400.0, 550.0, 700.0]), time=np.array([-1.0, 0.0, 1.0]))
    graph = build_graph(model)
    parts += [f"## A target model with a chirp\n\n{FREE.strip()}", f"```yaml\n{CHIRPED}```"]
    parts += [block(print_graph(graph)), block(str(can_lower_2d(graph)))]
    split = expanded(basis(graph, parts_of(graph), "energy"))
    parts += [TURNED.strip(), block(print_graph(turned(split))), NODES.strip()]
    (plan,) = basis_plans(graph)
    parts.append(table(("node", "of", "stage"), _nodes(plan)))
    parts.append(f"## And back\n\n{BACK.strip()}")
    return {"inside/compiler.md": "\n\n".join(parts)}


def _nodes(plan: BasisPlan) -> list[tuple[str, str, str]]:
    """The nodes of a packed plan."""
    steps = {CONSTANTS[f"STEP_{one}"]: one.lower() for one in STEPS}
    stages = {CONSTANTS[f"STAGE_{one}"]: one.lower() for one in ("PROBLEM", "AXIS", "ROW")}
    n_resolve = int(plan.packed.header["n_resolve"])
    return [
        (
            steps[int(node["step"])],
            plan.packed.labels[int(node["label"])],
            stages[int(node["stage"])] if k < n_resolve else "walk",
        )
        for k, node in enumerate(plan.packed.nodes())
    ]


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
