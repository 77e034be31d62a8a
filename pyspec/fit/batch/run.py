"""Runs many fits, here or by the workers of a pool, and hands them to what keeps them."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Protocol

from pyspec.calls import stack_outside
from pyspec.errors import PyspecError, one_line
from pyspec.fit.batch.pools import GoneError, Pool
from pyspec.fit.interrupts import Hold

#: Fits of a part: about 50 ms of work.
CHUNK = 32

#: A function and its arguments.
Call = tuple[Callable[..., Any], tuple[Any, ...]]

#: The number of a call, what it returned, and why it failed.
Outcome = tuple[int, Any, Exception | None]


class LostError(PyspecError):
    """A task whose worker was lost, or for which none could be started."""


class Sink(Protocol):
    """What keeps fits as they end: of all, or of the part of a worker."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept yet."""

    @property
    def interrupted(self) -> bool:
        """Whether one of the fits was."""

    def take(self, first: int, part: Any) -> int:
        """What a worker kept, of cases from that number on. Returns how many have ended."""


class Job(Protocol):
    """Fits that can be shared, known by their numbers."""

    #: What messages call the model, and several of the fits.
    @property
    def label(self) -> str: ...
    @property
    def plural(self) -> str: ...
    def part(self, numbers: Sequence[int]) -> Job:
        """Those that follow each other, as a worker gets them."""

    def sink(self) -> Any:
        """What keeps these."""

    def in_turn(
        self, sink: Any, check: Callable[[], None], each: bool, n_threads: int | None
    ) -> Iterator[int]:
        """How many have ended, as they end and the sink has them; with `each` none begins before
        the one before was told of. `check` raises KeyboardInterrupt where they are to end."""

    def begin_part(self) -> None:
        """Raises what keeps a worker from fitting any."""


def fit_cases(
    job: Job,
    n: int,
    sink: Sink,
    pool: Pool | None,
    hold: Hold,
    tell: Callable[[int], object],
    each: bool = False,
    stop: Any = None,
) -> tuple[bool, str]:
    """Makes `n` fits and hands them to a sink: in turn here, or in parts by the workers of a pool.

    Parameters
    ----------
    tell : is told how many have ended since the last time
    each : without a pool, whether it is told before the next one begins
    stop : an event that ends what runs in threads, where a signal comes

    Returns
    -------
    interrupted : whether a signal ended them, with what had ended by then in the sink
    gone : why the cluster is gone, with the same; "" where it is not

    Raises KeyboardInterrupt where a signal came before anything was kept, or a second one.
    """
    interrupted, gone = False, ""
    try:
        if pool is None:
            for new in job.in_turn(sink, hold.check, each, None):
                tell(new)
        else:
            _share(job, n, sink, pool, hold, tell, stop)
    except KeyboardInterrupt:
        interrupted = True
    except GoneError as error:
        if sink.is_empty:
            raise
        gone = str(error)
    interrupted |= sink.interrupted
    if hold.insists or (interrupted and sink.is_empty):
        raise KeyboardInterrupt
    return interrupted, gone


def _share(
    job: Job,
    n: int,
    sink: Sink,
    pool: Pool,
    hold: Hold,
    tell: Callable[[int], object],
    stop: Any,
) -> None:
    """All fits by the workers of a pool; those of workers that were lost here."""
    size = max(1, min(CHUNK, -(-n // (4 * pool.width))))
    parts = [range(k, min(k + size, n)) for k in range(0, n, size)]
    left: list[range] = []
    for k, found, error in run_tasks(pool, ((_run, (job.part(p),)) for p in parts), hold, stop):
        if error is None:
            tell(sink.take(parts[k][0], found))
        elif isinstance(error, LostError):
            left.append(parts[k])
        else:
            raise error
    if left:
        warnings.warn(
            f"{job.label}: worker processes ended early, {sum(map(len, left))} {job.plural} "
            "are fitted here; a script that starts workers must do so under 'if __name__ == "
            '"__main__":\'',
            stacklevel=stack_outside(),
        )
    for numbers in left:
        part = job.part(numbers)
        own = part.sink()
        try:
            for new in part.in_turn(own, hold.check, False, None):
                tell(new)
        finally:
            sink.take(numbers[0], own)


def _run(part: Any) -> Any:
    """Runs on a worker."""
    part.begin_part()
    found, stop = part.sink(), getattr(part, "stop", None)

    def check() -> None:
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):  # before the first point of a fit
        for _ in part.in_turn(found, check, False, 1):
            pass
    return found


def run_tasks(
    pool: Pool, calls: Iterable[Call], hold: Hold, stop: Any = None, n_tries: int = 1
) -> Iterator[Outcome]:
    """Runs calls by the workers of a pool; each begins when there is room for it. Yields its
    number, what it returned, and None. A call that failed `n_tries` times has the reason instead,
    :class:`LostError` if its worker was lost.

    Raises :class:`GoneError` if a cluster is gone, and KeyboardInterrupt at a signal, which sets
    `stop`. Calls that had ended by then are handed over first.
    """
    new = ((k, call, 1) for k, call in enumerate(calls))
    again: list[tuple[int, Call, int]] = []
    pending: dict[Any, tuple[int, Call, int]] = {}
    refused = ""  # why no more processes or threads start: none is asked for after the first
    try:
        while True:
            while len(pending) < pool.room:
                task = again.pop() if again else next(new, None)
                if task is None:
                    break
                hold.check()
                if not refused:
                    try:
                        pending[pool.start(task[1][0], *task[1][1])] = task
                        continue
                    except PyspecError:
                        raise
                    except (OSError, RuntimeError) as error:
                        refused = one_line(error)
                yield task[0], None, LostError(refused)
            if not pending:
                return
            hold.check()
            for future in pool.wait(list(pending)):
                k, call, n = pending.pop(future)
                why, found = _outcome(future)
                if why is None:
                    yield k, found, None
                elif not isinstance(why, Exception):
                    raise why
                elif n < n_tries:
                    again.append((k, call, n + 1))
                else:
                    yield k, None, LostError(one_line(why)) if pool.is_lost(why) else why
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        pool.close()
        for future, (k, _, _) in pending.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield k, future.result(), None
        raise
    finally:
        pool.close()


def _outcome(future: Any) -> tuple[BaseException | None, Any]:
    """What a call that has ended raised, or else returned.

    Raises :class:`GoneError` where that was lost with its cluster, which cancels all calls.
    """
    try:
        error = future.exception()
        return error, None if error is not None else future.result()
    except (CancelledError, asyncio.CancelledError, OSError, TimeoutError) as error:
        raise GoneError(f"the cluster is gone ({one_line(error)})") from error  # type: ignore[arg-type]
