"""Where the tasks of a map run: here, or on a cluster of dask."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol, TypeVar

from pyspec.fit.batch.pools import AHEAD, ClusterPool, Task, as_agreed, run_tasks
from pyspec.fit.interrupts import Hold
from pyspec.io.optional import need

Found = TypeVar("Found")
Made = TypeVar("Made", covariant=True)

#: How often a cluster tries a block: a worker that was lost makes a task fail once.
TRIES = 2


class Delayed(Protocol[Made]):
    """A call that dask makes later."""

    def compute(self, *, scheduler: str) -> Made: ...


class Cluster(ClusterPool):
    """The workers of a client, which read what tasks are made of. Once in a second they are
    counted: a map may outlast those that were there first."""

    def __init__(self, client: object) -> None:
        super().__init__(client)
        self._counted = time.monotonic()

    def wait(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Those that have ended."""
        if time.monotonic() > self._counted + 1.0:
            self.width, self._counted = self.count(), time.monotonic()
            self.room = AHEAD * self.width
        return super().wait(tasks)

    def start(self, call: partial[Found]) -> Task:
        """Sends the task, data in memory with it: a worker that dies takes none along."""
        agreed = partial(as_agreed, self._terms, call.func, *call.args)
        return self.sent(self._client.compute, _delayed(agreed))


def run(
    cluster: Cluster | None, calls: Iterable[partial[Found]], hold: Hold
) -> Iterator[tuple[int, Found | Exception]]:
    """Runs tasks on a cluster, or here one after the other. Yields the number of each, and what it
    returned or raised."""
    if cluster is not None:
        yield from run_tasks(cluster, calls, hold, n_tries=TRIES)
        return
    for k, call in enumerate(calls):
        hold.check()
        try:
            yield k, _delayed(call).compute(scheduler="synchronous")
        except Exception as error:
            yield k, error


def _delayed(call: partial[Found]) -> Delayed[Found]:
    """The call as dask takes it."""
    task: Delayed[Found] = need("dask", "a map", "zarr").delayed(call.func, pure=False)(*call.args)
    return task
