"""The memory planner: orders, lifetimes, places. Nothing is overwritten that is still read."""

from __future__ import annotations

import random
from itertools import product

import pytest

from pyspec.memory import (
    FITS,
    ORDERS,
    Choice,
    Lifetime,
    MemoryPlan,
    Step,
    order_steps,
    place,
    plan_memory,
)

CHOICES = [Choice(*choice) for choice in product(ORDERS, FITS, (True, False))]


def random_steps(draw: random.Random) -> list[Step]:
    """Steps of every kind: aliases, in place, results elsewhere, two ranks."""
    steps: list[Step] = []
    for number in range(draw.randrange(1, 30)):
        early = [k for k in range(number) if steps[k].rank == 0]
        rank = draw.randrange(2)
        known = early if rank == 0 else list(range(number))
        reads = tuple(draw.choices(known, k=draw.randrange(4))) if known else ()
        alias = bool(reads) and draw.random() < 0.15
        size = draw.choice((0, 1, 1, 1, 2, 4))
        in_place = not alias and draw.random() < 0.4
        steps.append(
            Step(reads[:1] if alias else reads, 0 if alias else size, alias, in_place, rank)
        )
    return steps


def run(steps: list[Step], kept: list[int], plan: MemoryPlan) -> None:
    """Executes a plan with names in place of numbers: every read must find what was written."""
    assert sorted(plan.order) == list(range(len(steps)))
    ranks = [steps[number].rank for number in plan.order]
    assert ranks == sorted(ranks)
    memory: list[int | None] = [None] * plan.size
    owner = list(range(len(steps)))
    done: set[int] = set()

    def check(number: int) -> None:
        assert number in done
        named = owner[number]
        at = plan.offset(number)
        assert memory[at : at + steps[named].size] == [named] * steps[named].size

    for number in plan.order:
        step = steps[number]
        for read in step.reads:
            check(read)
        done.add(number)
        if step.alias:
            owner[number] = owner[step.reads[0]]
            assert plan.offset(number) == plan.offset(step.reads[0])
            continue
        at = plan.offset(number)
        # Only a result that goes on in place lies where something is that the step reads.
        if not plan.is_in_place(number):
            for read in step.reads:
                begin = plan.offset(read)
                assert at + step.size <= begin or begin + steps[owner[read]].size <= at
        memory[at : at + step.size] = [number] * step.size
    for number in kept:
        check(number)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_what_is_read_is_what_was_written(choice: Choice) -> None:
    draw = random.Random(4)
    for _ in range(100):
        steps = random_steps(draw)
        kept = draw.sample(range(len(steps)), draw.randrange(len(steps) + 1))
        run(steps, kept, plan_memory(steps, kept, choice))


def test_a_chain_needs_two_places_and_in_place_one() -> None:
    steps = [Step(), *(Step((k,), in_place=True) for k in range(5))]
    assert plan_memory(steps, [5]).size == 1
    assert plan_memory(steps, [5], Choice(in_place=False)).size == 2
    assert plan_memory(steps, [5], Choice(fit="apart", in_place=False)).size == 6


def test_best_fit_leaves_the_large_gap_whole() -> None:
    """Two gaps of 4 and 1 open: first fit puts the small one into the large gap."""
    lives = {
        0: Lifetime(0, 1, 4), 1: Lifetime(0, 9, 1), 2: Lifetime(0, 1, 1), 3: Lifetime(0, 9, 1),
        4: Lifetime(2, 9, 1), 5: Lifetime(3, 9, 4),
    }  # fmt: skip
    first, best = place(lives, "first"), place(lives, "best")
    assert (first.offsets[4], first.size) == (0, 11)
    assert (best.offsets[4], best.offsets[5], best.size) == (5, 0, 7)


def test_no_steps() -> None:
    assert plan_memory([]) == MemoryPlan([], [], {}, 0)


@pytest.mark.parametrize(("size", "later"), [(2, ("v2", "v3")), (1, ("v3",))])
def test_orders_that_look_again(size: int, later: tuple[str, ...]) -> None:
    """Once 1 has run, 3 frees what 0 has made. It became ready before that, as 2 did. v2 sees it
    only if 2 makes a larger result, v3 is told."""
    steps = [Step(size=8), Step((0,)), Step((1,), size=size), Step((0,)), Step((1, 2, 3))]
    for how in ORDERS:
        expected = [0, 1, 3, 2, 4] if how in later else [0, 1, 2, 3, 4]
        assert order_steps(steps, [4], how) == expected
