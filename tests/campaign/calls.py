"""The process that makes the calls that the campaign of signals interrupts.

``python calls.py KIND FOLDER`` makes one call for every digit on its input, which says which of the
calls of this kind. Before it, it writes "s"; after it, it waits for the byte "e", which says that
the signal was sent, and writes what has come of the call, as a line of JSON. `FOLDER/state` holds
the bytes of `kinds.STATE`, which outlive the process.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from campaign import kinds
from campaign.kinds import EVALUATED, KINDS, PARTS, RELEASED, RETURNED, Command, Kind

import pyspec.fit.interrupts as interrupts
import pyspec.simulate.sweep_file as sweep_file
from pyspec.fit.evaluations import Evaluations

#: What the campaign sends.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def watch(folder: Path) -> None:
    """Notes evaluations and parts of a sweep in the file `state`."""
    path = folder / "state"
    path.write_bytes(bytes(4))
    with path.open("r+b") as stream:
        kinds.STATE = mmap.mmap(stream.fileno(), 4)
    write_one = sweep_file._write_one
    install, restore = interrupts._Signals.install, interrupts._Signals.restore

    def note(self: Evaluations, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "count" and value > 0:
            kinds.STATE[EVALUATED], kinds.STATE[RELEASED] = 1, 0

    def count(file: Any, simulator: Any, values: Any, index: int, *more: Any) -> None:
        write_one(file, simulator, values, index, *more)
        kinds.STATE[PARTS] = index + 1

    def take(self: Any) -> None:
        kinds.STATE[RELEASED] = 0
        install(self)

    def release(self: Any) -> None:
        kinds.STATE[RELEASED] = kinds.STATE[EVALUATED]
        restore(self)

    Evaluations.__setattr__ = note  # type: ignore[method-assign, assignment]
    sweep_file._write_one = count
    interrupts._Signals.install = take  # type: ignore[method-assign]
    interrupts._Signals.restore = release  # type: ignore[method-assign]


def came_late() -> bool:
    """Whether the signal came only after the call, when signals were blocked. Reads "e", which is
    sent after it."""
    while os.read(0, 1) != b"e":
        pass
    late = bool(signal.sigpending() & set(SIGNALS))
    while signal.sigtimedwait(SIGNALS, 0) is not None:
        pass
    return late


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " > ".join(f"{frame.name}:{frame.lineno}" for frame in frames)


#: Where Python has ignored an exception since the call began, as it does in weak references.
IGNORED: list[str] = []


def note_ignored(unraisable: Any) -> None:
    IGNORED.append(f"{unraisable.exc_type.__name__} in {_place(unraisable.exc_value)}")


def attempt(kind: Kind, turn: int) -> dict[str, Any]:
    """One call; how it ended: "kept", "before" (no evaluation), "late" or "lost"; and how long it
    took."""
    kind.prepare(turn)
    kinds.STATE[:] = bytes(4)
    IGNORED.clear()
    result, raised, where, other = None, False, "", ""
    begin = time.perf_counter()
    try:
        os.write(1, b"s")
        result = kind.call()
        kinds.STATE[RETURNED] = 1
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    except KeyboardInterrupt as error:  # the only signal: from here on no other comes
        raised, where = True, _place(error)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    except Exception as error:
        other = f"{error!r} in {_place(error)}, in handling of {error.__context__!r}"
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    seconds = time.perf_counter() - begin
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    usual = usual and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    late = came_late()
    if raised and result is not None:
        raised, late = False, True
    wrong = other or kind.lost(result, bool(kinds.STATE[EVALUATED]))
    marked = result is not None and kind.is_marked(result)
    if wrong and where:
        wrong += f", KeyboardInterrupt in {where}"
    if not usual:
        wrong = wrong or "handlers are not restored"
    if marked + raised + late != 1 and not (isinstance(kind, Command) and result == 130):
        wrong = wrong or f"marked {marked}, raised {raised}, late {late}: not one of them {IGNORED}"
    end = "kept" if marked or kinds.STATE[EVALUATED] or kinds.STATE[PARTS] else "before"
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    end = "lost" if wrong else "late" if late else end
    return {"end": end, "why": wrong, "seconds": seconds}


def seconds_of(kind: Kind, turn: int) -> float:
    """How long a call takes undisturbed: the shorter of two, as the first loads modules."""
    taken = []
    for _ in range(2):
        kind.prepare(turn)
        begin = time.perf_counter()
        kind.call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def serve(name: str, folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    kind = KINDS[name](folder)
    watch(folder)
    seconds = [seconds_of(kind, turn) for turn in range(kind.turns)]
    out.write(json.dumps({"seconds": seconds}) + "\n")
    out.flush()
    sys.stderr, sys.unraisablehook = sys.stdout, note_ignored
    while (turn := os.read(0, 1)).isdigit():
        answer = attempt(kind, int(turn))
        os.write(1, (json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
