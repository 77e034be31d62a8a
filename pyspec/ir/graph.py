"""GraphIR: what a model means, as a frozen, typed, directed acyclic graph.

The graph says which value feeds which, and nothing of how to compute it. Every
transformation makes a new graph.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from pyspec.formula import Formula, parse
from pyspec.ir.frozen import (
    NO_ARRAYS,
    Array,
    Frozen,
    digest_of,
    grouped,
    own_arrays,
    plain_bounds,
    plain_numbers,
    read_only,
)


class NodeKind(IntEnum):
    """What a node stands for."""

    # Graphs look kinds up often: the hash of an Enum is a call of Python, that of an int is not.
    __hash__ = int.__hash__

    STATIC_PARAM = 0
    OPT_PARAM = 1
    DYNAMICS_TRACE = 2
    PARAM_PLUS_TRACE = 3
    EXPRESSION = 4
    COMPONENT_EVAL = 5
    SUM = 6
    SPECTRUM_FED_OP = 7
    CONVOLUTION = 100
    PROFILE_SAMPLE = 101
    PROFILE_AVERAGE = 102
    SUBCYCLE_MASK = 103
    SUBCYCLE_REMAP = 104
    FREE_VECTOR = 200
    EXTERNAL = 201
    AXIS = 202
    RESULTS = 203


#: Nodes whose value is one number, or one number for each time.
PARAMETER_KINDS = frozenset(
    {NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.PARAM_PLUS_TRACE, NodeKind.EXPRESSION}
)

#: Nodes whose value is a spectrum.
SPECTRUM_KINDS = frozenset(
    {
        NodeKind.COMPONENT_EVAL,
        NodeKind.SPECTRUM_FED_OP,
        NodeKind.PROFILE_AVERAGE,
        NodeKind.SUM,
        NodeKind.EXTERNAL,
    }
)

#: Nodes whose value is a trace: one number for each time.
TRACE_KINDS = frozenset(
    {
        NodeKind.DYNAMICS_TRACE,
        NodeKind.SUBCYCLE_MASK,
        NodeKind.CONVOLUTION,
        NodeKind.PROFILE_SAMPLE,
        NodeKind.EXTERNAL,
    }
)


class EdgeKind(IntEnum):
    """What flows along an edge."""

    __hash__ = int.__hash__

    PARAM_INPUT = 0
    TRACE_INPUT = 1
    BASE_INPUT = 2
    ADDEND = 3
    SPECTRUM_INPUT = 4
    EXPR_REF = 5
    KERNEL_INPUT = 6
    RESULT = 7


class DomainKind(IntEnum):
    """Which axes a model spans."""

    ENERGY_1D = 0
    TIME_1D = 1
    ENERGY_TIME_2D = 2


#: The axes along which the value of a node differs, as bits; see :attr:`GraphIR.axes`.
TIME, AUX, ENERGY = 1, 2, 4

#: Nodes that are the first to differ along an axis.
_STARTS = {
    NodeKind.DYNAMICS_TRACE: TIME,
    NodeKind.EXTERNAL: TIME,
    NodeKind.PROFILE_SAMPLE: AUX,
}

_ALONG: dict[str | None, int] = {"time": TIME, "energy": ENERGY}

#: The axes of a graph, in the order of its text.
AXES = ("energy", "time", "aux", "aux_weights")

_parsed = lru_cache(maxsize=4096)(parse)


class Cycle(NamedTuple):
    """The turn that a part of a law takes: the `turn`-th of `turns` in each cycle, of which there
    are `frequency` per unit of time."""

    frequency: float
    turns: int
    turn: int


@dataclass(frozen=True, eq=False)
class GraphNode(Frozen):
    """One node. Which of the payload fields are used depends on `kind`.

    `scope` of a parameter is "project" where all files share it; `where` is its place in the model
    file, of which the digests know nothing. `arrays` of sub-cycles follow from `cycle` and the time
    axis; a graph has the one or the other.

    A FREE_VECTOR is a number for each point of its `axis`, "energy" or "time", which a fit solves
    for; it is not below 0 where it is `positive`, and 0 in the ranges `zero` of that axis. An AXIS
    is the energy, or the time, itself. RESULTS list the spectra, or traces, that one walk gives.
    """

    id: int
    kind: NodeKind
    name: str
    source_order: int
    value: float | None = None
    function_name: str | None = None
    package: str | None = None
    expr_string: str | None = None
    vary: bool = False
    bounds: tuple[float, float] | None = None
    arrays: Mapping[str, Array] = field(default_factory=lambda: NO_ARRAYS)
    cycle: Cycle | None = None
    axis: str | None = None
    positive: bool = False
    zero: tuple[tuple[float, float], ...] = ()
    scope: str = "file"
    where: str = ""

    def __post_init__(self) -> None:
        self._freeze(arrays=own_arrays(self.arrays))
        if self.bounds is not None and type(self.bounds) is not tuple:
            self._freeze(bounds=tuple(self.bounds))
        if self.zero:
            self._freeze(zero=tuple([(begin, end) for begin, end in self.zero]))

    @property
    def formula(self) -> Formula:
        """The formula of an EXPRESSION. Raises :class:`ModelError` if its text is none."""
        return _parsed(self.expr_string or "")

    def as_dict(self) -> dict[str, object]:
        """All fields as plain data. An end without a bound is None."""
        return {
            **vars(self),
            "kind": self.kind.name,
            "value": None if self.value is None else plain_numbers(float(self.value)),
            "bounds": None if self.bounds is None else plain_bounds(*self.bounds),
            "arrays": {key: plain_numbers(self.arrays[key]) for key in sorted(self.arrays)},
            "cycle": None if self.cycle is None else list(self.cycle),
            "zero": [[plain_numbers(float(end)) for end in interval] for interval in self.zero],
        }

    def without(self, *fields: str) -> dict[str, object]:
        """All fields but these as plain data."""
        everything = self.as_dict()
        return {key: everything[key] for key in everything if key not in fields}


class GraphEdge(NamedTuple):
    """`source` flows into `target`; `position` is its place among edges of the same kind."""

    target: int
    kind: EdgeKind
    position: int
    source: int


@dataclass(frozen=True, eq=False, repr=False)
class GraphIR(Frozen):
    """A model as a graph. `nodes[i].id == i`; edges are sorted by target, kind, position.

    `arrays` are further values along the axes, by name, that functions by formula read."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    domain: DomainKind
    energy: Array | None
    time: Array | None
    name: str = ""
    aux: Array | None = None
    aux_weights: Array | None = None
    arrays: Mapping[str, Array] = field(default_factory=lambda: NO_ARRAYS)

    def __post_init__(self) -> None:
        self._freeze(arrays=own_arrays(self.arrays))
        for name in AXES:
            axis = getattr(self, name)
            if axis is not None:
                self._freeze(**{name: read_only(axis)})
        if type(self.nodes) is not tuple or type(self.edges) is not tuple:
            self._freeze(nodes=tuple(self.nodes), edges=tuple(self.edges))

    def __repr__(self) -> str:
        axes_by_name = (("energy", self.energy), ("time", self.time), ("aux", self.aux))
        axes = "".join(f"; {name} {axis.size}" for name, axis in axes_by_name if axis is not None)
        return f"<GraphIR {self.name!r}: {len(self.nodes)} nodes{axes}>"

    @property
    def inputs_by_kind(self) -> Mapping[tuple[int, EdgeKind], tuple[GraphEdge, ...]]:
        """Node and kind of edge → such edges into it, by position."""
        return MappingProxyType(self._by_kind)

    @cached_property
    def _by_kind(self) -> dict[tuple[int, EdgeKind], tuple[GraphEdge, ...]]:
        return grouped(sorted(self.edges), lambda edge: (edge.target, edge.kind))

    @cached_property
    def _outputs(self) -> dict[int, tuple[GraphEdge, ...]]:
        return grouped(self.edges, lambda edge: edge.source)

    @cached_property
    def _all_inputs(self) -> dict[int, tuple[GraphEdge, ...]]:
        return grouped(self.edges, lambda edge: edge.target)

    def all_inputs(self, node: int) -> tuple[GraphEdge, ...]:
        """Edges of all kinds into a node, by kind and position."""
        return self._all_inputs.get(node, ())

    def sources(self, node: int) -> list[int]:
        """Ids of all nodes that flow into a node; one that does so twice is there twice."""
        return [edge.source for edge in self._all_inputs.get(node, ())]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Ids so that every input stands before its users; ties by source order.

        Nodes on a cycle, and what depends on them, are missing.
        """
        waiting = Counter(edge.target for edge in self.edges)
        ready = [(n.source_order, n.id) for n in self.nodes if n.id not in waiting]
        heapq.heapify(ready)
        order: list[int] = []
        while ready:
            _, node = heapq.heappop(ready)
            order.append(node)
            for edge in self.outputs(node):
                waiting[edge.target] -= 1
                if not waiting[edge.target]:
                    heapq.heappush(ready, (self.nodes[edge.target].source_order, edge.target))
        return tuple(order)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The type of each node: along which of TIME, AUX and ENERGY it has more than one value.

        Whether a value is a spectrum follows from the kind: ENERGY is meant of parameters.
        """
        types = [0] * len(self.nodes)
        for number in self.order:
            kind = self.nodes[number].kind
            own = _STARTS.get(kind, 0) | _ALONG.get(self.nodes[number].axis, 0)
            for source in self.sources(number):
                own |= types[source]
            types[number] = own & ~AUX if kind is NodeKind.PROFILE_AVERAGE else own
        return tuple(types)

    @cached_property
    def free(self) -> tuple[GraphNode, ...]:
        """The free parameters, in the order of theta."""
        free = self.of_kind(NodeKind.OPT_PARAM)
        return tuple(sorted(free, key=lambda node: node.source_order))

    def inputs(self, node: int, kind: EdgeKind) -> tuple[GraphEdge, ...]:
        """Edges of one kind into a node, by position."""
        return self._by_kind.get((node, kind), ())

    def into(self, node: int, kind: EdgeKind) -> list[GraphNode]:
        """The nodes that flow into a node by edges of one kind, by position."""
        return [self.nodes[edge.source] for edge in self.inputs(node, kind)]

    def outputs(self, node: int) -> tuple[GraphEdge, ...]:
        """Edges out of a node."""
        return self._outputs.get(node, ())

    @cached_property
    def node_by_name(self) -> Mapping[str, int]:
        """Name → id."""
        return MappingProxyType({node.name: node.id for node in self.nodes})

    def of_kind(self, kind: NodeKind) -> tuple[GraphNode, ...]:
        """Nodes of one kind, in order of id."""
        return tuple(node for node in self.nodes if node.kind is kind)

    @cached_property
    def is_of_laws(self) -> bool:
        """Whether the whole is a sum of laws of time, alone or each times a spectrum."""
        if lists := self.of_kind(NodeKind.RESULTS):
            return self.nodes[self.sources(lists[0].id)[0]].kind is NodeKind.PARAM_PLUS_TRACE
        spectra = any(node.axis == "energy" for node in self.of_kind(NodeKind.FREE_VECTOR))
        return self.domain is DomainKind.TIME_1D or spectra

    @cached_property
    def result(self) -> GraphNode | None:
        """The node that nothing else consumes: a spectrum, or the trace of a law. If there are
        several, the node of RESULTS that lists them."""
        if lists := self.of_kind(NodeKind.RESULTS):
            return lists[0]
        kinds = frozenset({NodeKind.PARAM_PLUS_TRACE}) if self.is_of_laws else SPECTRUM_KINDS
        ends = [n for n in self.nodes if n.kind in kinds and not self.outputs(n.id)]
        return ends[0] if len(ends) == 1 else None

    @cached_property
    def results(self) -> tuple[int, ...]:
        """Ids of the spectra, or traces, that a walk is for: what RESULTS list, else the one."""
        if self.result is None:
            return ()
        listed = self.inputs(self.result.id, EdgeKind.RESULT)
        return tuple([edge.source for edge in listed]) or (self.result.id,)

    def as_dict(self) -> dict[str, object]:
        """Everything as plain, deterministically ordered data, which strict JSON can hold."""
        return {
            "name": self.name,
            "domain": self.domain.name,
            **{name: plain_numbers(getattr(self, name)) for name in AXES},
            "arrays": {name: plain_numbers(self.arrays[name]) for name in sorted(self.arrays)},
            "nodes": [node.as_dict() for node in self.nodes],
            "edges": [
                [edge.source, edge.target, edge.kind.name, edge.position]
                for edge in sorted(self.edges)
            ],
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything but where it is written."""
        nodes = [node.without("where") for node in self.nodes]
        return digest_of({**self.as_dict(), "nodes": nodes})

    @cached_property
    def structure(self) -> str:
        """SHA-256 without values, bounds, scopes, axis values, arrays and the name of the model:
        graphs that share it share a plan. It covers the number of auxiliary points, which are rows
        of the plan, and which sub-cycle each time belongs to."""
        cycles = any(node.cycle is not None for node in self.nodes)
        return digest_of(
            {
                "domain": self.domain.name,
                "n_aux": None if self.aux is None else self.aux.size,
                "time": plain_numbers(self.time) if cycles else None,
                "nodes": [node.without("value", "bounds", "scope", "where") for node in self.nodes],
                "edges": self.as_dict()["edges"],
            }
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphIR) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)
