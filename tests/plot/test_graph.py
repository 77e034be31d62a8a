"""The picture of a graph: every node once, each right of what feeds it."""

from __future__ import annotations

import pytest
from support.graphs import WHOLE
from support.zoo import ZOO, make_model

from pyspec.ir import build_graph, parse_graph
from pyspec.plot.figures.graph import LONGEST, columns_of, draw_graph

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ZOO)
def test_what_feeds_a_node_stands_left_of_it(name: str) -> None:
    graph = build_graph(make_model(name))
    column = {number: k for k, one in enumerate(columns_of(graph)) for number in one}
    assert sorted(column) == [node.id for node in graph.nodes]
    assert all(column[edge.source] < column[edge.target] for edge in graph.edges)


def test_every_node_is_drawn_in_a_place_of_its_own() -> None:
    graph = parse_graph(WHOLE.replace('"law"', '"a law with a name that is too long to be shown"'))
    (axes,) = draw_graph(graph).axes
    boxes = [text for text in axes.texts if text.get_text()]
    assert len({text.get_position() for text in boxes}) == len(boxes) == len(graph.nodes)
    said = {text.get_text() for text in boxes}
    assert {"A\n2", "SD\nA / 2 + x0", "total", "Gauss_01\nGauss"} <= said
    assert max(len(line) for text in said for line in text.split("\n")) == LONGEST
    arrows = [text for text in axes.texts if not text.get_text()]
    assert len(arrows) == len(graph.edges)
