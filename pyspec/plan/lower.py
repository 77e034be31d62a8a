"""Can a backend compile this graph? Asked before anything is scheduled."""

from __future__ import annotations

from dataclasses import dataclass

from pyspec._library import OPS
from pyspec.ir import DomainKind, GraphIR, NodeKind, Violation

#: Node kinds that the scheduler knows.
SCHEDULED_KINDS = frozenset(
    {
        NodeKind.STATIC_PARAM,
        NodeKind.OPT_PARAM,
        NodeKind.DYNAMICS_TRACE,
        NodeKind.PARAM_PLUS_TRACE,
        NodeKind.EXPRESSION,
        NodeKind.COMPONENT_EVAL,
        NodeKind.SUM,
        NodeKind.SPECTRUM_FED_OP,
    }
)


@dataclass(frozen=True)
class Lowering:
    """The answer: true or false, with the reasons of a no."""

    reasons: tuple[Violation, ...] = ()

    def __bool__(self) -> bool:
        return not self.reasons

    def __str__(self) -> str:
        if not self.reasons:
            return "can be lowered"
        return "cannot be lowered:\n  " + "\n  ".join(str(reason) for reason in self.reasons)


def can_lower_1d(graph: GraphIR) -> Lowering:
    """Whether :func:`schedule_1d` can compile `graph`."""
    return _can_lower(graph, DomainKind.ENERGY_1D)


def can_lower_2d(graph: GraphIR) -> Lowering:
    """Whether :func:`schedule_2d` can compile `graph`."""
    return _can_lower(graph, DomainKind.ENERGY_TIME_2D)


def _can_lower(graph: GraphIR, domain: DomainKind) -> Lowering:
    reasons = []
    if graph.domain is not domain:
        wanted = "an energy axis only" if domain is DomainKind.ENERGY_1D else "both axes"
        reasons.append(
            Violation("graph", f"its domain is {graph.domain.name}", f"build it with {wanted}")
        )
    for node in graph.nodes:
        if node.kind not in SCHEDULED_KINDS:
            reasons.append(
                Violation(node.name, f"{node.kind.name} has no schedule", "use the tree executor")
            )
        elif node.function_name is not None and node.function_name not in OPS:
            reasons.append(
                Violation(
                    node.name,
                    f"no row {node.function_name} in the op table",
                    "use a function that `pyspec ops` lists",
                )
            )
    return Lowering(tuple(reasons))
