"""What a whole fit spends outside of C: ``python -m bench.inside.overhead --rounds 31``.

Every function of the library is timed as it is called; what is left of a fit is Python and NumPy:
the model copied and lowered, the problem described, the outcome judged. Times are those of the
processor, in one thread; what the clock itself takes is measured and left out.

The table has for each problem

- the first fit of a model, which lowers it;
- the next fit of the same model, median and least, and how many functions in Python it calls;
- the objects of lmfit that a result makes when it is asked for them.

One slice of a series follows.

While the loop in C runs, other work on the machine takes what Python needs out of the caches. To
fetch it again counts as Python's time, the more the longer the loop. That share is no property of
the fit. So next fits are measured twice more with recorded answers of the loop, and make the same
calls in Python. For the column "next, caches kept" the data are read once in place of the loop:
they pass through the caches as they do in C, but other work gets no time. For the column "next,
waited" nothing is read, and the processor waits for as long as the loop takes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import all_tasks
from pyspec._library import DTYPES, LIBRARY
from pyspec.fit import fit_slices
from pyspec.fit.solve.native import _STATE, NativeSolver
from pyspec.model import Measurement
from pyspec.plan.compiled import forget

#: Slices of the series that is fitted slice by slice.
SLICES = 60

#: Fields of the state of a solver that are addresses: they differ from one solver to the next.
ADDRESSES = ("theta", "lower", "upper", "trial", "answer", "normal", "work")


class Clock:
    """Processor time inside of the library since the start of :meth:`watch`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self.own = 0.0
        nothing = self._timed(lambda: None)
        self.own = min(self._beside(nothing) for _ in range(1000))

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            begin = time.thread_time()
            try:
                return function(*given)
            finally:
                self.seconds += time.thread_time() - begin
                self.calls += 1

        return call

    def _beside(self, job: Callable[[], Any]) -> float:
        """Seconds that a job spends outside of the library, the clock of each call included."""
        self.seconds, self.calls = 0.0, 0
        begin = time.thread_time()
        job()
        return time.thread_time() - begin - self.seconds

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
        found: list[Any] = []
        beside = self._beside(lambda: found.append(job()))
        return 1e3 * (beside - self.calls * self.own), 1e3 * self.seconds, found[0]


def _names() -> list[str]:
    return [name for name in vars(LIBRARY) if name.startswith("pyspec_")]


class Recorded:
    """Answers of the loop in C to one fit, given again in its place."""

    _own: ClassVar[list[int]] = [
        k for k, name in enumerate(DTYPES["pyspec_solver"].names or ()) if name not in ADDRESSES
    ]

    def __init__(self, data: Any) -> None:
        self._data = np.asarray(data)
        self._answers: list[tuple[int, list[Any]]] = []
        self._solvers: list[NativeSolver] = []

    def _memory(self) -> list[tuple[Any, Any]]:
        """What the loop writes that Python reads: arrays of the solver, and where in them."""
        solver = self._solvers[-1]
        return [
            (solver._words, self._own),
            (solver._array(_STATE, solver._places.lower), slice(None)),
            (solver._normal, slice(None)),
        ]

    @contextmanager
    def _in_place(self, loop: Callable[..., int]) -> Iterator[None]:
        init, real = NativeSolver.__init__, LIBRARY.pyspec_fit

        def made(solver: NativeSolver, *given: Any, **named: Any) -> None:
            init(solver, *given, **named)
            self._solvers.append(solver)

        try:
            NativeSolver.__init__, LIBRARY.pyspec_fit = made, loop  # type: ignore[method-assign]
            yield
        finally:
            NativeSolver.__init__, LIBRARY.pyspec_fit = init, real  # type: ignore[method-assign]
            self._solvers.clear()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Fits inside of the block run as ever, and are recorded."""
        real = LIBRARY.pyspec_fit

        def loop(*given: Any) -> int:
            status = int(real(*given))
            self._answers.append((status, [array[at].copy() for array, at in self._memory()]))
            return status

        with self._in_place(loop):
            yield

    @contextmanager
    def playing(self, clock: Clock, milliseconds: float = 0.0) -> Iterator[None]:
        """One fit inside of the block gets the answers, the data having been read, or after so
        long."""
        left = iter(self._answers)

        def loop(*given: Any) -> int:
            status, answer = next(left)
            for (array, at), values in zip(self._memory(), answer, strict=True):
                array[at] = values
            if milliseconds:
                _wait(1e-3 * milliseconds / len(self._answers))
            else:
                self._data.sum()
            return status

        with self._in_place(clock._timed(loop)):
            yield


def _wait(seconds: float) -> None:
    """Keeps the processor, and touches next to no memory."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def python_calls(job: Callable[[], Any]) -> int:
    """How many functions in Python a job calls, but those of this file."""
    found = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename != __file__

    sys.setprofile(count)
    try:
        job()
    finally:
        sys.setprofile(None)
    return found


def lmfit_objects(result: Any) -> tuple[Any, ...]:
    """What lmfit would have returned."""
    return result.params, result.lmfit, result.minimizer


def measure_fits(clock: Clock, case: Any, rounds: int) -> dict[str, float]:
    """What the problem takes, in milliseconds: medians, and the least of the next fits."""
    times: dict[str, list[float]] = {}
    recorded = Recorded(case.measurement.data)

    def fit() -> Any:
        return case.fit("compiled", "native")

    fit()
    with recorded.recording():
        expected = fit()
    for _ in range(rounds):
        forget()
        first, _, _ = clock.outside(fit)
        following, inside, result = clock.outside(fit)
        objects, _, _ = clock.outside(lambda found=result: lmfit_objects(found))
        row = {"first": first, "next": following, "lmfit": objects, "in C": inside}
        for name, value in row.items():
            times.setdefault(name, []).append(value)
    for name, wait in (("kept", 0.0), ("waited", statistics.median(times["in C"]))):
        for _ in range(rounds):
            with recorded.playing(clock, wait):
                spent, _, played = clock.outside(fit)
            assert played.values == expected.values
            assert played.stderr == expected.stderr
            times.setdefault(name, []).append(spent)
    found = {name: statistics.median(values) for name, values in times.items()}
    return found | {"least": min(times["next"]), "calls": python_calls(fit)}


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
    parser = arguments_of("inside.overhead", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=31, help="fits of each problem (31)")
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
    head = {
        "first": "first fit, ms",
        "next": "next fit, ms",
        "least": "least",
        "kept": "next, caches kept",
        "waited": "next, waited",
        "lmfit": "lmfit objects, ms",
        "in C": "in C, ms",
        "calls": "calls in Python",
    }
    digits = {"calls": 0}
    cells = [
        [name, *(f"{row[one]:.{digits.get(one, 3)}f}" if one in row else "" for one in head)]
        for name, row in rows.items()
    ]
    print_rows(["problem", *head.values()], cells)
    finish(given.json, {"rounds": given.rounds, "problems": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
