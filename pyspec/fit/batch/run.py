"""Runs the fits of a batch: one after the other, in threads, in processes, or on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.fits import Fit, Made
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.pools import (
    GoneError,
    Pool,
    make_pool,
    parts_of,
    run_parts,
    warn_gone,
    warn_lost,
)
from pyspec.fit.batch.solved import Solved
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Steps
from pyspec.fit.solve.methods import NATIVE, check_linear
from pyspec.fit.solve.native import native_options


def run_batch(
    batch: Batch[Fit],
    n: int,
    hold: Hold,
    progress: bool | Callable[[int, int], object] | None,
    client: Any,
    n_workers: int | None,
    workers: str = "processes",
) -> tuple[Made[Fit], bool]:
    """All `n` fits in their order, and whether a signal ended them: then the status of those that
    did not begin is "not run".

    Raises :class:`FitError` for options that no fit could have, KeyboardInterrupt where a signal
    came before the first fit, or a second one.
    """
    methods, options = batch.how.methods, batch.how.options
    check_linear(batch.model.name, methods, options)
    if methods[-1] == NATIVE:
        native_options(batch.model.name, options)
    pool = make_pool(batch.model.name, client, n_workers, workers)
    steps = Steps(progress, f"{batch.model.name}, {batch.plural}")
    found = Part[Fit]({}, None)
    left = "not run", "interrupted before it ended"
    interrupted, done = False, 0
    try:
        for new in _as_they_end(batch, n, pool, hold, workers, found, callable(progress)):
            done += new
            steps.update(done, n)
    except KeyboardInterrupt:
        interrupted = True
    except GoneError as error:
        if not found.n_done:
            raise
        left = "not run", str(error)
        warn_gone(batch.model.name, str(error), f"{found.n_done} of {n} {batch.plural}")
    finally:
        steps.close()
    interrupted |= any(fit.status == "interrupted" for fit in found.others.values())
    if hold.insists or (interrupted and not found.n_done):
        raise KeyboardInterrupt
    return Made(batch, n, found.solved, found.others, left), interrupted


@dataclass
class Part(Generic[Fit]):
    """Fits of a batch: those that Python made, by number, and those that C made, in arrays."""

    others: dict[int, Fit]
    solved: Solved | None

    @property
    def n_done(self) -> int:
        """How many have ended."""
        return len(self.others) + (0 if self.solved is None else int(self.solved.made.sum()))

    def take(self, batch: Batch[Fit], n: int, numbers: Sequence[int], part: Part[Fit]) -> None:
        """Those of a worker, which have these numbers."""
        self.others |= part.others
        if part.solved is not None:
            if self.solved is None:
                self.solved = part.solved.empty(n)
            self.solved.take(numbers[0] - batch.first, part.solved)


def _as_they_end(
    batch: Batch[Fit],
    n: int,
    pool: Pool | None,
    hold: Hold,
    workers: str,
    found: Part[Fit],
    each: bool,
) -> Iterator[int]:
    """How many fits have ended, as they end in `found`: one after the other without a pool. Raises
    KeyboardInterrupt where a signal comes."""
    if pool is None:
        yield from _in_turn(batch, found, hold.check, each, None)
        return
    parts = parts_of(range(n), pool)
    if workers == "threads":
        batch.stop = threading.Event()
    calls = [(_fits, (batch.part(part), part)) for part in parts]
    left: list[list[int]] = []
    try:
        for k, part in run_parts(pool, calls, hold, batch.stop):
            if part is None:
                left.append(parts[k])
            else:
                found.take(batch, n, parts[k], part)
                yield from [1] * part.n_done
    finally:
        batch.stop = None
    if left:
        warn_lost(batch.model.name, sum(map(len, left)), batch.plural)
    for numbers in left:
        own = Part[Fit]({}, None)
        try:
            yield from _in_turn(batch.part(numbers), own, hold.check, each, None)
        finally:
            found.take(batch, n, numbers, own)


def _in_turn(
    batch: Batch[Fit],
    found: Part[Fit],
    check: Callable[[], None],
    each: bool,
    n_threads: int | None,
) -> Iterator[int]:
    """All fits of a batch, those that C can make by C; 1 after each, with `each` before the next
    one begins. `check` raises KeyboardInterrupt where they are to end."""
    in_c = InC.of(batch)
    found.solved = None if in_c is None else in_c.solved
    cases = ((place, False) for place in range(len(batch.cases)))
    for place, is_made in cases if in_c is None else in_c.run(check, each, n_threads):
        if not is_made:
            check()
            number = batch.first + place
            fit = found.others[number] = batch.fit(number)
            if fit.status == "interrupted":
                return
        yield 1


def _fits(batch: Batch[Fit], numbers: Sequence[int]) -> Part[Fit]:
    """Runs on a worker."""
    batch.need_functions()
    found = Part[Fit]({}, None)

    def check() -> None:
        if batch.stop is not None and batch.stop.is_set():
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):  # before the first point of a fit
        for _ in _in_turn(batch, found, check, False, 1):
            pass
    return found
