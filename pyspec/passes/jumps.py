"""Which free parameters have no derivative: they move a jump over samples, or NumPy code reads
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pyspec.formula import parse
from pyspec.ir import EdgeKind, GraphIR, NodeKind
from pyspec.passes.dependence import Dependence
from pyspec.passes.sums import Call, Sum

#: Free values, as multiples of the start values, at which the height of a jump is looked at.
_SCALES = (0.9, 1.3, -1.1, 9.0, -11.0)

#: A height below this share of its terms is 0: sin(pi) is not, in doubles.
_ROUNDING = 1e-12


class Fault(NamedTuple):
    """Why a derivative does not exist. `jumps` tells a jump from a function that NumPy runs;
    `remedy` is what a person can do."""

    jumps: bool
    reason: str
    remedy: str


class Place(NamedTuple):
    """A discontinuity of a function: where it may be, and how high it is.

    `thetas` are the free parameters that move it, `height` a formula over the arguments of the
    call.
    """

    thetas: frozenset[str]
    call: Call
    param: str
    height: str


def places(parts: Mapping[int, Sum], depends: Mapping[int, Dependence]) -> Iterator[Place]:
    """Every discontinuity that free parameters move, whatever its height."""
    for part in parts.values():
        for call in part.calls:
            for param, height in call.op.jumps:
                moved = _thetas(call.arguments[call.op.params.index(param)], depends)
                if moved:
                    yield Place(moved, call, param, height)


def faults(
    graph: GraphIR, parts: Mapping[int, Sum], depends: Mapping[int, Dependence]
) -> Iterator[tuple[str, str, Fault]]:
    """Each free parameter without a derivative, the function that is the reason, and why."""
    for call in (call for part in parts.values() for call in part.calls):
        if call.op.external:
            sources = [number for ids in call.arguments for number in ids]
            for theta in sorted(_thetas(sources, depends)):
                reason = f"Python computes {call.op.name}, whose derivative is not known"
                if call.op.own is not None:
                    reason = f"{call.op.name} sums over the energies"
                fault = Fault(False, reason, "a function of `pyspec ops` has one")
                yield theta, call.name, fault
    for place in places(parts, depends):
        if is_there(graph, place):
            for theta in sorted(place.thetas):
                yield theta, place.call.name, _jump(place.call, place.param)


def _thetas(ids: tuple[int, ...] | list[int], depends: Mapping[int, Dependence]) -> frozenset[str]:
    return frozenset().union(*(depends[number].thetas for number in ids))


def _jump(call: Call, param: str) -> Fault:
    if call.op.kind == "KERNEL":
        reason = f"the samples that {call.op.name} covers change in jumps with {param}"
        smooth = "gaussCONV or expSymCONV" if call.op.own is None else "a formula without steps"
        return Fault(True, reason, f"{smooth} in its place has a derivative")
    reason = f"{call.op.name} jumps at {param}, which is known to a sample interval only"
    return Fault(True, reason, "gaussIRF before the law makes the onset smooth, gaussCONV does not")


def is_there(graph: GraphIR, place: Place, starts: Mapping[str, float] | None = None) -> bool:
    """Whether a jump has a height for some free values. `starts` are the fixed and the start values
    by name; without them those of the graph are meant."""
    formula = parse(place.height)
    nodes = dict(zip(place.call.op.params, place.call.arguments, strict=False))
    unknown = True
    for scale in _SCALES:
        values = {
            name: _value(graph, nodes[name][0], scale, starts) if nodes[name] else 0.0
            for name in formula.names
        }
        at, slopes = formula.gradient(values)
        terms = sum(abs(slopes[name] * values[name]) for name in formula.names)
        if np.isfinite(at) and np.isfinite(terms):
            unknown = False
            if abs(at) > _ROUNDING * terms:
                return True
    return unknown


def _value(graph: GraphIR, number: int, scale: float, starts: Mapping[str, float] | None) -> float:
    """A parameter of a function where every free one is about `scale` times its start value; NaN
    where it has no single value."""
    node = graph.nodes[number]
    if node.kind is NodeKind.EXPRESSION:
        formula = node.formula
        edges = graph.inputs(number, EdgeKind.EXPR_REF)
        sources = [_value(graph, edge.source, scale, starts) for edge in edges]
        return float(formula.evaluate(dict(zip(formula.names, sources, strict=True))))
    if node.kind not in (NodeKind.OPT_PARAM, NodeKind.STATIC_PARAM):
        return float("nan")  # it moves in time or along the auxiliary axis
    value = node.value if starts is None else starts.get(node.name, node.value)
    assert value is not None
    if node.kind is NodeKind.STATIC_PARAM:
        return value
    # Each free parameter is scaled a little differently, so that no two cancel by chance.
    return (value or 1.0) * scale * float(np.random.default_rng(number).uniform(0.9, 1.1))
