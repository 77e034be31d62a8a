"""The graph: what build_graph makes of a model, its rules, its text form."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from support.graphs import node_ids
from support.zoo import ZOO, make_model

from pyspec.errors import ModelError
from pyspec.ir import (
    DomainKind,
    EdgeKind,
    GraphIR,
    NodeKind,
    build_graph,
    diff,
    parse_graph,
    print_graph,
)
from pyspec.model import load_model, load_profile, load_time_model

ENERGY = np.linspace(80.0, 92.0, 25)


def names(graph: GraphIR, kind: NodeKind) -> list[str]:
    return [node.name for node in graph.of_kind(kind)]


def test_simple_energy_is_the_graph_that_is_written_here() -> None:
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
    inputs = graph.inputs(node_ids(graph)["GLP_02"], EdgeKind.PARAM_INPUT)
    assert [graph.nodes[edge.source].name for edge in inputs] == [
        "GLP_02_A",
        "GLP_02_x0",
        "GLP_02_F",
        "GLP_02_m",
    ]


def test_shirley_reads_what_stands_after_it_in_the_file() -> None:
    graph = build_graph(make_model("shirley_before_offset", time=None))
    read = graph.inputs(node_ids(graph)["Shirley"], EdgeKind.SPECTRUM_INPUT)
    addends = graph.inputs(read[0].source, EdgeKind.ADDEND)
    assert [graph.nodes[edge.source].name for edge in addends] == ["GLP_01", "Offset"]


def test_shirley_with_nothing_after_it_reads_nothing() -> None:
    graph = build_graph(make_model("shirley_last", time=None))
    assert not graph.inputs(node_ids(graph)["Shirley"], EdgeKind.SPECTRUM_INPUT)


def test_expression_follows_the_moved_parameter() -> None:
    graph = build_graph(make_model("doublet_sin"))
    edges = graph.inputs(node_ids(graph)["GLP_02_x0"], EdgeKind.EXPR_REF)
    assert [graph.nodes[edge.source].name for edge in edges] == ["GLP_01_x0_resolved"]


def test_laws_combine_in_reverse_file_order() -> None:
    graph = build_graph(make_model("biexponential"))
    edges = graph.inputs(node_ids(graph)["GLP_01_A_resolved"], EdgeKind.TRACE_INPUT)
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
    assert diff(graph, again) == []
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
    assert any(line.startswith("~ GLP_01_A: value") for line in diff(graph, other))


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


def test_a_time_model_needs_its_axis() -> None:
    law = "t: {expFun: {A: [1, True], tau: [1, True], t0: [0, False]}}\n"
    model = load_time_model(law, "t")
    with pytest.raises(ModelError, match=r"t: the time model has no time axis; call model\.set_ax"):
        build_graph(model)
    model.set_axes(time=np.arange(3.0))
    assert [one.name for one in build_graph(model).free] == ["expFun_01_A", "expFun_01_tau"]


def test_a_profile_needs_its_axis() -> None:
    text = (
        "m: {Gauss: {A: [1, True], x0: [3, True], SD: [1, True]}}\n"
        "p: {pLinear: {m: [1, True], b: [0, False]}}\n"
    )
    model = load_model(text, "m")
    model.add_profile("Gauss_01_x0", load_profile(text, "p", "Gauss_01_x0"))
    model.set_axes(energy=np.arange(9.0))
    with pytest.raises(ModelError, match=r"Gauss_01_x0 has a profile, but .* no auxiliary axis"):
        build_graph(model)
    model.set_axes(aux=np.arange(3.0))
    assert "Gauss_01_x0_pLinear_01_m" in [one.name for one in build_graph(model).free]


def test_graph_is_frozen() -> None:
    graph = build_graph(make_model("simple_energy", time=None))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.nodes[0].name = "other"  # type: ignore[misc]


def test_what_has_a_value_for_each_energy_has_no_one_graph() -> None:
    text = (
        "parameters: {t0: [0.1, True], seen: ['t0 + 0.1 * energy']}\n"
        "m:\n  expFun: {A: {free: energy}, tau: [2, True], t0: ['seen']}\n"
    )
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY, time=np.linspace(-1.0, 5.0, 7))
    with pytest.raises(ModelError, match="seen depends on the energy, and has a value for each"):
        build_graph(model)
