"""expand: what a model file says once becomes what a plan computes, node by node.

A resolution goes into the components below it. A law under an instrument of several Gaussians has
a copy for each, times its share and later by its shift, and a law of a sub-cycle one for each
cycle. Sub-cycles without an instrument get their local times and masks. All other passes, and the
plan, know graphs of this form alone, so it cannot be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyspec._library import OpDef
from pyspec.formula import find_op, op_of, parse
from pyspec.functions.response_rows import response, response_arguments
from pyspec.ir import Cycle, EdgeKind, GraphIR, GraphNode, NodeKind, verify
from pyspec.ir.builder import GraphBuilder
from pyspec.ir.graph import PARAMETER_KINDS
from pyspec.model.build.instruments import SHARE, SHIFT
from pyspec.model.tree import Dynamics
from pyspec.passes.facts import Facts, neutral

#: A law under an instrument, and its turn where it belongs to a sub-cycle.
_Law = tuple[GraphNode, Cycle | None]


def expand(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """The graph that is scheduled; the same where there is nothing to expand. A note for each node
    that stands for others now.

    Raises :class:`DataError` for more cycles than an exact response takes.
    """
    work = _Expansion(graph)
    if not work.is_needed:
        return graph, facts, ()
    made = work.graph()
    return made, neutral(made), tuple(work.notes)


def expanded(graph: GraphIR) -> GraphIR:
    """The graph alone, verified where it is another one."""
    work = _Expansion(graph)
    if not work.is_needed:
        return graph
    made = work.graph()
    verify(made, given=False)
    return made


class _Expansion:
    def __init__(self, graph: GraphIR) -> None:
        self.old, self.out = graph, GraphBuilder()
        self.number: dict[int, int] = {}  # that of a node that stays → its new one
        self.waiting: list[tuple[int, int, EdgeKind, int]] = []  # edges from the old numbers
        self.parameters = {node.name for node in graph.nodes if node.kind in PARAMETER_KINDS}
        self.notes: list[str] = []
        self.rows, self.gone = set[int](), set[int]()
        for node in graph.of_kind(NodeKind.CONVOLUTION):
            op = find_op(node.function_name)
            if op is not None and op.kind == "IRF":
                self.rows.add(node.id)
            elif op is not None and op.kind == "RESOLUTION":
                self.gone.add(node.id)
        #: Rows of which the laws have copies.
        self.several = {row for row in self.rows if self._has_copies(row)}
        turns = any(node.cycle is not None for node in graph.nodes)
        self.is_needed = turns or bool(self.gone or self.several)

    def graph(self) -> GraphIR:
        """The whole of it, in the order of the old one."""
        self.gone |= self._replaced()
        for node in sorted(self.old.nodes, key=lambda node: node.source_order):
            if node.id in self.several:
                self._row(node)
            elif self.old.inputs(node.id, EdgeKind.KERNEL_INPUT):
                self._blurred(node)
            elif node.id not in self.gone:
                self._same(node)
                for edge in self.old.all_inputs(node.id):
                    self._edge(edge.source, node.id, edge.kind, edge.position)
        for source, target, kind, position in self.waiting:
            self.out.edge(self.number[source], target, kind, position)
        old = self.old
        return self.out.build(
            old.domain, old.energy, old.time, old.name, old.aux, old.aux_weights, old.arrays
        )

    def _same(self, node: GraphNode, **changes: Any) -> int:
        """The node itself, a part of a sub-cycle with its array."""
        number = self.number[node.id] = len(self.out.nodes)
        arrays = node.arrays
        if node.cycle is not None and self.old.time is not None:
            cycle = node.cycle
            local, active = _turns(cycle, "").cycle(self.old.time)
            if node.kind is NodeKind.SUBCYCLE_REMAP:
                arrays = {"time_norm": local}
            elif node.kind is NodeKind.SUBCYCLE_MASK:
                arrays = {"time_n_sub": (active == cycle.turn).astype(np.float64)}
        changed = replace(
            node, id=number, source_order=number, arrays=arrays, cycle=None, **changes
        )
        self.out.nodes.append(changed)
        return number

    def _edge(self, source: int, target: int, kind: EdgeKind, position: int) -> None:
        """An edge between nodes that stay, by their old numbers."""
        self.waiting.append((source, self.number[target], kind, position))

    def _arguments(self, number: int) -> dict[str, GraphNode]:
        """What a function takes, by the names of the table."""
        params = op_of(self.old.nodes[number].function_name).params
        edges = self.old.inputs(number, EdgeKind.PARAM_INPUT)
        return {params[edge.position]: self.old.nodes[edge.source] for edge in edges}

    # ---- a resolution

    def _blurred(self, node: GraphNode) -> None:
        """The component as the row of the table that holds its convolution."""
        (edge,) = self.old.inputs(node.id, EdgeKind.KERNEL_INPUT)
        op, instrument = (op_of(part.function_name) for part in (node, self.old.nodes[edge.source]))
        row = response(op, instrument)
        assert row is not None
        self._same(node, function_name=row.name, package=row.package)
        own, width = self._arguments(node.id), list(self._arguments(edge.source).values())
        taken = response_arguments(op, row, [own.get(word) for word in op.params], width)
        for position, source in enumerate(taken):
            if source is not None:
                self._edge(source.id, node.id, EdgeKind.PARAM_INPUT, position)
        self.notes.append(f"{node.name}: is {row.name}")

    # ---- an instrument

    def _laws(self, row: int) -> Iterator[_Law]:
        for law in self.old.into(row, EdgeKind.TRACE_INPUT):
            cycle = law.cycle
            if law.kind is NodeKind.SUBCYCLE_MASK and cycle is not None:
                (law,) = self.old.into(law.id, EdgeKind.TRACE_INPUT)
            yield law, cycle

    def _has_copies(self, row: int) -> bool:
        """Whether its laws have copies; those that are copies know no shares any more."""
        shares = any(SHARE in self._arguments(sibling) for sibling in self._siblings(row))
        return shares or any(cycle for _, cycle in self._laws(row))

    def _siblings(self, row: int) -> list[int]:
        """The Gaussians of the instrument that a row belongs to: those that are read with it."""
        readers = {edge.target for edge in self.old.outputs(row)}
        edges = [e for reader in readers for e in self.old.inputs(reader, EdgeKind.TRACE_INPUT)]
        return [edge.source for edge in edges if edge.source in self.rows]

    def _replaced(self) -> set[int]:
        """The laws, with their parts of a sub-cycle, in place of which only copies are read."""
        replaced: set[int] = set()
        waiting = [
            e.source for row in self.several for e in self.old.inputs(row, EdgeKind.TRACE_INPUT)
        ]
        while waiting:
            number = waiting.pop()
            readers = {edge.target for edge in self.old.outputs(number)}
            if readers <= self.several | replaced:
                replaced.add(number)
                waiting += [e.source for e in self.old.inputs(number, EdgeKind.TRACE_INPUT)]
        return replaced

    def _target(self, number: int) -> str:
        """The name of what a row moves."""
        while self.old.nodes[number].kind is not NodeKind.PARAM_PLUS_TRACE:
            number = self.old.outputs(number)[0].target
        base = self.old.inputs(number, EdgeKind.BASE_INPUT)
        return self.old.nodes[base[0].source if base else number].name

    def _row(self, row: GraphNode) -> None:
        """The copies of the laws that one Gaussian sees, and what it makes of them. Share and shift
        are in the laws."""
        rows, target = self._siblings(row.id), self._target(row.id)
        own = self._arguments(row.id)
        if SHARE in own:
            share = own[SHARE].name
        else:  # the first has what the others leave
            arguments = [self._arguments(sibling) for sibling in rows]
            share = " - ".join(["1", *(other[SHARE].name for other in arguments if SHARE in other)])
        traces = []
        for law, cycle in self._laws(row.id):
            parameters = self._arguments(law.id)
            names = {word: node.name for word, node in parameters.items()}
            op = op_of(law.function_name)
            pieces = list(self._pieces(law.name, op, names, cycle, target))
            for name, changes in pieces:
                if len(rows) > 1:
                    name += f"_{row.name.removeprefix(f'{target}_')}"
                    changes = _shared(op, names | changes, changes, share, own.get(SHIFT))
                traces.append(self._piece(law, name, changes, rows))
            if len(pieces) > 1 or len(rows) > 1:
                self.notes.append(f"{law.name}: {len(pieces)} under {row.name}")
        number = self._same(row)
        params = op_of(row.function_name).params
        for word, node in own.items():
            if word not in (SHARE, SHIFT):
                self._edge(node.id, row.id, EdgeKind.PARAM_INPUT, params.index(word))
        for position, trace in enumerate(traces):
            self.out.edge(trace, number, EdgeKind.TRACE_INPUT, position)

    def _pieces(
        self, name: str, op: OpDef, own: Mapping[str, str], cycle: Cycle | None, target: str
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Names and changed parameters of the laws that an exact response takes for one law. A law
        of a sub-cycle begins in each cycle. At the end of the cycle its continuation is subtracted.
        If its onset lies after the end, it begins at the end and is subtracted at once, because its
        values before its onset may be huge."""
        if cycle is None or not op.params:  # "none" has no parameters
            yield name, {}
            return
        assert self.old.time is not None
        turns = _turns(cycle, target)
        length, onset = repr(turns.length), own["t0"]
        begin = f"min(max({onset}, 0), {length})"
        for number, start in enumerate(turns.starts(cycle.turn, self.old.time)):
            piece = f"{name}_cycle{number}"
            yield f"{piece}_on", _later(op, own, begin, float(start), "")
            yield f"{piece}_off", _later(op, own, length, float(start), "-")

    def _piece(
        self, law: GraphNode, name: str, changes: Mapping[str, str], rows: Sequence[int]
    ) -> int:
        """The law with some parameters replaced by expressions over its own and those of rows."""
        own = self._arguments(law.id)
        parameters = [*own.values(), *(n for row in rows for n in self._arguments(row).values())]
        ids = {node.name: node.id for node in parameters}
        node = self._new(
            NodeKind.DYNAMICS_TRACE, name, function_name=law.function_name, package=law.package
        )
        for position, word in enumerate(op_of(law.function_name).params):
            if word in changes:
                text = changes[word]
                value = self._new(NodeKind.EXPRESSION, f"{name}_{word}", expr_string=text)
                for index, used in enumerate(parse(text).names):
                    self.waiting.append((ids[used], value, EdgeKind.EXPR_REF, index))
                self.out.edge(value, node, EdgeKind.PARAM_INPUT, position)
            elif word in own:  # an optional parameter may be left out
                self.waiting.append((own[word].id, node, EdgeKind.PARAM_INPUT, position))
        return node

    def _new(self, kind: NodeKind, name: str, **payload: str | None) -> int:
        name = f"{name} (node)" if name in self.parameters else name
        return self.out.node(kind, name, **payload)


def _turns(cycle: Cycle, name: str) -> Dynamics:
    return Dynamics(name, name, frequency=cycle.frequency, n_subcycles=cycle.turns)


def _later(op: OpDef, own: Mapping[str, str], at: str, start: float, sign: str) -> dict[str, str]:
    """The parameters that a law has from a local time on."""
    rules = dict(op.later)
    changes = {"t0": f"{at} + {start!r}"}
    for word in op.params:
        if word in rules or (word in op.linear and word in own):
            rule = parse(rules.get(word, word))
            replacements = {"s": f"max({at} - {own['t0']}, 0)", "y0": own.get("y0", "0")}
            negated = sign if word in op.linear else ""
            changes[word] = f"{negated}({rule.substitute({**own, **replacements})})"
    return changes


def _shared(
    op: OpDef,
    own: Mapping[str, str],
    changes: Mapping[str, str],
    share: str,
    shift: GraphNode | None,
) -> dict[str, str]:
    """The parameters of a law for one of the Gaussians that see it."""
    shared = dict(changes)
    for word in op.linear:
        if word in own:
            shared[word] = f"({share}) * ({own[word]})"
    if shift is not None and "t0" in own:
        shared["t0"] = f"({own['t0']}) + {shift.name}"
    return shared
