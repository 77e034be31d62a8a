"""The text form of a graph: printed for people, parsed back without loss, compared by name."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from pyspec.errors import PlanError
from pyspec.ir.graph import Array, DomainKind, EdgeKind, GraphEdge, GraphIR, GraphNode, NodeKind

AXES = ("energy", "time", "aux", "aux_weights")
_PAYLOAD = ("value", "function_name", "package", "expr_string", "vary", "bounds", "arrays")
_DEFAULTS = GraphNode(0, NodeKind.SUM, "", 0).as_dict()
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
        payload = {key: data[key] for key in _PAYLOAD if data[key] != _DEFAULTS[key]}
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
    head = re.fullmatch(r'graph ("(?:[^"\\]|\\.)*") (\w+) \{', lines[0] if lines else "")
    if head is None or lines[-1] != "}":
        raise PlanError("graph text: must start with 'graph \"name\" DOMAIN {' and end with '}'")
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
                axes[name] = np.array(json.loads(axis), dtype=np.float64)
        except (ValueError, KeyError) as error:
            raise PlanError(f"graph text, line {number}: cannot read {line!r}: {error}") from None
    return GraphIR(
        tuple(nodes),
        tuple(sorted(edges)),
        DomainKind[head[2]],
        axes.get("energy"),
        axes.get("time"),
        json.loads(head[1]),
        axes.get("aux"),
        axes.get("aux_weights"),
    )


def _parse_node(match: re.Match[str]) -> GraphNode:
    number, kind, name, order, payload = match.groups()
    data: dict[str, Any] = json.loads(payload) if payload else {}
    if "bounds" in data:
        data["bounds"] = tuple(data["bounds"])
    if "arrays" in data:
        data["arrays"] = {key: np.array(value) for key, value in data["arrays"].items()}
    return GraphNode(int(number), NodeKind[kind], json.loads(name), int(order), **data)


def diff_graphs(old: GraphIR, new: GraphIR) -> list[str]:
    """What changed, by name: one line for each node, edge or axis. Empty if equal."""
    lines: list[str] = []
    if old.domain is not new.domain:
        lines.append(f"domain: {old.domain.name} -> {new.domain.name}")
    for name in AXES:
        before, after = getattr(old, name), getattr(new, name)
        same = before is after or (
            before is not None and after is not None and np.array_equal(before, after)
        )
        if not same:
            lines.append(f"{name} axis: {_axis(before)} -> {_axis(after)}")
    before_nodes, after_nodes = _by_name(old), _by_name(new)
    for name in sorted(before_nodes.keys() | after_nodes.keys()):
        if name not in after_nodes:
            lines.append(f"- {before_nodes[name]['kind']} {name}")
        elif name not in before_nodes:
            lines.append(f"+ {after_nodes[name]['kind']} {name}")
        else:
            was, now = before_nodes[name], after_nodes[name]
            changes = [f"{key} {was[key]} -> {now[key]}" for key in was if was[key] != now[key]]
            if changes:
                lines.append(f"~ {name}: {', '.join(changes)}")
    was_edges, now_edges = _edge_names(old), _edge_names(new)
    lines += [f"- {edge}" for edge in sorted(was_edges - now_edges)]
    lines += [f"+ {edge}" for edge in sorted(now_edges - was_edges)]
    return lines


def _axis(axis: Array | None) -> str:
    return "none" if axis is None else f"{axis.size} points {axis[0]:g} .. {axis[-1]:g}"


def _by_name(graph: GraphIR) -> dict[str, dict[str, Any]]:
    return {
        node.name: {
            key: value
            for key, value in node.as_dict().items()
            if key not in ("id", "name", "source_order")
        }
        for node in graph.nodes
    }


def _edge_names(graph: GraphIR) -> set[str]:
    return {
        f"{graph.nodes[e.source].name} -> {graph.nodes[e.target].name} {e.kind.name}[{e.position}]"
        for e in graph.edges
    }
