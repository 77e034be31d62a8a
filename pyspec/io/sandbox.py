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
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from pyspec.errors import DataError

#: Wall clock that such a process gets, times its seconds of a processor: other work may have most
#: of the processors. What waits for ever ends here, what computes for ever at its limit.
PATIENCE = 10


#: What the child runs. Isolated (-I) and without site (-S), it has the standard library alone.
#: That stays first: no file of the working folder, or beside the script, stands for its modules.
#: Other modules come from where this process has them. The child says when it has begun.
_CODE = """
import sys
sys.path += {places!r}
from {module} import main
sys.stdout.buffer.write({begun!r})
sys.stdout.buffer.flush()
main()
"""
_BEGUN = b"pyspec began\n"


@dataclass(frozen=True)
class Ended:
    """How such a process ended: exit code, None where its time was over, and what it printed."""

    code: int | None
    printed: bytes


def run_apart(module: str, stdin: bytes, seconds: float) -> Ended:
    """Runs ``main()`` of a module in a Python of its own, which takes no module from the working
    folder: `stdin` is its standard input. It is to take `seconds` of a processor.

    Raises :class:`OSError` where the process did not come so far as to call ``main()``.
    """
    code = _CODE.format(places=_places(), module=module, begun=_BEGUN)
    if not sys.executable:
        raise OSError("this Python does not know its own path, sys.executable")
    ended: int | None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code],
            input=stdin,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            timeout=PATIENCE * seconds,
            check=False,
        )
        ended, printed, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        ended, printed, errors = None, error.stdout or b"", error.stderr or b""
    begun, mark, rest = printed.partition(_BEGUN)
    if begun or not mark:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise OSError(last[:300] or ("no answer" if ended is None else f"exit code {ended}"))
    return Ended(ended, rest)


def _places() -> list[str]:
    """Where this process has its modules from, the folder of this package last; without the working
    folder and the folder of the script."""
    left_out = {"", os.getcwd(), os.path.dirname(os.path.realpath(sys.argv[0]))}
    folders = [folder for folder in sys.path if folder not in left_out]
    return [*folders, str(Path(__file__).resolve().parents[2])]


def limit_process(memory: int, seconds: int) -> None:
    """Limits this process to `memory` bytes beyond what it has and to `seconds` of a processor,
    and switches core files off, on systems that have such limits."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))


# ---- rehearsals

#: Seconds of a processor for one file, and more for each megabyte.
_SECONDS, _SECONDS_PER_MB = 20.0, 0.2
#: Bytes beyond those of the process, and more for each byte of the file.
_MEMORY, _MEMORY_RATIO = 4 << 30, 1000

#: What the library does with a file, in words.
_CRASHES, _LATE = "crashes on", "does not come to an end with"

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
    memory = _MEMORY + _MEMORY_RATIO * state.st_size
    run = _fork if sys.platform == "linux" else _start
    status = run(work, seconds, memory)
    if status:
        raise DataError(
            f"{path}: the HDF5 file is damaged (the HDF5 library {status} it); copy it once more"
        )
    _read_before.add(key)


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
