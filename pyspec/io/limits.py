"""Processes of their own that read what may be damaged, and their limits."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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


def run_apart(module: str, given: bytes, seconds: float) -> Ended:
    """Runs ``main()`` of a module in a Python of its own, which takes no module from the working
    folder: `given` is its standard input. It is to take `seconds` of a processor.

    Raises :class:`OSError` where the process did not come so far as to call ``main()``.
    """
    code = _CODE.format(places=_places(), module=module, begun=_BEGUN)
    if not sys.executable:
        raise OSError("this Python does not know its own path, sys.executable")
    ended: int | None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code],
            input=given,
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
    known = [one for one in sys.path if one not in left_out]
    return [*known, str(Path(__file__).resolve().parents[2])]


def limit_process(memory: int, seconds: int) -> None:
    """Limits this process to `memory` bytes beyond what it has and to `seconds` of a processor,
    and keeps a crash from writing a core file; where the operating system has such limits."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))
