"""What threads save: ``python -m bench.inside.sharing``.

- Two threads against one, on the normal equations of the seed problem (440 x 400, a position
  moves). The threads stay, as those of a fit do, or each call starts and ends them.
- The same on a whole fit of 2,500 x 400 points.
- What two threads can gain at most: a function over energies that stay in the caches, evaluated by
  both at once, against one after the other. Virtual cores that are two halves of a real one gain
  little.

Medians of interleaved rounds, the median of the ratios of each round, and the load of the machine.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from support.kernel_calls import call_function

from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import seed_case, seed_task
from pyspec.executor import CompiledExecutor
from pyspec.executor.normal import fit_parts


class Rows:
    """Normal equations in one call, by threads that stay."""

    def __init__(
        self, executor: CompiledExecutor, theta: Any, stack: ExitStack, threads: int
    ) -> None:
        n = len(executor.opt_param_names)
        with mock.patch.dict(os.environ, PYSPEC_NUM_THREADS=str(threads)):
            given = fit_parts([executor], [np.arange(n)], n, None)
            self._parts, self._theta = stack.enter_context(given), theta

    def __call__(self) -> None:
        self._parts.sum(self._theta, "gram")


def with_threads(count: int, job: Callable[[], object]) -> None:
    """The job on so many threads."""
    os.environ["PYSPEC_NUM_THREADS"] = str(count)
    job()


def compare(jobs: Mapping[str, Callable[[], object]], rounds: int, calls: int) -> dict[str, Any]:
    """Milliseconds of two jobs in turns, and the median of second / first."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for k in range(rounds + 1):
        for name in sorted(jobs, reverse=k % 2 == 1):
            begin = time.perf_counter()
            for _ in range(calls):
                jobs[name]()
            if k:
                times[name].append(1e3 * (time.perf_counter() - begin) / calls)
    first, second = times.values()
    ratios = [b / a for a, b in zip(first, second, strict=True)]
    return {
        "ms": {name: statistics.median(found) for name, found in times.items()},
        "ratio": statistics.median(ratios),
    }


def arithmetic() -> dict[str, Callable[[], object]]:
    """The same work by two threads at once, and by one of them after the other."""
    energy = np.linspace(-10.0, 10.0, 400)
    params = np.tile([[20.0], [1.0], [1.2], [0.1]], 40)
    pool = ThreadPoolExecutor(2)

    def half() -> None:
        for _ in range(100):
            call_function("DS", energy, params)

    def at_once() -> None:
        wait([pool.submit(half), pool.submit(half)])

    def in_turn() -> None:
        for _ in range(2):
            wait([pool.submit(half)])

    return {"two at once": at_once, "one by one": in_turn}


def measure(rounds: int) -> dict[str, Any]:
    """All comparisons by name."""
    small = seed_case("seed_position")
    large = seed_task("seed_position", 14, (2500, 400)).case()
    normal: Any = small.executor("compiled")
    theta = small.theta()
    found = {"arithmetic alone": compare(arithmetic(), rounds, 1)}
    with ExitStack() as stack:
        two_and_one = {
            f"{name} thread{'s' * (count > 1)}": Rows(normal, theta, stack, count)
            for name, count in (("two", 2), ("one", 1))
        }
        found["normal equations, 176,000 points"] = compare(two_and_one, rounds, 20)
    jobs = {
        "the same, threads of each call": (lambda n: normal.normal(theta, threads=n), 20),
        "whole fit, 1,000,000 points": (
            lambda n: with_threads(n, lambda: large.fit("compiled", "native")),
            1,
        ),
    }
    for name, (job, calls) in jobs.items():
        two = {"two threads": partial(job, 2), "one thread": partial(job, 1)}
        found[name] = compare(two, rounds, calls)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints a table, writes JSON if asked to."""
    parser = arguments_of("inside.sharing", __doc__)
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (21)")
    given = parser.parse_args(arguments)
    found = measure(given.rounds)
    rows = []
    for name, row in found.items():
        both = [f"{which} {ms:.3f} ms" for which, ms in row["ms"].items()]
        rows.append([name, *both, f"{row['ratio']:.2f}"])
    print_rows(["", "first", "second", "second / first"], rows)
    finish(given.json, {"comparisons": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
