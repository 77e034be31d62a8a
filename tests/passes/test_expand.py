"""expand: a graph says once what a model file says once, and the plan gets what it computes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pyspec.executor import CompiledExecutor, TreeExecutor, make_plan
from pyspec.ir import EdgeKind, GraphIR, NodeKind, build_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.passes import run
from pyspec.passes.expand import expanded

PEAK = "m:\n  Gauss: {A: [2, True], x0: [3, True], SD: [1, True]}\n"
LAWS = """\
seen:
  gaussIRF: {SD: [0.1, True]}
  gaussIRF: {SD: [0.4, True], share: [0.2, True, 0, 1], shift: [0.05, True]}
  expFun: {A: [3, True], tau: [2, True], t0: [0, True]}
turn:
  expFun: {A: [1, True], tau: [4, True], t0: [0.1, False]}
"""
BLUR = """\
m:
  Offset: {y0: [1, True]}
  resolution: {SD: [0.4, True]}
  Shirley: {pShirley: [0.1, True]}
  Gauss: {A: [2, True], x0: [3, True], SD: [1, True]}
  Lorentz: {A: [2, True], x0: [4, True], W: [1, True]}
"""


def moving(*laws: str, frequency: float = -1.0) -> Model:
    model = load_model(PEAK, "m")
    model.add_dynamics("Gauss_01_A", load_dynamics(LAWS, laws, "Gauss_01_A", frequency))
    model.set_axes(energy=np.linspace(0.0, 9.0, 7), time=np.linspace(-1.0, 9.0, 11))
    return model


def functions(graph: GraphIR) -> Counter[str]:
    """How often each function stands in a graph."""
    return Counter(n.function_name for n in graph.nodes if n.function_name is not None)


def test_an_instrument_of_two_gaussians_is_two_nodes_over_the_same_laws() -> None:
    graph = build_graph(moving("seen"))
    assert functions(graph) == {"Gauss": 1, "expFun": 1, "gaussIRF": 2}
    law = graph.node_by_name["Gauss_01_A_expFun_01"]
    rows = [graph.nodes[edge.target].name for edge in graph.outputs(law)]
    assert rows == ["Gauss_01_A_gaussIRF", "Gauss_01_A_gaussIRF_02"]
    made, _, (step, *_) = run(graph, ("share", "fold"))
    assert functions(made) == {"Gauss": 1, "expFun": 2, "gaussIRF": 2}
    copies = [node.name for node in made.of_kind(NodeKind.DYNAMICS_TRACE)]
    assert copies == ["Gauss_01_A_expFun_01_gaussIRF", "Gauss_01_A_expFun_01_gaussIRF_02"]
    texts = {n.name: n.expr_string for n in made.of_kind(NodeKind.EXPRESSION)}
    assert texts["Gauss_01_A_expFun_01_gaussIRF_A"] == (
        "(1 - Gauss_01_A_gaussIRF_02_share) * (Gauss_01_A_expFun_01_A)"
    )
    assert texts["Gauss_01_A_expFun_01_gaussIRF_02_t0"] == (
        "(Gauss_01_A_expFun_01_t0) + Gauss_01_A_gaussIRF_02_shift"
    )
    assert str(step).splitlines()[1:] == [
        "  Gauss_01_A_expFun_01: 1 under Gauss_01_A_gaussIRF",
        "  Gauss_01_A_expFun_01: 1 under Gauss_01_A_gaussIRF_02",
    ]


def test_a_resolution_is_one_node() -> None:
    model = load_model(BLUR, "m")
    model.set_axes(energy=np.linspace(0.0, 9.0, 31))
    graph = build_graph(model)
    edges = graph.outputs(graph.node_by_name["resolution"])
    assert {edge.kind for edge in edges} == {EdgeKind.KERNEL_INPUT}
    assert {graph.nodes[edge.target].name for edge in edges} == {"Gauss_01", "Lorentz_01"}
    made = expanded(graph)
    assert functions(made) == {
        "Offset": 1, "Shirley": 1, "Gauss_resolution": 1, "Lorentz_resolution": 1
    }  # fmt: skip
    assert expanded(made) is made
    whole, tree = CompiledExecutor(make_plan(model)), TreeExecutor(model)
    assert np.allclose(whole.run(model.theta()), tree.run(model.theta()), rtol=1e-12)
