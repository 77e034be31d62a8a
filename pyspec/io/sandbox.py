"""Processes with limits, in which what may crash or hang runs: damaged archives, HDF5 files.

Some damaged files crash the HDF5 library, and some keep it busy for ever. So a file is first read
in a child; if the child ends, with data or an error, the file is read here.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import cast

from pyspec.errors import DataError
from pyspec.io.optional import available

#: Wall clock that such a process gets, times its seconds of a processor: other work may have most
#: of the processors. What waits for ever ends here, what computes for ever at its limit.
PATIENCE = 10

#: What the child runs. Isolated (-I) and without site (-S), it has the standard library alone.
#: That stays first: no file of the working folder, or beside the script, stands for its modules.
#: Other modules come from where this process has them. The child says when it has begun.
_CODE = """
import sys
sys.path += {places!r}
from pyspec.io.sandbox import main
sys.stdout.buffer.write({begun!r})
sys.stdout.buffer.flush()
main()
"""
_BEGUN = b"pyspec began\n"


def run_apart(work: Callable[[], object], seconds: float, memory: int) -> tuple[int | None, bytes]:
    """Runs `work`, which is pickled, in a Python of its own, with so many seconds of a processor
    and bytes of memory. Returns its exit code, None where its time was over, and what it printed.

    Raises :class:`OSError` where the process did not come so far as to begin, and what pickling
    raises.
    """
    if not sys.executable:
        raise OSError("this Python does not know its own path, sys.executable")
    # The folder of this package is the last one; those of work and script are left out.
    left_out = {"", os.getcwd(), os.path.dirname(os.path.realpath(sys.argv[0]))}
    places = [folder for folder in sys.path if folder not in left_out]
    places.append(str(Path(__file__).resolve().parents[2]))
    code: int | None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CODE.format(places=places, begun=_BEGUN)],
            input=pickle.dumps((work, seconds, memory)),
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            timeout=PATIENCE * seconds,
            check=False,
        )
        code, printed, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, printed, errors = None, error.stdout or b"", error.stderr or b""
    before, mark, rest = printed.partition(_BEGUN)
    if before or not mark:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise OSError(last[:300] or ("no answer" if code is None else f"exit code {code}"))
    return code, rest


def main() -> None:
    """The child that was started: what to do comes pickled from its parent."""
    available("h5py")  # takes memory, so it is there before the limits
    perform(*pickle.load(sys.stdin.buffer))
    os._exit(0)


def perform(work: Callable[[], object], seconds: float, memory: int) -> None:
    """Runs `work` with so many seconds of a processor and `memory` bytes beyond what this process
    has, without core files, on systems that have such limits. Errors of `work` are left out."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))
    with suppress(Exception):
        work()


# ---- rehearsals

#: Seconds of a processor for one file, and more for each megabyte.
_SECONDS, _SECONDS_PER_MB = 20.0, 0.2
#: Bytes beyond those of the process, and more for each byte of the file.
_MEMORY, _MEMORY_RATIO = 4 << 30, 1000

#: Files that were read to the end: their path, length and time of change.
_read_before: set[tuple[str, int, int]] = set()


def rehearse(path: Path, work: Callable[[], object]) -> None:
    """Runs `work`, which reads the file `path`, in another process, and forgets what it gives.

    Once for each file; Linux forks, elsewhere a Python is started, to which `work` is pickled.

    Raises :class:`DataError` where that process does not come to its end.
    """
    state = path.stat()
    key = (str(path.resolve()), state.st_size, state.st_mtime_ns)
    if key in _read_before:
        return
    seconds = _SECONDS + _SECONDS_PER_MB * state.st_size / (1 << 20)
    run = _fork if sys.platform == "linux" else run_apart
    try:
        code, _ = run(work, seconds, _MEMORY + _MEMORY_RATIO * state.st_size)
    except (OSError, pickle.PicklingError, AttributeError, TypeError):
        code = 0  # no process can be started: the file is read without
    if code != 0:
        # Its seconds on the clock, or of a processor, are over.
        is_late = code is None or (sys.platform != "win32" and code == -signal.SIGXCPU)
        what = "does not come to an end with" if is_late else "crashes on"
        raise DataError(
            f"{path}: the HDF5 file is damaged (the HDF5 library {what} it); copy it once more"
        )
    _read_before.add(key)


def _fork(work: Callable[[], object], seconds: float, memory: int) -> tuple[int | None, bytes]:
    """As :func:`run_apart`, of a copy of this process, which prints nothing."""
    ended, tells = os.pipe()
    try:
        with warnings.catch_warnings(), _lock():
            # Of threads at a fork: the child only reads a file, and is given up if it waits.
            warnings.simplefilter("ignore")
            child = os.fork()
    except OSError:
        os.close(ended)
        os.close(tells)
        raise
    if not child:
        code = 1
        try:
            faulthandler.disable()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
            perform(work, seconds, memory)
            code = 0
        finally:
            os._exit(code)
    os.close(tells)
    in_time = False
    try:
        in_time = bool(select.select([ended], [], [], PATIENCE * seconds)[0])  # the child is gone
    finally:
        if not in_time:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        os.close(ended)
    return os.waitstatus_to_exitcode(status) if in_time else None, b""


def _lock() -> AbstractContextManager[object]:
    """The lock of h5py: a child that is forked while another thread has it would wait for ever."""
    try:
        return cast(AbstractContextManager[object], import_module("h5py._objects").phil)
    except (ImportError, AttributeError):
        return nullcontext()
