"""Progress of a running fit: a tqdm bar where tqdm is installed, else a line on stderr."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, TextIO

#: Called as (evaluations so far, chi² of the last, best chi²).
Callback = Callable[[int, float, float], object]


class StopFit(Exception):  # noqa: N818  (not an error: the best point is kept)
    """Ends a running optimizer; the best point so far is kept."""


class Silent:
    """Shows nothing."""

    #: Whether every evaluation is to be told, or one now and then.
    each = False

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        """One residual evaluation is done."""

    def close(self) -> None:
        """The fit is over."""


class Custom(Silent):
    """Hands every evaluation to a function of the user."""

    each = True

    def __init__(self, callback: Callback) -> None:
        self.callback = callback

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        self.callback(nfev, chisqr, best)


class Line(Silent):
    """Rewrites one line on a terminal; prints a line every two seconds elsewhere."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self.label = label
        self.stream = stream or sys.stderr
        self.terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.start = time.perf_counter()
        self.interval = 0.1 if self.terminal else 2.0
        self.shown = self.start - (self.interval if self.terminal else 0.0)
        self.last = ""

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        now = time.perf_counter()
        self.last = f"{self.label}: {nfev} evaluations, χ² {best:.7g}, {now - self.start:.1f} s"
        if now - self.shown >= self.interval:
            self.shown = now
            self.stream.write(f"\r{self.last}\x1b[K" if self.terminal else f"{self.last}\n")
            self.stream.flush()

    def close(self) -> None:
        if self.last:
            self.stream.write(f"\r{self.last}\x1b[K\n" if self.terminal else f"{self.last}\n")
            self.stream.flush()


class Bar(Silent):
    """A tqdm bar without a total: evaluations, rate and the best χ²."""

    each = True

    def __init__(self, label: str, tqdm: Any) -> None:
        self.bar = tqdm(desc=label, unit=" evaluations", leave=True, file=sys.stderr)

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        self.bar.set_postfix_str(f"χ² {best:.7g}", refresh=False)
        self.bar.update(1)

    def close(self) -> None:
        self.bar.close()


class Steps:
    """Counts finished parts of a job: a tqdm bar, a line, or a function (done, total)."""

    def __init__(self, progress: bool | Callable[[int, int], object] | None, label: str) -> None:
        self.callback = progress if callable(progress) else None
        self.show = progress is True
        self.label = label
        self.line: Any = None

    def update(self, done: int, total: int) -> None:
        """So many of the parts are done."""
        if self.callback is not None:
            self.callback(done, total)
        if not self.show:
            return
        if self.line is None:
            self.line = _steps(self.label, total)
        self.line.step(done, total)

    def close(self) -> None:
        """The job is over."""
        if self.line is not None:
            self.line.close()


class StepLine(Line):
    """The line of :class:`Steps` without tqdm."""

    def step(self, done: int, total: int) -> None:
        self.last = f"{self.label}: {done} of {total}, {time.perf_counter() - self.start:.1f} s"
        if time.perf_counter() - self.shown >= self.interval:
            self.shown = time.perf_counter()
            self.stream.write(f"\r{self.last}\x1b[K" if self.terminal else f"{self.last}\n")
            self.stream.flush()


class StepBar(Silent):
    """The tqdm bar of :class:`Steps`."""

    def __init__(self, label: str, total: int, tqdm: Any) -> None:
        self.bar = tqdm(desc=label, total=total, unit=" fits", leave=True, file=sys.stderr)

    def step(self, done: int, total: int) -> None:
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def _steps(label: str, total: int) -> StepLine | StepBar:
    tqdm = _tqdm()
    return StepLine(label) if tqdm is None else StepBar(label, total, tqdm)


def _tqdm() -> Any:
    """tqdm's bar, which is a widget in a notebook that has them; None where tqdm is missing."""
    try:
        with warnings.catch_warnings():
            # It warns where ipywidgets are missing, and writes text then, which is well.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def make_progress(progress: bool | Callback | None, label: str) -> Silent:
    """The reporter for ``progress=``: False or None, True, or a function of the user."""
    if progress is None or progress is False:
        return Silent()
    if callable(progress):
        return Custom(progress)
    tqdm = _tqdm()
    return Line(label) if tqdm is None else Bar(label, tqdm)
