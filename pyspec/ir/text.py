"""The text form of a graph: printed for people, parsed back without loss."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import PlanError, shortened
from pyspec.ir.frozen import Array, plain_numbers
from pyspec.ir.graph import (
    AXES,
    Cycle,
    DomainKind,
    EdgeKind,
    GraphEdge,
    GraphIR,
    GraphNode,
    NodeKind,
)

_TYPES: dict[str, tuple[type, ...]] = {
    "value": (float, int, str),
    "function_name": (str,),
    "package": (str,),
    "expr_string": (str,),
    "vary": (bool,),
    "bounds": (list,),
    "arrays": (dict,),
    "cycle": (list,),
    "axis": (str,),
    "positive": (bool,),
    "zero": (list,),
    "scope": (str,),
}
_PARTS = {"name", "domain", *AXES, "arrays", "nodes", "edges"}
_DEFAULTS = GraphNode(0, NodeKind.SUM, "", 0).as_dict()
_HEAD = re.compile(r'graph ("(?:[^"\\]|\\.)*") (\w+) \{')
_NODE = re.compile(
    r'  %(\d+) = (\w+) ("(?:[^"\\]|\\.)*") @(\d+)(?: at ("(?:[^"\\]|\\.)*"))?(?: (\{.*\}))?'
)
_ARRAY = re.compile(r'  ("(?:[^"\\]|\\.)*") = (\[.*\])')
_EDGE = re.compile(r"  %(\d+) -> %(\d+) (\w+)\[(\d+)\]")


def print_graph(graph: GraphIR) -> str:
    """One line a node and an edge; :func:`parse_graph` reads it back to an equal graph."""
    lines = [f"graph {json.dumps(graph.name)} {graph.domain.name} {{"]
    for name in AXES:
        axis = getattr(graph, name)
        if axis is not None:
            lines.append(f"  {name} = {json.dumps(plain_numbers(axis))}")
    for name in sorted(graph.arrays):
        lines.append(f"  {json.dumps(name)} = {json.dumps(plain_numbers(graph.arrays[name]))}")
    for node in graph.nodes:
        data = node.as_dict()
        payload = {key: data[key] for key in _TYPES if data[key] != _DEFAULTS[key]}
        text = f" at {json.dumps(node.where)}" if node.where else ""
        text += f" {json.dumps(payload)}" if payload else ""
        lines.append(
            f"  %{node.id} = {node.kind.name} {json.dumps(node.name)} @{node.source_order}{text}"
        )
    for edge in sorted(graph.edges):
        lines.append(f"  %{edge.source} -> %{edge.target} {edge.kind.name}[{edge.position}]")
    return "\n".join([*lines, "}"]) + "\n"


def parse_graph(text: str) -> GraphIR:
    """Reads the text form. Raises PlanError with the line that cannot be read."""
    lines = text.splitlines()
    head = _HEAD.fullmatch(lines[0] if lines else "")
    if head is None or head[2] not in DomainKind.__members__ or lines[-1] != "}":
        domains = ", ".join(DomainKind.__members__)
        raise PlanError(
            "graph text: must start with 'graph \"name\" DOMAIN {' and end with '}'; DOMAIN is one "
            f"of {domains}"
        )
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    axes: dict[str, Array | None] = dict.fromkeys(AXES)
    arrays: dict[str, Array] = {}
    for number, line in enumerate(lines[1:-1], start=2):
        try:
            if match := _NODE.fullmatch(line):
                node, kind, name, order, where, payload = match.groups()
                data: dict[str, Any] = json.loads(payload) if payload else {}
                where = json.loads(where) if where else ""
                nodes.append(_node(int(node), kind, json.loads(name), int(order), where, **data))
            elif match := _EDGE.fullmatch(line):
                source, target, kind, position = match.groups()
                edges.append(GraphEdge(int(target), EdgeKind[kind], int(position), int(source)))
            elif match := _ARRAY.fullmatch(line):
                name = json.loads(match[1])
                if name in arrays:
                    raise ValueError("given twice")
                arrays[name] = _numbers(json.loads(match[2]))
            else:
                name, axis = line.strip().split(" = ")
                if name not in AXES or axes[name] is not None:
                    raise ValueError(f"one of {', '.join(AXES)} each")
                axes[name] = _numbers(json.loads(axis))
        except (ValueError, KeyError, TypeError) as error:
            raise PlanError(f"graph text, line {number}: cannot read {line!r}: {error}") from None
    try:
        name, domain = str(json.loads(head[1])), DomainKind[head[2]]
    except ValueError as error:
        raise PlanError(f"graph text, line 1: cannot read the name {head[1]}: {error}") from None
    return GraphIR(tuple(nodes), tuple(sorted(edges)), domain, name=name, arrays=arrays, **axes)


def from_dict(data: Mapping[str, Any]) -> GraphIR:
    """The graph of what :meth:`GraphIR.as_dict` gives, or of its JSON. Raises PlanError with the
    part that cannot be read."""
    part: Any = data
    try:
        if unknown := data.keys() - _PARTS:
            raise ValueError(f"no part of a graph is called {sorted(unknown)[0]!r}")
        nodes = [_node(**(part := entry)) for entry in data["nodes"]]
        edges = []
        for part in data["edges"]:
            source, target, kind, position = part
            edges.append(GraphEdge(int(target), EdgeKind[kind], int(position), int(source)))
        part = {name: data[name] for name in ("name", "domain", *AXES, "arrays")}
        axes = {key: None if part[key] is None else _numbers(part[key]) for key in AXES}
        arrays = {key: _numbers(line) for key, line in part["arrays"].items()}
        name, domain = part["name"], DomainKind[part["domain"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = shortened(part)
        raise PlanError(f"graph data: cannot read {shown}: {error}") from None
    return GraphIR(tuple(nodes), tuple(sorted(edges)), domain, name=name, arrays=arrays, **axes)


def _node(
    id: int, kind: str, name: str, source_order: int, where: str = "", **data: Any
) -> GraphNode:
    """A node of plain data; None stands for a field that is not used."""
    for field, content in (("name", name), ("where", where)):
        if type(content) is not str:
            raise ValueError(f"{field} is {content!r}")
    for field, number in (("id", id), ("source_order", source_order)):
        if type(number) is not int:
            raise ValueError(f"{field} is {number!r}")
    data = {key: content for key, content in data.items() if content is not None}
    for key, content in data.items():
        if type(content) not in _TYPES[key]:
            raise ValueError(f"{key} is {content!r}")
    if "value" in data:
        data["value"] = float(data["value"])
    if "bounds" in data:
        low, high = data["bounds"]
        data["bounds"] = (
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
        )
    if "arrays" in data:
        arrays = data["arrays"].items()
        data["arrays"] = {key: _numbers(value) for key, value in arrays}
    if "cycle" in data:
        frequency, turns, turn = data["cycle"]
        if type(turns) is not int or type(turn) is not int:
            raise ValueError(f"cycle is {data['cycle']!r}")
        data["cycle"] = Cycle(float(frequency), turns, turn)
    data["zero"] = tuple([(float(begin), float(end)) for begin, end in data.get("zero", ())])
    return GraphNode(id, NodeKind[kind], name, source_order, where=where, **data)


def _numbers(plain: npt.ArrayLike) -> Array:
    return np.array(plain, dtype=np.float64)
