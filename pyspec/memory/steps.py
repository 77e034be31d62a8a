"""What the planner is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Step(NamedTuple):
    """One step and its result. Steps are numbered by their place in a list, operands first.

    Attributes
    ----------
    reads : the steps whose results it reads, one entry for each time
    size : of its result, in any unit; 0: it lies in memory that is not planned
    alias : the result is the first that it reads under another name, or a part of it
    in_place : the result may take the memory of the first that it reads, where nothing reads that
        afterwards
    rank : steps of a lower rank come first, whatever memory they take
    """

    reads: tuple[int, ...] = ()
    size: int = 1
    alias: bool = False
    in_place: bool = False
    rank: int = 0


def owners(steps: Sequence[Step]) -> list[int]:
    """For each step the one whose result lies in the memory that both name: itself, unless it is
    an alias."""
    numbers: list[int] = []
    for number, step in enumerate(steps):
        numbers.append(numbers[step.reads[0]] if step.alias else number)
    return numbers
