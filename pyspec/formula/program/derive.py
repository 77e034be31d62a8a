"""Derivatives as formulas: from the root to the leaves, by the partials of the RPN table."""

from __future__ import annotations

from collections.abc import Sequence

from pyspec.formula.program.values import Values
from pyspec.formula.rules import PARTIALS
from pyspec.formula.syntax import Name, Node


def differentiate(values: Values, root: int, names: Sequence[int]) -> list[int]:
    """The derivative of `root` by each of `names`, as values of the same table.

    The chain rule runs backwards, so that all derivatives together cost a few times the value. A
    product with a factor 0 is 0 even if the other factor is infinite (CHAIN): an
    overflow on the way to a finite value gives no NaN.
    """
    matters = values.depends(names)
    outer: dict[int, int] = {root: values.constant(1.0)}
    # Values that derivatives add stand behind the root and are no part of the sum.
    for number in range(root, -1, -1):
        if number not in outer or number not in matters:
            continue
        for k, operand in enumerate(values[number].operands):
            if operand not in matters:
                continue
            by = _divisor(values, number, k)
            if by is None:
                by = operand
                term = values.apply("CHAIN", _partial(values, number, k), outer[number])
            else:
                along = values.apply("CHAIN", number, outer[number])
                term = values.apply("NEG", values.apply("CHAIN", operand, along))
            before = outer.get(by)
            outer[by] = term if before is None else values.apply("ADD", before, term)
    zero = values.constant(0.0)
    return [outer.get(name, zero) for name in names]


def _divisor(values: Values, number: int, k: int) -> int | None:
    """The divisor b of a quotient: a product whose k-th factor is 1 / b, else None. The derivative
    by b is -v / b, from the quotient v and 1 / b."""
    value = values[number]
    if value.instruction != "MUL" or value.operands[0] == value.operands[1]:
        return None
    factor = values[value.operands[k]]
    if factor.instruction != "DIV" or values.number(factor.operands[0]) != 1:
        return None
    return factor.operands[1]


def _partial(values: Values, number: int, k: int) -> int:
    """The derivative of a value by its k-th operand."""
    value = values[number]
    if value.instruction == "DIV" and values.number(value.operands[0]) == 1 and k == 1:
        return values.apply("NEG", values.apply("MUL", number, number))
    arguments = {**dict(zip("abc", value.operands, strict=False)), "v": number}
    partial: Node = PARTIALS[value.instruction][k]
    if isinstance(partial, Name):
        return arguments[partial.name]
    return values.lower(partial, arguments)
