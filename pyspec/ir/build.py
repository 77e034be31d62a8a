"""build_graph: from the model tree to its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pyspec.calls import answered
from pyspec.errors import ModelError
from pyspec.formula import parse
from pyspec.ir.graph import DomainKind, EdgeKind, GraphBuilder, GraphIR, NodeKind
from pyspec.ir.verify import verify
from pyspec.model import Component, Dynamics, Model, Par, Profile
from pyspec.model.check import PROFILE, movers
from pyspec.model.instruments import SHARE, SHIFT, argument, seen_by, share_text
from pyspec.model.resolved import as_seen


@answered
def build_graph(model: Model) -> GraphIR:
    """The graph of `model` on the axes it has been given.

    With an energy axis alone the domain is ENERGY_1D, with a time axis too it is
    ENERGY_TIME_2D, whether or not a parameter moves. A model of time laws is TIME_1D.

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
            if par.dynamics is not None:
                self._dynamics(par, par.dynamics)
        for par in parameters:
            if par.profile is not None:
                self._profile(par, par.profile)
        for par in parameters:
            if par.formula is not None:
                self._references(par)
        if model.is_time_model:
            domain, energy = DomainKind.TIME_1D, None
            self._combine("total", None, Dynamics("total", model.name, model.components))
        else:
            domain = DomainKind.ENERGY_1D if model.time is None else DomainKind.ENERGY_TIME_2D
            energy = model.energy
            self._spectrum()
        self._name_apart()
        profiled = any(par.profile is not None for par in parameters)
        graph = self.out.build(
            domain,
            energy,
            model.time,
            model.name,
            model.aux if profiled else None,
            model.aux_weights if profiled else None,
        )
        verify(graph)
        return graph

    def _name_apart(self) -> None:
        """A quantity may have the name that a sum or a component has as a node, such as "total":
        the node gets another."""
        for node in self.out.nodes[len(self.parameters) :]:
            if node.name in self.parameters:
                self.out.nodes[node.id] = replace(node, name=f"{node.name} (node)")

    def _parameter(self, par: Par) -> None:
        if par.formula is not None:
            node = self.out.node(NodeKind.EXPRESSION, par.name, expr_string=par.formula.text)
        else:
            kind = NodeKind.OPT_PARAM if par.vary else NodeKind.STATIC_PARAM
            node = self.out.node(
                kind, par.name, value=par.value, vary=par.vary, bounds=(par.min, par.max)
            )
        self.raw[par.name] = self.resolved[par.name] = node

    def _dynamics(self, par: Par, dynamics: Dynamics) -> None:
        """base + D(t)."""
        moved = self._combine(f"{par.name}_resolved", self.raw[par.name], dynamics)
        self.resolved[par.name] = moved

    def _combine(self, name: str, base: int | None, dynamics: Dynamics) -> int:
        """Laws combine in reverse file order; a kernel convolves all that stands after it, an
        instrument replaces the laws after it by their responses."""
        above, rows, laws = seen_by(dynamics.components)
        traces = [self._seen(rows, k, laws, dynamics) for k in range(len(rows))]
        for component in reversed(above):
            if component.op.kind == "KERNEL":
                node = self._function(component, NodeKind.CONVOLUTION)
                self._traces(traces, node)
                traces = [node]
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

    def _seen(
        self, rows: Sequence[Component], k: int, laws: Sequence[Component], dynamics: Dynamics
    ) -> int:
        """Laws as one row of their instrument sees them. Of several rows each has its own copies
        of the laws: times its share, and later by its shift."""
        pieces = [(law, *piece) for law in reversed(laws) for piece in self._pieces(law, dynamics)]
        row, traces = rows[k], []
        for law, name, changes in pieces:
            if len(rows) > 1:
                name += f"_{row.name.removeprefix(f'{dynamics.target}_')}"
                changes = _shared(law, changes, share_text(rows, k), argument(row, SHIFT))
            traces.append(self._piece(law, name, changes))
        node = self.out.node(
            NodeKind.CONVOLUTION, row.name, function_name=row.function, package=row.op.package
        )
        for position, par in enumerate(row.pars):
            if par is not None and par.argument not in (SHARE, SHIFT):  # these are in the laws
                self.out.edge(self.resolved[par.name], node, EdgeKind.PARAM_INPUT, position)
        self._traces(traces, node)
        return node

    def _law(self, component: Component, dynamics: Dynamics) -> int:
        """A law of a sub-cycle runs on the local time and is 0 in the other sub-cycles."""
        law = self._function(component, NodeKind.DYNAMICS_TRACE)
        if not component.subcycle:
            return law
        assert self.model.time is not None
        local, active = dynamics.cycle(self.model.time)
        remap = self.out.node(
            NodeKind.SUBCYCLE_REMAP, f"{component.name}_time", arrays={"time_norm": local}
        )
        self.out.edge(remap, law, EdgeKind.TRACE_INPUT)
        on = (active == component.subcycle).astype(np.float64)
        mask = self.out.node(
            NodeKind.SUBCYCLE_MASK, f"{component.name}_mask", arrays={"time_n_sub": on}
        )
        self.out.edge(law, mask, EdgeKind.TRACE_INPUT)
        return mask

    def _pieces(self, law: Component, dynamics: Dynamics) -> list[tuple[str, dict[str, str]]]:
        """Names and changed parameters of the laws that an exact response takes for one law. A law
        of a sub-cycle sets in in each cycle, and is taken back at the end as what it has become by
        then. One whose onset lies behind the end is taken back at once, as it began: what it would
        have been before its onset may be huge."""
        if not law.subcycle or not law.op.params:  # "none" has no parameters
            return [(law.name, {})]
        assert self.model.time is not None
        length = repr(dynamics.length)
        onset = next(par for par in law.parameters if par.argument == "t0").name
        begin = f"min(max({onset}, 0), {length})"
        pieces = []
        for cycle, start in enumerate(dynamics.starts(law.subcycle, self.model.time)):
            name = f"{law.name}_cycle{cycle}"
            pieces.append((f"{name}_on", _later(law, begin, float(start), onset, "")))
            pieces.append((f"{name}_off", _later(law, length, float(start), onset, "-")))
        return pieces

    def _piece(self, law: Component, name: str, changes: Mapping[str, str]) -> int:
        """The law with some parameters replaced by expressions."""
        node = self.out.node(
            NodeKind.DYNAMICS_TRACE, name, function_name=law.function, package=law.op.package
        )
        own = {par.argument: par.name for par in law.parameters}
        for position, word in enumerate(law.op.params):
            if word in changes:
                text = changes[word]
                value = self.out.node(NodeKind.EXPRESSION, f"{name}_{word}", expr_string=text)
                for index, used in enumerate(parse(text).names):
                    self.out.edge(self.resolved[used], value, EdgeKind.EXPR_REF, index)
            elif word in own:
                value = self.resolved[own[word]]
            else:
                continue  # an optional parameter left out
            self.out.edge(value, node, EdgeKind.PARAM_INPUT, position)
        return node

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

    def _references(self, par: Par) -> None:
        assert par.formula is not None
        for position, name in enumerate(par.formula.names):
            if name not in self.resolved:
                raise ModelError(
                    f"{par.place}: {par.name} depends on the energy, and has a value for each; a "
                    "fit takes such a model part by part, and there is no one graph of it"
                )
            self.out.edge(self.resolved[name], self.raw[par.name], EdgeKind.EXPR_REF, position)

    def _function(self, component: Component, kind: NodeKind) -> int:
        node = self.out.node(
            NodeKind.EXTERNAL if component.op.external else kind,
            component.name,
            function_name=component.function,
            package=component.op.package,
        )
        for position, par in enumerate(component.pars):
            if par is not None:
                self.out.edge(self.resolved[par.name], node, EdgeKind.PARAM_INPUT, position)
        return node

    def _averaged(self, component: Component, node: int) -> int:
        """The node, averaged over the auxiliary axis where a parameter differs along it."""
        names = [par.name for par in component.parameters]
        if not any(movers(name, self.parameters, PROFILE) for name in names):
            return node
        average = self.out.node(NodeKind.PROFILE_AVERAGE, f"{component.name}_average")
        self.out.edge(node, average, EdgeKind.ADDEND)
        return average

    def _spectrum(self) -> None:
        """Components combine in reverse file order, below a resolution convolved; a Shirley reads
        the sum before it."""
        pending: list[int] = []
        for component in reversed(as_seen(self.model.components)):
            if not component.op.spectrum_fed:
                node = self._function(component, NodeKind.COMPONENT_EVAL)
                pending.append(self._averaged(component, node))
                continue
            before = self.out.sum(f"before_{component.name}", pending) if pending else None
            fed = self._function(component, NodeKind.SPECTRUM_FED_OP)
            if before is not None:
                self.out.edge(before, fed, EdgeKind.SPECTRUM_INPUT)
            fed = self._averaged(component, fed)
            pending = [fed] if before is None else [before, fed]
        self.out.sum("total", pending)


def _later(law: Component, at: str, start: float, onset: str, sign: str) -> dict[str, str]:
    """The parameters that a law has from a local time on."""
    own = {par.argument: par.name for par in law.parameters}
    rules = dict(law.op.later)
    found = {"t0": f"{at} + {start!r}"}
    for word in law.op.params:
        if word in rules or (word in law.op.linear and word in own):
            rule = parse(rules.get(word, word))
            known = {"s": f"max({at} - {onset}, 0)", "y0": own.get("y0", "0")}
            negated = sign if word in law.op.linear else ""
            found[word] = f"{negated}({rule.substitute({**own, **known})})"
    return found


def _shared(
    law: Component, changes: Mapping[str, str], share: str, shift: Par | None
) -> dict[str, str]:
    """The parameters of a law for one of the Gaussians that see it."""
    given = {par.argument: par.name for par in law.parameters} | dict(changes)
    found = dict(changes)
    for word in law.op.linear:
        if word in given:
            found[word] = f"({share}) * ({given[word]})"
    if shift is not None and "t0" in given:
        found["t0"] = f"({given['t0']}) + {shift.name}"
    return found
