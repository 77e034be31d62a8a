"""The values of a formula, each written once: what a compiler makes of a syntax tree.

A value is a number: its place in the table. Equal values are one, literals are folded with the
NumPy reference, and small whole powers become products. Operands stand before what uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pyspec.errors import ModelError
from pyspec.formula.rules import UFUNCS
from pyspec.formula.syntax import Apply, Name, Node, Number

#: Values of one formula and its derivatives at most.
MAX_VALUES = 4000

#: Whole powers up to here are products.
MAX_POWER = 16

_COMMUTES = frozenset({"ADD", "MUL", "CHAIN", "EQ", "NE"})
COMPARISONS = frozenset({"LT", "LE", "GT", "GE", "EQ", "NE"})


class Value(NamedTuple):
    """One value: an instruction of the RPN table with its operands, an INPUT or a CONST."""

    instruction: str
    operands: tuple[int, ...] = ()
    name: str = ""
    number: float = 0.0


class Values:
    """A table of values. `exact` keeps divisions as they are written, for comparisons: a / b may
    differ from a * (1 / b) in the last bit."""

    def __init__(self) -> None:
        self.table: list[Value] = []
        self._numbers: dict[object, int] = {}

    def __getitem__(self, number: int) -> Value:
        return self.table[number]

    def input(self, name: str) -> int:
        """The value that a name stands for."""
        return self._put(("INPUT", name), Value("INPUT", name=name))

    def constant(self, number: float) -> int:
        """A literal. Numbers are told apart by their bits: 0 and -0 are two."""
        key = ("CONST", np.float64(number).tobytes())
        return self._put(key, Value("CONST", number=float(number)))

    def number(self, value: int) -> float | None:
        """The number that a value is, or None."""
        entry = self.table[value]
        return entry.number if entry.instruction == "CONST" else None

    def find(self, instruction: str, *operands: int) -> int | None:
        """The value, if it is in the table."""
        return self._numbers.get((instruction, self._ordered(instruction, operands)))

    def apply(self, instruction: str, *operands: int, exact: bool = False) -> int:
        """The value of an instruction, simplified."""
        numbers = [self.number(operand) for operand in operands]
        if all(number is not None for number in numbers):
            with np.errstate(all="ignore"):
                folded = UFUNCS[instruction](*(np.float64(number) for number in numbers))
            return self.constant(float(folded))
        simpler = self._simplified(instruction, operands, numbers, exact)
        return self.put(instruction, *operands) if simpler is None else simpler

    def put(self, instruction: str, *operands: int) -> int:
        """The value of an instruction as it is; it may be one that only programs have."""
        operands = self._ordered(instruction, operands)
        return self._put((instruction, operands), Value(instruction, operands))

    def _ordered(self, instruction: str, operands: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(operands)) if instruction in _COMMUTES else operands

    def _put(self, key: object, value: Value) -> int:
        if key in self._numbers:
            return self._numbers[key]
        if len(self.table) >= MAX_VALUES:
            raise ModelError(
                f"the formula has more than {MAX_VALUES} values with its derivatives; split it"
            )
        self.table.append(value)
        self._numbers[key] = len(self.table) - 1
        return len(self.table) - 1

    # ---- identities --------------------------------------------------------------------

    def _simplified(
        self,
        instruction: str,
        operands: tuple[int, ...],
        numbers: list[float | None],
        exact: bool,
    ) -> int | None:
        if instruction in ("ADD", "SUB"):
            return self._sum(instruction, operands, numbers)
        if instruction in ("MUL", "CHAIN"):
            return self._product(instruction, operands, numbers)
        if instruction == "DIV":
            return self._quotient(operands, numbers, exact)
        if instruction == "POW" and numbers[1] is not None:
            return self._power(operands[0], numbers[1])
        if instruction == "NEG" and self[operands[0]].instruction == "NEG":
            return self[operands[0]].operands[0]
        if instruction == "NE" and numbers[1] == 0 and self[operands[0]].instruction in COMPARISONS:
            return operands[0]
        if instruction == "WHERE" and numbers[0] is not None:
            return operands[1] if numbers[0] != 0 else operands[2]
        if instruction == "WHERE" and operands[1] == operands[2]:
            return operands[1]
        return None

    def _sum(
        self, instruction: str, operands: tuple[int, ...], numbers: list[float | None]
    ) -> int | None:
        a, b = operands
        if numbers[1] == 0:
            return a
        if numbers[0] == 0:
            return b if instruction == "ADD" else self.apply("NEG", b)
        if self[b].instruction == "NEG":
            return self.apply("SUB" if instruction == "ADD" else "ADD", a, self[b].operands[0])
        if instruction == "ADD" and self[a].instruction == "NEG":
            return self.apply("SUB", b, self[a].operands[0])
        if instruction == "ADD" and a == b:
            return self.apply("MUL", self.constant(2.0), a)
        return None

    def _product(
        self, instruction: str, operands: tuple[int, ...], numbers: list[float | None]
    ) -> int | None:
        for k, (this, other) in enumerate((operands, operands[::-1])):
            number = numbers[k]
            if number == 1:
                return other
            if number == -1:
                return self.apply("NEG", other)
            if self[this].instruction == "NEG":
                return self.apply("NEG", self.apply(instruction, self[this].operands[0], other))
            if number is not None:
                return self._times(number, other, instruction)
            chosen = self._selected(this, other) if instruction == "CHAIN" else None
            if chosen is not None:
                return chosen
        return self.find("MUL", *operands) if instruction == "CHAIN" else None

    def _times(self, number: float, other: int, instruction: str) -> int | None:
        """number * other: of a product with another number, one product."""
        if instruction == "CHAIN" and number == 0:
            return self.constant(0.0)
        inner = self[other]
        if inner.instruction == "MUL":
            for k in (0, 1):
                factor = self.number(inner.operands[k])
                if factor is not None:
                    product = self.constant(number * factor)
                    return self.apply("MUL", product, inner.operands[1 - k])
        return self.apply("MUL", self.constant(number), other) if instruction == "CHAIN" else None

    def _selected(self, this: int, other: int) -> int | None:
        """A product with what is 1 or 0 selects."""
        value = self[this]
        zero = self.constant(0.0)
        if value.instruction in COMPARISONS:
            return self.apply("WHERE", this, other, zero)
        if value.instruction == "WHERE":
            then, otherwise = (self.number(operand) for operand in value.operands[1:])
            if (then, otherwise) == (1, 0):
                return self.apply("WHERE", value.operands[0], other, zero)
            if (then, otherwise) == (0, 1):
                return self.apply("WHERE", value.operands[0], zero, other)
        return None

    def _quotient(
        self, operands: tuple[int, ...], numbers: list[float | None], exact: bool
    ) -> int | None:
        a, b = operands
        if numbers[1] == 1:
            return a
        if exact:
            return None
        if numbers[1] is not None and np.isfinite(1.0 / numbers[1] if numbers[1] else np.inf):
            return self.apply("MUL", a, self.constant(1.0 / numbers[1]))
        if self[a].instruction == "NEG":
            return self.apply("NEG", self.apply("DIV", self[a].operands[0], b))
        if numbers[0] == 1 and self[b].instruction == "POW":
            base, exponent = self[b].operands
            return self.apply("POW", base, self.apply("NEG", exponent))
        if numbers[0] == 1:
            return None
        return self.apply("MUL", a, self.apply("DIV", self.constant(1.0), b))

    def _power(self, base: int, exponent: float) -> int | None:
        if exponent == 0.5:
            return self.apply("SQRT", base)
        if exponent != int(exponent if abs(exponent) < 1e9 else 0) or abs(exponent) > MAX_POWER:
            return None
        if exponent < 0:
            return self.apply("DIV", self.constant(1.0), self._whole_power(base, int(-exponent)))
        return self._whole_power(base, int(exponent))

    def _whole_power(self, base: int, exponent: int) -> int:
        if exponent == 0:
            return self.constant(1.0)
        half = self._whole_power(base, exponent // 2) if exponent > 1 else None
        square = base if half is None else self.apply("MUL", half, half)
        return self.apply("MUL", square, base) if exponent % 2 and exponent > 1 else square

    # ---- trees -------------------------------------------------------------------------

    def lower(self, node: Node, names: Mapping[str, int], exact: bool = False) -> int:
        """The value of a syntax tree in which `names` stand for values."""
        if isinstance(node, Number):
            return self.constant(node.value)
        if isinstance(node, Name):
            return names[node.name]
        assert isinstance(node, Apply)
        exact = exact or node.instruction in COMPARISONS
        operands = [self.lower(operand, names, exact) for operand in node.operands]
        return self.apply(node.instruction, *operands, exact=exact)

    def reachable(self, roots: Iterable[int]) -> set[int]:
        """The values that `roots` are made of, themselves included."""
        reached: set[int] = set()
        waiting = list(roots)
        while waiting:
            number = waiting.pop()
            if number not in reached:
                reached.add(number)
                waiting.extend(self[number].operands)
        return reached

    def depends(self, roots: Iterable[int]) -> set[int]:
        """The values that are made from `roots`, themselves included."""
        dependents = set(roots)
        for number, value in enumerate(self.table):
            if not dependents.isdisjoint(value.operands):
                dependents.add(number)
        return dependents


class Work(NamedTuple):
    """Places of values in a table: the parameters, the axis and the inputs along it, and the
    outputs (the value, then its derivatives by the parameters)."""

    values: Values
    params: list[int]
    axes: list[int]
    outputs: list[int]


def evaluated(values: Values, root: int) -> Callable[[Mapping[str, Any]], Any]:
    """A value of a table in NumPy, as a function of what its inputs are."""
    order = [(number, values[number]) for number in sorted(values.reachable([root]))]

    def value_at(env: Mapping[str, Any]) -> Any:
        results: dict[int, Any] = {}
        with np.errstate(all="ignore"):
            for number, value in order:
                if value.instruction == "INPUT":
                    results[number] = np.asarray(env[value.name], np.float64)[()]
                elif value.instruction == "CONST":
                    results[number] = np.float64(value.number)
                else:
                    operands = (results[k] for k in value.operands)
                    results[number] = UFUNCS[value.instruction](*operands)
        return results[root]

    return value_at
