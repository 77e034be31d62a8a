"""The account of one fit: how many evaluations, the best point so far, when to stop, and how far an
evaluation is whose data come in chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor.source import SourceExecutor
from pyspec.fit.interrupts import Hold
from pyspec.fit.part import FitPart
from pyspec.fit.progress import Silent, StopFit

Array = npt.NDArray[np.float64]

#: Every residual of a point outside of the domain of a function, for methods that compare values.
#: Its square, summed over any number of points, divided by a step and squared again, is finite.
OUTSIDE = 1e50


def check_limits(max_nfev: int | None, max_seconds: float | None) -> None:
    """Raises :class:`FitError` for limits that are none."""
    if max_nfev is not None and not _is_above_0(max_nfev, Integral):
        raise FitError(f"max_nfev must be a whole number above 0, not {max_nfev!r}; None: no limit")
    if max_seconds is not None and not _is_above_0(max_seconds, Real):
        raise FitError(f"max_seconds must be a number above 0, not {max_seconds!r}; None: no limit")


def _is_above_0(number: float, kind: type) -> bool:
    """Numbers of NumPy count; True, which Python takes for 1, does not."""
    is_flag = isinstance(number, (bool, np.bool_))
    return isinstance(number, kind) and not is_flag and bool(number > 0)


class Evaluations:
    """Counts the evaluations of a fit, keeps its best point, and stops it at its limits.

    Single fits, slices and joint fits each have one. Limits belong to a running fit: they are not
    pickled.

    Attributes
    ----------
    count : residual evaluations so far
    best, best_theta : smallest chi² so far and where it was, (n_free,); infinite and NaN before
    max_nfev, max_seconds : the limits, None without
    hold : the signals that end the fit, None outside of one
    may_leave : whether a point without a finite model counts as a very bad one. This is so while a
        method runs that compares values; otherwise the fit ends with an error
    """

    may_leave: bool = False

    max_nfev: int | None = None
    max_seconds: float | None = None
    hold: Hold | None = None
    _deadline: float | None = None

    def __init__(self, n_free: int) -> None:
        self.count = 0
        self.best = np.inf
        self.best_theta: Array = np.full(n_free, np.nan)

    def __getstate__(self) -> dict[str, object]:
        return {"count": self.count, "best": self.best, "best_theta": self.best_theta}

    def limit(
        self, max_nfev: int | None, max_seconds: float | None, hold: Hold | None = None
    ) -> None:
        """Sets what a fit may take from here on, None is no limit; and the signals that end it."""
        self.max_nfev, self.max_seconds = max_nfev, max_seconds
        self.hold = hold
        self._deadline = None if max_seconds is None else time.perf_counter() + max_seconds

    def check_end(self) -> None:
        """Raises :class:`StopFit` where the time is up, KeyboardInterrupt where a signal has
        come."""
        if self.hold is not None:
            self.hold.check()
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise StopFit(f"stopped after max_seconds = {self.max_seconds:g}")

    def left(self) -> int | None:
        """How many evaluations are left, None without a limit. Raises :class:`StopFit` for
        none."""
        if self.max_nfev is None:
            return None
        if self.count >= self.max_nfev:
            raise StopFit(f"stopped after max_nfev = {self.max_nfev} evaluations")
        return self.max_nfev - self.count

    def keep(self, chisqr: float, theta: Array) -> bool:
        """Keeps a copy of a point that is better than the best so far; says whether it is."""
        if not chisqr < self.best:
            return False
        self.best = chisqr
        self.best_theta = theta.copy()
        return True


@contextmanager
def told_of_rows(files: Sequence[FitPart], progress: Silent, hold: Hold) -> Iterator[None]:
    """Inside of this block `progress` is told of the rows that an evaluation has read, of all files
    together, and Ctrl-C is a KeyboardInterrupt after the chunk at hand. Of data in memory there is
    nothing to tell."""
    away = [file.executor for file in files if type(file.measurement.data) is not np.ndarray]
    read = [executor for executor in away if isinstance(executor, SourceExecutor)]
    total = sum(executor.window.shape[0] for executor in read)

    def watch(before: int, done: int) -> None:
        hold.check()
        progress.rows(before + done, total)

    before = 0
    for executor in read:
        executor.watch = partial(watch, before)
        before += executor.window.shape[0]
    try:
        yield
    finally:
        for executor in read:
            executor.watch = None
