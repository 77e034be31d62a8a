"""The graph: what build_graph makes of a model, its rules, its text form."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from support.zoo import ZOO, make_model

from pyspec.errors import ModelError, PlanError
from pyspec.ir import (
    DomainKind,
    EdgeKind,
    GraphBuilder,
    GraphEdge,
    GraphIR,
    NodeKind,
    build_graph,
    diff_graphs,
    parse_graph,
    print_graph,
    verify,
)

ENERGY = np.linspace(80.0, 92.0, 25)


def names(graph: GraphIR, kind: NodeKind) -> list[str]:
    return [node.name for node in graph.of_kind(kind)]


def test_simple_energy_is_the_graph_of_the_founding_text() -> None:
    graph = build_graph(make_model("simple_energy", time=None))
    assert graph.domain is DomainKind.ENERGY_1D
    assert names(graph, NodeKind.OPT_PARAM) == [
        "Offset_y0",
        "GLP_01_A",
        "GLP_01_x0",
        "GLP_01_F",
        "GLP_01_m",
        "GLP_02_A",
        "GLP_02_x0",
        "GLP_02_F",
        "GLP_02_m",
    ]
    assert names(graph, NodeKind.STATIC_PARAM) == ["Shirley_pShirley"]
    assert set(names(graph, NodeKind.COMPONENT_EVAL)) == {"GLP_01", "GLP_02", "Offset"}
    assert names(graph, NodeKind.SPECTRUM_FED_OP) == ["Shirley"]
    inputs = graph.inputs(graph.node_by_name["GLP_02"], EdgeKind.PARAM_INPUT)
    assert [graph.nodes[edge.source].name for edge in inputs] == [
        "GLP_02_A",
        "GLP_02_x0",
        "GLP_02_F",
        "GLP_02_m",
    ]


def test_shirley_reads_what_stands_after_it_in_the_file() -> None:
    graph = build_graph(make_model("shirley_before_offset", time=None))
    read = graph.inputs(graph.node_by_name["Shirley"], EdgeKind.SPECTRUM_INPUT)
    addends = graph.inputs(read[0].source, EdgeKind.ADDEND)
    assert [graph.nodes[edge.source].name for edge in addends] == ["GLP_01", "Offset"]


def test_shirley_with_nothing_after_it_reads_nothing() -> None:
    graph = build_graph(make_model("shirley_last", time=None))
    assert not graph.inputs(graph.node_by_name["Shirley"], EdgeKind.SPECTRUM_INPUT)


def test_expression_follows_the_moved_parameter() -> None:
    graph = build_graph(make_model("doublet_sin"))
    edges = graph.inputs(graph.node_by_name["GLP_02_x0"], EdgeKind.EXPR_REF)
    assert [graph.nodes[edge.source].name for edge in edges] == ["GLP_01_x0_resolved"]


def test_laws_combine_in_reverse_file_order() -> None:
    graph = build_graph(make_model("biexponential"))
    edges = graph.inputs(graph.node_by_name["GLP_01_A_resolved"], EdgeKind.TRACE_INPUT)
    assert [graph.nodes[edge.source].name for edge in edges] == [
        "GLP_01_A_expFun_02",
        "GLP_01_A_expFun_01",
    ]


@pytest.mark.parametrize("name", ZOO)
def test_text_parses_back(name: str) -> None:
    graph = build_graph(make_model(name))
    again = parse_graph(print_graph(graph))
    assert again == graph
    assert again.structure == graph.structure
    assert print_graph(again) == print_graph(graph)
    assert diff_graphs(graph, again) == []
    json.dumps(graph.as_dict())


def test_structure_ignores_values_bounds_and_axis_values() -> None:
    graph = build_graph(make_model("biexponential"))
    model = make_model("biexponential")
    model.set_values({"GLP_01_A": 13.5})
    assert model.energy is not None
    model.set_axes(energy=model.energy * 1.01, time=model.time)
    other = build_graph(model)
    assert other.fingerprint != graph.fingerprint
    assert other.structure == graph.structure
    assert any(line.startswith("~ GLP_01_A: value") for line in diff_graphs(graph, other))


def test_structure_notices_a_fixed_parameter() -> None:
    model = make_model("biexponential")
    model.parameters["GLP_01_F"].vary = False
    assert build_graph(model).structure != build_graph(make_model("biexponential")).structure


def test_without_energy_axis() -> None:
    model = make_model("simple_energy", energy=None, time=None)
    with pytest.raises(ModelError, match="no energy axis"):
        build_graph(model)


def test_moved_parameter_without_time_axis() -> None:
    model = make_model("biexponential", time=None)
    with pytest.raises(ModelError, match="GLP_01_A moves in time"):
        build_graph(model)


def test_graph_is_frozen() -> None:
    graph = build_graph(make_model("simple_energy", time=None))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.nodes[0].name = "other"  # type: ignore[misc]


# ---- one broken graph a rule --------------------------------------------------------------


def broken(change: str) -> GraphIR:
    """The simple graph A, x0, SD -> Gauss -> total, with one thing wrong."""
    b = GraphBuilder()
    value = float("nan") if change == "value" else 1.0
    bounds = (2.0, 1.0) if change == "bounds" else (-9.0, 9.0)
    params = [
        b.node(NodeKind.OPT_PARAM, f"p{k}", value=value, vary=True, bounds=bounds) for k in range(3)
    ]
    function = "gauss" if change == "function" else "Shirley" if change == "kind" else "Gauss"
    gauss = b.node(NodeKind.COMPONENT_EVAL, "Gauss_01", function_name=function, package="energy")
    for position, param in enumerate(params[: 2 if change == "arity" else 3]):
        b.edge(param, gauss, EdgeKind.PARAM_INPUT, position)
    if change == "expression":
        expression = b.node(NodeKind.EXPRESSION, "e", expr_string="p0 + p1")
        b.edge(params[0], expression, EdgeKind.EXPR_REF, 0)
    if change == "cycle":
        e = b.node(NodeKind.EXPRESSION, "e", expr_string="f")
        f = b.node(NodeKind.EXPRESSION, "f", expr_string="e")
        b.edge(e, f, EdgeKind.EXPR_REF)
        b.edge(f, e, EdgeKind.EXPR_REF)
    if change == "name":
        b.node(NodeKind.STATIC_PARAM, "p0", value=0.0)
    if change == "edge":
        b.edge(gauss, params[0], EdgeKind.PARAM_INPUT)
    if change == "dangling":
        b.edges.append(GraphEdge(99, EdgeKind.ADDEND, 0, 0))
    if change == "trace":
        b.node(NodeKind.PARAM_PLUS_TRACE, "moved")
    b.sum("total", [gauss])
    if change == "two results":
        b.sum("other", [])
    time = np.arange(3.0) if change == "axes" else None
    energy = np.array([1.0, np.nan]) if change == "axis" else ENERGY
    return b.build(DomainKind.ENERGY_1D, energy, time, "broken")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("value", "p0: value nan"),
        ("bounds", r"p0: bounds \(2.0, 1.0\)"),
        ("function", "no function gauss in energy"),
        ("kind", "Shirley is SPECTRUM_FED"),
        ("arity", "parameters at positions"),
        ("expression", "one EXPR_REF for each name"),
        ("cycle", "cycle"),
        ("name", "2 nodes of this name"),
        ("edge", "PARAM_INPUT from COMPONENT_EVAL"),
        ("dangling", "no node 99"),
        ("trace", "needs exactly one base"),
        ("two results", "exactly one finished spectrum"),
        ("axes", "ENERGY_1D has no time axis"),
        ("axis", "energy is not a finite 1D axis"),
    ],
)
def test_verifier_names_the_rule(change: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        verify(broken(change))


def test_verifier_accepts_the_unbroken_graph() -> None:
    verify(broken(""))


@pytest.mark.parametrize("text", ["", "graph", 'graph "x" ENERGY_1D {\n  nonsense\n}'])
def test_unreadable_text(text: str) -> None:
    with pytest.raises(PlanError, match="graph text"):
        parse_graph(text)
