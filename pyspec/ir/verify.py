"""The verifier: structural and scope rules that every graph obeys.

Run after :func:`build_graph` and after every pass. Each rule is a function that yields
:class:`Violation`; :func:`verify` raises one :class:`PlanError` that lists them all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from pyspec.errors import ModelError, PlanError
from pyspec.formula import find_op, op_of
from pyspec.functions.domain import unmet
from pyspec.functions.response_rows import response
from pyspec.ir.graph import (
    AUX,
    SPECTRUM_KINDS,
    TIME,
    DomainKind,
    EdgeKind,
    GraphIR,
    GraphNode,
    NodeKind,
)
from pyspec.ir.rules import (
    ARRAYS,
    FUNCTION_KINDS,
    FUNCTIONS,
    IN_SEQUENCE,
    JOINS,
    TRACES_OF,
    UNUSED,
    Violation,
)
from pyspec.model.build.free import AXES as FREE_AXES


def verify(graph: GraphIR, given: bool = True) -> None:
    """Raises :class:`PlanError` that lists every rule the graph breaks.

    Without `given`, the axes and values that the graph was given are not looked at: a model has
    looked at its axes, no pass changes them, and it is evaluated outside of its bounds, too.
    """
    for rules in (_STRUCTURE, _SCOPE, _GIVEN if given else ()):
        violations = [str(violation) for rule in rules for violation in rule(graph)]
        if violations:
            raise PlanError(f"graph {graph.name or '(unnamed)'}:\n  " + "\n  ".join(violations))


def _ids(graph: GraphIR) -> Iterator[Violation]:
    for position, node in enumerate(graph.nodes):
        if node.id != position:
            yield Violation(node.name, f"id {node.id} at position {position}", "number from 0")
    for name, count in Counter([node.name for node in graph.nodes]).items():
        if count > 1:
            yield Violation(name, f"{count} nodes of this name", "give each node its own name")
    n_nodes = len(graph.nodes)
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if not 0 <= end < n_nodes:
                yield Violation(f"edge {edge}", f"no node {end}", "remove the edge")


def _payload(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.nodes:
        fields, read, nothing = UNUSED[node.kind]
        if (unused := read(node)) != nothing:
            for field, content, none in zip(fields, unused, nothing, strict=True):
                if content != none:
                    yield Violation(node.name, f"a {node.kind.name} has no {field}", "leave it out")
        if node.vary != (node.kind is NodeKind.OPT_PARAM):
            rule = f"a {node.kind.name} with vary={node.vary}"
            yield Violation(node.name, rule, "parameters that vary are OPT_PARAM, and only these")
        if node.scope not in ("file", "project"):
            yield Violation(node.name, f"scope {node.scope!r}", "it is 'file' or 'project'")
        elif node.scope != "file" and node.kind not in (NodeKind.OPT_PARAM, NodeKind.FREE_VECTOR):
            rule = f"a {node.kind.name} of scope {node.scope!r}"
            yield Violation(node.name, rule, "files share what varies, and only this")
        if not node.name:
            yield Violation(f"node {node.id}", "has no name", "name it")


def _edges(graph: GraphIR) -> Iterator[Violation]:
    nodes, n_nodes = graph.nodes, len(graph.nodes)
    for (end, kind), edges in graph.inputs_by_kind.items():
        if kind in IN_SEQUENCE and 0 <= end < n_nodes:
            positions = [edge.position for edge in edges]
            if positions != list(range(len(positions))):
                rule = f"{kind.name} at positions {positions}"
                yield Violation(nodes[end].name, rule, "number them from 0, without gaps")
    for edge in graph.edges:
        if not (0 <= edge.source < n_nodes and 0 <= edge.target < n_nodes):
            continue
        source, target = nodes[edge.source], nodes[edge.target]
        if (edge.kind, source.kind, target.kind) not in JOINS:
            yield Violation(
                target.name,
                f"{edge.kind.name} from {source.kind.name} {source.name} to {target.kind.name}",
                "this edge kind does not join these nodes",
            )


def _axes(graph: GraphIR) -> Iterator[Violation]:
    needs_energy = graph.domain is not DomainKind.TIME_1D
    needs_time = graph.domain is not DomainKind.ENERGY_1D
    for name, axis, needed in (
        ("energy", graph.energy, needs_energy),
        ("time", graph.time, needs_time),
    ):
        if needed != (axis is not None):
            rule = f"{graph.domain.name} {'needs' if needed else 'has no'} {name} axis"
            yield Violation("axes", rule, "let the domain follow the axes given")
        elif axis is not None and not (axis.ndim == 1 and axis.size and np.isfinite(axis).all()):
            yield Violation("axes", f"{name} is not a finite 1D axis", "give finite values")
    aux, weights = graph.aux, graph.aux_weights
    if aux is not None and not (aux.ndim == 1 and aux.size and np.isfinite(aux).all()):
        yield Violation("axes", "aux is not a finite 1D axis", "give finite values")
    if weights is not None and (
        aux is None or weights.shape != aux.shape or not np.isfinite(weights).all()
    ):
        rule = "aux_weights are not one finite number for each auxiliary point"
        yield Violation("axes", rule, "give as many weights as points")


def _order(graph: GraphIR) -> Iterator[Violation]:
    """Axes rise all the way; those of energies and of profiles may fall all the way."""
    weights = graph.aux_weights
    if weights is not None and ((weights < 0.0).any() or not weights.sum() > 0.0):
        yield Violation("axes", "aux_weights are negative, or all 0", "give shares of an average")
    for name, axis in (("energy", graph.energy), ("time", graph.time), ("aux", graph.aux)):
        if axis is None:
            continue
        steps = np.diff(axis)
        may_fall = name != "time"
        if (steps > 0.0).all() or (may_fall and (steps < 0.0).all()):
            continue
        order = "rise, or fall, all the way" if may_fall else "rise all the way"
        at = int(np.argmax(steps * (np.sign(axis[-1] - axis[0]) if may_fall else 1.0) <= 0.0))
        rule = f"{name} does not {order}: {axis[at]:.12g} and {axis[at + 1]:.12g} at index {at}"
        yield Violation("axes", rule, "sort the axis and the data together")


def _cycles(graph: GraphIR) -> Iterator[Violation]:
    missing = set(range(len(graph.nodes))) - set(graph.order)
    if missing:
        names = ", ".join(graph.nodes[number].name for number in sorted(missing))
        yield Violation(names, "these nodes lie on or behind a cycle", "break the cycle")


def _parameters(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.nodes:
        if node.kind not in (NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM):
            continue
        if node.value is None or not np.isfinite(node.value):
            yield Violation(node.name, f"value {node.value}", "give a finite value")
        if node.bounds is not None and not node.bounds[0] <= node.bounds[1]:
            yield Violation(node.name, f"bounds {node.bounds}", "the minimum comes first")


def _bounds(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.free:
        if node.value is None or node.bounds is None:
            continue
        low, high = node.bounds
        if not low <= node.value <= high:
            rule = f"starts at {node.value:g}, outside of its bounds [{low:g}, {high:g}]"
            yield Violation(node.name, rule, "move the value or the bounds")


def _domains(graph: GraphIR) -> Iterator[Violation]:
    """Values at the start lie where the function is defined, as far as they are numbers."""
    for node in graph.nodes:
        op = find_op(node.function_name) if node.kind in FUNCTION_KINDS else None
        if op is None or not op.guards:
            continue
        values = [math.nan] * len(op.params)
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            value = graph.nodes[edge.source].value
            values[edge.position] = math.nan if value is None else value
        for guard, _ in unmet(op, values):
            limit = op.params[int(guard.other)] if guard.relative else f"{guard.other:g}"
            rule = f"{op.params[guard.param]} = {values[guard.param]:g}"
            need = f"{op.name} needs {op.params[guard.param]} {guard.comparison} {limit}"
            yield Violation(node.name, rule, need)


def _function_inputs(graph: GraphIR, node: GraphNode) -> Iterator[Violation]:
    try:
        op = find_op(node.function_name)
    except ModelError as error:
        yield Violation(node.name, f"function: {error}", "correct the definition")
        return
    if op is None or op.package != node.package:
        yield Violation(
            node.name,
            f"no function {node.function_name} in {node.package}",
            "see `pyspec ops` for the functions there are",
        )
        return
    if op.kind not in FUNCTIONS[node.kind]:
        yield Violation(node.name, f"{op.name} is {op.kind}, not {node.kind.name}", "change one")
    positions = [edge.position for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT)]
    if len(set(positions)) != len(positions) or not (
        set(range(op.n_required)) <= set(positions) <= set(range(len(op.params)))
    ):
        yield Violation(
            node.name,
            f"parameters at positions {positions}",
            f"{op.name} takes {', '.join(op.params)}, one each",
        )


def _resolution(graph: GraphIR, node: GraphNode) -> Iterator[Violation]:
    """A component has one resolution at most, of which its convolution is known."""
    kernels = graph.into(node.id, EdgeKind.KERNEL_INPUT)
    if len(kernels) > 1:
        yield Violation(node.name, "has two resolutions", "give it one")
    for kernel in kernels:
        op, row = op_of(node.function_name), find_op(kernel.function_name)
        if row is None or row.kind != "RESOLUTION" or response(op, row) is None:
            rule = f"has no known convolution with {kernel.name}"
            yield Violation(node.name, rule, "leave the resolution out, or take another function")


def _functions(graph: GraphIR) -> Iterator[Violation]:
    axes = graph.axes
    for node in graph.nodes:
        if node.kind not in FUNCTION_KINDS:
            continue
        broken = list(_function_inputs(graph, node))
        yield from broken
        if len(graph.inputs(node.id, EdgeKind.SPECTRUM_INPUT)) > 1:
            yield Violation(node.name, "reads two spectra", "sum them first")
        if node.kind is NodeKind.SPECTRUM_FED_OP and not graph.inputs(
            node.id, EdgeKind.SPECTRUM_INPUT
        ):
            yield Violation(node.name, "reads nothing", "give it a spectrum, or leave it out")
        if broken:
            continue
        yield from _resolution(graph, node)
        blurs = op_of(node.function_name).kind == "RESOLUTION"
        if blurs or node.kind not in (NodeKind.DYNAMICS_TRACE, NodeKind.CONVOLUTION):
            continue
        if graph.time is None:
            yield Violation(node.name, "moves in time without a time axis", "give a time axis")
        for edge in graph.inputs(node.id, EdgeKind.PARAM_INPUT):
            if axes[edge.source] & (TIME | AUX):
                on = "time" if axes[edge.source] & TIME else "the auxiliary axis"
                yield Violation(
                    node.name,
                    f"its parameter {graph.nodes[edge.source].name} depends on {on}",
                    "a law of motion takes parameters that do not change",
                )


def _expressions(graph: GraphIR) -> Iterator[Violation]:
    for node in graph.of_kind(NodeKind.EXPRESSION):
        try:
            names = node.formula.names
        except ModelError as error:
            yield Violation(node.name, f"expression: {error}", "correct the expression")
            continue
        positions = [edge.position for edge in graph.inputs(node.id, EdgeKind.EXPR_REF)]
        if positions != list(range(len(names))):
            yield Violation(
                node.name,
                f"{len(names)} names, references at positions {positions}",
                "one EXPR_REF for each name, in the order of first use",
            )


def _subcycles(graph: GraphIR) -> Iterator[Violation]:
    """The arrays of a sub-cycle, and the one law that each belongs to."""
    shape = (0,) if graph.time is None else graph.time.shape
    for kind, name in ARRAYS.items():
        for node in graph.of_kind(kind):
            if node.cycle is not None and not node.arrays:
                continue  # they follow from the time axis
            array = node.arrays.get(name, np.array(np.nan))
            is_valid = array.shape == shape and np.isfinite(array).all()
            if set(node.arrays) != {name} or not is_valid:
                rule = f"its arrays are not one finite {name} for each time"
                yield Violation(node.name, rule, f"give it {name} of shape {shape}")
            elif kind is NodeKind.SUBCYCLE_MASK and not np.isin(array, (0.0, 1.0)).all():
                yield Violation(node.name, "masks by other numbers than 0 and 1", "give 0 or 1")
    for node in graph.nodes:
        allowed = TRACES_OF.get(node.kind)
        edges = graph.inputs(node.id, EdgeKind.TRACE_INPUT)
        for source in graph.into(node.id, EdgeKind.TRACE_INPUT):
            if (source.kind is NodeKind.SUBCYCLE_REMAP) != (node.kind is NodeKind.DYNAMICS_TRACE):
                rule = f"takes the trace of {source.name}, a {source.kind.name}"
                yield Violation(node.name, rule, "laws take a SUBCYCLE_REMAP, and only laws")
        if allowed is not None and len(edges) not in allowed[0]:
            rule = f"{len(edges)} traces into a {node.kind.name}"
            yield Violation(node.name, rule, allowed[1])


def _turns(graph: GraphIR) -> Iterator[Violation]:
    """The turns that parts of sub-cycles take."""
    for node in graph.nodes:
        if node.cycle is None:
            continue
        frequency, turns, turn = node.cycle
        if not (0.0 < frequency < math.inf and 1 <= turn <= turns):
            rule = f"turn {turn} of {turns}, {frequency:g} times per unit of time"
            yield Violation(node.name, rule, "turns count from 1, and the frequency is above 0")
        if node.arrays:
            yield Violation(node.name, "has arrays and a cycle", "give the one or the other")


def _along_axes(graph: GraphIR) -> Iterator[Violation]:
    """What has a value for each energy or time: amplitudes that are free, and the axis itself."""
    for node in (*graph.of_kind(NodeKind.FREE_VECTOR), *graph.of_kind(NodeKind.AXIS)):
        if node.axis not in FREE_AXES.values():
            rule = f"its axis is {node.axis!r}"
            yield Violation(node.name, rule, "it is 'energy' or 'time'")
        if any(not begin < end for begin, end in node.zero):
            yield Violation(node.name, f"0 in {node.zero}", "give ranges that rise")
        if node.kind is NodeKind.AXIS and node.axis == "energy" and not graph.is_of_laws:
            rule = "no amplitude is free along the energy"
            yield Violation(node.name, rule, "only what stands beside one may depend on it")
    for edge in graph.edges:
        if graph.nodes[edge.source].kind is not NodeKind.FREE_VECTOR or (
            edge.kind is EdgeKind.EXPR_REF  # its part in one Gaussian of an instrument
        ):
            continue
        vector, node = graph.nodes[edge.source], graph.nodes[edge.target]
        op = op_of(node.function_name)
        word = op.params[edge.position]
        if word not in op.linear or op.spectrum_fed:
            rule = f"takes {vector.name}, which is free, as {word}"
            yield Violation(node.name, rule, "only an amplitude can be free")
        elif FREE_AXES.get(op.domain) != vector.axis:
            rule = f"{op.name} is a function of {vector.axis} itself, along which {vector.name} is"
            yield Violation(node.name, f"{rule} free", "free it along the other axis")


def _sums(graph: GraphIR) -> Iterator[Violation]:
    axes = graph.axes
    for node in graph.nodes:
        if node.kind not in SPECTRUM_KINDS - {NodeKind.EXTERNAL}:
            continue
        if graph.domain is DomainKind.TIME_1D:
            yield Violation(node.name, "a spectrum in a graph without energies", "use a time law")
        if node.kind is not NodeKind.SUM:
            continue
        if not graph.inputs(node.id, EdgeKind.ADDEND):
            yield Violation(node.name, "adds nothing", "give it an addend")
        if axes[node.id] & AUX:
            rule = "adds what differs along the auxiliary axis"
            yield Violation(node.name, rule, "average the component first")


def _single(graph: GraphIR) -> Iterator[Violation]:
    time_only = graph.is_of_laws
    for node in graph.of_kind(NodeKind.PARAM_PLUS_TRACE):
        bases = len(graph.inputs(node.id, EdgeKind.BASE_INPUT))
        if bases != 1 and not (bases == 0 and time_only):
            yield Violation(node.name, "needs exactly one base", "add a BASE_INPUT edge")
        if not graph.inputs(node.id, EdgeKind.TRACE_INPUT):
            yield Violation(node.name, "has no trace", "use the base itself")
    for node in graph.of_kind(NodeKind.PROFILE_AVERAGE):
        if len(graph.inputs(node.id, EdgeKind.ADDEND)) != 1:
            yield Violation(node.name, "averages not exactly one component", "average it alone")
    for node in graph.of_kind(NodeKind.PROFILE_SAMPLE):
        if graph.aux is None:
            yield Violation(node.name, "has no auxiliary axis", "give the graph one")
    if graph.result is None:
        yield Violation("graph", "has not exactly one finished spectrum", "sum the components")


Rule = Callable[[GraphIR], Iterator[Violation]]
_STRUCTURE: tuple[Rule, ...] = (_ids, _payload, _edges, _axes)
_SCOPE: tuple[Rule, ...] = (
    _cycles, _parameters, _functions, _expressions, _subcycles, _turns, _along_axes, _sums, _single
)  # fmt: skip
_GIVEN: tuple[Rule, ...] = (_order, _bounds, _domains)
