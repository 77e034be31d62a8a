"""Formulas that sum over the energies, which NumPy runs: what they depend on, and what may be
summed."""

from __future__ import annotations

from typing import Protocol

from pyspec.errors import ModelError
from pyspec.formula.formula import Formula
from pyspec.formula.nodes import SUMS, Apply, Name, postorder
from pyspec.formula.values import Values


class Summed(Protocol):
    """What is needed here of a definition, see :class:`pyspec.formula.definition.Definition`."""

    @property
    def name(self) -> str: ...

    @property
    def axis(self) -> str: ...

    @property
    def params(self) -> tuple[str, ...]: ...

    @property
    def lines(self) -> tuple[tuple[str, Formula], ...]: ...

    @property
    def value(self) -> Formula: ...

    @property
    def sums(self) -> bool: ...

    @property
    def values(self) -> tuple[Values, int]: ...


def used_names(own: Summed) -> set[str]:
    """The names on which the result depends."""
    if not own.sums:
        values, root = own.values
        used = values.reachable([root])
        return {name for name in own.params if values.input(name) in used}
    lines = dict(own.lines)
    found: set[str] = set()
    waiting = list(own.value.names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += lines[name].names if name in lines else ()
    return found


def check_sums(own: Summed, start: str) -> None:
    """What is summed must have a value at each energy."""
    along = {own.axis}
    for name, line in own.lines:
        if along.intersection(line.names) and not (
            isinstance(line.root, Apply) and line.root.instruction == SUMS["sum"]
        ):
            along.add(name)
    for formula in (own.value, *(line for _, line in own.lines)):
        for node in postorder(formula.root):
            if isinstance(node, Apply) and node.instruction in SUMS.values():
                names = {one.name for one in postorder(node) if isinstance(one, Name)}
                if not along.intersection(names):
                    raise ModelError(
                        f"{start}the formula of {own.name} sums what is the same at all energies; "
                        f"sum what depends on {own.axis!r}, or write a product"
                    )
