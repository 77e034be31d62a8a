"""Rules of axes, weights, resolutions and backgrounds of a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyspec._library import OPS
from pyspec.errors import PlanError
from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, GraphIR, NodeKind, verify

ENERGY, TIME = np.linspace(80.0, 92.0, 5), np.arange(3.0)
PARAM, TRACE, BASE = EdgeKind.PARAM_INPUT, EdgeKind.TRACE_INPUT, EdgeKind.BASE_INPUT


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


@pytest.mark.parametrize(("name", "n"), [("Shirley", 1), ("StaticShirley", 2), ("Tougaard", 2)])
def test_a_background_reads_a_spectrum(name: str, n: int) -> None:
    b = GraphBuilder()
    fed = call(b, NodeKind.SPECTRUM_FED_OP, name, params(b, n), "energy")
    b.sum("total", [fed, gauss(b)])
    said = f"n{name.lower()}: reads nothing; give it a spectrum, or leave it out"
    assert problems(built(b)) == [said]
