"""What a whole fit spends outside of C: ``python -m bench.overhead --rounds 31``.

Every function of the library is timed as it is called; what is left of a fit is Python and NumPy:
the model copied and lowered, the problem described, the outcome judged. Times are those of the
processor, in one thread, so that other work on the machine does not count.

For each problem: the first fit of a model, which lowers it; the next fit of the same model; and the
objects of lmfit that a result makes when it is asked for them. Then one slice of a series.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.cases import all_tasks
from bench.measure import machine, print_machine, print_rows, write_json
from pyspec._library import LIBRARY
from pyspec.fit import fit_slices
from pyspec.model import Measurement
from pyspec.plan.lowered import forget

#: Slices of the series that is fitted slice by slice.
SLICES = 60


class Clock:
    """Processor time inside of the library since the start of :meth:`watch`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            begin = time.thread_time()
            try:
                return function(*given)
            finally:
                self.seconds += time.thread_time() - begin
                self.calls += 1

        return call

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Inside of the block every function of the library is timed."""
        functions = {name: getattr(LIBRARY, name) for name in _names()}
        try:
            for name, function in functions.items():
                setattr(LIBRARY, name, self._timed(function))
            yield
        finally:
            for name, function in functions.items():
                setattr(LIBRARY, name, function)

    def outside(self, job: Callable[[], Any]) -> tuple[float, float, Any]:
        """Milliseconds that a job spends outside and inside of the library, and what it gives."""
        self.seconds, self.calls = 0.0, 0
        begin = time.thread_time()
        found = job()
        total = time.thread_time() - begin
        return 1e3 * (total - self.seconds), 1e3 * self.seconds, found


def _names() -> list[str]:
    return [name for name in vars(LIBRARY) if name.startswith("pyspec_")]


def lmfit_objects(result: Any) -> tuple[Any, ...]:
    """What lmfit would have returned."""
    return result.params, result.lmfit, result.minimizer


def measure_fits(clock: Clock, case: Any, rounds: int) -> dict[str, float]:
    """Medians of one problem, in milliseconds."""
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        forget()
        first, _, _ = clock.outside(lambda: case.fit("compiled", "native"))
        following, inside, result = clock.outside(lambda: case.fit("compiled", "native"))
        objects, _, _ = clock.outside(lambda found=result: lmfit_objects(found))
        row = {"first": first, "next": following, "lmfit": objects, "in C": inside}
        for name, value in row.items():
            times.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in times.items()}


def measure_slices(clock: Clock, case: Any, rounds: int) -> dict[str, float]:
    """The same for one of many slices, each with the peaks of the problem at rest."""
    model = case.model.at_rest()
    model.set_axes(time=None)
    data = case.measurement.data[:SLICES]
    series = Measurement(data=data, columns=case.measurement.columns)
    times: dict[str, list[float]] = {"next": [], "in C": []}
    for _ in range(rounds):
        outside, inside, found = clock.outside(lambda: fit_slices(model, series))
        times["next"].append(outside / len(found))
        times["in C"].append(inside / len(found))
    return {name: statistics.median(values) for name, values in times.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures all problems, prints a table, writes JSON if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.overhead",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")
    parser.add_argument("--rounds", type=int, default=31, help="fits of each problem (31)")
    parser.add_argument("--data", type=Path, help="folder of the reference data")
    parser.add_argument("--only", default="", help="problems whose name holds this text")
    given = parser.parse_args(arguments)
    os.environ["PYSPEC_NUM_THREADS"] = "1"
    tasks = [task for task in all_tasks(given.data) if given.only in task.name]
    rows: dict[str, dict[str, float]] = {}
    clock = Clock()
    with warnings.catch_warnings(), clock.watch():
        warnings.simplefilter("ignore")
        for task in tasks:
            print(f"{task.name} ...", file=sys.stderr, flush=True)
            rows[task.name] = measure_fits(clock, task.case(), given.rounds)
        if tasks:
            case = tasks[0].case()
            rows[f"a slice of {tasks[0].name}"] = measure_slices(clock, case, given.rounds // 4 + 1)
    columns = ["first", "next", "lmfit", "in C"]
    head = ["problem", "first fit, ms", "next fit, ms", "lmfit objects, ms", "in C, ms"]
    cells = [
        [name, *(f"{row[column]:.3f}" if column in row else "" for column in columns)]
        for name, row in rows.items()
    ]
    print_rows(head, cells)
    facts = machine()
    print_machine(facts)
    if given.json:
        write_json(given.json, {"machine": facts, "rounds": given.rounds, "problems": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
