"""Files that are there as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspec.errors import DataError, shortened

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

#: The longest name of a file on the file systems in use, in bytes.
_NAME_BYTES = 255


def plain_path(path: object) -> Path:
    """A path that the file system can have, "~" resolved.

    Raises :class:`DataError` for what is no path, for NUL, characters that no file name can hold,
    and names of more than 255 bytes.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DataError(f"{shortened(path)} is no path; give the path of a file")
    shown = shortened(os.fspath(path))
    try:
        found = Path(path).expanduser()
        sizes = [len(os.fsencode(part)) for part in found.parts]
    except UnicodeEncodeError:
        raise DataError(
            f"the path {shown} has a character that no file name can hold; choose another"
        ) from None
    except RuntimeError as error:
        raise DataError(f"the path {shown}: {error}; give the folder in full") from None
    if "\x00" in str(found):
        raise DataError(f"the path {shown} has a NUL character; choose another")
    if max(sizes, default=0) > _NAME_BYTES:
        raise DataError(
            f"the path {shown} has a name of {max(sizes)} bytes; a file name has at most "
            f"{_NAME_BYTES}; choose a shorter one"
        )
    return found


def file_name(text: str) -> str:
    """A text as the name of a file in one folder: without separators and characters that cannot
    be in it, and short enough."""
    name = re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f\ud800-\udfff]', "_", text)
    name = re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), name)
    data = name.encode()
    if len(data) <= _NAME_BYTES:
        return name
    suffix = Path(name).suffix.encode()[:16]
    mark = f"-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:8]}".encode()
    kept = data[: _NAME_BYTES - len(mark) - len(suffix)]
    return (kept.decode(errors="ignore").encode() + mark + suffix).decode()


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`; what is written there takes its place at the end.

    The file is synced before it is renamed. On an error it is removed, and what stood at `path`
    stays. Files that a killed process left are removed by the next one on the same machine.

    Raises :class:`DataError` where the folder is missing or cannot be written to.
    """
    target = plain_path(path).resolve()
    _check_target(target)
    _remove_stale(target)
    part = target.with_name(f"{_prefix(target)}{os.getpid()}.part")
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
    folder = plain_path(path).resolve().parent
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


def _prefix(target: Path) -> str:
    """How temporary files of `target` begin: with as much of its name as there is room for."""
    host = _host()[:40]
    room = _NAME_BYTES - len(host) - len(".-0123456789.part")
    name = os.fsencode(target.name)
    if len(name) > room:
        short = hashlib.sha256(name).hexdigest()[:16]
        return f".{short}.{host}-"
    return f".{target.name}.{host}-"


def _remove_stale(target: Path) -> None:
    prefix = _prefix(target)
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
