"""Lifetimes: from when to when the memory of a result is needed, and which results share it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pyspec.memory.steps import Step, owners


class Lifetime(NamedTuple):
    """Memory of `size` that the step at place `begin` of the order writes, and the one at `end`
    reads for the last time. What begins at the end of another lies elsewhere."""

    begin: int
    end: int
    size: int


class Sharing(NamedTuple):
    """`lifetimes` by the step that owns the memory; `owner` of each step, the one whose memory its
    result lies in."""

    lifetimes: dict[int, Lifetime]
    owner: list[int]


def find_lifetimes(
    steps: Sequence[Step],
    order: Sequence[int],
    kept: Collection[int] = (),
    *,
    in_place: bool = True,
) -> Sharing:
    """The lifetimes of all results in this order; those in `kept` last to its end. `in_place` lets
    results take over memory."""
    named = owners(steps)
    last: dict[int, int] = {}
    for at, number in enumerate(order):
        for read in steps[number].reads:
            last[named[read]] = at
    for number in kept:
        last[named[number]] = len(order)
    root = list(range(len(steps)))
    lifetimes: dict[int, Lifetime] = {}
    for at, number in enumerate(order):
        step = steps[number]
        if step.alias:
            root[number] = root[step.reads[0]]
            continue
        end = max(last.get(number, at), at)
        taken = _overwritten(step, at, named, last) if in_place else None
        if taken is not None and lifetimes[root[taken]].size == step.size:
            root[number] = root[taken]
            lifetimes[root[taken]] = lifetimes[root[taken]]._replace(end=end)
        else:
            lifetimes[number] = Lifetime(at, end, step.size)
    return Sharing(lifetimes, root)


def _overwritten(step: Step, at: int, named: Sequence[int], last: dict[int, int]) -> int | None:
    """The result whose memory a step takes over: the first that it reads, if that is not read
    later."""
    if not (step.in_place and step.size and step.reads):
        return None
    first = named[step.reads[0]]
    return first if last[first] == at else None
