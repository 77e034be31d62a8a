"""Where parts of many fits run, threads or processes of this machine or a cluster, and how."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from typing import Protocol, TypeVar, cast

from pyspec._library.threads import Threads, refuse_many
from pyspec.calls import is_whole
from pyspec.errors import ClusterError, FitError, PyspecError, one_line, shortened
from pyspec.executor.cluster import Agreement, agree_on_fits, need_client, of_engine, refuse_other
from pyspec.executor.cluster.engine import Future as Sent
from pyspec.fit.interrupts import Hold, begin_worker

Found = TypeVar("Found")

#: Tasks that are under way for each worker: it never runs out, and few hold data.
AHEAD = 2

#: How often a signal is looked for, in seconds.
LOOK = 0.05

#: How long nobody looks for the tasks of a cluster that ended, in seconds.
PAUSE = 0.01

#: The setting for the size above which dask warns of a task that holds data. Tasks of fits to data
#: in memory hold them.
LARGE = "distributed.admin.large-graph-warning-threshold"


class GoneError(ClusterError):
    """A cluster that is gone, with all that its workers did and had not told yet."""


class Task(Protocol):
    """A call that runs elsewhere."""

    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def result(self) -> object: ...
    def exception(self) -> BaseException | None: ...


class LostError(PyspecError):
    """A task whose worker was lost, or for which none could be started."""


class Pool(Protocol):
    """Where tasks run."""

    @property
    def width(self) -> int:
        """How many run at a time."""

    @property
    def room(self) -> int:
        """How many may be under way: those that run, and those that wait for a worker."""

    def start(self, call: partial[Found]) -> Task:
        """Hands over the call."""

    def wait(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Those that have ended, after a moment at most."""

    def is_lost(self, error: BaseException) -> bool:
        """Whether a worker was lost, rather than its task failed."""

    def close(self) -> None:
        """Drops what waits; what runs comes to its end, here but not on a cluster."""


class LocalPool:
    """Threads or processes of this machine."""

    def __init__(self, n_workers: int, workers: str = "processes") -> None:
        self.width, self.room = n_workers, AHEAD * n_workers
        self._pool: Executor
        if workers == "threads":
            self._pool = Threads(n_workers)
        else:
            # The workers get nothing large when they start: one that dies then would block us.
            self._pool = ProcessPoolExecutor(n_workers, get_context("spawn"), begin_worker)

    def start(self, call: partial[Found]) -> Task:
        """Submits the call."""
        return self._pool.submit(call)

    def wait(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Those that have ended."""
        return list(wait(cast(Sequence[Future[object]], tasks), LOOK, FIRST_COMPLETED).done)

    def is_lost(self, error: BaseException) -> bool:
        """Whether the processes are gone."""
        return isinstance(error, BrokenProcessPool)

    def close(self) -> None:
        """Waits for what runs."""
        with suppress(RuntimeError):  # as where its own thread could not be started
            self._pool.shutdown(wait=True, cancel_futures=True)


class ClusterPool:
    """The workers of a client of dask.distributed, which use the library and build of this process.

    Raises :class:`pyspec.errors.ClusterError` where they do not.
    """

    def __init__(self, client: object) -> None:
        self._client = need_client(client)
        self._terms = agree_on_fits(self._client)
        self._running: set[Sent] = set()
        self.width = self.count()
        self.room = AHEAD * self.width

    def count(self) -> int:
        """The threads of the workers that are there, one at least."""
        return max(1, int(sum(self._client.nthreads().values())))

    def start(self, call: partial[Found]) -> Task:
        """Submits the call."""
        return self.sent(self._client.submit, as_agreed, self._terms, call, pure=False)

    def is_lost(self, error: BaseException) -> bool:
        """Whether a task was lost several times, or the cluster is gone."""
        return of_engine(error)

    def sent(self, send: Callable[..., Sent], *args: object, **options: object) -> Sent:
        """The future that `send` gives; it carries its data, so that a worker that dies takes none
        along."""
        if self._client.status != "running":
            raise GoneError(f"the cluster is gone (its client is {self._client.status})")
        import dask

        with dask.config.set({LARGE: "1 GB"}):
            future = send(*args, **options)
        self._running.add(future)
        return future

    def wait(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Those that have ended, after a moment at most. To ask the engine to wait costs more than
        to look now and then: each worker has a task that waits."""
        done = [task for task in tasks if task.done()]
        if not done:
            time.sleep(PAUSE)
        self._running.difference_update(done)
        return done

    def close(self) -> None:
        """Takes back what waits."""
        if self._client.status == "running":
            self._client.cancel([future for future in self._running if not future.done()])


def make_pool(
    label: str, client: object, n_workers: int | None, workers: str = "processes"
) -> Pool | None:
    """Where the parts run; None: here, one after the other.

    Raises :class:`FitError` for a number of workers that is none, or beside a client.
    """
    check_workers(label, client, n_workers)
    if client is not None:
        return ClusterPool(client)
    return None if n_workers in (None, 1) else LocalPool(int(n_workers or 1), workers)


def check_workers(label: str, client: object, n_workers: int | None) -> None:
    """Raises :class:`FitError` as of :func:`make_pool`."""
    if n_workers is not None:
        if not is_whole(n_workers, 1):
            raise FitError(
                f"n_workers must be a whole number from 1 on, or None, not {shortened(n_workers)}"
            )
        refuse_many("n_workers", int(n_workers))
        if client is not None:
            raise FitError(f"{label}: a client has its workers; leave n_workers out")


def refuse_shared(label: str, client: object, n_workers: int | None) -> None:
    """Raises :class:`FitError` where work that one process does is to be shared."""
    if client is not None or n_workers is not None:
        raise FitError(
            f"{label}: chunks= is of fits in one process; leave it out, or client= and n_workers="
        )


def as_agreed(terms: Agreement, function: Callable[..., Found], *args: object) -> Found:
    """Runs a function on a worker of a cluster, if that has the library and build of `terms`."""
    refuse_other(terms)
    return function(*args)


def run_tasks(
    pool: Pool, calls: Iterable[partial[Found]], hold: Hold, n_tries: int = 1
) -> Iterator[tuple[int, Found | Exception]]:
    """Runs calls by the workers of a pool; each begins when there is room for it. Yields its number
    and what it returned. A call that failed `n_tries` times has the reason instead,
    :class:`LostError` if its worker was lost.

    Raises :class:`GoneError` if a cluster is gone, and KeyboardInterrupt at a signal. Calls that
    had ended by then are handed over first.
    """
    new = ((k, call, 1) for k, call in enumerate(calls))
    again: list[tuple[int, partial[Found], int]] = []
    pending: dict[Task, tuple[int, partial[Found], int]] = {}
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
                        pending[pool.start(task[1])] = task
                        continue
                    except PyspecError:
                        raise
                    except (OSError, RuntimeError) as error:
                        refused = one_line(error)
                yield task[0], LostError(refused)
            if not pending:
                return
            hold.check()
            for ended in pool.wait(list(pending)):
                k, call, n = pending.pop(ended)
                outcome = _outcome(ended)
                if not isinstance(outcome, BaseException):
                    yield k, cast(Found, outcome)
                elif not isinstance(outcome, Exception):
                    raise outcome
                elif n < n_tries:
                    again.append((k, call, n + 1))
                else:
                    yield k, LostError(one_line(outcome)) if pool.is_lost(outcome) else outcome
    except KeyboardInterrupt:
        pool.close()
        for ended, (k, _, _) in pending.items():
            if ended.done() and not ended.cancelled() and ended.exception() is None:
                yield k, cast(Found, ended.result())
        raise
    finally:
        pool.close()


def _outcome(task: Task) -> object:
    """What a call that has ended returned, or the exception that it raised.

    Raises :class:`GoneError` where that was lost with its cluster, which cancels all calls.
    """
    try:
        error = task.exception()
        return task.result() if error is None else error
    except (CancelledError, asyncio.CancelledError, OSError, TimeoutError) as error:
        raise GoneError(f"the cluster is gone ({one_line(error)})") from error  # type: ignore[arg-type]
