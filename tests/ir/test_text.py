"""The text of a graph, its digests, the difference of two graphs, and that nobody changes one."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.golden import golden_models
from support.graphs import WHOLE
from support.random_models import accepted
from support.zoo import PEAK, SHIRLEY, ZOO, make_model

from pyspec.errors import ModelError, PlanError
from pyspec.ir import (
    Cycle,
    DomainKind,
    EdgeKind,
    GraphEdge,
    GraphIR,
    GraphNode,
    NodeKind,
    build_graph,
    diff,
    from_dict,
    parse_graph,
    print_graph,
)
from pyspec.model import load_model
from pyspec.passes import run
from pyspec.plan import schedule_1d, schedule_2d

DIGESTS = Path(__file__).with_name("digests.json")


def assert_reads_back(graph: GraphIR) -> None:
    again = parse_graph(print_graph(graph))
    assert again == graph
    assert (again.fingerprint, again.structure) == (graph.fingerprint, graph.structure)
    assert print_graph(again) == print_graph(graph)
    assert diff(graph, again) == []
    plain = json.dumps(graph.as_dict(), allow_nan=False)
    assert json.dumps(again.as_dict(), allow_nan=False) == plain
    assert json.dumps(from_dict(json.loads(plain)).as_dict()) == plain


# ---- parse(print(g)) == g -----------------------------------------------------------------


def test_golden_graphs_read_back(shared: Path) -> None:
    """All whole models of the golden numbers, before and after the passes."""
    for _, model, _ in golden_models(shared):
        graph = build_graph(model)
        assert_reads_back(graph)
        assert_reads_back(run(graph)[0])


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_graphs_of_random_models_read_back(count: int) -> None:
    graphs = [build_graph(model) for _, model in accepted(range(count))]
    for graph in graphs:
        assert_reads_back(graph)
    assert len(graphs) > count // 2


NUMBERS = [0.0, -0.0, 1.5, -3.0, 1e300, 5e-324, 0.1, float("inf"), float("-inf"), float("nan")]
NAMES = [
    "A",
    "",
    'a "quoted" name',
    "back\\slash",
    "new\nline",
    "tab\t",
    "Å = ä",
    "\u2028",
    "%3 -> %4",
]


def random_graph(seed: int) -> GraphIR:
    """Any nodes, edges and axes, without sense: what text must carry, verified or not."""
    draw = random.Random(seed)

    def array() -> Any:
        return np.array([draw.choice(NUMBERS) for _ in range(draw.randrange(4))])

    def node(number: int) -> GraphNode:
        some: dict[str, Any] = {
            "value": draw.choice(NUMBERS),
            "function_name": draw.choice(NAMES),
            "package": draw.choice(NAMES),
            "expr_string": draw.choice(NAMES),
            "vary": True,
            "bounds": (draw.choice(NUMBERS), draw.choice(NUMBERS)),
            "arrays": {draw.choice(NAMES): array() for _ in range(2)},
            "cycle": Cycle(draw.choice([0.1, 1.5, 1e300]), draw.randrange(4), draw.randrange(4)),
            "axis": draw.choice(NAMES),
            "positive": True,
            "zero": ((draw.choice(NUMBERS), draw.choice(NUMBERS)),),
            "scope": draw.choice(NAMES),
            "where": draw.choice(NAMES),
        }
        chosen = {key: some[key] for key in some if draw.random() < 0.3}
        kind = draw.choice(list(NodeKind))
        return GraphNode(number, kind, draw.choice(NAMES), draw.randrange(99), **chosen)

    n = draw.randrange(1, 9)
    edges = [
        GraphEdge(
            draw.randrange(n), draw.choice(list(EdgeKind)), draw.randrange(3), draw.randrange(n)
        )
        for _ in range(draw.randrange(9))
    ]
    axes = [array() if draw.random() < 0.5 else None for _ in range(4)]
    return GraphIR(
        tuple(node(k) for k in range(n)),
        tuple(sorted(edges)),
        draw.choice(list(DomainKind)),
        axes[0],
        axes[1],
        draw.choice(NAMES),
        axes[2],
        axes[3],
        {draw.choice(NAMES): array() for _ in range(draw.randrange(3))},
    )


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_random_graphs_read_back(count: int) -> None:
    for seed in range(count):
        assert_reads_back(random_graph(seed))


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_the_difference_is_empty_only_for_equal_graphs(count: int) -> None:
    graphs = [random_graph(seed) for seed in range(count)]
    for one, other in pairwise(graphs):
        assert bool(diff(one, other)) == (one != other)


UNREADABLE = {
    "a node of no kind": (("nodes", 0, "kind"), "PEAK", "'kind': 'PEAK'"),
    "an unknown field": (("nodes", 0, "colour"), "red", "colour"),
    "an edge without a kind": (("edges", 0), [0, 2, "WIRE", 0], "WIRE"),
    "a domain that is none": (("domain",), "ENERGY_3D", "ENERGY_3D"),
    "an unknown part": (("colour",), 1, "no part of a graph is called 'colour'"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_plain_data_that_are_no_graph_are_one_error(case: str) -> None:
    path, value, message = UNREADABLE[case]
    data = parse_graph(WHOLE).as_dict()
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(PlanError, match=f"graph data: cannot read .*{message}"):
        from_dict(data)


# ---- digests ------------------------------------------------------------------------------


def digests() -> dict[str, list[str]]:
    """Fingerprint and structure of the small models."""
    graphs = {name: build_graph(make_model(name)) for name in ZOO}
    graphs["whole"] = parse_graph(WHOLE)
    return {name: [graph.fingerprint, graph.structure] for name, graph in graphs.items()}


def test_digests_are_those_of_any_python_and_process() -> None:
    """digests.json was written once; `PYTHONPATH=.:tests python tests/ir/test_text.py` writes it
    again after a change of what a graph is."""
    assert digests() == json.loads(DIGESTS.read_text())


def test_where_a_node_is_written_is_no_part_of_what_it_means() -> None:
    graph = parse_graph(WHOLE)
    there = replace(graph, nodes=(replace(graph.nodes[0], where="m.yaml:3"), *graph.nodes[1:]))
    assert there == graph
    assert there.structure == graph.structure
    assert '%0 = OPT_PARAM "A" @0 at "m.yaml:3" {' in print_graph(there)
    assert parse_graph(print_graph(there)).nodes[0].where == "m.yaml:3"


def renewed(graph: GraphIR) -> GraphIR:
    """The graph with other values, bounds and axis values."""
    nodes = [
        node
        if node.value is None
        else replace(node, value=node.value + 0.5, bounds=(-1e9, 1e9), arrays=node.arrays)
        for node in graph.nodes
    ]
    axes = {name: getattr(graph, name) for name in ("energy", "time", "aux", "aux_weights")}
    moved = {name: axis + 0.25 for name, axis in axes.items() if axis is not None}
    return replace(graph, nodes=tuple(nodes), **moved)


@pytest.mark.parametrize("name", ZOO)
def test_graphs_of_one_structure_have_one_plan(name: str) -> None:
    graph = build_graph(make_model(name))
    other = renewed(graph)
    assert other.structure == graph.structure
    assert other != graph
    schedule = schedule_2d if graph.domain is DomainKind.ENERGY_TIME_2D else schedule_1d
    plan, again = schedule(graph), schedule(other)
    assert plan != again
    axes = (graph.energy, graph.time, graph.aux, graph.aux_weights)
    assert again.with_inputs(plan.theta, plan.fixed, *axes) == plan


# ---- the difference -----------------------------------------------------------------------


def test_the_difference_names_what_changed() -> None:
    graph = parse_graph(WHOLE)
    text = WHOLE.replace('graph "m"', 'graph "other"').replace("[1.0, 2.0, 3.0]", "[]")
    text = text.replace('"value": 2.0, "vary"', '"value": 2.5, "vary"')
    text = text.replace("  aux = [0.0, 0.5]\n", "").replace('"Offset" @12', '"Level" @12')
    text = text.replace("%14 -> %15 ADDEND[2]\n", "%14 -> %99 ADDEND[2]\n")
    assert diff(graph, parse_graph(text)) == [
        "name: m -> other",
        "energy axis: 3 points 1 .. 3 -> no points",
        "aux axis: 2 points 0 .. 0.5 -> none",
        "~ A: value 2.0 -> 2.5",
        "+ COMPONENT_EVAL Level",
        "- COMPONENT_EVAL Offset",
        "- A -> Offset PARAM_INPUT[0]",
        "- Offset -> before ADDEND[0]",
        "- Shirley -> total ADDEND[2]",
        "+ A -> Level PARAM_INPUT[0]",
        "+ Level -> before ADDEND[0]",
        "+ Shirley -> 99 ADDEND[2]",
    ]
    assert diff(graph, parse_graph(WHOLE.replace('"total" @15', '"total" @16'))) == [
        "~ total: number 15 -> 15, source_order 15 -> 16"
    ]


IDLE = {
    "last": (PEAK + SHIRLEY, r"Shirley: reads what stands below it.*move it above GLP_01"),
    "alone": (SHIRLEY, "Shirley: reads what stands below it, and nothing does; add what it is to"),
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


if __name__ == "__main__":
    DIGESTS.write_text(json.dumps(digests(), indent=1) + "\n")
