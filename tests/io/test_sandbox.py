"""Files that the HDF5 library reads are read in another process first."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.files.samples import SAMPLES

from pyspec.errors import DataError
from pyspec.io import read, sandbox

FORKS = hasattr(os, "fork")
#: How the process is made: forked, or started.
WAYS = ["_fork", "_start"] if FORKS else ["_start"]

short_limits = pytest.mark.skipif(os.name != "posix", reason="shorter than a start under Wine")
needs_fork = pytest.mark.skipif(not FORKS, reason="forks")


@pytest.fixture(params=WAYS)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if FORKS:
        monkeypatch.setattr(sys, "platform", "linux" if request.param == "_fork" else "darwin")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.h5"
    path.write_bytes(b"\x89HDF")
    return path


@pytest.mark.usefixtures("_way")
def test_a_crash_is_an_error_and_the_session_lives(file: Path) -> None:
    for number in (signal.SIGSEGV, signal.SIGABRT):
        with pytest.raises(DataError, match=r"a\.h5: .*crashes on it.*copy it once more"):
            sandbox.rehearse(file, partial(signal.raise_signal, number))
    assert str(file.resolve()) not in {path for path, *_ in sandbox._read_before}


@pytest.mark.slow
@short_limits
@pytest.mark.usefixtures("_way")
def test_a_hang_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_SECONDS", 0.3)
    monkeypatch.setattr(sandbox, "PATIENCE", 3)
    with pytest.raises(DataError, match="does not come to an end"):
        sandbox.rehearse(file, partial(time.sleep, 3600))


@short_limits
@pytest.mark.usefixtures("_way")
def test_work_without_end_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its seconds of a processor end it, long before those on the clock."""
    monkeypatch.setattr(sandbox, "_SECONDS", 0.3)
    monkeypatch.setattr(sandbox, "PATIENCE", 1000)
    with pytest.raises(DataError, match="does not come to an end"):
        sandbox.rehearse(file, partial(re.match, "(a+)+$", "a" * 60 + "b"))  # 2^60 ways


@pytest.mark.usefixtures("_way")
def test_an_error_is_raised_where_it_is_seen(file: Path) -> None:
    sandbox.rehearse(file, partial(int, "no number"))
    assert str(file.resolve()) in {path for path, *_ in sandbox._read_before}


@needs_fork
def test_a_file_is_rehearsed_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def count(*given: Any) -> str:
        made.append(1)
        return ""

    monkeypatch.setattr(sandbox, "_fork", count)
    monkeypatch.setattr(sys, "platform", "linux")
    path = SAMPLES["hdf5"][0].make(tmp_path)
    read(path)
    read(path)
    assert made == [1]
    os.utime(path, ns=(1, 1))
    read(path)
    assert made == [1, 1]


@needs_fork
def test_without_processes_files_are_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any, **more: Any) -> Any:
        raise BlockingIOError("no process is left")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(sandbox.subprocess, "run", refuse)
    for platform in ("linux", "darwin"):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(sandbox, "_read_before", set())
        path = SAMPLES["nexus"][0].make(tmp_path)
        assert read(path).data.size


def test_without_the_lock_of_h5py_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py._objects", None)  # as where h5py has none
    with sandbox._lock() as lock:
        assert lock is None


def children() -> set[str]:
    """The processes that this one has started, those of other tests among them."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {number for task in tasks for number in task.read_text().split()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_leaves_no_process_behind(file: Path) -> None:
    """Twice, for the second one shows that the first was waited for."""
    others = children()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(KeyboardInterrupt):
                sandbox._fork(partial(time.sleep, 60), 60.0, 1 << 30)
        assert children() <= others
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
