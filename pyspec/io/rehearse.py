"""Files that the HDF5 library reads are first read in a process of their own.

The library was not made for damaged files: some end the process, with all that a session holds,
and some keep it busy for ever. So the same call runs first in a child with limits; a child
that comes to its end, with data or with an error, shows that the call can be made here.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import cast

from pyspec.errors import DataError
from pyspec.io.limits import PATIENCE, limit_process, run_apart

#: Seconds of a processor for one file, and more for each megabyte.
_SECONDS, _SECONDS_PER_MB = 20.0, 0.2
#: Bytes beyond those of the process, and more for each byte of the file.
_MEMORY, _MEMORY_RATIO = 4 << 30, 1000

#: What the library does with a file, in words.
_CRASHES, _LATE = "crashes on", "does not come to an end with"

#: Files that were read to the end: their path, length and time of change.
_known: set[tuple[str, int, int]] = set()


def rehearse(path: Path, work: Callable[[], object]) -> None:
    """Runs `work`, which reads the file `path`, in another process, and forgets what it gives.

    Once for each file; Linux forks, elsewhere a Python is started, to which `work` is pickled.

    Raises :class:`DataError` where that process does not come to its end.
    """
    state = path.stat()
    key = (str(path.resolve()), state.st_size, state.st_mtime_ns)
    if key in _known:
        return
    seconds = _SECONDS + _SECONDS_PER_MB * state.st_size / (1 << 20)
    memory = _MEMORY + _MEMORY_RATIO * state.st_size
    run = _fork if sys.platform == "linux" else _start
    status = run(work, seconds, memory)
    if status:
        raise DataError(
            f"{path}: the HDF5 file is damaged (the HDF5 library {status} it); copy it once more"
        )
    _known.add(key)


def _perform(work: Callable[[], object], memory: int, seconds: float) -> None:
    """What the child does. Errors are raised again where they can be seen."""
    limit_process(memory, int(seconds) + 1)
    with suppress(Exception):
        work()


def _fork(work: Callable[[], object], seconds: float, memory: int) -> str:
    """How the child ended, as words for an error; "" if all is well."""
    ended, tells = os.pipe()
    try:
        with warnings.catch_warnings(), _lock():
            # Of threads at a fork: the child only reads a file, and is given up if it waits.
            warnings.simplefilter("ignore")
            child = os.fork()
    except OSError:  # no process is left: the file is read without
        os.close(ended)
        os.close(tells)
        return ""
    if not child:
        _be_child(work, memory, seconds)
    os.close(tells)
    in_time = False
    try:
        in_time = bool(select.select([ended], [], [], PATIENCE * seconds)[0])  # the child is gone
    finally:
        if not in_time:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        os.close(ended)
    return _words(os.waitstatus_to_exitcode(status)) if in_time else _LATE


def _lock() -> AbstractContextManager[object]:
    """The lock of h5py: a child that is forked while another thread has it would wait for ever."""
    try:
        return cast(AbstractContextManager[object], import_module("h5py._objects").phil)
    except (ImportError, AttributeError):
        return nullcontext()


def _be_child(work: Callable[[], object], memory: int, seconds: float) -> None:
    code = 1
    try:
        faulthandler.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        _perform(work, memory, seconds)
        code = 0
    finally:
        os._exit(code)


def _start(work: Callable[[], object], seconds: float, memory: int) -> str:
    try:
        code = run_apart(__name__, pickle.dumps((work, memory, seconds)), seconds).code
    except (OSError, pickle.PicklingError, AttributeError, TypeError):
        return ""  # no process can be started: the file is read without
    return _LATE if code is None else _words(code)


def main() -> None:
    """The child that was started: what to do comes pickled from its parent."""
    work, memory, seconds = pickle.load(sys.stdin.buffer)
    _perform(work, memory, seconds)
    os._exit(0)


def _words(code: int) -> str:
    if sys.platform != "win32" and code == -signal.SIGXCPU:  # its seconds of a processor are over
        return _LATE
    return _CRASHES if code else ""
