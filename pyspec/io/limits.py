"""Limits of a process that reads what may be damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

#: Wall clock that such a process gets, times its seconds of a processor: other work may have most
#: of the processors. What waits for ever ends here, what computes for ever at its limit.
PATIENCE = 10


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
