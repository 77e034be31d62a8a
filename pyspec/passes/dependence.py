"""On which free parameters a value depends, and on which each of its derivatives.

The second is what makes a column of the Jacobian constant: a derivative that depends on no free
parameter needs to be computed once. It is derived forwards through the graph by the chain rule;
what a derivative of a function reads stands in :mod:`pyspec.functions.slopes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pyspec.formula import READS, Name, Number
from pyspec.formula import Node as Syntax
from pyspec.functions.slopes import interacting
from pyspec.ir import EdgeKind, GraphIR, NodeKind
from pyspec.passes.sums import Sum

Thetas = frozenset[str]


@dataclass(frozen=True)
class Dependence:
    """`slopes` has an entry for each free parameter on which a value depends: the free
    parameters on which the derivative by it depends in turn."""

    slopes: Mapping[str, Thetas] = field(default_factory=dict)

    @property
    def thetas(self) -> Thetas:
        """The free parameters on which the value depends."""
        return frozenset(self.slopes)


def compose(inputs: Sequence[Dependence], reads: Sequence[Collection[int]]) -> Dependence:
    """The chain rule for ``f(inputs)``: the derivative by input i reads the inputs `reads[i]`."""
    slopes: dict[str, Thetas] = {}
    for source, others in zip(inputs, reads, strict=True):
        if not source.slopes:
            continue
        outer = frozenset().union(*(inputs[k].thetas for k in others))
        for theta, inner in source.slopes.items():
            slopes[theta] = slopes.get(theta, frozenset()) | inner | outer
    return Dependence(slopes)


def total(inputs: Sequence[Dependence]) -> Dependence:
    """The chain rule for a sum."""
    return inputs[0] if len(inputs) == 1 else compose(inputs, [()] * len(inputs))


def dependences(graph: GraphIR, parts: Mapping[int, Sum]) -> dict[int, Dependence]:
    """The dependence of every node; `parts` are the :func:`~pyspec.passes.sums.sums` of the
    graph."""
    depends: dict[int, Dependence] = {}
    for number in graph.order:
        node = graph.nodes[number]
        if node.kind is NodeKind.OPT_PARAM:
            depends[number] = Dependence({node.name: frozenset()})
        elif node.kind is NodeKind.STATIC_PARAM:
            depends[number] = Dependence()
        elif node.kind is NodeKind.EXPRESSION:
            edges = graph.inputs(number, EdgeKind.EXPR_REF)
            sources = [depends[edge.source] for edge in edges]
            values = dict(zip(node.formula.names, sources, strict=True))
            depends[number] = _formula(node.formula.root, values)
        else:
            depends[number] = _sum(parts[number], depends)
    return depends


def _sum(part: Sum, depends: Mapping[int, Dependence]) -> Dependence:
    terms = [depends[number] for number in part.addends]
    for call in part.calls:
        inputs = [total([depends[number] for number in ids]) for ids in call.arguments]
        terms.append(compose(inputs, interacting(call.op)))
    return total(terms)


def _formula(node: Syntax, values: Mapping[str, Dependence]) -> Dependence:
    if isinstance(node, Number):
        return Dependence()
    if isinstance(node, Name):
        return values[node.name]
    operands = [_formula(operand, values) for operand in node.operands]
    return compose(operands, READS[node.instruction])
