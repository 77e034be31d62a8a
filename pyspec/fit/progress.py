"""Progress of a running fit: a tqdm bar where tqdm is installed, else a line on stderr."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, TextIO

#: Called as (evaluations so far, chi² of the last, best chi²). An object that has a method
#: ``rows(done, total)``, too, is told of each chunk that an evaluation has read.
Callback = Callable[[int, float, float], object]


#: Seconds between two lines on a terminal.
INTERVAL = 0.1


class StopFit(Exception):  # noqa: N818  (not an error: the best point is kept)
    """Ends a running optimizer; the best point so far is kept."""


class Silent:
    """Shows nothing."""

    #: Whether every evaluation is to be told, or one now and then.
    each = False

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        """One residual evaluation is done."""

    def rows(self, done: int, total: int) -> None:
        """So many rows of the evaluation at hand are read, of data that come in chunks."""

    def close(self) -> None:
        """The fit is over."""


class Custom(Silent):
    """Calls a function of the user at every evaluation, and its method `rows`, if it has one, at
    every chunk."""

    each = True

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        self._rows: Callable[[int, int], object] | None = getattr(callback, "rows", None)

    def rows(self, done: int, total: int) -> None:
        if self._rows is not None:
            self._rows(done, total)

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        self.callback(nfev, chisqr, best)


class Line(Silent):
    """Rewrites one line on a terminal; prints a line every two seconds elsewhere."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self.label = label
        self.stream = stream or sys.stderr
        self.terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.start = time.perf_counter()
        self.interval = INTERVAL if self.terminal else 2.0
        self.shown = self.start - (self.interval if self.terminal else 0.0)
        self.last = ""
        self._so_far = "evaluation 1"

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        self._so_far = f"{nfev} evaluations, χ² {best:.7g}"
        self._tell(self._so_far)

    def rows(self, done: int, total: int) -> None:
        if time.perf_counter() - self.shown >= self.interval:
            self._tell(f"{self._so_far}, {rows_text(done, total)}")

    def step(self, done: int, total: int) -> None:
        """So many parts of a job are done."""
        self._tell(f"{done} of {total}")

    def _tell(self, text: str) -> None:
        now = time.perf_counter()
        self.last = f"{self.label}: {text}, {now - self.start:.1f} s"
        if now - self.shown >= self.interval:
            self.shown = now
            self.stream.write(f"\r{self.last}\x1b[K" if self.terminal else f"{self.last}\n")
            self.stream.flush()

    def close(self) -> None:
        if self.last:
            self.stream.write(f"\r{self.last}\x1b[K\n" if self.terminal else f"{self.last}\n")
            self.stream.flush()


class Bar(Silent):
    """A tqdm bar. Of evaluations it has no total, and shows the rate and the best χ²."""

    each = True

    def __init__(
        self, label: str, tqdm: Any, unit: str = "evaluations", total: int | None = None
    ) -> None:
        self.bar = tqdm(desc=label, total=total, unit=f" {unit}", leave=True, file=sys.stderr)
        self._best, self._shown = "", time.perf_counter()

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        self._best = f"χ² {best:.7g}"
        self.bar.set_postfix_str(self._best, refresh=False)
        self.bar.update(1)

    def rows(self, done: int, total: int) -> None:
        now = time.perf_counter()
        if now - self._shown >= INTERVAL:
            self._shown = now
            shown = filter(None, (self._best, rows_text(done, total)))
            self.bar.set_postfix_str(", ".join(shown), refresh=True)

    def step(self, done: int, total: int) -> None:
        """So many parts of a job are done."""
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def rows_text(done: int, total: int) -> str:
    """How far an evaluation is."""
    return f"rows {done:,} of {total:,}"


class Steps:
    """Counts finished parts of a job, its `unit`: a tqdm bar, a line, or a function (done,
    total)."""

    def __init__(
        self,
        progress: bool | Callable[[int, int], object] | None,
        label: str,
        unit: str = "fits",
    ) -> None:
        self.unit = unit
        self.callback = progress if callable(progress) else None
        self.show = progress is True
        self.label = label
        self.line: Line | Bar | None = None

    def update(self, done: int, total: int) -> None:
        """So many of the parts are done."""
        if self.callback is not None:
            self.callback(done, total)
        if not self.show:
            return
        if self.line is None:
            self.line = _line(self.label, self.unit, total)
        self.line.step(done, total)

    def close(self) -> None:
        """The job is over."""
        if self.line is not None:
            self.line.close()


def make_progress(progress: bool | Callback | None, label: str) -> Silent:
    """The reporter for ``progress=``: False or None, True, or a function of the user."""
    if progress is None or progress is False:
        return Silent()
    if callable(progress):
        return Custom(progress)
    return _line(label, "evaluations")


def _line(label: str, unit: str, total: int | None = None) -> Line | Bar:
    """A bar of tqdm, which is a widget in a notebook that has them; a line where it is missing."""
    try:
        with warnings.catch_warnings():
            # It warns where ipywidgets are missing, and writes text then, which is well.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return Line(label)
    return Bar(label, tqdm, unit, total)
