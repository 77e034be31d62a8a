"""The most threads that one may ask for, and a pool of threads; executor/team.py says how many a
fit takes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from pyspec.errors import FitError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: Threads, or processes, for each core, beyond which a number is a mistake; and the least such
#: number, for machines of few cores.
EACH, LEAST = 4, 16


def refuse_many(name: str, count: int) -> int:
    """The number of threads or processes asked for. Raises :class:`FitError` beyond a few for each
    core: they would be slower, and take the machine down."""
    cores = os.cpu_count() or 1
    most = max(EACH * cores, LEAST)
    if count > most:
        raise FitError(
            f"{name}={count}: this machine has {cores} cores; set it to {cores}, at most to {most}"
        )
    return count


class Threads(ThreadPoolExecutor):
    """A pool that goes on with the threads there are where the system starts no more, as in a
    container with a limit; without any, calls run where they are handed over."""

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise

    def submit(
        self,
        function: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Future[Result]:
        """A future of the call."""
        try:
            return super().submit(function, *args, **named)
        except RuntimeError:
            if self._threads or self._shutdown:
                raise
        self._work_queue.get_nowait()  # this call waits there for a thread
        future: Future[Result] = Future()
        try:
            future.set_result(function(*args, **named))
        except BaseException as error:
            future.set_exception(error)
        return future
