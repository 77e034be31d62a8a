"""How parameters and their derivatives move in time, up to constant factors.

A :class:`Motion` is a product of unknown traces, each known by a number. Two values with the same
motion are proportional at all times, which is what tells an outer product from a sum of several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from pyspec._library import OpDef
from pyspec.formula import Apply, Name
from pyspec.formula import Node as Syntax
from pyspec.functions.slopes import amplitude, interacting
from pyspec.ir import AUX, EdgeKind, GraphIR, GraphNode, NodeKind
from pyspec.ir.graph import PARAMETER_KINDS, TRACE_KINDS
from pyspec.passes.sums import Call, Sum

#: Kinds of op whose value is a trace over time.
_TRACES = frozenset({"DYNAMICS", "KERNEL", "RESPONSE"})

#: Nodes whose values are numbers: one, one for each time, or one for each auxiliary point.
_NUMBERS = (PARAMETER_KINDS | TRACE_KINDS | {NodeKind.SUBCYCLE_REMAP}) - {NodeKind.EXTERNAL}


@dataclass(frozen=True)
class Motion:
    """A product of traces; of none for what does not move. It may differ along the auxiliary
    axis by a factor; `mixed` is one that differs there in another way."""

    factors: tuple[int, ...] = ()
    mixed: bool = False

    def __mul__(self, other: Motion) -> Motion:
        return Motion(tuple(sorted(self.factors + other.factors)), self.mixed or other.mixed)


#: What does not move.
STILL = Motion()


@dataclass(frozen=True)
class Moves:
    """How a value moves, and the derivative by each free parameter that it depends on.

    `value` is None for 0. `convolved` are the free parameters whose derivatives have passed a
    convolution; `sampled` tells a value that differs along the auxiliary axis.
    """

    value: Motion | None = STILL
    slopes: Mapping[str, Motion] = field(default_factory=dict)
    convolved: frozenset[str] = frozenset()
    sampled: bool = False


class Motions:
    """The :class:`Moves` of every node that is a number: ``motions[node id]``.

    `parts` are the :func:`~pyspec.passes.sums.sums` of the graph.
    """

    def __init__(self, graph: GraphIR, parts: Mapping[int, Sum]) -> None:
        self._graph = graph
        self._numbers = count()
        self._axes = graph.axes
        self._found: dict[int, Moves] = {}
        for number in graph.order:
            node = graph.nodes[number]
            calls = parts[number].calls if number in parts else ()
            # A registered function may be a law, not a component.
            if node.kind in _NUMBERS or any(call.op.kind == "DYNAMICS" for call in calls):
                self._found[number] = self._node(node, parts)

    def __getitem__(self, number: int) -> Moves:
        return self._found[number]

    def __contains__(self, number: object) -> bool:
        return number in self._found

    def fresh(self, mixed: bool = False) -> Motion:
        """A trace like no other."""
        return Motion((next(self._numbers),), mixed)

    def total(self, ids: Iterable[int], sampled: bool = False) -> Moves:
        """A sum of nodes."""
        return self._add([self._found[number] for number in ids], sampled)

    def partial(self, op: OpDef, index: int, values: Sequence[Motion]) -> Motion | None:
        """How the derivative of `op` by an argument moves where its arguments move as `values`;
        None if in a way of its own at each point of its axis."""
        return _scaled(op, index, values, interacting(op)[index])

    def output(self, op: OpDef, values: Sequence[Motion]) -> Motion | None:
        """The same of the value of `op`."""
        return _scaled(op, -1, values, range(len(values)))

    def _node(self, node: GraphNode, parts: Mapping[int, Sum]) -> Moves:
        if node.kind is NodeKind.OPT_PARAM:
            return Moves(slopes={node.name: STILL})
        if node.kind is NodeKind.STATIC_PARAM:
            return Moves()
        sampled = bool(self._axes[node.id] & AUX)
        if node.kind is NodeKind.EXPRESSION:
            formula = node.formula
            edges = self._graph.inputs(node.id, EdgeKind.EXPR_REF)
            sources = [self._found[edge.source] for edge in edges]
            return self._formula(
                formula.root, dict(zip(formula.names, sources, strict=True)), sampled
            )
        part = parts[node.id]
        terms = [self._found[number] for number in part.addends]
        terms += [self._call(call, sampled) for call in part.calls]
        return self._add(terms, sampled)

    def _add(self, terms: Sequence[Moves], sampled: bool) -> Moves:
        thetas = dict.fromkeys(theta for term in terms for theta in term.slopes)
        return Moves(
            self._plus([term.value for term in terms if term.value is not None], sampled),
            {
                theta: self._plus([t.slopes[theta] for t in terms if theta in t.slopes], sampled)
                or STILL
                for theta in thetas
            },
            frozenset().union(*(term.convolved for term in terms)),
            sampled or any(term.sampled for term in terms),
        )

    def _plus(self, motions: Sequence[Motion], mixed: bool) -> Motion | None:
        """A sum moves as its terms do where all move alike, else in a way of its own."""
        if len(set(motions)) > 1:
            return self.fresh(mixed)
        return motions[0] if motions else None

    def _call(self, call: Call, sampled: bool) -> Moves:
        inputs = [self.total(ids, sampled) for ids in call.arguments]
        if call.op.kind in _TRACES:
            thetas = dict.fromkeys(theta for part in inputs for theta in part.slopes)
            turned = call.op.kind != "DYNAMICS"
            return Moves(
                self.fresh(),
                {theta: self.fresh() for theta in thetas},
                frozenset(thetas) if turned else frozenset(),
            )
        values = [part.value or STILL for part in inputs]
        terms = [Moves(self.output(call.op, values) or self.fresh(sampled), sampled=sampled)]
        for index, part in enumerate(inputs):
            outer = self.partial(call.op, index, values) or self.fresh(sampled)
            slopes = {theta: outer * slope for theta, slope in part.slopes.items()}
            terms.append(Moves(None, slopes, part.convolved, sampled))
        return self._add(terms, sampled)

    def _formula(self, node: Syntax, values: Mapping[str, Moves], sampled: bool) -> Moves:
        if isinstance(node, Name):
            return values[node.name]
        if not isinstance(node, Apply):
            return Moves()
        operands = [self._formula(operand, values, sampled) for operand in node.operands]
        if node.instruction in ("ADD", "SUB", "NEG"):
            return self._add(operands, sampled)
        motions = [operand.value or STILL for operand in operands]
        if node.instruction == "MUL":
            a, b = motions
            value, partials = a * b, [b, a]
        elif node.instruction == "DIV":
            a, b = motions
            inverse = STILL if b == STILL else self.fresh(sampled)
            value, partials = a * inverse, [inverse, a * inverse * inverse]
        elif all(motion == STILL for motion in motions):
            value, partials = STILL, [STILL] * len(motions)
        else:
            value, partials = self.fresh(sampled), [self.fresh(sampled) for _ in motions]
        terms = [Moves(value)]
        for outer, operand in zip(partials, operands, strict=True):
            slopes = {theta: outer * slope for theta, slope in operand.slopes.items()}
            terms.append(Moves(None, slopes, operand.convolved))
        return self._add(terms, sampled)


def _scaled(op: OpDef, index: int, values: Sequence[Motion], reads: Iterable[int]) -> Motion | None:
    """The motion of a value that reads some arguments. If only its scaling argument moves, it is
    the motion of this argument."""
    moving = [k for k in reads if values[k] != STILL]
    if not moving:
        return STILL
    scale = amplitude(op)
    return values[moving[0]] if moving == [scale] and index != scale else None
