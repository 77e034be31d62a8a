"""The values of a formula along its axis as steps of the memory planner: what takes a register."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pyspec.formula.program.values import Values
from pyspec.memory import Step

#: Instructions with several results, in registers one behind the other, and what these are.
PARTS = {"W": ("W_RE", "W_IM", "W_REX", "W_REY"), "SINCOS": ("SIN", "COS")}

#: Such an instruction, and its arguments.
Group = tuple[str, tuple[int, ...]]


@dataclass
class Points:
    """Steps, and what each stands for: a value, or an instruction with several results. These are
    other names of pieces of its result."""

    steps: list[Step] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    groups: dict[int, Group] = field(default_factory=dict)
    of: dict[int, int] = field(default_factory=dict)

    def copied_steps(self, outputs: Sequence[int]) -> set[int]:
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
    group_of: Mapping[int, Group],
    outputs: Collection[int],
    first: Collection[int],
) -> Points:
    """The steps of `numbers`, operands first. Those in `outputs` lie in memory of the caller, those
    in `first` are needed without derivatives and come before all others."""
    made = Points()
    # Of each group, whether the value needs it.
    early = {group for number, group in group_of.items() if number in first}
    begun: dict[Group, int] = {}
    for number in numbers:
        operands = values[number].operands
        reads = tuple(made.of[operand] for operand in operands if operand in made.of)
        rank = int(number not in first)
        if number not in group_of:
            size = int(number not in outputs)
            made.of[number] = made.add(number, Step(reads, size, rank=rank))
            continue
        group = group_of[number]
        if group not in begun:
            step = Step(reads, len(PARTS[group[0]]), rank=int(group not in early))
            begun[group] = made.add(-1, step)
            made.groups[begun[group]] = group
        alias = Step((begun[group],), 0, alias=True, rank=rank)
        made.of[number] = made.add(number, alias)
    return made
