"""build_graph: from the model tree to its meaning."""

from __future__ import annotations

from pyspec.errors import ModelError
from pyspec.formula import parse
from pyspec.ir.graph import DomainKind, EdgeKind, GraphBuilder, GraphIR, NodeKind
from pyspec.ir.verify import verify
from pyspec.model import Component, Model, Par


def build_graph(model: Model) -> GraphIR:
    """The graph of `model` on the axes it has been given.

    With an energy axis alone the domain is ENERGY_1D, with a time axis too it is
    ENERGY_TIME_2D, whether or not a parameter moves.

    Raises
    ------
    ModelError
        without an energy axis, or where parameters move in time and there is no time axis
    PlanError
        if the finished graph breaks a rule (see :func:`pyspec.ir.verify`)
    """
    if model.energy is None:
        raise ModelError(f"{model.name}: the model has no energy axis; call model.set_axes first")
    moved = [name for name, par in model.parameters.items() if par.dynamics is not None]
    if moved and model.time is None:
        raise ModelError(
            f"{model.name}: {moved[0]} moves in time, but the model has no time axis; "
            "give one with model.set_axes(time=...), or use a model without dynamics"
        )
    return _Builder(model).build()


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.out = GraphBuilder()
        self.raw: dict[str, int] = {}  # the parameter as written
        self.resolved: dict[str, int] = {}  # as its users see it

    def build(self) -> GraphIR:
        for par in self.model.parameters.values():
            self._parameter(par)
        for par in self.model.parameters.values():
            if par.dynamics is not None:
                self._dynamics(par)
        for par in self.model.parameters.values():
            if par.formula is not None:
                self._references(par)
        self._spectrum()
        domain = DomainKind.ENERGY_1D if self.model.time is None else DomainKind.ENERGY_TIME_2D
        graph = self.out.build(domain, self.model.energy, self.model.time, self.model.name)
        verify(graph)
        return graph

    def _parameter(self, par: Par) -> None:
        if par.formula is not None:
            node = self.out.node(NodeKind.EXPRESSION, par.name, expr_string=par.formula.text)
        else:
            kind = NodeKind.OPT_PARAM if par.vary else NodeKind.STATIC_PARAM
            node = self.out.node(
                kind, par.name, value=par.value, vary=par.vary, bounds=(par.min, par.max)
            )
        self.raw[par.name] = self.resolved[par.name] = node

    def _dynamics(self, par: Par) -> None:
        """base + the laws, which combine in reverse file order."""
        assert par.dynamics is not None
        traces = [
            self._function(law, NodeKind.DYNAMICS_TRACE)
            for law in reversed(par.dynamics.components)
        ]
        moved = self.out.node(NodeKind.PARAM_PLUS_TRACE, f"{par.name}_resolved")
        self.out.edge(self.raw[par.name], moved, EdgeKind.BASE_INPUT)
        for position, trace in enumerate(traces):
            self.out.edge(trace, moved, EdgeKind.TRACE_INPUT, position)
        self.resolved[par.name] = moved

    def _references(self, par: Par) -> None:
        assert par.formula is not None
        for position, name in enumerate(parse(par.formula.text, par.where).names):
            self.out.edge(self.resolved[name], self.raw[par.name], EdgeKind.EXPR_REF, position)

    def _function(self, component: Component, kind: NodeKind) -> int:
        node = self.out.node(
            kind,
            component.name,
            function_name=component.function,
            package=component.op.package,
        )
        for position, par in enumerate(component.pars):
            if par is not None:
                self.out.edge(self.resolved[par.name], node, EdgeKind.PARAM_INPUT, position)
        return node

    def _spectrum(self) -> None:
        """Components combine in reverse file order; a Shirley reads the sum before it."""
        pending: list[int] = []
        for component in reversed(self.model.components):
            if not component.op.spectrum_fed:
                pending.append(self._function(component, NodeKind.COMPONENT_EVAL))
                continue
            before = self.out.sum(f"before_{component.name}", pending) if pending else None
            fed = self._function(component, NodeKind.SPECTRUM_FED_OP)
            if before is not None:
                self.out.edge(before, fed, EdgeKind.SPECTRUM_INPUT)
            pending = [fed] if before is None else [before, fed]
        self.out.sum("total", pending)
