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


def postorder(node: Node) -> Iterator[Node]:
    """Operands before what they are applied to, from left to right."""
    if isinstance(node, Apply):
        for operand in node.operands:
            yield from postorder(operand)
    yield node
