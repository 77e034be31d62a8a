"""What differs between two graphs, by name."""

from __future__ import annotations

import json
from collections import Counter

from pyspec.ir.frozen import Array, plain_numbers
from pyspec.ir.graph import AXES, GraphIR


def diff(old: GraphIR, new: GraphIR) -> list[str]:
    """What changed, one line for each axis, node or edge; empty only if the graphs are equal.

    Nodes are matched by name. Their numbers and source order shift with every node that is added
    or taken away: they are compared only where nothing else differs.
    """
    if old == new:
        return []
    lines = contents(old, new)
    if lines:
        return lines
    before, after = ({n.name: (n.id, n.source_order) for n in g.nodes} for g in (old, new))
    return [
        f"~ {name}: number {was[0]} -> {now[0]}, source_order {was[1]} -> {now[1]}"
        for name, was in before.items()
        if was != (now := after[name])
    ]


def contents(old: GraphIR, new: GraphIR) -> list[str]:
    """The same without numbers and source order."""
    lines = [
        f"{label}: {was} -> {now}"
        for label, was, now in (
            ("name", old.name, new.name),
            ("domain", old.domain.name, new.domain.name),
        )
        if was != now
    ]
    for name in AXES:
        before, after = getattr(old, name), getattr(new, name)
        if _plain(before) != _plain(after):
            lines.append(f"{name} axis: {_axis(before)} -> {_axis(after)}")
    for name in sorted(old.arrays.keys() | new.arrays.keys()):
        before, after = old.arrays.get(name), new.arrays.get(name)
        if _plain(before) != _plain(after):
            lines.append(f"array {name}: {_axis(before)} -> {_axis(after)}")
    before_nodes, after_nodes = _by_name(old), _by_name(new)
    for name in sorted(before_nodes.keys() | after_nodes.keys()):
        if name not in after_nodes:
            lines.append(f"- {before_nodes[name]['kind']} {name}")
        elif name not in before_nodes:
            lines.append(f"+ {after_nodes[name]['kind']} {name}")
        else:
            was, now = before_nodes[name], after_nodes[name]
            changes = [
                f"{key} {was[key]} -> {now[key]}"
                for key in was
                if json.dumps(was[key]) != json.dumps(now[key])
            ]
            if changes:
                lines.append(f"~ {name}: {', '.join(changes)}")
    was_edges, now_edges = _edge_names(old), _edge_names(new)
    lines += [f"- {edge}" for edge in sorted((was_edges - now_edges).elements())]
    lines += [f"+ {edge}" for edge in sorted((now_edges - was_edges).elements())]
    return lines


def _plain(axis: Array | None) -> str:
    return json.dumps(plain_numbers(axis))


def _axis(axis: Array | None) -> str:
    if axis is None or not axis.size:
        return "none" if axis is None else "no points"
    return f"{axis.size} points {axis.flat[0]:g} .. {axis.flat[-1]:g}"


def _by_name(graph: GraphIR) -> dict[str, dict[str, object]]:
    return {node.name: node.without("id", "name", "source_order", "where") for node in graph.nodes}


def _edge_names(graph: GraphIR) -> Counter[str]:
    names = dict(enumerate(node.name for node in graph.nodes))
    return Counter(
        f"{names.get(e.source, e.source)} -> {names.get(e.target, e.target)} "
        f"{e.kind.name}[{e.position}]"
        for e in graph.edges
    )
