"""Files that are there as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspec.errors import DataError, shortened

if sys.platform == "win32":
    import _winapi
else:
    import fcntl

#: The longest name of a file on the file systems in use, in bytes; on Windows in letters.
_NAME_BYTES = 255

#: Names that Windows gives to devices, with any ending.
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9\u00b9\u00b2\u00b3])\s*(\..*)?", re.I
)

#: OPEN_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE; ERROR_SHARING_VIOLATION, the answer where another has it.
_OPEN_ALWAYS, _DELETE_ON_CLOSE, _IN_USE = 4, 0x04000000, 32

#: For so many seconds a file is tried again that another program holds, as virus scanners do.
_PATIENCE = 1.0

#: A temporary file that nobody wrote to for so many seconds was left by a process that was killed.
_LEFT = 86400.0


def plain_path(path: object) -> Path:
    """A path that the file system can have, "~" resolved.

    Raises :class:`DataError` for other types, for characters that no file name can hold, for names
    that are too long, and on Windows for names that it refuses.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DataError(f"{shortened(path)} is no path; give the path of a file")
    shown = shortened(os.fspath(path))
    try:
        expanded = Path(path).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            os.lstat(expanded)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"the path {shown} cannot be: {reason}; choose another") from None
    if sys.platform == "win32":
        for name in expanded.parts[bool(expanded.anchor) :]:
            if reason := windows_refuses(name):
                raise DataError(f"the path {shown}: the name {name!r} {reason}; choose another")
    return expanded


def windows_refuses(name: str) -> str:
    """Why Windows takes no file of that name; "" if it does."""
    if _DEVICES.fullmatch(name):
        return "is that of a device of Windows"
    if wrong := re.search(r'[<>:"|?*\x01-\x1f]', name):
        return f"has the character {wrong[0]!r}, which Windows does not allow"
    if name.strip(".") and name[-1] in " .":
        return "ends with a space or a dot, which Windows leaves out"
    return ""


def file_name(text: str) -> str:
    """A text as the name of a file in one folder: without separators and characters that cannot
    be in it, and short enough, on any system."""
    name = re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f\ud800-\udfff]', "_", text)
    name = re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), name)
    name = re.sub(r"[. ]$", "_", name)
    if _DEVICES.fullmatch(name):
        name = f"_{name}"
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
    stays. A file that a killed process left is removed by the next one, a day later.

    Raises :class:`DataError` where the folder is missing or cannot be written to, or another
    program holds the file for longer than a second.
    """
    target = plain_path(path).resolve()
    if target.is_dir():
        raise DataError(f"{target}: is a folder; give the path of a file")
    if not target.parent.is_dir():
        raise DataError(f"{target}: the folder {str(target.parent)!r} is missing; create it first")
    prefix = _prefix(target)
    for left in target.parent.iterdir():
        if left.name.startswith(prefix) and left.name.endswith(".part"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _LEFT:
                    left.unlink()
    part = target.with_name(f"{prefix}{os.getpid()}-{threading.get_native_id()}.part")
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        _rename(part, target)
        _sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{target}: cannot be written ({reason}); choose another place") from error
    finally:
        with suppress(PermissionError):  # another program holds it
            part.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Writes a text file (UTF-8, "\\n") as a whole or not at all. What no UTF-8 can be, such as
    bytes in the name of a file, is an escape."""
    with replacing(path) as part:
        part.write_bytes(text.encode(errors="backslashreplace"))


@contextmanager
def folder_lock(path: str | Path) -> Iterator[None]:
    """Waits until no other process or thread changes files in the folder of `path`. The lock ends
    with the process, however that ends. Where the file system has no locks, it does not wait."""
    folder = plain_path(path).resolve().parent
    if not folder.is_dir():
        yield
        return
    if sys.platform == "win32":
        alone = _open_alone(folder / f".{_host()}.pyspec-lock")
        try:
            yield
        finally:
            _winapi.CloseHandle(alone)
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":

    def _open_alone(path: Path) -> int:
        """Opens a file that nobody else can open, and that goes when it is closed, also by the end
        of the process: Windows cannot lock a folder. Waits for whoever has it. While Windows
        removes it, access is denied for a moment; after a second of that it is an error."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return _winapi.CreateFile(
                    str(path), _winapi.GENERIC_WRITE, 0, 0, _OPEN_ALWAYS, _DELETE_ON_CLOSE, 0
                )
            except OSError as error:
                if error.winerror == _IN_USE:
                    end = time.monotonic() + _PATIENCE
                elif time.monotonic() > end:
                    raise DataError(
                        f"{path.parent}: cannot be written to ({error.strerror}); choose another "
                        "place"
                    ) from error
            time.sleep(0.01)


def _host() -> str:
    """This machine, as part of a name: processes of others may have the same numbers."""
    return re.sub(r"[^\w]", "_", socket.gethostname())[:40]


def _prefix(target: Path) -> str:
    """How temporary files of `target` on this machine begin: with its name, if there is room."""
    host, name = _host(), os.fsencode(target.name)
    room = _NAME_BYTES - len(host) - len(".-0123456789-0123456789.part")
    short = hashlib.sha256(name).hexdigest()[:16]
    return f".{target.name if len(name) <= room else short}.{host}-"


def _rename(part: Path, target: Path) -> None:
    """Windows refuses while another program has one of the two open; most end soon."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            part.replace(target)
            return
        except PermissionError as error:
            if time.monotonic() > end:
                raise DataError(
                    f"{target}: cannot be replaced ({error.strerror}); close it in other programs, "
                    "or choose another place"
                ) from error
        time.sleep(0.02)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
