"""Threads that share the work of a fit.

The library creates no threads. Those that are started here wait inside it, without the GIL, for
chunks of rows, and leave with the fit. How many there are changes no number: the sums of the
chunks are combined in the order of the rows.
"""

from __future__ import annotations

import _thread
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Protocol

import numpy as np

from pyspec._library import CONSTANTS, DTYPES, LIBRARY, raise_status
from pyspec._library.environment import reader
from pyspec._library.memory import address, aligned, fill
from pyspec._library.threads import refuse_many
from pyspec.errors import FitError

#: Points times columns of an evaluation below which one thread is as fast: about 0.4 ms.
SMALL = 300_000

#: Chunks of rows for each thread. The others take over what a slow thread has not begun.
CHUNKS_EACH = 12


_threads_variable = reader("PYSPEC_NUM_THREADS")


@lru_cache(maxsize=8)
def _count_in(variable: str | bytes) -> int | None:
    """The number that ``PYSPEC_NUM_THREADS`` names, None where it is blank.

    Raises :class:`FitError` where it is not a positive integer, or more than a few for each core.
    """
    text = os.fsdecode(variable).strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise FitError(
            f"PYSPEC_NUM_THREADS={text}: not a number of threads; set it to 1 or more, or not at "
            "all to use every core where that helps"
        )
    return refuse_many("PYSPEC_NUM_THREADS", int(text))


class Shared(Protocol):
    """An executor whose work threads share: the bytes of scratch that each needs, and points times
    columns of an evaluation with derivatives."""

    @property
    def opt_param_names(self) -> tuple[str, ...]: ...
    @property
    def derivative_work_size(self) -> int: ...
    @property
    def shared_size(self) -> int: ...
    @property
    def n_rows(self) -> int: ...


def choose_threads(executors: Sequence[Shared]) -> int:
    """The number of threads for fits of these executors together: ``PYSPEC_NUM_THREADS`` if it is
    set. Otherwise one for each core. It is 1 for small jobs, and in a process that another one
    started to share its work."""
    return threads_for(sum(executor.shared_size for executor in executors))


def threads_for(size: int) -> int:
    """The same of fits of that size together."""
    variable = _threads_variable()
    count = _count_in(variable) if variable else None
    if count is not None:
        return count
    if size < SMALL or multiprocessing.parent_process() is not None:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Team:
    """The memory of a ``pyspec_team``, and its threads.

    Parameters
    ----------
    n_threads : how many share the work, with the one that hands it out
    work_size : bytes of scratch that each needs
    order : of the sums, the number of free parameters and 1
    n_rows : most rows of a measurement
    n_parts : measurements that are summed together
    """

    def __init__(
        self, n_threads: int, work_size: int, order: int, n_rows: int, n_parts: int = 1
    ) -> None:
        n_sums = max(CHUNKS_EACH * n_threads, 2 * n_parts)
        # Of an aligned range of rows no more sums are open than twice the levels of its tree.
        capacity = min(CONSTANTS["NORMAL_NODES"], 2 * n_rows.bit_length() + 8)
        size = order * (order + 1) // 2
        self._work = aligned((n_threads - 1) * work_size)
        self._nodes = np.zeros((n_sums, capacity, size))
        self._places = np.zeros((n_sums, capacity, 2), np.int64)
        self._scratch = np.zeros((n_sums, order * order))
        self._state = aligned(-(-LIBRARY.pyspec_team_size() // 64) * 64 + 64)
        self._state[:] = 0.0
        self._sums = np.zeros(n_sums, DTYPES["pyspec_normal"])
        self._sums["capacity"], self._sums["n_scratch"] = capacity, order * order
        for field, memory in (
            ("nodes", self._nodes),
            ("places", self._places),
            ("scratch", self._scratch),
        ):
            self._sums[field] = address(memory) + memory.strides[0] * np.arange(n_sums)
        fields = {
            "n_threads": n_threads,
            "work": address(self._work),
            "work_size": work_size,
            "sums": address(self._sums),
            "n_sums": n_sums,
            "state": address(self._state),
            "n_state": self._state.nbytes,
        }
        self._struct = np.zeros(DTYPES["pyspec_team"].itemsize // 8)
        fill("pyspec_team", fields, self._struct)
        self.address = address(self._struct)
        self.n_threads = n_threads
        self._at_work: list[_thread.LockType] = []

    def begin(self) -> None:
        """Starts the threads. Whoever calls does not wait until they run, as with
        :class:`threading.Thread`: a fit often takes less time than that. Where the system starts
        no more, those there are do the work."""
        raise_status(LIBRARY.pyspec_team_begin(self.address), "threads")
        for _ in range(self.n_threads - 1):
            leaves = _thread.allocate_lock()
            leaves.acquire()
            try:
                _thread.start_new_thread(self._help, (leaves,))
            except RuntimeError:
                break
            self._at_work.append(leaves)

    def _help(self, leaves: _thread.LockType) -> None:
        try:
            LIBRARY.pyspec_help(self.address)
        finally:
            leaves.release()

    def end(self) -> None:
        """Sends the threads home and waits until they have left the team's memory."""
        LIBRARY.pyspec_dismiss(self.address)
        for leaves in self._at_work:
            leaves.acquire()
        self._at_work.clear()


@contextmanager
def team_of(executors: Sequence[Shared], n_threads: int) -> Iterator[Team | None]:
    """A team for these executors inside the `with` block; None where one thread does it all."""
    if n_threads < 2:
        yield None
        return
    team = Team(
        n_threads,
        max(executor.derivative_work_size for executor in executors),
        max(len(executor.opt_param_names) for executor in executors) + 1,
        max(executor.n_rows for executor in executors),
        len(executors),
    )
    with at_work(team):
        yield team


@contextmanager
def at_work(team: Team) -> Iterator[None]:
    """The threads of a team wait for work inside of the `with` block."""
    try:
        team.begin()
        yield
    finally:
        team.end()
