"""What may be damaged is read in another process first, which runs no file of its folder."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from support.files.samples import SAMPLES

from pyspec.errors import DataError
from pyspec.io import load_archive, read, sandbox, save_archive
from pyspec.io.archive.salvage import salvage_report

FORKS = hasattr(os, "fork")
#: How the process is made: forked, or started.
WAYS = ["_fork", "run_apart"] if FORKS else ["run_apart"]
#: The same, where one of both tells enough: what the child does is the same.
FORKED = [*WAYS[:1], *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS[1:])]

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
    with pytest.raises(DataError, match=r"a\.h5: .*crashes on it.*copy it once more"):
        sandbox.rehearse(file, partial(signal.raise_signal, signal.SIGSEGV))
    assert str(file.resolve()) not in {path for path, *_ in sandbox._read_before}


@pytest.mark.slow
@short_limits
@pytest.mark.usefixtures("_way")
def test_a_hang_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_SECONDS", 0.3)
    with pytest.raises(DataError, match="does not come to an end"):
        sandbox.rehearse(file, partial(time.sleep, 3600))


@short_limits
@pytest.mark.parametrize("_way", FORKED, indirect=True)
@pytest.mark.usefixtures("_way")
def test_work_without_end_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its seconds of a processor end it, long before those on the clock."""
    monkeypatch.setattr(sandbox, "_SECONDS", 0.3)
    monkeypatch.setattr(sandbox, "PATIENCE", 1000)
    with pytest.raises(DataError, match="does not come to an end"):
        sandbox.rehearse(file, partial(re.match, "(a+)+$", "a" * 60 + "b"))  # 2^60 ways


@pytest.mark.parametrize("_way", FORKED, indirect=True)
@pytest.mark.usefixtures("_way")
def test_an_error_is_raised_where_it_is_seen(file: Path) -> None:
    sandbox.rehearse(file, partial(int, "no number"))
    assert str(file.resolve()) in {path for path, *_ in sandbox._read_before}


@needs_fork
def test_a_file_is_rehearsed_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def count(*given: Any) -> tuple[int, bytes]:
        made.append(1)
        return 0, b""

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


#: Modules of the standard library and others that the child imports.
NAMES = ["signal", "random", "json", "subprocess", "types", "numpy", "h5py", "sitecustomize"]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "fits.h5"
    save_archive(path, [{"number": 1.0}, {"number": 2.0}])
    return path


def plant(folder: Path, name: str) -> Path:
    """A module of this name that leaves a trace where it is run."""
    trace = folder / f"{name}_was_run"
    (folder / f"{name}.py").write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit(0)\n")
    return trace


def test_a_file_of_the_working_folder_is_not_run(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """signal.py there was run; random.py there made a whole archive look empty."""
    folder = tmp_path / "work"
    folder.mkdir()
    traces = [plant(folder, name) for name in NAMES]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", ["", str(folder), *sys.path])
    assert len(salvage_report(archive).whole) == 2
    assert not any(trace.exists() for trace in traces)


@pytest.mark.parametrize("kind", ["silent", "missing", "no python"])
def test_a_child_that_does_not_start_is_no_empty_archive(
    archive: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that ended before it read anything was an archive in which nothing can be read."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho 'cannot load libpython' >&2\nexit 1\n")
    script.chmod(0o755)
    python = {"silent": str(script), "missing": str(tmp_path / "none"), "no python": ""}[kind]
    monkeypatch.setattr(sys, "executable", python)
    why = {"silent": "cannot load libpython", "missing": "Errno 2", "no python": "sys.exec"}
    if os.name == "nt":  # a script is no program there
        why |= {"silent": "WinError 193", "missing": "WinError 2"}
    with pytest.raises(DataError, match=f"Python process of its own .*cannot be .*{why[kind]}"):
        salvage_report(archive)
    raw = bytearray(archive.read_bytes())
    raw[-9] ^= 255
    archive.write_bytes(raw)
    with pytest.raises(DataError, match=why[kind]):
        load_archive(archive, skip=True)


def test_what_the_child_prints_before_it_begins_is_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = "raise SystemExit('no such module')\n"
    monkeypatch.setattr(sandbox, "_CODE", f"print('another sign', flush=True)\n{code}")
    with pytest.raises(OSError, match="no such module"):
        sandbox.run_apart(partial(int, "1"), 5.0, 1 << 30)


def test_data_of_hdf5_are_read_beside_such_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where processes are started, not forked, as on macOS and Windows."""
    monkeypatch.setattr(sandbox, "_fork", sandbox.run_apart)
    monkeypatch.setattr(sandbox, "_read_before", set())
    monkeypatch.chdir(tmp_path)
    trace = plant(tmp_path, "signal")
    with h5py.File("a.h5", "w") as file:
        file["energy"], file["data"] = np.arange(5.0), np.ones(5)
    assert read("a.h5").data.tolist() == [1.0] * 5
    assert not trace.exists()
