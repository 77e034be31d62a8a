"""The page that follows one model from its file to numbers."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np

from docs.pages.markdown import block
from pyspec.cli.commands.explain import jacobian_text, plan_text
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit.results.table import text_table
from pyspec.formula import disassemble
from pyspec.ir import build_graph, diff, print_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.passes import run
from pyspec.plan import pack

MODEL = """\
doublet:
  Offset:
    y0: [49.8687, False]
  Shirley:
    pShirley: [8.27433e-4, False, 0, 1]
  GLP:
    A: [303.359, False, 0, 1000]
    x0: [84.2079, True, 80, 90]
    F: [0.903315, False, 0.1, 5]
    m: [0.625957, False, 0, 1]
  GLP:
    A: ["3/4*GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

LAW = """\
oscillation:
  sinFun:
    A: [-0.7, True, -5, 5]
    f: [0.2525, True, 0.05, 1]
    phi: [0.3, True, -3.2, 3.2]
    t0: [0, False]
"""

#: The axes of data set 02, to the digits that matter here.
ENERGY = np.linspace(94.912, 76.832, 1131)
TIME = np.linspace(-0.328297, 16.989355, 212)

#: What a fit of the whole data set finds.
BEST = {
    "GLP_01_x0": 84.2099108,
    "GLP_01_x0_sinFun_01_A": -0.8437998,
    "GLP_01_x0_sinFun_01_f": 0.25016566,
    "GLP_01_x0_sinFun_01_phi": 0.3985178,
}

#: Some points of it: rows, columns, and the data there.
ROWS, COLUMNS = [1, 40, 80, 120, 205], [245, 385, 440, 520, 670, 869]
DATA = [
    [63.99, 111.18, 332.70, 59.72, 351.72, 41.04],
    [79.42, 275.42, 93.14, 68.72, 112.45, 40.31],
    [85.03, 242.90, 142.11, 62.93, 163.45, 48.26],
    [76.30, 71.36, 284.34, 62.15, 274.90, 56.28],
    [66.61, 72.23, 87.64, 149.40, 99.14, 50.72],
]

#: Fields of a node that are shown.
FIELDS = ("op", "step", "flags", "n_params", "params", "source", "target", "n_code", "stage")

LEAD = """
A tied doublet on a Shirley and an Offset, whose position oscillates from time 0 on: what happens
to its model on the way to numbers. Each step is what a command prints; the words before it say
where it is done. The data are 212 spectra of 1131 energies. A fit of the spectra before time 0 has
given the parameters that are fixed here.
"""


def pages() -> dict[str, str]:
    """inside/one_model.md."""
    model = doublet()
    model.set_axes(energy=np.array([90.0, 87.0, 84.0]), time=np.array([-0.2, 0.0, 1.0]))
    parts = ["# One model, from its file to numbers", LEAD.strip()]
    parts += [*_file(), *_graph(model), *_passes(model), *_plan(model), *_nodes(model)]
    return {"inside/one_model.md": "\n\n".join(_wrapped(part) for part in [*parts, *_numbers()])}


def _wrapped(part: str) -> str:
    """Lines of prose are short enough to read as they are."""
    if part.startswith("```"):
        return part
    return "\n".join(textwrap.fill(line, 104, break_long_words=False) for line in part.split("\n"))


def doublet() -> Model:
    """The model with its law, without axes."""
    model = load_model(MODEL, "doublet")
    target = "GLP_01_x0"
    model.add_dynamics(target, load_dynamics(LAW, "oscillation", model.parameters[target]))
    return model


def _file() -> list[str]:
    return [
        "## The file\n\nThe second line follows the first: three quarters of its height, 3.67 "
        "above it. The Shirley reads both lines, the Offset reads nothing. In the file of the "
        "laws, `GLP_01_x0` gets a sine.",
        f"```yaml\n{MODEL}```",
        f"```yaml\n{LAW}```",
    ]


def _graph(model: Model) -> list[str]:
    text = print_graph(build_graph(model)).rstrip()
    return [
        "## The graph\n\n`pyspec explain --graph` (`pyspec/ir/build.py`): what feeds what, on axes "
        "of three points. A `%` is a node, an arrow an edge, the number behind it which input it "
        "is. `GLP_01_x0_resolved` is the position with its sine; the expression `GLP_02_x0` reads "
        "that one, so that the second line moves too. `before_Shirley` is the sum that the Shirley "
        "reads. The verifier (`ir/verify.py`) looks at it after each change.",
        block(text),
        "`pyspec explain --picture graph.svg` draws it:\n\n![The graph](../images/one_model.png)",
    ]


def _passes(model: Model) -> list[str]:
    graph = build_graph(model)
    left, _, report = run(graph)
    return [
        "## The passes\n\n`pyspec explain --passes` ([the passes](compiler.md)): what became "
        "simpler, and what is known of each node now. Before the pulse all times are alike.",
        block("\n".join(str(step) for step in report)),
        "What changed, as `pyspec diff` says it: `3/4` is a number, and the widths and mixings of "
        "both lines are one node each.",
        block("\n".join(diff(graph, left))),
    ]


def _plan(model: Model) -> list[str]:
    return [
        "## The plan\n\n`pyspec explain --plan` (`pyspec/plan/`): every parameter is a row of a "
        "matrix of traces, one column for each time; theta comes first. Nodes write rows, then "
        "spectra. Changing a value, or another window, makes no new plan.",
        block(re.sub(r"; \d+ bytes|; digest \w+", "", plan_text(model))),
        "Which derivative is known how, `pyspec explain --jacobian`:",
        block(jacobian_text(model)),
    ]


def _nodes(model: Model) -> list[str]:
    plan = make_plan(model)
    packed = pack(plan)
    rows = [["node", *FIELDS]]
    for k, node in enumerate(packed.nodes()):
        op = plan.op(int(node["op"])).name if node["op"] >= 0 else "none"
        rows.append([str(k), op, *(str(int(node[name])) for name in FIELDS[1:])])
    begin, end = plan.expr_indptr[:2]
    program = disassemble(plan.expr_code[begin:end], plan.row_names)
    return [
        "## What C sees\n\n`pyspec explain --nodes`: the plan as one block of memory. It is "
        "an array of nodes (`struct pyspec_node` in `csrc/pyspec.h`), each with the places of its "
        "rows, parameters and programs. Some of them are shown. "
        "`csrc/check/check.c` looks at every field once; the loop in `csrc/walk/walk.c` then "
        "trusts it.",
        block(text_table(rows, ">" * len(rows[0]))),
        "An expression is a program for a stack machine (`csrc/formula/rpn.c`), here the first:",
        block(program),
    ]


def _numbers() -> list[str]:
    model = doublet()
    model.set_axes(energy=ENERGY, time=TIME)
    executor = CompiledExecutor(make_plan(model))
    names = list(executor.plan.row_names)
    shown = ["GLP_01_x0", "GLP_01_x0_resolved", "GLP_02_x0", "GLP_02_A"]
    traces = executor.traces(None)
    head = ["trace", *(f"t = {TIME[row]:.3f}" for row in ROWS)]
    lines = [[name, *(f"{traces[names.index(name)][row]:.5f}" for row in ROWS)] for name in shown]
    start, best = executor.run(None), executor.run(BEST)
    table = [["time", "energy", "data", "at the start", "at the optimum"]]
    for k, row in enumerate(ROWS):
        for j, column in enumerate(COLUMNS):
            values = DATA[k][j], start[row, column], best[row, column]
            numbers = [f"{value:.2f}" for value in values]
            table.append([f"{TIME[row]:.3f}", f"{ENERGY[column]:.3f}", *numbers])
    return [
        "## Numbers\n\nOne call of the library resolves the traces at theta, here at the start "
        "values of the file, on the axes of the data:",
        block(text_table([head, *lines], "<" + ">" * len(ROWS))),
        "and walks the energies of each time from the last to the first, so that the Shirley is a "
        "running sum. Some points, beside the data and what the fit of all of them ends with:",
        block(text_table(table, ">>>>>")),
        "A fit repeats this with other theta. It asks for chi², Jᵀr and JᵀJ, which are summed in "
        "the same walk, and takes steps until the expected decrease of chi² is far below its noise "
        "([the solver](../solver.md)).",
    ]


def draw(folder: Path) -> None:
    """The picture of the page."""
    from pyspec.plot.figures.graph import draw_graph

    model = doublet()
    model.set_axes(energy=np.array([90.0, 87.0, 84.0]), time=np.array([-0.2, 0.0, 1.0]))
    draw_graph(build_graph(model)).savefig(folder / "one_model.png", dpi=90)
