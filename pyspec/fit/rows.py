"""How far an evaluation is whose data come in chunks, and signals that end it before its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from pyspec.executor import CompiledExecutor, Executor, JointExecutor
from pyspec.executor.source import SourceExecutor
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Silent


def told_of_rows(
    executor: Executor, progress: Silent, hold: Hold
) -> AbstractContextManager[None] | None:
    """Inside of this block `progress` is told of the rows that an evaluation has read, of all files
    together, and Ctrl-C is a KeyboardInterrupt after the chunk at hand. None for data in
    memory, of which there is nothing to tell."""
    if type(executor) is CompiledExecutor:  # thousands of slices: no time for more
        return None
    files = executor.executors if isinstance(executor, JointExecutor) else (executor,)
    read = [one for one in files if isinstance(one, SourceExecutor)]
    return _told(read, progress, hold) if read else None


@contextmanager
def _told(read: list[SourceExecutor], progress: Silent, hold: Hold) -> Iterator[None]:
    total = sum(one.window.shape[0] for one in read)

    def watch(before: int, done: int) -> None:
        hold.check()
        progress.rows(before + done, total)

    before = 0
    for one in read:
        one.watch = partial(watch, before)
        before += one.window.shape[0]
    try:
        yield
    finally:
        for one in read:
            one.watch = None
