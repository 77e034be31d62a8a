"""Where the tasks of a map run: here, in worker processes, or on a cluster of dask."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Protocol, TypeVar

from pyspec.errors import DataError, one_line
from pyspec.fit.batch.pools import AHEAD, ClusterPool, LocalPool, Pool, Task, as_agreed
from pyspec.io.optional import need

Found = TypeVar("Found")


class Delayed(Protocol):
    """A call that dask makes later."""

    def compute(self, *, scheduler: str) -> object: ...


class Here:
    """One task after the other, in this process."""

    width = room = 1

    def start(self, call: partial[Found]) -> Task:
        """Runs the task."""
        future: Future[object] = Future()
        try:
            future.set_result(_delayed(call).compute(scheduler="synchronous"))
        except Exception as error:
            future.set_exception(error)
        return future

    def wait(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """All."""
        return tasks

    def is_lost(self, error: BaseException) -> bool:
        """No worker can be."""
        return False

    def close(self) -> None:
        """Nothing runs."""


class Processes(LocalPool):
    """Worker processes of this machine."""

    def __init__(self, n_workers: int) -> None:
        self._pickle = need("cloudpickle", "a map with workers", "zarr")
        super().__init__(n_workers)

    def start(self, call: partial[Found]) -> Task:
        """Sends the task, the data with it or their address."""
        try:
            sent = self._pickle.dumps(_delayed(call))
        except Exception as error:
            raise DataError(
                f"the data, or the model, cannot be sent to a worker process: {one_line(error)}; "
                "give the path of the data, or n_workers=1"
            ) from error
        return super().start(partial(_compute, sent))


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


def map_pool(client: object, n_workers: int | None) -> Pool:
    """Where the tasks of a map run."""
    if client is not None:
        return Cluster(client)
    return Here() if n_workers in (None, 1) else Processes(int(n_workers))


def _delayed(call: partial[Found]) -> Delayed:
    """The call as dask takes it."""
    task: Delayed = need("dask", "a map", "zarr").delayed(call.func, pure=False)(*call.args)
    return task


def _compute(task: bytes) -> object:
    """Runs in a worker."""
    import pickle

    return pickle.loads(task).compute(scheduler="synchronous")
