"""The syntax tree of a formula: three kinds of frozen nodes, each with its position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: float
    position: int


@dataclass(frozen=True)
class Name:
    """A parameter."""

    name: str
    position: int


@dataclass(frozen=True)
class Apply:
    """An instruction of the RPN table, by its name there, applied to operands."""

    instruction: str
    operands: tuple[Node, ...]
    position: int


Node: TypeAlias = Number | Name | Apply

#: Functions of all points of an axis, with their instructions: they have no row in the RPN table.
SUMS = {"cumsum": "CUMSUM", "sum": "SUM"}


def has_sums(node: Node) -> bool:
    """Whether a sum over an axis occurs in a tree."""
    used = {part.instruction for part in postorder(node) if isinstance(part, Apply)}
    return not used.isdisjoint(SUMS.values())


def postorder(node: Node) -> Iterator[Node]:
    """Operands before what they are applied to, from left to right."""
    if isinstance(node, Apply):
        for operand in node.operands:
            yield from postorder(operand)
    yield node
