"""Derivatives of nodes, as nodes: by the partials of the RPN table, from the inputs to the root."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspec.errors import ModelError
from pyspec.formula import linearize
from pyspec.formula.graph import add, chain_product, cumsum, function_call, total
from pyspec.formula.node import Node, apply, constant
from pyspec.formula.rules import PARTIALS
from pyspec.formula.syntax import Name, Number
from pyspec.formula.syntax import Node as Syntax


def from_syntax(syntax: Syntax, names: Mapping[str, Node]) -> Node:
    """The node of a syntax tree; each literal becomes a constant."""
    if isinstance(syntax, Number):
        return constant(syntax.value)
    if isinstance(syntax, Name):
        return names[syntax.name]
    return apply(syntax.instruction, *(from_syntax(operand, names) for operand in syntax.operands))


def derivative(root: Node, by: Node) -> Node:
    """The derivative of `root` by a node, at each point: how the value there changes if `by`
    changes everywhere alike. Zero where it does not depend on it.

    At a kink it is one-sided, at a jump 0. A product of the chain rule is 0 where a factor is.
    Raises :class:`ModelError` for what depends on `by` through a function that is called by name.
    """
    slopes: dict[Node, Node] = {by: constant(1.0)}
    for node in linearize.forest(root):
        if node in slopes:
            continue
        moving = [
            (k, slopes[operand]) for k, operand in enumerate(node.operands) if operand in slopes
        ]
        slope = _slope(node, moving) if moving else None
        if slope is not None:
            slopes[node] = slope
    return slopes[root] if root in slopes else constant(0.0)


def _slope(node: Node, moving: list[tuple[int, Node]]) -> Node | None:
    """The sum of partial times slope over the operands that move; None for zero."""
    if isinstance(node, function_call):
        raise ModelError(
            f"{node.label}: nothing is known of the derivative of {node.function!r}; write it as "
            "nodes"
        )
    if isinstance(node, (cumsum, total)):
        return type(node)(moving[0][1])
    terms = [_term(node, k, slope) for k, slope in moving]
    present = [term for term in terms if term is not None]
    return reduce(add, present) if present else None


def _term(node: Node, k: int, slope: Node) -> Node | None:
    partial = PARTIALS[node.instruction][k]
    if isinstance(partial, Number):
        if partial.value == 0:
            return None
        return slope if partial.value == 1 else constant(partial.value) * slope
    arguments = {**dict(zip("abc", node.operands, strict=False)), "v": node}
    factor = from_syntax(partial, arguments)
    is_one = isinstance(slope, constant) and slope.value == 1
    return factor if is_one else chain_product(factor, slope)
