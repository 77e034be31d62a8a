"""The graph: what build_graph makes of a model, its rules, its text form."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from support.graphs import WHOLE, node_ids
from support.zoo import PEAK, SHIRLEY, make_model

from pyspec.errors import ModelError, PlanError
from pyspec.ir import ENERGY as ENERGY_BIT
from pyspec.ir import (
    DomainKind,
    EdgeKind,
    GraphIR,
    GraphNode,
    NodeKind,
    build_graph,
    diff,
    parse_graph,
    print_graph,
)
from pyspec.model import load_model
from pyspec.passes import run
from pyspec.plan import can_lower_2d, schedule_2d

ENERGY = np.linspace(80.0, 92.0, 25)


def names(graph: GraphIR, kind: NodeKind) -> list[str]:
    return [node.name for node in graph.of_kind(kind)]


def test_shirley_reads_what_stands_after_it_in_the_file() -> None:
    graph = build_graph(make_model("shirley_before_offset", time=None))
    read = graph.inputs(node_ids(graph)["Shirley"], EdgeKind.SPECTRUM_INPUT)
    addends = graph.inputs(read[0].source, EdgeKind.ADDEND)
    assert [graph.nodes[edge.source].name for edge in addends] == ["GLP_01", "Offset"]


IDLE = {
    "last": (PEAK + SHIRLEY, r"Shirley: reads what stands below it.*move it above GLP_01"),
    "two": (PEAK + SHIRLEY + SHIRLEY, r"Shirley_02: reads what stands below it.*above GLP_01"),
    "alone": (SHIRLEY, "Shirley: reads what stands below it, and nothing does; add what it is to"),
    "of levels": (
        PEAK + "\n  StaticShirley:\n    left: [1, true]\n    right: [2, true]\n",
        "StaticShirley: reads what stands below it",
    ),
    "under a resolution": (
        PEAK + SHIRLEY + "\n  resolution:\n    SD: [0.5, false]\n",
        "Shirley: reads what stands below it",
    ),
}


@pytest.mark.parametrize("case", IDLE)
@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree"])
def test_a_background_that_reads_nothing_is_refused(case: str, backend: str) -> None:
    """It was 0 in silence, in pictures and on paper, and no fit took it."""
    text, message = IDLE[case]
    model = load_model("m:\n" + text, "m")
    model.set_axes(energy=np.linspace(80.0, 90.0, 21))
    with pytest.raises(ModelError, match=message):
        model.evaluate(backend)
    with pytest.raises(ModelError, match=message):
        build_graph(model)


AGAIN: dict[str, Callable[[GraphIR], GraphIR]] = {
    "as built": lambda graph: graph,
    "pickled": lambda graph: pickle.loads(pickle.dumps(graph)),
    "copied": copy.deepcopy,
    "replaced": lambda graph: dataclasses.replace(graph, name="other"),
    "parsed": lambda graph: parse_graph(print_graph(graph)),
    "after the passes": lambda graph: run(graph)[0],
}


@pytest.mark.parametrize("way", AGAIN)
def test_nobody_can_change_a_graph(way: str) -> None:
    """Arrays of nodes could be written to, and the fingerprint stayed."""
    graph = AGAIN[way](parse_graph(WHOLE))
    before = graph.fingerprint
    arrays = [array for node in graph.nodes for array in node.arrays.values()]
    assert arrays
    for array in (*arrays, graph.energy, graph.time, graph.aux, graph.aux_weights):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
    for node in graph.nodes:
        with pytest.raises(TypeError):
            node.arrays["other"] = arrays[0]  # type: ignore[index]
        with pytest.raises(dataclasses.FrozenInstanceError):
            node.value = 7.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        graph.inputs_by_kind[0, EdgeKind.ADDEND] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        graph.arrays["other"] = arrays[0]  # type: ignore[index]
    with pytest.raises(TypeError):
        graph.node_by_name["other"] = 0  # type: ignore[index]
    assert isinstance(graph.nodes, tuple)
    assert isinstance(graph.edges, tuple)
    again = dataclasses.replace(graph)
    assert again.fingerprint == before == pickle.loads(pickle.dumps(graph)).fingerprint


def test_plain_data_are_those_of_strict_json() -> None:
    """Bounds that are open were infinities, which no other reader of JSON takes."""
    model = make_model("biexponential")
    model.set("GLP_01_A", min=None, max=None)
    model.set("GLP_01_x0", min=80.0, max=None)
    graph = build_graph(model)
    text = json.dumps(graph.as_dict(), allow_nan=False)
    bounds = {node["name"]: node["bounds"] for node in json.loads(text)["nodes"]}
    assert bounds["GLP_01_A"] == [None, None]
    assert bounds["GLP_01_x0"] == [80.0, None]
    assert parse_graph(print_graph(graph)).fingerprint == graph.fingerprint
    inf, nan = float("inf"), float("nan")
    odd = {"value": nan, "bounds": (inf, nan), "arrays": {"a": np.array([[1.0, -inf], [nan, inf]])}}
    node = GraphNode(0, NodeKind.OPT_PARAM, "p", 0, **odd)  # type: ignore[arg-type]
    wrong = GraphIR((node,), (), DomainKind.ENERGY_1D, np.array([nan, 1.0]), None)
    plain = json.loads(json.dumps(wrong.as_dict(), allow_nan=False))
    assert plain["energy"] == ["NaN", 1.0]
    assert plain["nodes"][0]["value"] == "NaN"
    assert plain["nodes"][0]["bounds"] == ["Infinity", "NaN"]
    assert plain["nodes"][0]["arrays"] == {"a": [[1.0, "-Infinity"], ["NaN", "Infinity"]]}
    assert parse_graph(print_graph(wrong)).fingerprint == wrong.fingerprint


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


def test_a_free_amplitude_and_the_energy_are_nodes() -> None:
    text = (
        "parameters: {t0: [0.1, True], seen: ['t0 + 0.1 * energy']}\n"
        "m:\n  expFun: {A: {free: energy, min: 0, zero: [[82, 83]], vary: project}, "
        "tau: [2, True], t0: ['seen']}\n"
    )
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY, time=np.linspace(-1.0, 5.0, 7))
    graph = build_graph(model)
    assert graph.domain is DomainKind.ENERGY_TIME_2D
    (vector,), (axis,) = graph.of_kind(NodeKind.FREE_VECTOR), graph.of_kind(NodeKind.AXIS)
    assert (vector.name, vector.axis, vector.positive) == ("expFun_01_A", "energy", True)
    assert (vector.zero, vector.scope) == (((82.0, 83.0),), "project")
    assert (axis.name, axis.axis) == ("energy", "energy")
    along = [node.name for node in graph.nodes if graph.axes[node.id] & ENERGY_BIT]
    assert along == ["expFun_01_A", "expFun_01_t0", "seen", "energy", "expFun_01", "total"]
    assert graph.result is not None
    assert graph.result.name == "total"
    lowering = can_lower_2d(graph)
    assert [reason.node for reason in lowering.reasons] == ["expFun_01_A", "expFun_01_t0", "seen"]
    with pytest.raises(PlanError, match="seen: depends on the energy, and has a value for each"):
        schedule_2d(graph)
    assert names(graph, NodeKind.OPT_PARAM) == ["expFun_01_tau", "t0"]


def test_a_shared_parameter_that_is_fixed_belongs_to_its_file() -> None:
    """As a script fixes it in one file, at the value of a joint fit."""
    text = "m:\n  Gauss: {A: [2, True], x0: [84, project, 80, 90], SD: [1, True]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=np.linspace(80, 90, 11))
    assert [node.scope for node in build_graph(model).free] == ["file", "project", "file"]
    model.parameters["Gauss_01_x0"].vary = False
    fixed = build_graph(model)
    assert [node.scope for node in fixed.nodes if node.name == "Gauss_01_x0"] == ["file"]
    assert [node.name for node in fixed.free] == ["Gauss_01_A", "Gauss_01_SD"]
