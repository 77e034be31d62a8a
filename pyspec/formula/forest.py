"""A graph of formulas cut into trees: one for each root, which reads inputs and other trees."""

from __future__ import annotations

from dataclasses import dataclass

from pyspec.formula import linearize
from pyspec.formula.node import Node, constant, placeholder


@dataclass(frozen=True, eq=False)
class Tree:
    """How the last of `nodes` follows from `inputs`, which stand by number."""

    inputs: tuple[Node, ...]
    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        """The node that the tree is for."""
        return self.nodes[-1]

    def __str__(self) -> str:
        kinds = [type(node).__name__ if is_leaf(node) else "Node" for node in self.inputs]
        pairs = zip(self.inputs, kinds, strict=True)
        parameters = ", ".join(f"n{node.id}: graph.{kind}" for node, kind in pairs)
        lines = [f"def t{self.root.id}({parameters}) -> graph.Node:"]
        lines += [f"    {node}" for node in self.nodes]
        return "\n".join([*lines, f"    return n{self.root.id}"])


def is_leaf(node: Node) -> bool:
    """Whether a node is an input or a number."""
    return isinstance(node, (placeholder, constant))


def partition(*roots: Node) -> list[Tree]:
    """A tree for each root, each behind those that it reads. What two trees need and no root is,
    is in both; evaluated with one State it is computed once.

    Raises :class:`ModelError` for a cycle, or where axes mix.
    """
    nodes = linearize.forest(*roots)
    linearize.verify(nodes)
    chosen = set(roots)
    ends = chosen | {node for node in nodes if is_leaf(node)}
    trees = []
    for root in (node for node in nodes if node in chosen):
        body = tuple(linearize.forest(root, boundary=ends - {root}))
        inputs = {operand for node in body for operand in node.operands} - set(body)
        trees.append(Tree(tuple(sorted(inputs, key=lambda node: node.id)), body))
    return trees
