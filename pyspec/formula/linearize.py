"""Nodes in an order in which each stands behind those it is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pyspec.errors import ModelError
from pyspec.formula.node import Node


def forest(*roots: Node, boundary: Collection[Node] = ()) -> list[Node]:
    """The nodes that `roots` need, themselves included, operands first; those in `boundary`, and
    what only they need, are left out.

    Raises :class:`ModelError` that names the nodes of a cycle.
    """
    visited = {id(node) for node in boundary}
    done: list[Node] = []
    # Depth first, without the stack of Python: formulas may be deep. A node that is met again while
    # its operands wait lies on a cycle.
    waiting = [(root, False) for root in reversed(roots)]
    open_nodes: dict[int, Node] = {}
    while waiting:
        node, behind = waiting.pop()
        if behind:
            del open_nodes[id(node)]
            visited.add(id(node))
            done.append(node)
        elif id(node) in open_nodes:
            circle = list(open_nodes.values())
            circle = [*circle[[member is node for member in circle].index(True) :], node]
            names = " <- ".join(member.label for member in circle)
            raise ModelError(f"the formula runs in a circle: {names}")
        elif id(node) not in visited:
            open_nodes[id(node)] = node
            waiting.append((node, True))
            waiting += [(operand, False) for operand in reversed(node.operands)]
    return done


def verify(nodes: Iterable[Node]) -> dict[Node, type | None]:
    """The axis of each node, None for no matter which. `nodes` stand in order.

    Raises :class:`ModelError` where nodes of two axes meet; sums over an axis have none.
    """
    axes: dict[Node, type | None] = {}
    for node in nodes:
        by_axis = {axes.get(operand, operand.axis): operand for operand in node.operands}
        by_axis.pop(None, None)
        if len(by_axis) > 1:
            mixture = " and ".join(
                f"{operand.label} along {axis.__name__}"
                for axis, operand in by_axis.items()
                if axis
            )
            raise ModelError(f"{node.label}: mixes {mixture}; bring them to one axis: {node}")
        summed = type(node).__name__ == "total"
        axes[node] = None if summed else next(iter(by_axis), node.axis)
    return axes
