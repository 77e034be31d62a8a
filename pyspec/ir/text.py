"""The text form of a graph: printed for people, parsed back without loss."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from pyspec.errors import PlanError
from pyspec.ir.graph import Array, DomainKind, EdgeKind, GraphEdge, GraphIR, GraphNode, NodeKind

AXES = ("energy", "time", "aux", "aux_weights")
_TYPES: dict[str, tuple[type, ...]] = {
    "value": (float, int),
    "function_name": (str,),
    "package": (str,),
    "expr_string": (str,),
    "vary": (bool,),
    "bounds": (list,),
    "arrays": (dict,),
}
_DEFAULTS = GraphNode(0, NodeKind.SUM, "", 0).as_dict()
_HEAD = re.compile(r'graph ("(?:[^"\\]|\\.)*") (\w+) \{')
_NODE = re.compile(r'  %(\d+) = (\w+) ("(?:[^"\\]|\\.)*") @(\d+)(?: (\{.*\}))?')
_EDGE = re.compile(r"  %(\d+) -> %(\d+) (\w+)\[(\d+)\]")


def print_graph(graph: GraphIR) -> str:
    """One line a node and an edge; :func:`parse_graph` reads it back to an equal graph."""
    lines = [f"graph {json.dumps(graph.name)} {graph.domain.name} {{"]
    for name in AXES:
        axis = getattr(graph, name)
        if axis is not None:
            lines.append(f"  {name} = {json.dumps(axis.tolist())}")
    for node in graph.nodes:
        data = node.as_dict()
        payload = {key: data[key] for key in _TYPES if data[key] != _DEFAULTS[key]}
        text = f" {json.dumps(payload)}" if payload else ""
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
    axes: dict[str, Array] = {}
    for number, line in enumerate(lines[1:-1], start=2):
        try:
            if match := _NODE.fullmatch(line):
                nodes.append(_parse_node(match))
            elif match := _EDGE.fullmatch(line):
                source, target, kind, position = match.groups()
                edges.append(GraphEdge(int(target), EdgeKind[kind], int(position), int(source)))
            else:
                name, axis = line.strip().split(" = ")
                if name not in AXES or name in axes:
                    raise ValueError(f"one of {', '.join(AXES)} each")
                axes[name] = np.array(json.loads(axis), dtype=np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise PlanError(f"graph text, line {number}: cannot read {line!r}: {error}") from None
    return GraphIR(
        tuple(nodes),
        tuple(sorted(edges)),
        DomainKind[head[2]],
        axes.get("energy"),
        axes.get("time"),
        _name(head[1], 1),
        axes.get("aux"),
        axes.get("aux_weights"),
    )


def _parse_node(match: re.Match[str]) -> GraphNode:
    number, kind, name, order, payload = match.groups()
    data: dict[str, Any] = json.loads(payload) if payload else {}
    for key, given in data.items():
        if type(given) not in _TYPES[key]:
            raise ValueError(f"{key} is {given!r}")
    if "bounds" in data:
        low, high = map(float, data["bounds"])
        data["bounds"] = (low, high)
    if "arrays" in data:
        arrays = data["arrays"].items()
        data["arrays"] = {key: np.array(value, dtype=np.float64) for key, value in arrays}
    return GraphNode(int(number), NodeKind[kind], json.loads(name), int(order), **data)


def _name(text: str, line: int) -> str:
    try:
        return str(json.loads(text))
    except ValueError as error:
        raise PlanError(f"graph text, line {line}: cannot read the name {text}: {error}") from None
