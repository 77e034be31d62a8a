"""Every rule of the verifier: what breaks it is listed, what lies at its edge is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pyspec._library import OPS
from pyspec.errors import PlanError
from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, GraphEdge, GraphIR, NodeKind, verify

ENERGY, TIME = np.linspace(80.0, 92.0, 5), np.arange(3.0)
PARAM, TRACE, BASE = EdgeKind.PARAM_INPUT, EdgeKind.TRACE_INPUT, EdgeKind.BASE_INPUT
FEED, REF = EdgeKind.SPECTRUM_INPUT, EdgeKind.EXPR_REF


def problems(graph: GraphIR) -> list[str]:
    """What the verifier lists."""
    try:
        verify(graph)
    except PlanError as error:
        head, *lines = str(error).splitlines()
        assert head == "graph g:"
        return [line.strip() for line in lines]
    return []


def params(b: GraphBuilder, n: int, **payload: object) -> list[int]:
    given = {"value": 1.0, "vary": True, "bounds": (-9.0, 9.0), **payload}
    return [b.node(NodeKind.OPT_PARAM, f"p{len(b.nodes)}", **given) for _ in range(n)]


def call(b: GraphBuilder, kind: NodeKind, name: str, inputs: list[int], package: str) -> int:
    """A node that calls the function `name`; its own name is in small letters."""
    node = b.node(kind, f"n{name.lower()}", function_name=name, package=package)
    for position, source in enumerate(inputs):
        b.edge(source, node, PARAM, position)
    return node


def gauss(b: GraphBuilder, n: int = 3, **payload: object) -> int:
    return call(b, NodeKind.COMPONENT_EVAL, "Gauss", params(b, n, **payload), "energy")


def built(b: GraphBuilder, time: object = None, **axes: object) -> GraphIR:
    given: dict[str, object] = {"energy": ENERGY, "time": time, **axes}
    domain = DomainKind.ENERGY_1D if time is None else DomainKind.ENERGY_TIME_2D
    return b.build(domain, name="g", **given)  # type: ignore[arg-type]


def simple(**payload: object) -> GraphIR:
    """p0, p1, p2 -> ngauss -> total."""
    b = GraphBuilder()
    b.sum("total", [gauss(b, **payload)])
    return built(b)


def moved() -> GraphBuilder:
    """A Gauss whose height moves by a law."""
    b = GraphBuilder()
    height, place, width, *law = params(b, 7)
    trace = call(b, NodeKind.DYNAMICS_TRACE, "expFun", law, "time")
    resolved = b.node(NodeKind.PARAM_PLUS_TRACE, "resolved")
    b.edge(height, resolved, BASE)
    b.edge(trace, resolved, TRACE)
    b.sum(
        "total",
        [call(b, NodeKind.COMPONENT_EVAL, "Gauss", [resolved, place, width], "energy")],
    )
    return b


def with_nodes(graph: GraphIR, change: Callable[[list[object]], None]) -> GraphIR:
    nodes: list[object] = list(graph.nodes)
    change(nodes)
    return replace(graph, nodes=tuple(nodes))  # type: ignore[arg-type]


def test_whole_graphs_break_no_rule() -> None:
    assert problems(simple()) == []
    assert problems(built(moved(), TIME)) == []
    with pytest.raises(PlanError, match=r"^graph \(unnamed\):\n  p0: value inf;"):
        verify(replace(simple(value=float("inf")), name=""))


def test_ids_and_names() -> None:
    graph = simple()
    wrong = replace(graph.nodes[1], id=3)
    text = "p1: id 3 at position 1; number from 0"
    assert problems(with_nodes(graph, lambda nodes: nodes.__setitem__(1, wrong))) == [text]
    twin = replace(graph.nodes[1], name="p0")
    text = "p0: 2 nodes of this name; give each node its own name"
    assert problems(with_nodes(graph, lambda nodes: nodes.__setitem__(1, twin))) == [text]


@pytest.mark.parametrize("end", [-1, 5])
@pytest.mark.parametrize("is_source", [True, False])
def test_edges_end_at_nodes(end: int, is_source: bool) -> None:
    graph = simple()
    assert len(graph.nodes) == 5
    edge = GraphEdge(4, EdgeKind.ADDEND, 1, end) if is_source else GraphEdge(end, PARAM, 1, 0)
    broken = replace(graph, edges=(*graph.edges, edge))
    assert problems(broken) == [f"edge {edge}: no node {end}; remove the edge"]


@pytest.mark.parametrize(
    ("source", "target", "kind", "names"),
    [
        (0, 4, PARAM, "PARAM_INPUT from OPT_PARAM p0 to SUM"),  # the target is wrong
        (4, 3, PARAM, "PARAM_INPUT from SUM total to COMPONENT_EVAL"),  # the source is
        (0, 1, EdgeKind.ADDEND, "ADDEND from OPT_PARAM p0 to OPT_PARAM"),  # both are
        (0, 4, EdgeKind.ADDEND, "ADDEND from OPT_PARAM p0 to SUM"),
    ],
)
def test_edges_join_what_their_kind_joins(
    source: int, target: int, kind: EdgeKind, names: str
) -> None:
    graph = simple()
    position = len(graph.inputs(target, kind))
    broken = replace(graph, edges=(*graph.edges, GraphEdge(target, kind, position, source)))
    name = graph.nodes[target].name
    assert problems(broken) == [f"{name}: {names}; this edge kind does not join these nodes"]


@pytest.mark.parametrize(
    ("domain", "energy", "time", "said"),
    [
        (DomainKind.ENERGY_1D, None, None, ["ENERGY_1D needs energy axis"]),
        (DomainKind.ENERGY_1D, ENERGY, TIME, ["ENERGY_1D has no time axis"]),
        (DomainKind.TIME_1D, ENERGY, TIME, ["TIME_1D has no energy axis"]),
        (DomainKind.TIME_1D, None, None, ["TIME_1D needs time axis"]),
        (DomainKind.ENERGY_TIME_2D, ENERGY, None, ["ENERGY_TIME_2D needs time axis"]),
        (
            DomainKind.ENERGY_TIME_2D,
            None,
            None,
            ["ENERGY_TIME_2D needs energy axis", "ENERGY_TIME_2D needs time axis"],
        ),
    ],
)
def test_axes_are_those_of_the_domain(
    domain: DomainKind, energy: object, time: object, said: list[str]
) -> None:
    graph = replace(simple(), domain=domain, energy=energy, time=time)  # type: ignore[arg-type]
    remedy = "let the domain follow the axes given"
    assert problems(graph) == [f"axes: {rule}; {remedy}" for rule in said]


@pytest.mark.parametrize(
    "axis", [np.ones((2, 2)), np.empty(0), np.array([1.0, np.nan]), np.array([np.inf])]
)
def test_axes_are_finite_lines(axis: object) -> None:
    said = "is not a finite 1D axis; give finite values"
    graph = replace(simple(), energy=axis)  # type: ignore[arg-type]
    assert problems(graph) == [f"axes: energy {said}"]
    graph = replace(built(moved(), TIME), time=axis)  # type: ignore[arg-type]
    assert problems(graph) == [f"axes: time {said}"]
    assert problems(replace(simple(), energy=np.array([3.0]))) == []


def test_cycles_are_named_with_what_lies_behind_them() -> None:
    b = GraphBuilder()
    height = gauss(b)
    e = b.node(NodeKind.EXPRESSION, "e", expr_string="d")
    f = b.node(NodeKind.EXPRESSION, "f", expr_string="d")
    b.edge(f, e, REF)
    b.edge(e, f, REF)
    b.sum("total", [height])
    assert problems(built(b)) == ["e, f: these nodes lie on or behind a cycle; break the cycle"]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", [NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM])
def test_values_are_finite(value: float | None, kind: NodeKind) -> None:
    graph = simple()
    wrong = replace(graph.nodes[0], kind=kind, vary=kind is NodeKind.OPT_PARAM, value=value)
    text = f"p0: value {value}; give a finite value"
    assert problems(with_nodes(graph, lambda nodes: nodes.__setitem__(0, wrong))) == [text]


def test_the_lower_bound_comes_first() -> None:
    assert problems(simple(value=2.0, bounds=(2.0, 2.0))) == []
    assert problems(simple(bounds=None)) == []
    said = "bounds (2.0, 1.0); the minimum comes first"
    assert problems(simple(bounds=(2.0, 1.0))) == [f"p{k}: {said}" for k in range(3)]


def node_with(**change: object) -> GraphIR:
    """The simple graph with another ngauss."""
    graph = simple()
    nodes = list(graph.nodes)
    nodes[3] = replace(nodes[3], **change)  # type: ignore[arg-type]
    return replace(graph, nodes=tuple(nodes))


@pytest.mark.parametrize("field", ["value", "expr_string", "axis"])
def test_fields_are_those_of_the_kind(field: str) -> None:
    said = [f"ngauss: a COMPONENT_EVAL has no {field}; leave it out"]
    assert problems(node_with(**{field: "1"})) == said


def test_functions_are_known() -> None:
    known = "see `pyspec ops` for the functions there are"
    assert problems(node_with(function_name="gauss")) == [
        f"ngauss: no function gauss in energy; {known}"
    ]
    assert problems(node_with(package="time")) == [f"ngauss: no function Gauss in time; {known}"]
    (said,) = problems(node_with(function_name="f(x"))
    assert said.startswith("ngauss: function: ")
    assert said.endswith("; correct the definition")


def test_functions_are_of_the_kind_of_their_node() -> None:
    b = GraphBuilder()
    b.sum("total", [call(b, NodeKind.COMPONENT_EVAL, "Shirley", params(b, 1), "energy")])
    said = "nshirley: Shirley is SPECTRUM_FED, not COMPONENT_EVAL; change one"
    assert problems(built(b)) == [said]


@pytest.mark.parametrize("positions", [[0, 1], [0, 1, 1], [0, 1, 2, 3], [0, 1, 2, 2], [1, 2, 3]])
def test_parameters_have_one_place_each(positions: list[int]) -> None:
    b = GraphBuilder()
    given = params(b, 4)
    node = call(b, NodeKind.COMPONENT_EVAL, "Gauss", [], "energy")
    for source, position in zip(given, positions, strict=False):
        b.edge(source, node, PARAM, position)
    b.sum("total", [node])
    said = f"parameters at positions {positions}; Gauss takes A, x0, SD, one each"
    assert problems(built(b)) == [f"ngauss: {said}"]


def test_a_parameter_that_may_be_left_out() -> None:
    """expFun takes A, tau, t0 and, where it is given, y0."""
    assert problems(built(moved(), TIME)) == []
    b = moved()
    b.edges = [edge for edge in b.edges if (edge.target, edge.position) != (7, 3)]
    assert problems(built(b, TIME)) == []


@pytest.mark.parametrize(
    ("name", "blurs", "said"),
    [
        ("Gauss", ["resolution"], []),
        ("Gauss", ["resolution"] * 2, ["ngauss: has two resolutions; give it one"]),
        ("PowerBack", ["resolution"], ["npowerback: has no known convolution with blur0"]),
        ("expFun", ["gaussIRF"], ["nexpfun: has no known convolution with blur0"]),
        (
            "Gauss",
            ["gone"],
            ["ngauss: has no known convolution with", "blur0: no function gone in"],
        ),
    ],
)
def test_resolutions_of_components(name: str, blurs: list[str], said: list[str]) -> None:
    b, op = GraphBuilder(), OPS[name]
    node = call(b, NodeKind.COMPONENT_EVAL, name, params(b, len(op.params)), op.package)
    for k, function in enumerate(blurs):
        package = OPS[function].package if function in OPS else "energy"
        payload = {"function_name": function, "package": package}
        blur = b.node(NodeKind.CONVOLUTION, f"blur{k}", **payload)
        b.edge(params(b, 1)[0], blur, PARAM)
        b.edge(blur, node, EdgeKind.KERNEL_INPUT, k)
    b.sum("total", [node])
    found = problems(built(b, TIME))
    assert [line[: len(part)] for line, part in zip(found, said, strict=True)] == said


def test_one_spectrum_is_read() -> None:
    b = GraphBuilder()
    peak = gauss(b)
    below, other = b.sum("below", [peak]), b.sum("other", [peak])
    shirley = call(b, NodeKind.SPECTRUM_FED_OP, "Shirley", params(b, 1), "energy")
    b.edge(below, shirley, FEED, 0)
    b.sum("total", [shirley, other])
    assert problems(built(b)) == []
    b.edge(other, shirley, FEED, 1)
    assert problems(built(b)) == ["nshirley: reads two spectra; sum them first"]


def test_laws_have_a_time_axis_and_parameters_that_stand_still() -> None:
    said = "moves in time without a time axis; give a time axis"
    assert problems(built(moved())) == [f"nexpfun: {said}"]
    b = moved()
    other = b.node(NodeKind.PARAM_PLUS_TRACE, "other")
    b.edge(0, other, BASE)
    b.edge(7, other, TRACE)
    law = call(b, NodeKind.CONVOLUTION, "gaussCONV", [other], "convolution")
    b.edge(7, law, TRACE)
    b.edge(law, 8, TRACE, 1)
    said = (
        "its parameter other depends on time; a law of motion takes parameters that do not change"
    )
    assert problems(built(b, TIME)) == [f"ngaussconv: {said}"]


def profiled() -> tuple[GraphBuilder, int]:
    """A Gauss averaged over an auxiliary axis; the moved height."""
    b = GraphBuilder()
    height, place, width, *law = params(b, 5)
    sample = call(b, NodeKind.PROFILE_SAMPLE, "pExpDecay", law, "profile")
    spread = b.node(NodeKind.PARAM_PLUS_TRACE, "spread")
    b.edge(height, spread, BASE)
    b.edge(sample, spread, TRACE)
    average = b.node(NodeKind.PROFILE_AVERAGE, "average")
    peak = call(b, NodeKind.COMPONENT_EVAL, "Gauss", [spread, place, width], "energy")
    b.edge(peak, average, EdgeKind.ADDEND)
    b.sum("total", [average])
    return b, spread


def test_profiles_have_their_axis_and_laws_do_not_read_them() -> None:
    weights = {"aux": np.arange(2.0), "aux_weights": np.ones(2)}
    b, spread = profiled()
    assert problems(built(b, **weights)) == []
    said = "npexpdecay: has no auxiliary axis; give the graph one"
    assert problems(built(b)) == [said]
    law = call(b, NodeKind.DYNAMICS_TRACE, "expFun", [spread, 1, 2], "time")
    b.edge(law, spread, TRACE, 1)
    b, spread = profiled()
    law = call(b, NodeKind.DYNAMICS_TRACE, "expFun", [spread, 1, 2], "time")
    moved_place = b.node(NodeKind.PARAM_PLUS_TRACE, "place")
    b.edge(1, moved_place, BASE)
    b.edge(law, moved_place, TRACE)
    said = "its parameter spread depends on the auxiliary axis; a law of motion takes parameters "
    assert problems(built(b, TIME, **weights)) == [f"nexpfun: {said}that do not change"]


def test_an_average_is_of_one_component() -> None:
    weights = {"aux": np.arange(2.0), "aux_weights": np.ones(2)}
    b, _ = profiled()
    average = next(n for n in b.nodes if n.name == "average").id
    b.edges = [edge for edge in b.edges if edge.target != average]
    assert "average: averages not exactly one component; average it alone" in problems(
        built(b, **weights)
    )
    b, _ = profiled()
    b.edge(gauss(b), average, EdgeKind.ADDEND, 1)
    assert problems(built(b, **weights))[0].startswith("ngauss: 2 nodes of this name")
    b.nodes[-1] = replace(b.nodes[-1], name="second")
    said = ["average: averages not exactly one component; average it alone"]
    assert problems(built(b, **weights)) == said


def expression(text: str, sources: list[int], positions: list[int]) -> GraphIR:
    b = GraphBuilder()
    peak = gauss(b)
    node = b.node(NodeKind.EXPRESSION, "e", expr_string=text)
    for source, position in zip(sources, positions, strict=True):
        b.edge(source, node, REF, position)
    b.sum("total", [peak])
    return built(b)


def test_expressions_refer_to_their_names_in_order() -> None:
    assert problems(expression("p0 + p1", [0, 1], [0, 1])) == []
    said = "references at positions {}; one EXPR_REF for each name, in the order of first use"
    assert problems(expression("p0 + p1", [0], [0])) == [f"e: 2 names, {said.format([0])}"]
    assert problems(expression("p0", [0, 1], [0, 1])) == [f"e: 1 names, {said.format([0, 1])}"]
    assert problems(expression("p0", [0], [1])) == [f"e: 1 names, {said.format([1])}"]
    found = problems(expression("p0 +", [0], [0]))
    assert found[0].startswith("e: expression: ")
    assert found[-1].endswith("; correct the expression")


def test_what_moves_has_one_base_and_a_trace() -> None:
    base, trace = (
        "needs exactly one base; add a BASE_INPUT edge",
        "has no trace; use the base itself",
    )
    b = moved()
    b.edges = [edge for edge in b.edges if edge.kind is not BASE]
    assert problems(built(b, TIME)) == [f"resolved: {base}"]
    b = moved()
    b.edge(1, 8, BASE, 1)
    assert problems(built(b, TIME)) == [f"resolved: {base}"]
    b = moved()
    b.edges = [edge for edge in b.edges if edge.kind is not TRACE]
    assert f"resolved: {trace}" in problems(built(b, TIME))


@pytest.mark.parametrize("n_bases", [0, 1, 2])
def test_a_trace_on_its_own_needs_no_base(n_bases: int) -> None:
    b = GraphBuilder()
    trace = call(b, NodeKind.DYNAMICS_TRACE, "expFun", params(b, 4), "time")
    result = b.node(NodeKind.PARAM_PLUS_TRACE, "result")
    b.edge(trace, result, TRACE)
    for k in range(n_bases):
        b.edge(k, result, BASE, k)
    graph = b.build(DomainKind.TIME_1D, None, TIME, "g")
    said = ["result: needs exactly one base; add a BASE_INPUT edge"]
    assert problems(graph) == (said if n_bases == 2 else [])


def test_one_spectrum_is_left() -> None:
    said = ["graph: has not exactly one finished spectrum; sum the components"]
    b = GraphBuilder()
    peak = gauss(b)
    b.sum("total", [peak])
    b.sum("other", [peak])
    assert problems(built(b)) == said


@pytest.mark.parametrize(("size", "is_right"), [(0, True), (1, False)])
def test_sub_cycles_without_times_have_no_entries(size: int, is_right: bool) -> None:
    b = moved()
    mask = b.node(NodeKind.SUBCYCLE_MASK, "mask", arrays={"time_n_sub": np.zeros(size)})
    b.edge(7, mask, TRACE)
    said = "mask: its arrays are not one finite time_n_sub for each time; give it time_n_sub of "
    assert (f"{said}shape (0,)" in problems(built(b))) != is_right


@pytest.mark.parametrize(
    ("name", "axis", "said"),
    [
        ("energy", [3.0, 1.0, 2.0], "energy does not rise, or fall, all the way: 1 and 2 at index"),
        ("energy", [1.0, 3.0, 2.0], "energy does not rise, or fall, all the way: 3 and 2 at index"),
        ("energy", [1.0, 1.0, 2.0], "energy does not rise, or fall, all the way: 1 and 1 at index"),
        ("energy", [2.0, 2.0], "energy does not rise, or fall, all the way: 2 and 2 at index"),
        ("time", [3.0, 2.0, 1.0], "time does not rise all the way: 3 and 2 at index 0"),
        ("time", [1.0, 2.0, 2.0], "time does not rise all the way: 2 and 2 at index 1"),
        ("aux", [0.0, 2.0, 1.0], "aux does not rise, or fall, all the way: 2 and 1 at index 1"),
    ],
)
def test_axes_rise_or_fall(name: str, axis: list[float], said: str) -> None:
    graph = built(moved(), TIME, aux=np.arange(3.0))
    (found,) = problems(replace(graph, **{name: np.array(axis)}))  # type: ignore[arg-type]
    assert found.startswith(f"axes: {said}")
    assert found.endswith("; sort the axis and the data together")
    falling = {"energy": ENERGY[::-1], "aux": np.arange(3.0)[::-1]}
    assert problems(replace(graph, **falling)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [0.0, 0.0]])
def test_weights_are_shares(weights: list[float]) -> None:
    graph = replace(simple(), aux=np.arange(2.0), aux_weights=np.array(weights))
    said = "aux_weights are negative, or all 0; give shares of an average"
    assert problems(graph) == [f"axes: {said}"]


@pytest.mark.parametrize(
    ("value", "bounds"),
    [(2.0, (0.0, 1.0)), (-1.0, (0.0, 1.0)), (1.0 + 1e-12, (0.0, 1.0)), (5.0, (-np.inf, 4.0))],
)
def test_a_fit_starts_within_the_bounds(value: float, bounds: tuple[float, float]) -> None:
    graph = simple(value=1.0, bounds=(0.0, 1.0))
    wrong = replace(graph.nodes[0], value=value, bounds=bounds)
    broken = with_nodes(graph, lambda nodes: nodes.__setitem__(0, wrong))
    said = f"starts at {value:g}, outside of its bounds [{bounds[0]:g}, {bounds[1]:g}]"
    assert problems(broken) == [f"p0: {said}; move the value or the bounds"]
    verify(broken, given=False)  # a model is evaluated anywhere
    fixed = replace(wrong, kind=NodeKind.STATIC_PARAM, vary=False)
    assert problems(with_nodes(graph, lambda nodes: nodes.__setitem__(0, fixed))) == []


def test_a_fit_starts_where_functions_are_defined() -> None:
    graph = simple()
    wrong = replace(graph.nodes[2], value=-1.0)
    broken = with_nodes(graph, lambda nodes: nodes.__setitem__(2, wrong))
    assert problems(broken) == ["ngauss: SD = -1; Gauss needs SD > 0"]
    verify(broken, given=False)
    b = GraphBuilder()
    slope, height, start, stop = params(b, 4)
    line = call(b, NodeKind.COMPONENT_EVAL, "LinBack", [slope, height, start, stop], "energy")
    b.sum("total", [line])
    assert problems(built(b)) == ["nlinback: xStop = 1; LinBack needs xStop > xStart"]


@pytest.mark.parametrize(("name", "n"), [("Shirley", 1), ("StaticShirley", 2), ("Tougaard", 2)])
def test_a_background_reads_a_spectrum(name: str, n: int) -> None:
    b = GraphBuilder()
    fed = call(b, NodeKind.SPECTRUM_FED_OP, name, params(b, n), "energy")
    b.sum("total", [fed, gauss(b)])
    said = f"n{name.lower()}: reads nothing; give it a spectrum, or leave it out"
    assert problems(built(b)) == [said]
