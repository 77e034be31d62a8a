"""Formulas ready to be evaluated: inputs, numbers, and then nodes or trees in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspec.formula import linearize
from pyspec.formula.forest import Tree, is_leaf
from pyspec.formula.node import Node, constant, placeholder


@dataclass(frozen=True, eq=False)
class DAG:
    """`placeholders` and `constants` stand by number; there are `nodes` or `trees`."""

    placeholders: tuple[placeholder, ...]
    constants: tuple[constant, ...]
    nodes: tuple[Node, ...] = ()
    trees: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        title, body = ("trees", self.trees) if self.trees else ("nodes", self.nodes)
        joined = ("\n\n" if self.trees else "\n").join(str(entry) for entry in body)
        return "\n\n".join(
            f"# === {name} ===\n{text}".rstrip()
            for name, text in (
                ("placeholders", "\n".join(str(entry) for entry in self.placeholders)),
                ("constants", "\n".join(str(entry) for entry in self.constants)),
                (title, joined),
            )
        )


def compile_nodes(*nodes: Node) -> DAG:
    """The DAG of nodes in the order of :func:`~pyspec.formula.linearize.forest`."""
    linearize.verify(nodes)
    return DAG(*_leaves(nodes), nodes=tuple(node for node in nodes if not is_leaf(node)))


def compile_trees(*trees: Tree) -> DAG:
    """The DAG of trees in the order of :func:`~pyspec.formula.forest.partition`."""
    nodes = {node for tree in trees for node in (*tree.inputs, *tree.nodes)}
    return DAG(*_leaves(nodes), trees=trees)


def _leaves(
    nodes: Iterable[Node],
) -> tuple[tuple[placeholder, ...], tuple[constant, ...]]:
    by_number = sorted(nodes, key=lambda node: node.id)
    return (
        tuple(node for node in by_number if isinstance(node, placeholder)),
        tuple(node for node in by_number if isinstance(node, constant)),
    )
