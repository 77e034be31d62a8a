"""Can a backend compile this graph? Asked before anything is scheduled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspec.calls import answered
from pyspec.formula import find_op
from pyspec.functions.response_rows import response
from pyspec.ir import ENERGY, DomainKind, EdgeKind, GraphIR, GraphNode, NodeKind, Violation
from pyspec.passes.expand import expanded

_SOLVED = "fit it to times and energies: a fit solves for what is free"


@dataclass(frozen=True)
class Lowering:
    """The answer: true or false, with the reasons of a no. `notes` say what Python runs all the
    same."""

    reasons: tuple[Violation, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.reasons

    def __str__(self) -> str:
        if not self.reasons:
            return "; ".join(["can be lowered", *self.notes])
        return "cannot be lowered:\n  " + "\n  ".join(str(reason) for reason in self.reasons)


@answered
def can_lower_1d(graph: GraphIR) -> Lowering:
    """Whether :func:`schedule_1d` can compile `graph`: a spectrum, or a trace over time."""
    return _can_lower(graph, (DomainKind.ENERGY_1D, DomainKind.TIME_1D))


@answered
def can_lower_2d(graph: GraphIR) -> Lowering:
    """Whether :func:`schedule_2d` can compile `graph`."""
    return _can_lower(graph, (DomainKind.ENERGY_TIME_2D,))


def _can_lower(graph: GraphIR, domains: tuple[DomainKind, ...]) -> Lowering:
    graph = expanded(graph)
    reasons = [
        *_reasons(graph, domains),
        *(reason for n in graph.nodes for reason in _chain(graph, n)),
    ]
    return Lowering(tuple(reasons), tuple(_notes(graph)))


def _reasons(graph: GraphIR, domains: tuple[DomainKind, ...]) -> Iterator[Violation]:
    if graph.domain not in domains:
        wanted = "one axis only" if len(domains) > 1 else "both axes"
        rule = f"its domain is {graph.domain.name}"
        yield Violation("graph", rule, f"build it with {wanted}")
    for node in graph.nodes:
        if node.kind is NodeKind.FREE_VECTOR:
            rule = f"is free along {node.axis}, and no plan has a value for it"
            yield Violation(node.name, rule, _SOLVED)
        elif node.kind is NodeKind.EXPRESSION and graph.axes[node.id] & ENERGY:
            yield Violation(node.name, "depends on the energy, and has a value for each", _SOLVED)
        elif node.kind is NodeKind.AXIS and node.axis == "time" and graph.time is None:
            yield Violation(node.name, "is the time, without an axis", "give one")
        elif node.kind is NodeKind.EXTERNAL and find_op(node.function_name) is None:
            rule = f"the function {node.function_name} is Python and not registered in this process"
            yield Violation(node.name, rule, "call register_function; a text has its name")
        elif node.function_name is not None and find_op(node.function_name) is None:
            rule = f"no row {node.function_name} in the op table"
            yield Violation(node.name, rule, "use a function that `pyspec ops` lists")


def _notes(graph: GraphIR) -> Iterator[str]:
    """The functions that Python runs, and why."""
    for node in graph.of_kind(NodeKind.EXTERNAL):
        op = find_op(node.function_name)
        if op is not None:
            why = "is a registered function" if op.own is None else "sums over the energies"
            yield f"{node.name} runs in NumPy: {op.name} {why}"


def _chain(graph: GraphIR, node: GraphNode) -> Iterator[Violation]:
    """Traces are summed in place, so what a kernel convolves must come first and alone."""
    sources = graph.into(node.id, EdgeKind.TRACE_INPUT)
    for position, source in enumerate(sources):
        if source.kind is not NodeKind.CONVOLUTION:
            continue
        op = find_op(source.function_name)
        in_place = op is None or op.kind != "IRF"  # responses are summed like laws
        if in_place and position:
            yield Violation(source.name, "is not the first of a sum", "sum its trace first")
        if len(graph.outputs(source.id)) > 1:
            yield Violation(source.name, "feeds two sums", "give each sum its own convolution")
    irf = find_op(node.function_name) if node.kind is NodeKind.CONVOLUTION else None
    for source in sources if irf is not None and irf.kind == "IRF" else ():
        law = find_op(source.function_name)
        if law is None or (law.params and irf is not None and response(law, irf) is None):
            rule = f"there is no exact response of {source.name}"
            yield Violation(node.name, rule, "use gaussCONV")
