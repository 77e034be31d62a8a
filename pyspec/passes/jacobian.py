"""The class of every column of the Jacobian, by dependence in the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pyspec.errors import several
from pyspec.ir import GraphIR
from pyspec.passes.dependence import dependences
from pyspec.passes.expand import expanded
from pyspec.passes.fixed_amplitudes import with_fixed_amplitudes
from pyspec.passes.forms import forms
from pyspec.passes.jumps import Fault, faults, is_there, places
from pyspec.passes.sums import sums

Kind = Literal["constant", "structured", "fallback"]


@dataclass(frozen=True)
class Column:
    """The derivative of the model by one free parameter.

    Attributes
    ----------
    name : the free parameter
    kind : "constant" if it depends on no free parameter: once for a plan and its fixed values;
        "structured" if it is known in closed form; "fallback" if only as finite differences
    form : what it looks like over time and energy, in the words of
        :data:`~pyspec.passes.forms.FORMS` and :data:`~pyspec.passes.forms.MARKS`
    reason : of a fallback, why, and what to do about it; else ""

    A column is meant where the model is defined: outside of a function's bounds model and
    derivatives are NaN. Weights scale columns of the residual; under a Poisson loss these depend
    on the model, and no column of the residual is constant.
    """

    name: str
    kind: Kind
    form: str
    reason: str


def classify_columns(graph: GraphIR) -> tuple[Column, ...]:
    """The class of the column of each free parameter, in the order of theta.

    Raises :class:`PlanError` for nodes that have no derivative rules.
    """
    return _Classification(expanded(with_fixed_amplitudes(graph))).columns()


def jump_parameters(graph: GraphIR) -> tuple[str, ...]:
    """The free parameters that move a discontinuity over samples, in the order of theta.

    They are those that an onset without gaussIRF, or the width of a box, depends on, directly or
    through expressions. A jump with height 0 at the fixed values of the graph does not count. An
    example is the jump of a sine with phase 0.
    """
    return Jumps(graph).at(None)


class Jumps:
    """The discontinuities of a graph, for any values of its parameters: what follows from the graph
    is worked out once."""

    def __init__(self, graph: GraphIR) -> None:
        graph = self._graph = expanded(with_fixed_amplitudes(graph))
        assert graph.result is not None
        parts = sums(graph)
        depends = dependences(graph, parts)
        slopes = depends[graph.result.id].slopes
        self._places = [
            (thetas, place)
            for place in places(parts, depends)
            if (thetas := place.thetas.intersection(slopes))
        ]

    def at(self, values: Mapping[str, float] | None) -> tuple[str, ...]:
        """The free parameters that move a discontinuity, in the order of theta. The discontinuity
        must have a height at these fixed and start values, or without `values` at those of the
        graph."""
        moving: set[str] = set()
        for thetas, place in self._places:
            if not thetas <= moving and is_there(self._graph, place, values):
                moving |= thetas
        return tuple(node.name for node in self._graph.free if node.name in moving)


class _Classification:
    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.parts = sums(graph)
        depends = dependences(graph, self.parts)
        assert graph.result is not None
        self.slopes = depends[graph.result.id].slopes
        self.faults: dict[str, dict[Fault, list[str]]] = {}
        for theta, name, fault in faults(graph, self.parts, depends):
            if theta in self.slopes:
                self.faults.setdefault(theta, {}).setdefault(fault, []).append(name)

    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        shapes = forms(self.graph, self.parts)
        names = [node.name for node in self.graph.free]
        return tuple(self._column(theta, shapes.get(theta, "zero")) for theta in names)

    def _column(self, theta: str, form: str) -> Column:
        kind: Kind = "structured" if self.slopes.get(theta) else "constant"
        if theta not in self.faults:
            return Column(theta, kind, form, "")
        reasons = [
            f"{several(list(dict.fromkeys(names)), 3)}: {fault.reason}; {fault.remedy}"
            for fault, names in self.faults[theta].items()
        ]
        return Column(theta, "fallback", "finite differences", "; ".join(reasons))
