"""Formulas with sums over the energies, run by NumPy: checks and dependencies."""

from __future__ import annotations

from collections.abc import Collection

from pyspec.errors import ModelError
from pyspec.formula.definitions.formulas import Formulas
from pyspec.formula.syntax import SUMS, Apply, Name, Node, Number, postorder


def used_names(own: Formulas) -> set[str]:
    """The names on which the result depends."""
    if not own.sums:
        values, root = own.values
        used = values.reachable([root])
        return {name for name in (*own.params, *own.inputs) if values.input(name) in used}
    lines = dict(own.lines)
    names: set[str] = set()
    waiting = list(own.value.names)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += lines[name].names if name in lines else ()
    return names


def check_sums(own: Formulas, start: str) -> None:
    """What is summed must have a value at each energy."""
    along = {own.axis, *own.inputs}
    for name, line in own.lines:
        if _differs(line.root, along):
            along.add(name)
    for formula in (own.value, *(line for _, line in own.lines)):
        for node in postorder(formula.root):
            if not isinstance(node, Apply) or node.instruction not in SUMS.values():
                continue
            if not _differs(node.operands[0], along):
                raise ModelError(
                    f"{start}the formula of {own.name} sums what is the same at all energies; "
                    f"sum what depends on {own.axis!r}, or write a product"
                )


def _differs(node: Node, along: Collection[str]) -> bool:
    """Whether a value differs from energy to energy; `along` are the names whose values do."""
    if isinstance(node, Name):
        return node.name in along
    if isinstance(node, Number) or node.instruction == SUMS["sum"]:
        return False
    return any(_differs(operand, along) for operand in node.operands)
