"""Orders of steps: as they were given, and three that look at memory.

All are topological, by Kahn's algorithm with a heap. ``v1`` takes the step that frees most, as it
looked when the step became ready. ``v2`` counts what a step frees less what its result takes, with
a little for results that another step takes over in place, and looks again when a step is taken
from the heap: meanwhile it may free more, never less. ``v3`` has the same score without the bonus,
and puts a step into the heap anew once it has become the last reader of something. Equal scores
fall to the step that was given first.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal

from pyspec.memory.steps import Step, owners

Order = Literal["given", "v1", "v2", "v3"]

#: All orders.
ORDERS: tuple[Order, ...] = ("given", "v1", "v2", "v3")

#: A result that is taken over in place counts as this part of its size.
_BONUS = 8


def order_steps(steps: Sequence[Step], kept: Collection[int] = (), how: Order = "v1") -> list[int]:
    """The steps in an order in which operands stand first. Results in `kept` are read at the end,
    so that no step frees them."""
    if how == "given":
        return sorted(range(len(steps)), key=lambda number: (steps[number].rank, number))
    return _Ordering(steps, kept, how).run()


class _Ordering:
    """One run of Kahn's algorithm. `left` counts the reads still to come of each owner's memory."""

    def __init__(self, steps: Sequence[Step], kept: Collection[int], how: Order) -> None:
        self.steps, self.how = steps, how
        self.owner = owners(steps)
        self.uses = [self._uses(step) for step in steps]
        self.left = Counter[int]()
        self.readers: dict[int, list[int]] = {}
        for number, uses in enumerate(self.uses):
            for owner, count in uses.items():
                self.left[owner] += count
                self.readers.setdefault(owner, []).append(number)
        for number in kept:
            self.left[self.owner[number]] += 1
        self.heap: list[tuple[int, float, int]] = []
        self.ready: set[int] = set()
        self.done: set[int] = set()

    def _uses(self, step: Step) -> Counter[int]:
        """How often a step reads each owner's memory. An alias reads nothing: who reads it does."""
        return Counter() if step.alias else Counter(self.owner[read] for read in step.reads)

    def run(self) -> list[int]:
        waiting = [len(set(step.reads)) for step in self.steps]
        after: dict[int, list[int]] = {}
        for number, step in enumerate(self.steps):
            for read in set(step.reads):
                after.setdefault(read, []).append(number)
        for number, count in enumerate(waiting):
            if count == 0:
                self._push(number)
        order: list[int] = []
        while len(order) < len(self.steps):
            number = self._pop()
            order.append(number)
            self._finish(number)
            for target in after.get(number, ()):
                waiting[target] -= 1
                if waiting[target] == 0:
                    self._push(target)
        return order

    def _push(self, number: int) -> None:
        self.ready.add(number)
        heapq.heappush(self.heap, (self.steps[number].rank, -self._score(number), number))

    def _pop(self) -> int:
        """The best step of the heap; scores that have grown old are looked at as the order asks."""
        while True:
            rank, score, number = heapq.heappop(self.heap)
            if number in self.done:
                continue  # v3 has put it in more than once
            if self.how == "v2" and -self._score(number) != score:
                heapq.heappush(self.heap, (rank, -self._score(number), number))
                continue
            self.done.add(number)
            return number

    def _finish(self, number: int) -> None:
        for owner, count in self.uses[number].items():
            self.left[owner] -= count
            if self.how == "v3":
                for reader in self.readers[owner]:
                    last = self.left[owner] == self.uses[reader][owner]
                    if last and reader in self.ready and reader not in self.done:
                        self._push(reader)

    # ---- scores ------------------------------------------------------------------------

    def _score(self, number: int) -> float:
        step = self.steps[number]
        freed = sum(
            self.steps[owner].size
            for owner, count in self.uses[number].items()
            if self.left[owner] == count
        )
        if self.how == "v1" or step.alias:
            return freed
        score = float(freed - step.size)
        if self.how == "v2" and any(
            self.steps[reader].in_place and self.owner[self.steps[reader].reads[0]] == number
            for reader in self.readers.get(number, ())
        ):
            score += step.size / _BONUS
        return score
