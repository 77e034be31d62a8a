"""Runs the tasks of a map: here, in worker processes, or on a cluster of dask."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from pyspec.errors import DataError, FitError, one_line
from pyspec.fit.batch.pools import LocalPool, OfClient, as_agreed, outcome
from pyspec.fit.interrupts import Hold
from pyspec.io.optional import need

#: Tasks that wait for a worker, for each worker: it never runs out, and few hold data.
AHEAD = 2

#: A call: the function, what it takes, and last the arrays of a block by name, of NumPy or of dask.
Task = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]

#: Makes the task of a block.
Maker = Callable[[Any], Task]

#: A block and what its task returned, or why it failed.
Outcome = tuple[Any, Any]


class Runner(Protocol):
    """Where tasks run."""

    @property
    def width(self) -> int:
        """Tasks that are under way at a time."""

    def start(self, task: Task) -> Any:
        """Begins a task and returns its future."""

    def wait(self, futures: Sequence[Any]) -> Sequence[Any]:
        """The futures that have ended, after a moment at most."""

    def close(self) -> None:
        """Ends what runs, when its task is done."""


def run_tasks(runner: Runner, make: Maker, blocks: Sequence[Any], hold: Hold) -> Iterator[Outcome]:
    """Every block with what its task returned, as they end; an exception where it failed twice,
    which a worker that was lost makes happen once.

    Raises KeyboardInterrupt where a signal comes.
    """
    left = [(block, 0) for block in reversed(blocks)]
    running: dict[Any, tuple[Any, int]] = {}
    while left or running:
        while left and len(running) < runner.width:
            hold.check()
            block, tries = left.pop()
            running[runner.start(make(block))] = (block, tries)
        hold.check()
        for future in runner.wait(list(running)):
            block, tries = running.pop(future)
            error, found = outcome(future)
            if error is None:
                yield block, found
            elif isinstance(error, BrokenProcessPool):
                raise FitError(
                    "a worker process ended early; all blocks that were written stay, and the "
                    "same call goes on; a script that starts workers must do so under 'if "
                    '__name__ == "__main__":\''
                ) from error
            elif isinstance(error, Exception) and tries == 0:
                left.append((block, 1))
            else:
                yield block, error


class _Done:
    """The future of a task that has run."""

    def __init__(self, task: Task) -> None:
        self._result: Any = None
        self._error: Exception | None = None
        try:
            self._result = _delayed(task).compute(scheduler="synchronous")
        except Exception as error:
            self._error = error

    def exception(self) -> Exception | None:
        """Why the task failed."""
        return self._error

    def result(self) -> Any:
        """What it returned."""
        return self._result


class Here:
    """One task after the other, in this process."""

    @property
    def width(self) -> int:
        """One."""
        return 1

    def start(self, task: Task) -> Any:
        """Runs the task."""
        return _Done(task)

    def wait(self, futures: Sequence[Any]) -> Sequence[Any]:
        """All."""
        return futures

    def close(self) -> None:
        """Nothing runs."""


class Processes:
    """Worker processes of this machine."""

    def __init__(self, n_workers: int) -> None:
        self._pickle = need("cloudpickle", "a map with workers", "zarr")
        self._pool = LocalPool(n_workers)

    @property
    def width(self) -> int:
        """A few for each worker."""
        return AHEAD * self._pool.width

    def start(self, task: Task) -> Any:
        """Sends the task, the data with it or their address."""
        try:
            sent = self._pickle.dumps(_delayed(task))
        except Exception as error:
            raise DataError(
                f"the data, or the model, cannot be sent to a worker process: {one_line(error)}; "
                "give the path of the data, or n_workers=1"
            ) from error
        return self._pool.start(_compute, sent)

    def wait(self, futures: Sequence[Any]) -> Sequence[Any]:
        """Those that ended."""
        return self._pool.wait(futures)

    def close(self) -> None:
        """Tasks that run are finished, the others dropped."""
        self._pool.close()


class Cluster(OfClient):
    """The workers of a client, which read what tasks are made of."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._counted, self._threads = -math.inf, 1

    @property
    def width(self) -> int:
        """As many as the workers that are there can take; once in a second they are counted."""
        now = time.monotonic()
        if now > self._counted + 1.0:
            self._counted = now
            self._threads = self.threads
        return AHEAD * self._threads

    def start(self, task: Task) -> Any:
        """Sends the task, data in memory with it: a worker that dies takes none along."""
        function, args, arrays = task
        agreed: Task = as_agreed, (self._terms, function, *args), arrays
        return self.sent(self._client.compute, _delayed(agreed))


def make_runner(client: Any, n_workers: int | None) -> Runner:
    """Where the tasks of a map run."""
    if client is not None:
        return Cluster(client)
    return Here() if n_workers in (None, 1) else Processes(int(n_workers))


def _delayed(task: Task) -> Any:
    """The task as dask takes it."""
    function, args, arrays = task
    return need("dask", "a map", "zarr").delayed(function, pure=False)(*args, dict(arrays))


def _compute(task: bytes) -> Any:
    """Runs in a worker."""
    import pickle

    return pickle.loads(task).compute(scheduler="synchronous")
