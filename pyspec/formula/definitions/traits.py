"""Properties of a formula: in which parameters it is linear, what each derivative depends on, and
which parameters move a jump along the axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspec._library import RPN
from pyspec.formula.program.derive import differentiate
from pyspec.formula.program.values import COMPARISONS, Values
from pyspec.formula.rules import instruction_text

#: The height of a jump is a formula of so many characters at most; of a longer one it is not known.
MAX_TEXT = 2000


class Traits(NamedTuple):
    """The columns of a row of the op table that follow from a formula."""

    linear: tuple[str, ...]
    jumps: tuple[tuple[str, str], ...]
    reads: tuple[tuple[str, tuple[str, ...]], ...]


def find_traits(
    values: Values, root: int, params: Sequence[str], axis: str, inputs: Sequence[str] = ()
) -> Traits:
    """The traits of the value `root` of the parameters `params` along `axis`; `inputs` have a value
    at each of its points."""
    table = copy_of(values)
    numbers = [table.input(name) for name in params]
    slopes = differentiate(table, root, numbers)
    read = {
        name: {params[k] for k, number in enumerate(numbers) if number in table.reachable([slope])}
        for name, slope in zip(params, slopes, strict=True)
    }
    # What is compared moves jumps and kinks: no derivative says so, but others change with it.
    used = table.reachable([root])
    compared = table.reachable(n for n in used if table[n].instruction in COMPARISONS)
    for name, number in zip(params, numbers, strict=True):
        if number in compared:
            read[name].add(name)
        read[name].update(other for other in params if name in read[other])
    # Linear together: no slope by one depends on another, and the value is 0 if all of them are.
    chosen: list[str] = []
    for name in params:
        if not read[name].intersection([*chosen, name]):
            chosen.append(name)
    nothing = dict.fromkeys(map(table.input, chosen), table.constant(0.0))
    linear = tuple(chosen) if table.number(_replaced(table, root, nothing)) == 0.0 else ()
    reads = tuple([(name, tuple([p for p in params if p in read[name]])) for name in params])
    return Traits(linear, _jumps(table, root, params, axis, inputs), reads)


def copy_of(values: Values) -> Values:
    """A table of its own: derivatives that are only looked at stay out of the program."""
    table = Values()
    table.table = list(values.table)
    table._numbers = dict(values._numbers)
    return table


# ---- jumps -----------------------------------------------------------------------------------


def _jumps(
    table: Values, root: int, params: Sequence[str], axis: str, inputs: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """A comparison of the axis with a parameter jumps where they meet: the height is the value
    with the comparison true, less that with it false, there. Of an input nothing is known there."""
    at = table.input(axis)
    input_numbers = {table.input(name) for name in inputs}
    along = table.depends([at, *input_numbers])
    heights: dict[str, list[str]] = {}
    for number in sorted(table.reachable([root]) & along):
        value = table[number]
        if value.instruction not in COMPARISONS or value.instruction in ("EQ", "NE"):
            continue
        place = _place(table, value.operands, at, along)
        names = [name for name in params if table.input(name) in table.reachable(value.operands)]
        height: str | None = None
        if place is not None and names:
            height = _height(table, root, number, at, place, input_numbers)
        for name in names:
            heights.setdefault(name, []).append("1" if height is None else height)
    return tuple(
        (name, " + ".join(f"abs({height})" for height in terms) if len(terms) > 1 else terms[0])
        for name, terms in heights.items()
        if any(height != "0" for height in terms)
    )


def _place(table: Values, operands: Sequence[int], at: int, along: set[int]) -> int | None:
    """The value with which a comparison compares the axis; None if the axis stands on both sides or
    inside a term."""
    a, b = operands
    if a == at and b not in along:
        return b
    if b == at and a not in along:
        return a
    for this, other in ((a, b), (b, a)):
        value = table[this]
        if value.instruction == "SUB" and value.operands[0] == at and other not in along:
            if value.operands[1] in along:
                return None
            zero = table.number(other) == 0
            return value.operands[1] if zero else table.apply("ADD", value.operands[1], other)
    return None


def _height(
    table: Values, root: int, comparison: int, at: int, place: int, inputs: set[int]
) -> str | None:
    """The text of the jump, None where it is too long to say or depends on an input."""
    before = _replaced(table, root, {comparison: table.constant(0.0), at: place})
    behind = _replaced(table, root, {comparison: table.constant(1.0), at: place})
    if before == behind:
        return "0"
    height = table.apply("SUB", behind, before)
    return text_of(table, height) if inputs.isdisjoint(table.reachable([height])) else None


def _replaced(table: Values, root: int, instead: Mapping[int, int]) -> int:
    """The value with some values replaced. A product with 0 is 0."""
    replaced: dict[int, int] = {}
    for number in sorted(table.reachable([root])):
        value = table[number]
        if number in instead:
            replaced[number] = instead[number]
        elif value.operands:
            operands = [replaced[operand] for operand in value.operands]
            numbers = [table.number(operand) for operand in operands]
            gone = value.instruction == "SUB" and operands[0] == operands[1]
            if value.instruction in ("MUL", "CHAIN", "DIV", "NEG"):
                gone = 0 in (numbers[:1] if value.instruction == "DIV" else numbers)
            replaced[number] = (
                table.constant(0.0) if gone else table.apply(value.instruction, *operands)
            )
        else:
            replaced[number] = number
    return replaced[root]


def text_of(values: Values, root: int) -> str | None:
    """A value as the text of a formula, with all parentheses; None beyond :data:`MAX_TEXT`."""
    texts: dict[int, str] = {}
    for number in sorted(values.reachable([root])):
        value = values[number]
        text = value.name
        if value.instruction == "CONST":
            text = f"({value.number!r})" if value.number < 0 else repr(value.number)
        elif value.operands:
            row = RPN["MUL" if value.instruction == "CHAIN" else value.instruction]
            text = instruction_text(row, [texts[operand] for operand in value.operands])
        if len(text) > MAX_TEXT:
            return None
        texts[number] = text
    return texts[root]
