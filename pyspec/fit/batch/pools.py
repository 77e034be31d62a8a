"""Parts of many fits by the workers of a cluster of dask, on other machines or on this one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Protocol, TypeVar, cast

from pyspec.errors import ClusterError, FitError, PyspecError, one_line
from pyspec.executor.cluster import Agreement, agree_on_fits, need_client, of_engine, refuse_other
from pyspec.executor.cluster.engine import Future as Sent
from pyspec.fit.interrupts import Hold

Found = TypeVar("Found")

#: Tasks that are under way for each worker: it never runs out, and few hold data.
AHEAD = 2

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
    """A task that was lost with its workers."""


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


def refuse_shared(label: str, client: object) -> None:
    """Raises :class:`FitError` where work that one process does is to be shared."""
    if client is not None:
        raise FitError(f"{label}: chunks= is of fits in one process; leave it out, or client=")


def as_agreed(terms: Agreement, function: Callable[..., Found], *args: object) -> Found:
    """Runs a function on a worker of a cluster, if that has the library and build of `terms`."""
    refuse_other(terms)
    return function(*args)


def run_tasks(
    pool: ClusterPool, calls: Iterable[partial[Found]], hold: Hold, n_tries: int = 1
) -> Iterator[tuple[int, Found | Exception]]:
    """Runs calls by the workers of a cluster; each begins when there is room for it. Yields its
    number and what it returned. A call that failed `n_tries` times has the reason instead,
    :class:`LostError` if its worker was lost.

    Raises :class:`GoneError` if a cluster is gone, and KeyboardInterrupt at a signal. Calls that
    had ended by then are handed over first.
    """
    new = ((k, call, 1) for k, call in enumerate(calls))
    again: list[tuple[int, partial[Found], int]] = []
    pending: dict[Task, tuple[int, partial[Found], int]] = {}
    try:
        while True:
            while len(pending) < pool.room:
                task = again.pop() if again else next(new, None)
                if task is None:
                    break
                hold.check()
                pending[pool.start(task[1])] = task
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
                    yield k, LostError(one_line(outcome)) if of_engine(outcome) else outcome
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
