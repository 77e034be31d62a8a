"""build_graph: from the model tree to its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspec.calls import answered
from pyspec.errors import ModelError
from pyspec.ir.builder import GraphBuilder
from pyspec.ir.graph import Cycle, DomainKind, EdgeKind, GraphIR, NodeKind
from pyspec.ir.verify import verify
from pyspec.model import Component, Dynamics, Model, Par, Profile
from pyspec.model.build.check import PROFILE, movers
from pyspec.model.build.free import has_free_spectra
from pyspec.model.build.instruments import seen_by
from pyspec.model.resolved import resolution_of


@answered
def build_graph(model: Model) -> GraphIR:
    """The graph of `model` on the axes it has been given.

    With an energy axis alone the domain is ENERGY_1D, with a time axis too it is
    ENERGY_TIME_2D, whether or not a parameter moves. A model of time laws is TIME_1D, but for laws
    with spectra that are free on an energy axis.

    Raises
    ------
    ModelError
        where an axis is missing that the model needs
    PlanError
        if the finished graph breaks a rule (see :func:`pyspec.ir.verify`)
    """
    model.check()
    if model.is_time_model:
        if model.time is None:
            raise ModelError(
                f"{model.name}: the time model has no time axis; call model.set_axes(time=...)"
            )
    elif model.energy is None:
        raise ModelError(f"{model.name}: the model has no energy axis; call model.set_axes first")
    for name, par in model.parameters.items():
        if par.dynamics is not None and model.time is None:
            raise ModelError(
                f"{model.name}: {name} moves in time, but the model has no time axis; "
                "give one with model.set_axes(time=...), or use a model without dynamics"
            )
        if par.profile is not None and model.aux is None:
            raise ModelError(
                f"{model.name}: {name} has a profile, but the model has no auxiliary axis; "
                "give one with model.set_axes(aux=...)"
            )
    return _Builder(model).build()


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.parameters = model.parameters
        self.out = GraphBuilder()
        self.raw: dict[str, int] = {}  # the parameter as written
        self.resolved: dict[str, int] = {}  # as its users see it

    def build(self) -> GraphIR:
        model = self.model
        parameters = self.parameters.values()
        for par in parameters:
            self._parameter(par)
        for par in parameters:
            if par.dynamics is not None:  # base + D(t)
                name, base = f"{par.name}_resolved", self.raw[par.name]
                self.resolved[par.name] = self._combine(name, base, par.dynamics)
        for par in parameters:
            if par.profile is not None:
                self._profile(par, par.profile)
        for par in parameters:
            for position, name in enumerate(par.formula.names if par.formula is not None else ()):
                if name not in self.resolved:  # the model has checked that it is the energy
                    self.resolved[name] = self.out.node(NodeKind.AXIS, name, axis=name)
                used, own = self.resolved[name], self.raw[par.name]
                self.out.edge(used, own, EdgeKind.EXPR_REF, position)
        if model.is_time_model:
            domain, energy = DomainKind.TIME_1D, None
            if has_free_spectra(self.parameters) and model.energy is not None:
                domain, energy = DomainKind.ENERGY_TIME_2D, model.energy
            self._combine("total", None, Dynamics("total", model.name, model.components))
        else:
            domain = DomainKind.ENERGY_1D if model.time is None else DomainKind.ENERGY_TIME_2D
            energy = model.energy
            self._spectrum()
        # A quantity may have the name that a sum or a component has as a node, such as "total".
        for node in self.out.nodes[len(self.parameters) :]:
            if node.name in self.parameters:
                self.out.nodes[node.id] = replace(node, name=f"{node.name} (node)")
        profiled = any(par.profile is not None for par in parameters)
        graph = self.out.build(
            domain,
            energy,
            model.time,
            model.name,
            model.aux if profiled else None,
            model.aux_weights if profiled else None,
            model.inputs,
        )
        verify(graph, given=False)
        return graph

    def _parameter(self, par: Par) -> None:
        if par.free is not None:
            node = self.out.node(
                NodeKind.FREE_VECTOR,
                par.name,
                axis=par.free.axis,
                positive=par.free.positive,
                zero=par.free.zero,
                scope="project" if par.free.shared else "file",
                where=par.where,
            )
        elif par.formula is not None:
            text = par.formula.text
            node = self.out.node(NodeKind.EXPRESSION, par.name, expr_string=text, where=par.where)
        else:
            node = self.out.node(
                NodeKind.OPT_PARAM if par.vary else NodeKind.STATIC_PARAM,
                par.name,
                value=par.value,
                vary=par.vary,
                bounds=(par.min, par.max),
                scope="project" if par.vary and par.scope == "project" else "file",
                where=par.where,
            )
        self.raw[par.name] = self.resolved[par.name] = node

    def _combine(self, name: str, base: int | None, dynamics: Dynamics) -> int:
        """Laws combine in reverse file order; a kernel convolves all that stands after it. An
        instrument acts on the laws after it, once in each of its Gaussians."""
        above, rows, laws = seen_by(dynamics.components)
        traces = [self._law(law, dynamics) for law in reversed(laws)]
        if rows:
            traces = [self._convolved(row, traces, dynamics) for row in rows]
        for component in reversed(above):
            if component.op.kind == "KERNEL":
                traces = [self._convolved(component, traces, dynamics)]
            else:
                traces.append(self._law(component, dynamics))
        moved = self.out.node(NodeKind.PARAM_PLUS_TRACE, name)
        if base is not None:
            self.out.edge(base, moved, EdgeKind.BASE_INPUT)
        self._traces(traces, moved)
        return moved

    def _traces(self, traces: Sequence[int], node: int) -> None:
        for position, trace in enumerate(traces):
            self.out.edge(trace, node, EdgeKind.TRACE_INPUT, position)

    def _convolved(self, component: Component, traces: Sequence[int], dynamics: Dynamics) -> int:
        node = self._function(component, NodeKind.CONVOLUTION, _cycle(component, dynamics))
        self._traces(traces, node)
        return node

    def _law(self, component: Component, dynamics: Dynamics) -> int:
        """A law of a sub-cycle runs on the local time and is 0 in the other sub-cycles."""
        law = self._function(component, NodeKind.DYNAMICS_TRACE)
        cycle = _cycle(component, dynamics)
        if cycle is None:
            return law
        remap = self.out.node(NodeKind.SUBCYCLE_REMAP, f"{component.name}_time", cycle=cycle)
        self.out.edge(remap, law, EdgeKind.TRACE_INPUT)
        mask = self.out.node(NodeKind.SUBCYCLE_MASK, f"{component.name}_mask", cycle=cycle)
        self.out.edge(law, mask, EdgeKind.TRACE_INPUT)
        return mask

    def _profile(self, par: Par, profile: Profile) -> None:
        """What the parameter is in time, + P(aux)."""
        assert self.model.aux is not None
        samples = [
            self._function(component, NodeKind.PROFILE_SAMPLE)
            for component in reversed(profile.components)
        ]
        node = self.out.node(NodeKind.PARAM_PLUS_TRACE, f"{par.name}_sampled")
        self.out.edge(self.resolved[par.name], node, EdgeKind.BASE_INPUT)
        self._traces(samples, node)
        self.resolved[par.name] = node

    def _function(self, component: Component, kind: NodeKind, cycle: Cycle | None = None) -> int:
        node = self.out.node(
            NodeKind.EXTERNAL if component.op.external else kind,
            component.name,
            function_name=component.function,
            package=component.op.package,
            cycle=cycle,
            where=component.where,
        )
        for position, par in enumerate(component.pars):
            if par is not None:
                self.out.edge(self.resolved[par.name], node, EdgeKind.PARAM_INPUT, position)
        return node

    def _averaged(self, parts: Sequence[Component], node: int) -> int:
        """The node of the first of `parts`, averaged over the auxiliary axis where a parameter of
        one of them differs along it."""
        names = [par.name for component in parts for par in component.parameters]
        if not any(movers(name, self.parameters, PROFILE) for name in names):
            return node
        average = self.out.node(NodeKind.PROFILE_AVERAGE, f"{parts[0].name}_average")
        self.out.edge(node, average, EdgeKind.ADDEND)
        return average

    def _spectrum(self) -> None:
        """Components combine in reverse file order; a Shirley reads the sum before it. A resolution
        acts on each component after it that reads no spectrum."""
        pending: list[int] = []
        plain: list[int] = []
        components = self.model.components
        for component in reversed(components):
            if component.op.kind == "RESOLUTION":
                kernel = self._function(component, NodeKind.CONVOLUTION)
                for node in plain:
                    self.out.edge(kernel, node, EdgeKind.KERNEL_INPUT)
            elif not component.op.spectrum_fed:
                above = resolution_of(components, component)
                plain.append(self._function(component, NodeKind.COMPONENT_EVAL))
                parts = [component] if above is None else [component, above]
                pending.append(self._averaged(parts, plain[-1]))
            else:
                before = self.out.sum(f"before_{component.name}", pending)
                fed = self._function(component, NodeKind.SPECTRUM_FED_OP)
                self.out.edge(before, fed, EdgeKind.SPECTRUM_INPUT)
                pending = [before, self._averaged([component], fed)]
        self.out.sum("total", pending)


def _cycle(component: Component, dynamics: Dynamics) -> Cycle | None:
    """The turn of a law or kernel; None for one that acts at all times."""
    if not component.subcycle:
        return None
    return Cycle(dynamics.frequency, dynamics.n_subcycles, component.subcycle)
