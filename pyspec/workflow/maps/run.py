"""Where the tasks of a map run: here, in worker processes, or on a cluster of dask."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from pyspec.errors import DataError, one_line
from pyspec.fit.batch.pools import AHEAD, ClusterPool, LocalPool, Pool, as_agreed
from pyspec.io.optional import need


class Here:
    """One task after the other, in this process."""

    width = room = 1

    def start(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Runs the task."""
        found: Future[Any] = Future()
        try:
            found.set_result(_delayed(function, args).compute(scheduler="synchronous"))
        except Exception as error:
            found.set_exception(error)
        return found

    def wait(self, futures: Sequence[Any]) -> Sequence[Any]:
        """All."""
        return futures

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

    def start(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Sends the task, the data with it or their address."""
        try:
            sent = self._pickle.dumps(_delayed(function, args))
        except Exception as error:
            raise DataError(
                f"the data, or the model, cannot be sent to a worker process: {one_line(error)}; "
                "give the path of the data, or n_workers=1"
            ) from error
        return super().start(_compute, sent)


class Cluster(ClusterPool):
    """The workers of a client, which read what tasks are made of. Once in a second they are
    counted: a map may outlast those that were there first."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._counted = time.monotonic()

    def wait(self, futures: Sequence[Any]) -> Sequence[Any]:
        """Those that have ended."""
        if time.monotonic() > self._counted + 1.0:
            self.width, self._counted = self.count(), time.monotonic()
            self.room = AHEAD * self.width
        return super().wait(futures)

    def start(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sends the task, data in memory with it: a worker that dies takes none along."""
        agreed = _delayed(as_agreed, (self._terms, function, *args))
        return self.sent(self._client.compute, agreed)


def map_pool(client: Any, n_workers: int | None) -> Pool:
    """Where the tasks of a map run."""
    if client is not None:
        return Cluster(client)
    return Here() if n_workers in (None, 1) else Processes(int(n_workers))


def _delayed(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The call as dask takes it."""
    return need("dask", "a map", "zarr").delayed(function, pure=False)(*args)


def _compute(task: bytes) -> Any:
    """Runs in a worker."""
    import pickle

    return pickle.loads(task).compute(scheduler="synchronous")
