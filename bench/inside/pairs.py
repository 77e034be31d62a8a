"""Two installed versions side by side: ``python -m bench.inside.pairs BEFORE AFTER --pairs 21``.

BEFORE and AFTER are Python interpreters, each with one version of pyspec installed (a wheel in an
environment of its own). Each runs the same jobs in a process that stays; a pair times a job in
both, one right after the other, in an order that changes. Printed for each job: the median times,
the median of the ratios after / before, and the interval that holds that median with 95 %
(from the order of the ratios, without any assumption on their distribution).

Jobs: one residual by each executor and the value alone (several calls in a row, new values each
time), the normal equations, and whole fits from loaded model and data to a result.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

#: Calls in a row, so that a job takes some milliseconds at least.
CALLS = {"tree": 1, "interpreted": 3, "compiled": 20, "value": 20, "normal": 5}


def find_jobs(data: Path | None) -> dict[str, Callable[[], object]]:
    """All jobs by name, of whatever version is installed."""
    from bench.problems.cases import all_cases, all_tasks

    jobs: dict[str, Callable[[], object]] = {}
    for case in all_cases(data):
        for backend in ("tree", "interpreted", "compiled"):
            jobs[f"{case.name} {backend}"] = _residuals(case, backend)
        jobs[f"{case.name} value"] = _values(case)
        jobs[f"{case.name} normal"] = _normal(case)
    for task in all_tasks(data):
        jobs[f"{task.name} fit"] = partial(task.case().fit, "compiled", "native")
    return jobs


def _repeat(count: int, call: Callable[[], object]) -> None:
    for _ in range(count):
        call()


def _residuals(case: Any, backend: str) -> Callable[[], object]:
    from bench.measure import jitter

    executor, draw = case.executor(backend), jitter(case.theta())
    return partial(_repeat, CALLS[backend], lambda: executor.residual(draw()))


def _values(case: Any) -> Callable[[], object]:
    from bench.measure import jitter

    executor, draw = case.executor("compiled"), jitter(case.theta())
    return partial(_repeat, CALLS["value"], lambda: executor.run(draw()))


def _normal(case: Any) -> Callable[[], object]:
    from bench.measure import jitter

    executor, draw = case.executor("compiled"), jitter(case.theta())
    return partial(_repeat, CALLS["normal"], lambda: executor.normal(draw()))


def serve(data: Path | None) -> None:
    """Answers each name of a job with the seconds it took."""
    jobs = find_jobs(data)
    print("\t".join(jobs), flush=True)
    for line in sys.stdin:
        job = jobs[line.rstrip("\n")]
        start = time.perf_counter()
        job()
        print(time.perf_counter() - start, flush=True)


class Version:
    """The process of one interpreter."""

    def __init__(self, python: str, folder: Path, data: Path | None) -> None:
        more = ["--data", str(data)] if data else []
        self.process = subprocess.Popen(
            [python, "-m", "bench.inside.pairs", "--serve", *more],
            cwd=folder,
            env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = self._line().split("\t")

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().rstrip("\n")
        if not line:
            raise SystemExit("one of the processes ended; its message stands above")
        return line

    def seconds(self, name: str) -> float:
        """Runs a job there."""
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self._line())

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def bench_alone() -> Iterator[Path]:
    """A folder with the benchmarks and without pyspec: the installed one is imported there."""
    with tempfile.TemporaryDirectory() as name:
        for part in ("bench", "examples"):
            shutil.copytree(ROOT / part, Path(name) / part)
        yield Path(name)


def median_interval(values: list[float]) -> tuple[float, float]:
    """The narrowest symmetric interval of order statistics that holds the median of the
    distribution with at least 95 %: ranks from the binomial distribution."""
    ordered, n = sorted(values), len(values)
    below, rank = 0.0, 0
    while below + comb(n, rank) / 2**n <= 0.025:
        below += comb(n, rank) / 2**n
        rank += 1
    first = max(rank - 1, 0)
    return ordered[first], ordered[n - 1 - first]


def compare(before: Version, after: Version, names: list[str], pairs: int) -> None:
    """Times every job in both and prints a line for each."""
    print(f"{'job':32}{'before, ms':>12}{'after, ms':>12}{'ratio':>8}  95 % of the median")
    draw = random.Random(1)
    for name in names:
        times: dict[int, list[float]] = {0: [], 1: []}
        for turn in range(pairs + 1):
            order = [0, 1] if draw.random() < 0.5 else [1, 0]
            for which in order:
                seconds = (before, after)[which].seconds(name)
                if turn:  # the first is not counted
                    times[which].append(1e3 * seconds)
        ratios = [late / early for early, late in zip(times[0], times[1], strict=True)]
        low, high = median_interval(ratios)
        marks = "" if low < 1.03 and high < 1.06 else "  slower"
        print(
            f"{name:32}{statistics.median(times[0]):12.3f}{statistics.median(times[1]):12.3f}"
            f"{statistics.median(ratios):8.3f}  {low:.3f} to {high:.3f}{marks}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    """Compares two interpreters, or serves one."""
    parser = argparse.ArgumentParser(prog="python -m bench.inside.pairs", description=__doc__)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="before and after")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--only", default="", help="jobs whose name holds this text")
    parser.add_argument("--data", type=Path, help="folder of the reference data")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        serve(given.data)
        return 0
    if len(given.pythons) != 2:
        parser.error("give two interpreters: that of before and that of after")
    with bench_alone() as folder:
        before, after = (Version(python, folder, given.data) for python in given.pythons)
        names = [name for name in before.names if given.only in name]
        print(f"load before {os.getloadavg()}")
        compare(before, after, names, given.pairs)
        print(f"load after {os.getloadavg()}")
        before.close()
        after.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
