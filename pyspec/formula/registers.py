"""The values of a formula along its axis as steps of the memory planner: what takes a register."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pyspec.formula.values import Values
from pyspec.memory import Step

#: Registers of an instruction that computes the Faddeeva function, one behind the other.
W_SIZE = 4


@dataclass
class Points:
    """Steps, and what each stands for: a value, or an instruction that computes all parts of the
    Faddeeva function of these arguments. The parts are other names of pieces of its result."""

    steps: list[Step] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    groups: dict[int, tuple[int, int]] = field(default_factory=dict)
    of: dict[int, int] = field(default_factory=dict)

    def kept(self, outputs: Sequence[int]) -> set[int]:
        """The steps whose results outputs are copied from in the end."""
        return {self.of[number] for number in outputs if number in self.of}

    def add(self, number: int, step: Step) -> int:
        """Adds a step."""
        self.steps.append(step)
        self.numbers.append(number)
        return len(self.steps) - 1


def points(
    values: Values,
    numbers: Sequence[int],
    w_of: Mapping[int, tuple[int, int]],
    outputs: Collection[int],
    first: Collection[int],
) -> Points:
    """The steps of `numbers`, operands first. Those in `outputs` lie in memory of the caller, those
    in `first` are needed without derivatives and come before all others."""
    made = Points()
    # Of each group, whether the value needs it.
    early = {w_of[number] for number in w_of if number in first}
    group_of: dict[tuple[int, int], int] = {}
    for number in numbers:
        operands = values[number].operands
        reads = tuple(made.of[operand] for operand in operands if operand in made.of)
        rank = int(number not in first)
        if number not in w_of:
            size = int(number not in outputs)
            made.of[number] = made.add(number, Step(reads, size, rank=rank))
            continue
        arguments = w_of[number]
        if arguments not in group_of:
            step = Step(reads, W_SIZE, rank=int(arguments not in early))
            group_of[arguments] = made.add(-1, step)
            made.groups[group_of[arguments]] = arguments
        alias = Step((group_of[arguments],), 0, alias=True, rank=rank)
        made.of[number] = made.add(number, alias)
    return made
