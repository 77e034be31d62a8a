"""The three moves of the planner in a row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pyspec.memory.lifetimes import find_lifetimes
from pyspec.memory.orders import Order, order_steps
from pyspec.memory.places import Fit, place
from pyspec.memory.steps import Step


class Choice(NamedTuple):
    """What the planner is to do. No number of a model or formula depends on it."""

    order: Order = "v1"
    fit: Fit = "first"
    in_place: bool = True


class MemoryPlan(NamedTuple):
    """The `order` of the steps, and the `owner` of each: the result lies in its memory. `offsets`
    says where that of each owner lies, `size` how much there is."""

    order: list[int]
    owner: list[int]
    offsets: dict[int, int]
    size: int

    def offset(self, step: int) -> int:
        """Where the result of a step lies."""
        return self.offsets[self.owner[step]]

    def is_in_place(self, step: int) -> bool:
        """Whether the result lies in the memory of another step."""
        return self.owner[step] != step


def plan_memory(
    steps: Sequence[Step], kept: Collection[int] = (), choice: Choice | None = None
) -> MemoryPlan:
    """Order and places of the results of `steps`; those in `kept` are needed at the end."""
    choice = Choice() if choice is None else choice
    order = order_steps(steps, kept, choice.order)
    shared = find_lifetimes(steps, order, kept, in_place=choice.in_place)
    layout = place(shared.lifetimes, choice.fit)
    return MemoryPlan(order, shared.owner, layout.offsets, layout.size)
