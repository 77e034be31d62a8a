"""Programs with fewer passes over the points. Factors that are the same for a whole row are taken
out of the slopes and multiplied once. Instructions that a row of fused.def covers become one.

The value keeps its order of operations. FMA, where the processor has it, rounds a sum of a product
and another number once. It is off in comparisons and below roots, logarithms and powers, where a
cancellation could move a number across a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pyspec.formula.program.values import COMPARISONS, Value, Values, Work
from pyspec.formula.rules import PARTIALS

#: Instructions that are not smooth in what they read: the last bit of an operand may decide.
_DECIDE = COMPARISONS | {
    "SQRT", "LOG", "POW", "TAN", "ABS", "MIN", "MAX", "POWBASE", "POWEXP", "POWLOG",
}  # fmt: skip

#: Two factors. The first is the same for all points of a row, None for 1. The second is not; None
#: where there is none.
_Scaled = tuple[int | None, int | None]


def fuse(work: Work, absorb: bool = True) -> Work:
    """The same outputs in a table of their own. Without `absorb` what is the same for a row stays
    where it is."""
    return _fused(_Scaling(work, absorb).work)


# ---- what is the same for a row -----------------------------------------------------------------


class _Scaling:
    """A table in which slopes are products of a factor of the row and a factor of the point."""

    def __init__(self, work: Work, absorb: bool) -> None:
        values, params, axes, outputs = work
        self.absorb = absorb
        self.values, self.table = values, Values()
        self.moving = values.depends(axes)
        self.powers = _power_slopes(values, outputs)
        self.first = values.reachable(outputs[:1])
        self.done: dict[int, _Scaled] = {}
        self.plain: dict[int, int] = {}
        params, axes = (
            [self.table.input(values[number].name) for number in own] for own in (params, axes)
        )
        needed = values.reachable(outputs) | {n for slope in self.powers.values() for n in slope[1]}
        self.needed = needed
        for number in sorted(needed & self.first):
            self.plain[number] = self._copied(number)
        for number in sorted(needed - self.first):
            self.done[number] = self._scaled(number)
        self.work = Work(self.table, params, axes, [self._whole(number) for number in outputs])

    def _copied(self, number: int) -> int:
        """A value as it is, of operands as they are."""
        value = self.values[number]
        if value.instruction == "INPUT":
            return self.table.input(value.name)
        if value.instruction == "CONST":
            return self.table.constant(value.number)
        if self.absorb and value.instruction == "DIV":
            dividend, divisor = value.operands
            chosen = self.values[divisor]
            rows = {dividend, *chosen.operands[1:]}
            if chosen.instruction == "WHERE" and not self.moving & rows:
                # A quotient of two that are the same for a row each: to its bits.
                condition, *divisors = map(self._whole, chosen.operands)
                whole = self._whole(dividend)
                quotients = [self.table.put("DIV", whole, divisor) for divisor in divisors]
                return self.table.put("WHERE", condition, *quotients)
        operands = [self._whole(n) for n in value.operands]
        inner = self.values[value.operands[0]].instruction
        if value.instruction == "NEG" and inner == "MUL" and self.absorb:
            row, point = sorted(
                self.values[value.operands[0]].operands, key=self.moving.__contains__
            )
            if row not in self.moving:  # the sign goes to what is the same for a row
                sign = self.table.apply("NEG", self._whole(row))
                return self.table.put("MUL", sign, self._whole(point))
        if value.instruction == "POW" and self.values.find("LOG", value.operands[0]) in self.needed:
            self.table.put("LOG", operands[0])  # before the power, which is made of it
        return self.table.put(value.instruction, *operands)

    def _whole(self, number: int) -> int:
        """A value with its factor."""
        if number not in self.plain:
            self.plain[number] = self._product(*self.done[number])
        return self.plain[number]

    def _product(self, row: int | None, point: int | None) -> int:
        if row is None or point is None:
            factor = point if row is None else row
            return self.table.constant(1.0) if factor is None else factor
        minus = self.table.number(row) == -1 and self.table[point].instruction == "CHAIN"
        if minus or self.table[row].instruction == "NEG":
            # A sign stays with what is the same for a row, or is a third factor.
            return self.table.put("CHAIN", row, point)
        return self.table.apply("CHAIN", row, point)

    def _factors(self, number: int) -> _Scaled:
        if number in self.done:
            return self.done[number]
        return (None, self.plain[number]) if number in self.moving else (self.plain[number], None)

    def _scaled(self, number: int) -> _Scaled:
        value, table = self.values[number], self.table
        if number in self.powers:
            instruction, operands = self.powers[number]
            return None, table.put(instruction, *(self._whole(n) for n in operands))
        if number not in self.moving:
            return self._copied(number), None
        if not self.absorb:
            return None, self._copied(number)
        if value.instruction == "NEG":
            row, point = self._factors(value.operands[0])
            return self._times(table.constant(-1.0), row), point
        if value.instruction == "WHERE" and self.values.number(value.operands[2]) == 0:
            condition, then, _ = value.operands
            row, point = self._factors(then)
            if point is not None:
                chosen = (self._whole(condition), point, table.constant(0.0))
                return row, table.apply("WHERE", *chosen)
        # A product with a number. Of others a factor stays where it is: 0 times infinity.
        multiple = value.instruction == "MUL" and any(
            self.values.number(operand) is not None for operand in value.operands
        )
        if value.instruction == "CHAIN" or multiple:
            (row, point), (other_row, other) = map(self._factors, value.operands)
            if point is None or other is None:
                return self._times(row, other_row), other if point is None else point
            return self._times(row, other_row), table.apply("CHAIN", point, other)
        if value.instruction in ("ADD", "SUB"):
            return self._sum(value)
        return None, self._copied(number)

    def _times(self, row: int | None, other: int | None) -> int | None:
        if row is None or other is None:
            return other if row is None else row
        product = self.table.apply("CHAIN", row, other)
        return None if self.table.number(product) == 1 else product

    def _sum(self, value: Value) -> _Scaled:
        """A common factor stays one; else each term has its own."""
        table = self.table
        (row, point), (other_row, other) = map(self._factors, value.operands)
        minus = table.constant(-1.0)
        if point is not None and other is not None:
            if row == other_row:
                if point == other and value.instruction == "ADD":
                    return self._times(table.constant(2.0), row), point
                return row, table.apply(value.instruction, point, other)
            if row == self._times(minus, other_row):
                opposite = "SUB" if value.instruction == "ADD" else "ADD"
                return row, table.apply(opposite, point, other)
        instruction = value.instruction
        if instruction == "SUB" and other_row is not None:
            instruction, other_row = "ADD", self._times(minus, other_row)
        terms = self._product(row, point), self._product(other_row, other)
        return None, table.apply(instruction, *terms)


def _power_slopes(values: Values, outputs: Sequence[int]) -> dict[int, tuple[str, tuple[int, ...]]]:
    """The slopes of powers that the outputs need, each as an instruction that reuses the value of
    the power."""
    needed = values.reachable(outputs)
    slopes: dict[int, tuple[str, tuple[int, ...]]] = {}
    for number in sorted(needed):
        if values[number].instruction != "POW":
            continue
        base, exponent = values[number].operands
        arguments = {"a": base, "b": exponent, "v": number}
        by_base, by_exponent = (values.lower(partial, arguments) for partial in PARTIALS["POW"][:2])
        powers = {n for n in values.reachable([by_base]) if values[n].instruction == "POW"}
        if by_base in needed and powers - values.reachable([number]):
            slopes[by_base] = ("POWBASE", (base, exponent, number))
        if by_exponent in needed and values[by_exponent].instruction == "WHERE":
            logarithm = values.apply("LOG", base)
            slopes[by_exponent] = ("POWEXP", (base, number, logarithm))
    return slopes


# ---- what is one instruction ---------------------------------------------------------------------


def _fused(work: Work) -> Work:
    """The same with instructions of fused.def: what only one other value reads goes into it."""
    values, params, axes, outputs = work
    table = Values()
    needed = values.reachable([*outputs, *params, *axes])
    uses = Counter(outputs)
    for number in needed:
        uses.update(values[number].operands)
    slopes = needed - values.reachable(outputs[:1])
    chances = _Chances(values, uses, needed, values.depends(axes), slopes)
    done: dict[int, int] = {}
    for number in sorted(needed):
        value = values[number]
        if value.instruction == "INPUT":
            done[number] = table.input(value.name)
        elif value.instruction == "CONST":
            done[number] = table.constant(value.number)
        else:
            instruction, operands = chances.of(number)
            done[number] = table.put(instruction, *(done[n] for n in operands))

    return Work(table, *([done[number] for number in own] for own in (params, axes, outputs)))


class _Chances:
    """The instruction of a value, and the operands that it alone reads."""

    def __init__(
        self,
        values: Values,
        uses: Counter[int],
        needed: Iterable[int],
        moving: set[int],
        slopes: set[int],
    ) -> None:
        self.values, self.uses, self.moving, self.slopes = values, uses, moving, slopes
        self.logarithms = {
            values[n].operands[0]: n for n in needed if values[n].instruction == "LOG"
        }
        deciding: set[int] = set()  # operands whose last bit may decide
        for value in map(values.__getitem__, needed):
            if value.instruction in _DECIDE:
                deciding.update(value.operands)
            elif value.instruction == "WHERE":
                deciding.add(value.operands[0])
        self.decides = values.reachable(deciding)

    def of(self, number: int) -> tuple[str, tuple[int, ...]]:
        value = self.values[number]
        instruction, operands = value.instruction, value.operands
        if instruction in ("MUL", "CHAIN"):
            return self._product(instruction, operands)
        if instruction in ("ADD", "SUB"):
            return self._sum(number) or (instruction, operands)
        if instruction == "WHERE" and number in self.slopes:
            # A slope that a comparison, 1 or 0, keeps or makes 0: of all products the exact one.
            compares = self.values[operands[0]].instruction in COMPARISONS
            if compares and self.values.number(operands[2]) == 0:
                return "CHAIN", operands[:2]
        if instruction == "POW" and self.logarithms.get(operands[0], number) < number:
            return "POWLOG", (*operands, self.logarithms[operands[0]])
        return instruction, operands

    def _alone(self, number: int) -> bool:
        return self.uses[number] == 1 and number in self.moving

    def _product(self, instruction: str, operands: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        for this, other in (operands, operands[::-1]):
            if self._alone(this) and self.values[this].instruction == instruction:
                return f"{instruction}3", (*self.values[this].operands, other)
        return instruction, operands

    def _sum(self, number: int) -> tuple[str, tuple[int, ...]] | None:
        instruction, (a, b) = self.values[number].instruction, self.values[number].operands
        fused = {
            ("ADD", "MUL"): ("MULADD", "MULADD"),
            ("ADD", "CHAIN"): ("CHAINADD", "CHAINADD"),
            ("SUB", "MUL"): ("MULSUB", "SUBMUL"),
        }
        for k, (this, other) in enumerate(((a, b), (b, a))):
            names = fused.get((instruction, self.values[this].instruction))
            if names is None or not self._alone(this):
                continue
            if number in self.decides and not (
                instruction == "ADD" and self._is_positive(this) and self._is_positive(other)
            ):
                continue
            return names[k], (*self.values[this].operands, other)
        return None

    def _is_positive(self, number: int) -> bool:
        """Whether a value is certainly not negative: sums of such cancel nothing."""
        value = self.values[number]
        if value.instruction == "CONST":
            return value.number >= 0
        if value.instruction == "MUL" and value.operands[0] == value.operands[1]:
            return True
        if value.instruction in ("MUL", "ADD"):
            return all(self._is_positive(operand) for operand in value.operands)
        return value.instruction in ("EXP", "ABS", "SQRT")
