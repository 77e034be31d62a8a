"""When each node runs: once, along the whole time axis, or row by row."""

from __future__ import annotations

import numpy as np

from pyspec.executor import make_plan
from pyspec.model import load_dynamics, load_model
from pyspec.plan import pack
from pyspec.plan.stages import AXIS, PROBLEM, ROW

LINES = """\
lines:
  Gauss:
    A: [2.0, True]
    x0: [3.0, True]
    SD: [0.5, True]
  Gauss:
    A: ["2 * Gauss_01_A"]
    x0: ["Gauss_01_x0 + 1"]
    SD: ["Gauss_01_SD / 2"]
"""

LAWS = """\
plain:
  expFun:
    A: [1.0, True]
    tau: [2.0, True]
    t0: [0.0, False]
smeared:
  gaussCONV:
    SD: [0.5, True]
  expFun:
    A: [1.0, True]
    tau: [2.0, True]
    t0: [0.0, False]
"""


def stages(**moved: str) -> dict[str, set[int]]:
    """The stages of the nodes, by the trace that they write, of a model with moved parameters."""
    model = load_model(LINES, "lines")
    for name, law in moved.items():
        model.add_dynamics(name, load_dynamics(LAWS, law, model.parameters[name]))
    model.set_axes(energy=np.linspace(0, 6, 30), time=np.linspace(-1, 5, 40))
    packed = pack(make_plan(model))
    found: dict[str, set[int]] = {}
    for node, label in zip(packed.nodes(), packed.labels, strict=True):
        found.setdefault(label.split(" (")[0], set()).add(int(node["stage"]))
    return found


def test_what_does_not_move_is_resolved_once() -> None:
    found = stages()
    assert found["Gauss_02_A"] == found["Gauss_02_x0"] == {PROBLEM}


def test_laws_and_what_follows_them_are_resolved_row_by_row() -> None:
    found = stages(Gauss_01_x0="plain")
    assert found["Gauss_01_x0_resolved"] == found["Gauss_02_x0"] == {ROW}
    assert found["Gauss_02_A"] == {PROBLEM}


def test_a_kernel_needs_the_whole_axis_and_what_reads_it_does_not() -> None:
    found = stages(Gauss_01_x0="smeared", Gauss_01_A="plain")
    assert found["Gauss_01_x0_resolved"] == {AXIS}
    assert found["Gauss_02_x0"] == found["Gauss_02_A"] == {ROW}
