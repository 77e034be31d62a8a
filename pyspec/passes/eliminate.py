"""eliminate: the free parameters that the model is linear in together.

At given values of the other parameters, these follow from linear equations. So a fit can solve for
them and search only the others (variable projection). This is an analysis for fits and readers; it
changes no graph.

A parameter is linear where its derivative does not depend on itself, and several are linear
together where the derivative by none of them depends on another. Of two that multiply each other
one is chosen: heights of functions first, then in the order of theta.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspec.formula import op_of
from pyspec.ir import EdgeKind, GraphIR, NodeKind
from pyspec.passes.dependence import dependences
from pyspec.passes.expand import expanded
from pyspec.passes.fixed_amplitudes import with_fixed_amplitudes
from pyspec.passes.jumps import faults
from pyspec.passes.sums import sums

#: Why a parameter is not chosen.
NO_EFFECT = "the model does not depend on it"
UNKNOWN = "its derivative is not known in closed form"
NOT_LINEAR = "the model is not linear in it"

#: Nodes whose linear parameters are heights.
_SHAPES = frozenset({NodeKind.COMPONENT_EVAL, NodeKind.DYNAMICS_TRACE, NodeKind.PROFILE_SAMPLE})


@dataclass(frozen=True)
class Slopes:
    """What the choice rests on.

    Attributes
    ----------
    reads : free parameter on which the model depends → those that its derivative depends on
    heights : free parameters that scale a function which reads no spectrum
    unknown : those whose derivatives are finite differences
    """

    reads: Mapping[str, frozenset[str]]
    heights: frozenset[str]
    unknown: frozenset[str]


@dataclass(frozen=True)
class Linear:
    """`names` are linear together, in the order of theta; `against` says of each other free
    parameter why it is not among them."""

    names: tuple[str, ...]
    against: Mapping[str, str]


def linear_parameters(graph: GraphIR) -> Linear:
    """The free parameters of a model that are linear together.

    Raises :class:`PlanError` for nodes that have no derivative rules.
    """
    return choose([node.name for node in graph.free], slopes_of(graph))


def slopes_of(graph: GraphIR) -> Slopes:
    """What the derivatives of a model by its free parameters depend on."""
    graph = expanded(with_fixed_amplitudes(graph))
    assert graph.result is not None
    parts = sums(graph)
    depends = dependences(graph, parts)
    reads = dict(depends[graph.result.id].slopes)
    unknown = frozenset(theta for theta, _, _ in faults(graph, parts, depends))
    return Slopes(reads, _heights(graph), unknown)


def joined(files: Sequence[tuple[Slopes, Mapping[str, str]]]) -> Slopes:
    """Those of several models under the names of their joint fit, `own name → that name`."""
    reads: dict[str, frozenset[str]] = {}
    heights: set[str] = set()
    unknown: set[str] = set()
    for slopes, names in files:
        for theta, others in slopes.reads.items():
            earlier = reads.get(names[theta], frozenset())
            reads[names[theta]] = earlier | {names[other] for other in others}
        heights |= {names[name] for name in slopes.heights}
        unknown |= {names[name] for name in slopes.unknown}
    return Slopes(reads, frozenset(heights), frozenset(unknown))


def choose(order: Sequence[str], slopes: Slopes) -> Linear:
    """Chooses among the free parameters, given in the order of theta."""
    against: dict[str, str] = {}
    chosen: set[str] = set()
    for name in sorted(order, key=lambda name: name not in slopes.heights):
        reason = _against(name, slopes, chosen, order)
        if reason:
            against[name] = reason
        else:
            chosen.add(name)
    names = tuple(name for name in order if name in chosen)
    return Linear(names, {name: against[name] for name in order if name in against})


def _against(name: str, slopes: Slopes, chosen: Collection[str], order: Sequence[str]) -> str:
    if name not in slopes.reads:
        return NO_EFFECT
    if name in slopes.unknown:
        return UNKNOWN
    reads = slopes.reads[name]
    if name in reads:
        return NOT_LINEAR
    others = [other for other in order if other in chosen and other in reads]
    others += [o for o in order if o in chosen and name in slopes.reads[o] and o not in others]
    return f"it multiplies {', '.join(others)}" if others else ""


def _heights(graph: GraphIR) -> frozenset[str]:
    """Free parameters that are themselves a linear parameter of a function."""
    free = {node.id: node.name for node in graph.free}
    base = {
        node.id: [edge.source for edge in graph.inputs(node.id, EdgeKind.BASE_INPUT)]
        for node in graph.of_kind(NodeKind.PARAM_PLUS_TRACE)
    }
    heights: set[str] = set()
    for node in graph.nodes:
        if node.kind not in _SHAPES:
            continue
        op = op_of(node.function_name)
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            if edge.position is None or op.params[edge.position] not in op.linear:
                continue
            sources = base.get(edge.source, [edge.source])
            heights.update(free[source] for source in sources if source in free)
    return frozenset(heights)
