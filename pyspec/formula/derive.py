"""Derivatives as formulas: from the root to the leaves, by the partials of the RPN table."""

from __future__ import annotations

from collections.abc import Sequence

from pyspec.formula.nodes import Name, Node
from pyspec.formula.rules import PARTIALS
from pyspec.formula.values import Values


def differentiate(values: Values, root: int, names: Sequence[int]) -> list[int]:
    """The derivative of `root` by each of `names`, as values of the same table.

    The chain rule runs backwards, so that all derivatives together cost a few times the value. A
    product of it is 0 where one factor is (CHAIN), be the other infinite: what overflowed on the
    way to a finite value does not make a derivative NaN.
    """
    matters = values.depends(names)
    outer: dict[int, int] = {root: values.constant(1.0)}
    # Values that derivatives add stand behind the root and are no part of the sum.
    for number in range(root, -1, -1):
        if number not in outer or number not in matters:
            continue
        value = values[number]
        for k, operand in enumerate(value.operands):
            if operand not in matters:
                continue
            partial = _partial(values, number, k)
            term = values.apply("CHAIN", partial, outer[number])
            before = outer.get(operand)
            outer[operand] = term if before is None else values.apply("ADD", before, term)
    zero = values.constant(0.0)
    return [outer.get(name, zero) for name in names]


def _partial(values: Values, number: int, k: int) -> int:
    """The derivative of a value by its k-th operand."""
    value = values[number]
    if value.instruction == "DIV" and values.number(value.operands[0]) == 1 and k == 1:
        return values.apply("NEG", values.apply("MUL", number, number))
    known = {**dict(zip("abc", value.operands, strict=False)), "v": number}
    partial: Node = PARTIALS[value.instruction][k]
    if isinstance(partial, Name):
        return known[partial.name]
    return values.lower(partial, known)
