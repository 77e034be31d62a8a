"""Which models are sums of shapes that stand still times traces, and what a plan makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.executor import CompiledExecutor, make_plan
from pyspec.ir import build_graph
from pyspec.model import load_dynamics, load_model
from pyspec.passes import run

SHAPES = """\
m:
  Offset: {y0: [1, True]}
  Shirley: {pShirley: [0.001, True, 0, 1]}
  GLP: {A: [5, True, 0, 100], x0: [3, True], F: [1, True, 0.1, 9], m: [0.3, True, 0, 1]}
  Gauss: {A: [GLP_01_A / 2], x0: [5, True], SD: [1, True, 0.1, 9]}
"""

MOVES = """\
fade:
  expFun: {A: [2, True], tau: [3, True, 0.1, 99], t0: [0, False]}
"""


@pytest.mark.parametrize(
    ("moves", "note"),
    [
        ("GLP_01_A", "spectra are shapes that stand still times Gauss_01_A, GLP_01_A"),
        ("GLP_01_x0", "GLP_01: more than the height of a peak moves"),
        ("Shirley_pShirley", "Shirley: pShirley moves"),
        ("Offset_y0", "Offset: more than the height of a peak moves"),
        (None, "spectra stand still"),
    ],
)
def test_spectra_of_shapes_and_traces_are_found(moves: str | None, note: str) -> None:
    model = load_model(SHAPES, "m")
    if moves is not None:
        model.add_dynamics(moves, load_dynamics(MOVES, "fade", model.parameters[moves]))
    model.set_axes(energy=np.linspace(0, 8, 30), time=np.linspace(-1, 9, 12))
    _, facts, report = run(build_graph(model))
    assert any(found.startswith(note) for found in report[-1].notes), report[-1]
    assert facts.separable == ("spectra" in note)
    plan = make_plan(model)
    assert plan.separable == facts.separable
    assert (CompiledExecutor(plan).packed.header["separable"] >= 0) == facts.separable
    assert not make_plan(model, "separable").separable
    assert not make_plan(model, "classify").separable
