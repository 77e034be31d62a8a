"""How evaluations grow: ``python -m bench.inside.scaling --json FILE``.

Times of chi² alone and of the normal equations, on one thread and on two:

- with the points: the seed problem whose position moves, 14 free parameters, from 10,000 points to
  `--points` of them (up to 1e8), with the memory that both take beyond the data;
- with the components: 1 to 64 lines of which one height is free, 100 x 400 points;
- with the parameters: 64 lines with 1 to 64 free heights.

Every size runs in a process of its own, one after the other in each round; times are medians over
the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import Case, seed_task
from pyspec.executor import CompiledExecutor
from pyspec.model import Measurement, load_model

#: Energies of every problem, and times of those with many lines.
N_ENERGY, N_TIME = 400, 100

#: Sizes: points, components, parameters.
POINTS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
COUNTS = (1, 4, 16, 64)

#: Points that a process evaluates at least, for a time that a clock can tell.
LEAST = 2_000_000

#: What is timed: form of the sums, threads.
JOBS = (("value", 1), ("gram", 1), ("value", 2), ("gram", 2))


def lines(n_lines: int, n_free: int) -> Case:
    """Lines side by side, the heights of some of them free."""
    text = "lines:\n" + "".join(
        f"  GLP:\n    A: [{5 + k % 3}, {k < n_free}]\n    x0: [{(k + 0.5) / n_lines}, False]\n"
        "    F: [0.05, False]\n    m: [0.3, False]\n"
        for k in range(n_lines)
    )
    model = load_model(text, "lines")
    model.set_axes(energy=np.linspace(0.0, 1.0, N_ENERGY), time=np.arange(float(N_TIME)))
    data = np.random.default_rng(1).normal(5.0, 1.0, (N_TIME, N_ENERGY))
    return Case(f"{n_lines} lines, {n_free} free", model, Measurement(data=data))


def case_of(kind: str, size: int) -> Case:
    """The problem of a size."""
    if kind == "points":
        return seed_task("seed_position", 14, (size // N_ENERGY, N_ENERGY)).case()
    return lines(size, 1) if kind == "components" else lines(COUNTS[-1], size)


def resident(peak: bool) -> int:
    """Bytes that this process holds, or held at most since the peak was forgotten; Linux alone."""
    name = "VmHWM:" if peak else "VmRSS:"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise OSError("/proc/self/status has no resident size")


def measure(kind: str, size: int) -> dict[str, Any]:
    """One size, in this process: seconds of each job, bytes beyond data and problem."""
    case = case_of(kind, size)
    executor = case.executor("compiled")
    assert isinstance(executor, CompiledExecutor)
    theta = case.theta()
    calls = max(1, LEAST // case.n_points)
    begin = resident(peak=False)
    Path("/proc/self/clear_refs").write_text("5")
    seconds = {}
    for form, threads in JOBS:
        start = time.perf_counter()
        for _ in range(calls):
            executor.normal(theta, form=form, threads=threads)
        seconds[f"{form} {threads}"] = (time.perf_counter() - start) / calls
    beyond = resident(peak=True) - begin
    return {"points": case.n_points, "seconds": seconds, "beyond": beyond}


def in_a_process(kind: str, size: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "bench.inside.scaling", "--one", kind, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def over_rounds(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of the times of one size, the most that it took of memory."""
    names = found[0]["seconds"]
    return {
        "points": found[0]["points"],
        "seconds": {
            name: statistics.median(one["seconds"][name] for one in found) for name in names
        },
        "beyond": max(one["beyond"] for one in found),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints a table, writes JSON if asked to."""
    parser = arguments_of("inside.scaling", __doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all sizes (5)")
    parser.add_argument("--points", type=int, default=POINTS[-1], help="the largest size (1e8)")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return 0
    sizes = [("points", size) for size in POINTS if size <= given.points]
    sizes += [(kind, size) for kind in ("components", "parameters") for size in COUNTS]
    rounds = [[in_a_process(*one) for one in sizes] for _ in range(given.rounds)]
    found = [over_rounds(list(column)) for column in zip(*rounds, strict=True)]
    rows = []
    for (kind, size), one in zip(sizes, found, strict=True):
        each = [f"{1e9 * one['seconds'][f'{f} {t}'] / one['points']:.2f}" for f, t in JOBS]
        rows.append([f"{size:.0e} points" if kind == "points" else f"{size} {kind}", *each])
        rows[-1].append(f"{one['beyond'] / 2**20:.1f}")
    head = ["", "chi², ns a point", "normal equations", "chi², 2 threads", "normal, 2 threads"]
    print_rows([*head, "MiB beyond the data"], rows)
    rows_of = [
        {"kind": kind, "size": size, **one} for (kind, size), one in zip(sizes, found, strict=True)
    ]
    finish(given.json, {"sizes": rows_of})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
