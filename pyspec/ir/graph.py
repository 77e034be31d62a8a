"""GraphIR: what a model means, as a frozen, typed, directed acyclic graph.

The graph says which value feeds which, and nothing of how to compute it. Every
transformation makes a new graph.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.formula import Formula, parse

Array = npt.NDArray[np.float64]
Key = TypeVar("Key")


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


class DomainKind(IntEnum):
    """Which axes a model spans."""

    ENERGY_1D = 0
    TIME_1D = 1
    ENERGY_TIME_2D = 2


#: The axes along which the value of a node differs, as bits; see :attr:`GraphIR.axes`.
TIME, AUX = 1, 2

#: Nodes that are the first to differ along an axis.
_STARTS = {
    NodeKind.DYNAMICS_TRACE: TIME,
    NodeKind.EXTERNAL: TIME,
    NodeKind.PROFILE_SAMPLE: AUX,
}

_parsed = lru_cache(maxsize=4096)(parse)


@dataclass(frozen=True, eq=False)
class GraphNode:
    """One node. Which of the payload fields are used depends on `kind`."""

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
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @property
    def formula(self) -> Formula:
        """The formula of an EXPRESSION. Raises :class:`ModelError` if its text is none."""
        return _parsed(self.expr_string or "")

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return {
            "id": self.id,
            "kind": self.kind.name,
            "name": self.name,
            "source_order": self.source_order,
            "value": self.value,
            "function_name": self.function_name,
            "package": self.package,
            "expr_string": self.expr_string,
            "vary": self.vary,
            "bounds": None if self.bounds is None else list(self.bounds),
            "arrays": {key: self.arrays[key].tolist() for key in sorted(self.arrays)},
        }

    def structure(self) -> dict[str, Any]:
        """The fields that decide which plan comes out: neither value nor bounds."""
        everything = self.as_dict()
        return {key: everything[key] for key in everything if key not in ("value", "bounds")}


class GraphEdge(NamedTuple):
    """`source` flows into `target`; `position` is its place among edges of the same kind."""

    target: int
    kind: EdgeKind
    position: int
    source: int


@dataclass(frozen=True, eq=False, repr=False)
class GraphIR:
    """A model as a graph. `nodes[i].id == i`; edges are sorted by target, kind, position."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    domain: DomainKind
    energy: Array | None
    time: Array | None
    name: str = ""
    aux: Array | None = None
    aux_weights: Array | None = None

    def __repr__(self) -> str:
        given = (("energy", self.energy), ("time", self.time), ("aux", self.aux))
        axes = "".join(f"; {what} {axis.size}" for what, axis in given if axis is not None)
        return f"<GraphIR {self.name!r}: {len(self.nodes)} nodes{axes}>"

    @cached_property
    def inputs_by_kind(self) -> dict[tuple[int, EdgeKind], tuple[GraphEdge, ...]]:
        """Node and kind of edge → such edges into it, by position."""
        return _grouped(sorted(self.edges), lambda edge: (edge.target, edge.kind))

    @cached_property
    def _outputs(self) -> dict[int, tuple[GraphEdge, ...]]:
        return _grouped(self.edges, lambda edge: edge.source)

    @cached_property
    def _all_inputs(self) -> dict[int, tuple[GraphEdge, ...]]:
        return _grouped(self.edges, lambda edge: edge.target)

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
        """The type of each node: along which of TIME and AUX it has more than one value.

        Energy is not among them: whether a value is a spectrum follows from the kind.
        """
        found = [0] * len(self.nodes)
        for number in self.order:
            kind = self.nodes[number].kind
            own = _STARTS.get(kind, 0)
            for source in self.sources(number):
                own |= found[source]
            found[number] = own & ~AUX if kind is NodeKind.PROFILE_AVERAGE else own
        return tuple(found)

    @cached_property
    def free(self) -> tuple[GraphNode, ...]:
        """The free parameters, in the order of theta."""
        free = self.of_kind(NodeKind.OPT_PARAM)
        return tuple(sorted(free, key=lambda node: node.source_order))

    def inputs(self, node: int, kind: EdgeKind) -> tuple[GraphEdge, ...]:
        """Edges of one kind into a node, by position."""
        return self.inputs_by_kind.get((node, kind), ())

    def outputs(self, node: int) -> tuple[GraphEdge, ...]:
        """Edges out of a node."""
        return self._outputs.get(node, ())

    def of_kind(self, kind: NodeKind) -> tuple[GraphNode, ...]:
        """Nodes of one kind, in order of id."""
        return tuple(node for node in self.nodes if node.kind is kind)

    @cached_property
    def result(self) -> GraphNode | None:
        """The spectrum, in TIME_1D the trace, that nothing else consumes."""
        kinds = SPECTRUM_KINDS
        if self.domain is DomainKind.TIME_1D:
            kinds = frozenset({NodeKind.PARAM_PLUS_TRACE})
        ends = [n for n in self.nodes if n.kind in kinds and not self.outputs(n.id)]
        return ends[0] if len(ends) == 1 else None

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain, deterministically ordered data (JSON-serialisable)."""
        return {
            "name": self.name,
            "domain": self.domain.name,
            "energy": None if self.energy is None else self.energy.tolist(),
            "time": None if self.time is None else self.time.tolist(),
            "aux": None if self.aux is None else self.aux.tolist(),
            "aux_weights": None if self.aux_weights is None else self.aux_weights.tolist(),
            "nodes": [node.as_dict() for node in self.nodes],
            "edges": [
                [edge.source, edge.target, edge.kind.name, edge.position]
                for edge in sorted(self.edges)
            ],
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything."""
        return _digest(self.as_dict())

    @cached_property
    def structure(self) -> str:
        """SHA-256 without values, bounds, axis values and the name of the model: graphs that share
        it share a plan. It covers the number of auxiliary points, which are rows of the plan, and
        which sub-cycle each time belongs to."""
        return _digest(
            {
                "domain": self.domain.name,
                "n_aux": None if self.aux is None else self.aux.size,
                "nodes": [node.structure() for node in self.nodes],
                "edges": self.as_dict()["edges"],
            }
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphIR) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _grouped(
    edges: Iterable[GraphEdge], key: Callable[[GraphEdge], Key]
) -> dict[Key, tuple[GraphEdge, ...]]:
    """Key → the edges that have it, in their order."""
    found: dict[Key, list[GraphEdge]] = {}
    for edge in edges:
        found.setdefault(key(edge), []).append(edge)
    return {one: tuple(of_one) for one, of_one in found.items()}


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class GraphBuilder:
    """Collects nodes and edges; :meth:`build` freezes them."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []

    def node(self, kind: NodeKind, name: str, **payload: Any) -> int:
        """Adds a node and returns its id. Insertion order is the source order."""
        number = len(self.nodes)
        self.nodes.append(GraphNode(number, kind, name, number, **payload))
        return number

    def edge(self, source: int, target: int, kind: EdgeKind, position: int = 0) -> None:
        """Adds an edge."""
        self.edges.append(GraphEdge(target, kind, position, source))

    def sum(self, name: str, addends: Iterable[int]) -> int:
        """Adds a SUM node over `addends`, in their order."""
        number = self.node(NodeKind.SUM, name)
        for position, source in enumerate(addends):
            self.edge(source, number, EdgeKind.ADDEND, position)
        return number

    def build(
        self,
        domain: DomainKind,
        energy: Array | None,
        time: Array | None,
        name: str = "",
        aux: Array | None = None,
        aux_weights: Array | None = None,
    ) -> GraphIR:
        """The frozen graph."""
        nodes, edges = tuple(self.nodes), tuple(sorted(self.edges))
        return GraphIR(nodes, edges, domain, energy, time, name, aux, aux_weights)
