"""Processes of their own that read what may be damaged, and their limits."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

#: Wall clock that such a process gets, times its seconds of a processor: other work may have most
#: of the processors. What waits for ever ends here, what computes for ever at its limit.
PATIENCE = 10


def run_apart(module: str, given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Runs ``main()`` of a module in a Python of its own: `given` is its standard input, what it
    prints is kept. It is to take `seconds` of a processor. Raises as :func:`subprocess.run`."""
    places = os.pathsep.join(one for one in sys.path if one)
    return subprocess.run(
        [sys.executable, "-c", f"from {module} import main; main()"],
        input=given,
        env={**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE * seconds,
        check=False,
    )


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
