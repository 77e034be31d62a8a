"""The graph: what build_graph makes of a model, its rules, its text form."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from support.graphs import WHOLE
from support.zoo import PEAK, SHIRLEY

from pyspec.errors import ModelError
from pyspec.ir import (
    EdgeKind,
    GraphIR,
    build_graph,
    parse_graph,
    print_graph,
)
from pyspec.model import load_model
from pyspec.passes import run

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
