"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspec.errors import DataError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`; what is written there takes its place at the end.

    The file is synced before it is renamed. On an error it is removed, and what stood at `path`
    stays. Files that a killed process left are removed by the next one on the same machine.

    Raises :class:`DataError` where the folder is missing or cannot be written to.
    """
    target = Path(path).expanduser().resolve()
    _check_target(target)
    _remove_stale(target)
    part = target.with_name(f".{target.name}.{_host()}-{os.getpid()}.part")
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{target}: cannot be written ({reason}); choose another place") from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Writes a text file (UTF-8, "\\n") as a whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def folder_lock(path: str | Path) -> Iterator[None]:
    """Waits until no other process changes files in the folder of `path`. It ends with the
    process, however that ends; where the system has no such locks, nothing is waited for."""
    folder = Path(path).expanduser().resolve().parent
    if fcntl is None or not folder.is_dir():
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _check_target(target: Path) -> None:
    if target.is_dir():
        raise DataError(f"{target}: is a folder; give the path of a file")
    if not target.parent.is_dir():
        raise DataError(f"{target}: the folder {str(target.parent)!r} is missing; create it first")


def _host() -> str:
    return re.sub(r"[^\w]", "_", socket.gethostname())


def _remove_stale(target: Path) -> None:
    prefix = f".{target.name}.{_host()}-"
    for part in target.parent.iterdir():
        if not (part.name.startswith(prefix) and part.name.endswith(".part")):
            continue
        owner = part.name[len(prefix) : -len(".part")]
        if owner.isdigit() and int(owner) != os.getpid() and not _alive(int(owner)):
            part.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
