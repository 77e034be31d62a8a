"""Ctrl-C (SIGINT) and SIGTERM while a fit runs: they end it with what it has found so far.

Without care a signal raises KeyboardInterrupt between any two instructions: also after the last
evaluation, while errors and statistics are computed, and then a finished fit is lost. Inside a
:class:`Hold` a signal is only noted. The solver asks after every evaluation whether one has come;
everything else runs to its end. When the hold ends, the result gets the mark `interrupted`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from threading import get_ident
from types import FrameType, TracebackType
from typing import Any, Protocol, TypeVar

__all__ = ["Hold", "current_hold", "held"]


#: What is held, with the handlers that Python starts with.
_USUAL: dict[int, Any] = {
    int(signal.SIGINT): signal.default_int_handler,
    int(signal.SIGTERM): int(signal.SIG_DFL),
}
_INTERRUPT, _TERMINATE = _USUAL

#: The calls without the enumerations that `signal` wraps around them: to make these takes a tenth
#: of all that a fit spends in Python.
_plain: Any = sys.modules.get("_signal", signal)


class Marked(Protocol):
    """A result that can say that it was interrupted."""

    interrupted: bool


Result = TypeVar("Result", bound=Marked)
Function = TypeVar("Function", bound=Callable[..., Any])


class _Signals:
    """The handlers of one process while the outermost hold lasts, and what has come."""

    count = 0
    number = 0
    is_over = False
    _taken: tuple[int, ...] = ()
    _process = 0

    def install(self) -> None:
        """Takes SIGINT where it means KeyboardInterrupt, and SIGTERM where it ends the process: a
        host with handlers of its own keeps them.

        SIGINT comes first: as long as it raises KeyboardInterrupt, nothing else is taken that this
        would leave behind.
        """
        self._process = _process
        for number, usual in _USUAL.items():
            if _plain.getsignal(number) == usual:
                self._taken += (number,)
                _plain.signal(number, self._note)

    def restore(self) -> None:
        """Puts back the handlers of before; can be called twice.

        SIGINT comes last, and a KeyboardInterrupt of that very moment is noted: out of here it
        would take a finished result along.
        """
        self.is_over = True
        if _TERMINATE in self._taken:
            _plain.signal(_TERMINATE, _USUAL[_TERMINATE])
        if _INTERRUPT in self._taken:
            try:
                _plain.signal(_INTERRUPT, _USUAL[_INTERRUPT])
            except KeyboardInterrupt:
                self.count, self.number = self.count + 1, _INTERRUPT

    def _note(self, number: int, frame: FrameType | None) -> None:
        """A second signal has its usual effect, as without a hold. So has a signal in a process
        that was forked inside of the hold, such as a worker of multiprocessing."""
        self.count += 1
        self.number = number
        if self.count > 1 or os.getpid() != self._process:
            self.restore()
            signal.raise_signal(number)


_outermost: Hold | None = None
_call: UntilReturn | None = None


class Hold:
    """Holds SIGINT and SIGTERM back, in the main thread; elsewhere it does nothing.

    ::

        with Hold() as hold:
            ...                       # hold.check() where the work may end
            return hold.mark(result)  # interrupted = True if a signal has come by the end

    A signal ends in one of three ways. It may become the mark of the results. It may become the
    KeyboardInterrupt that :meth:`check` raised. If there is no result, it is sent again after the
    previous handlers are back. Holds nest: the outermost keeps the handlers, all see the same
    signals. A second signal ends the process, or raises KeyboardInterrupt, at once.

    In a :func:`held` function the previous handlers come back when it returns. `signals` are the
    signals that have arrived, in the outermost hold.
    """

    _is_outermost = False

    def __init__(self) -> None:
        self.signals = _Signals()
        self._results: list[Marked] = []

    def __enter__(self) -> Hold:
        global _outermost
        if get_ident() != _main_thread:
            return self
        if _outermost is not None and not _outermost.signals.is_over:
            self.signals = _outermost.signals
            return self
        self._is_outermost = True
        self.signals.install()
        _outermost = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_outermost and _call is not None:
            _call.hold = self
        else:
            self.end(error)

    def end(self, error: BaseException | None) -> None:
        """Puts the handlers of before back, if this is the outermost hold, and tells of a
        signal."""
        global _outermost
        if self._is_outermost:
            _outermost = None
            self.signals.restore()
        # Python runs handlers where a function begins, after a call into C, and where a loop
        # begins again. Without a signal none of these comes from here to the caller's assignment.
        if self.signals.count:
            self._tell(error)

    def _tell(self, error: BaseException | None) -> None:
        """Marks the results; sends the signal again where nothing else says that it came."""
        for result in self._results:
            result.interrupted = True
        number = self.signals.number
        is_told = bool(self._results) or (
            number == signal.SIGINT and isinstance(error, KeyboardInterrupt)
        )
        if self._is_outermost and not is_told:
            signal.raise_signal(number)

    @property
    def arrived(self) -> bool:
        """Whether a signal has come."""
        return self.signals.count > 0

    @property
    def insists(self) -> bool:
        """Whether a second signal has come: nothing more is to be done."""
        return self.signals.count > 1

    @property
    def exit_code(self) -> int:
        """What a command that a signal ended returns: 128 and its number; 0 without one."""
        return 128 + self.signals.number if self.arrived else 0

    def check(self) -> None:
        """Raises KeyboardInterrupt where a signal has come."""
        if self.signals.count:
            raise KeyboardInterrupt

    def mark(self, result: Result) -> Result:
        """Has a whole result marked when the hold ends, if a signal has come; returns it."""
        self._results.append(result)
        return result


class UntilReturn:
    """Surrounds the call of a function that is :func:`held`: its outermost hold ends with it."""

    hold: Hold | None = None
    _before: UntilReturn | None = None

    def begin(self) -> None:
        """Before the call."""
        global _call
        if get_ident() == _main_thread:
            self._before, _call = _call, self

    def end(self, error: BaseException | None) -> None:
        """After it, with what it raised."""
        global _call
        if _call is self:
            _call = self._before
        if self.hold is not None:
            self.hold.end(error)


def held(function: Function) -> Function:
    """Marks a function whose result no signal may take away on its way to the caller.

    The frame that answers wrong arguments (`pyspec.calls`) calls the function with ``*args``,
    behind which Python looks for signals. So the handlers of before come back only when that frame
    returns.
    """
    function.surrounded_by = UntilReturn  # type: ignore[attr-defined]
    return function


def current_hold() -> Hold:
    """The hold that this thread is in; one in which no signal comes, outside of any."""
    if _outermost is not None and get_ident() == _main_thread:
        return _outermost
    return Hold()


def _note_process() -> None:
    """`threading` and the system take a microsecond each to tell, and a fit asks several times. In
    a process that was forked both differ from before."""
    global _main_thread, _process
    _main_thread, _process = threading.main_thread().ident, os.getpid()


_main_thread: int | None = None
_process = 0
_note_process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_process)
