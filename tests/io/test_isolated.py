"""The process that reads what may be damaged runs no file of the working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import load_archive, sandbox, save_archive
from pyspec.io.archive.salvage import salvage_report

#: Modules of the standard library and others that the child imports.
NAMES = ["signal", "random", "json", "subprocess", "types", "numpy", "h5py", "sitecustomize"]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "fits.h5"
    save_archive(path, [{"number": 1.0}, {"number": 2.0}])
    return path


def plant(folder: Path, name: str) -> Path:
    """A module that leaves a trace where it is run, and is no module of that name."""
    trace = folder / f"{name}_was_run"
    (folder / f"{name}.py").write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit(0)\n")
    return trace


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_working_folder_is_not_run(
    archive: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """signal.py there was run; random.py there made a whole archive look empty."""
    folder = tmp_path / "work"
    folder.mkdir()
    trace = plant(folder, name)
    monkeypatch.chdir(folder)
    for path in (["", *sys.path], [str(folder), *sys.path]):
        monkeypatch.setattr(sys, "path", path)
        report = salvage_report(archive)
        assert len(report.whole) == 2
        assert not trace.exists()


@pytest.mark.slow
def test_nor_is_one_beside_the_script(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    traces = [plant(folder, name) for name in ("signal", "random")]
    script = folder / "look.py"
    script.write_text(
        "import sys\nown = sys.path.pop(0)\n"
        "from pyspec.io.archive.salvage import salvage_report\n"
        "import pathlib\nsys.path.insert(0, own)\n"
        f"print(len(salvage_report(pathlib.Path({str(archive)!r})).whole))\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": root, "PATH": ""}, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert done.stdout == "2\n"
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
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox, "_BEGUN", b"another sign\n")
    with pytest.raises(OSError, match="No module named"):
        sandbox.run_apart("pyspec.io.no_such_module", b"", 5.0)


def test_data_of_hdf5_are_read_beside_such_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where processes are started, not forked, as on macOS and Windows."""
    from pyspec.io import read, sandbox

    monkeypatch.setattr(sandbox, "_fork", sandbox._start)
    monkeypatch.setattr(sandbox, "_read_before", set())
    monkeypatch.chdir(tmp_path)
    trace = plant(tmp_path, "signal")
    with h5py.File("a.h5", "w") as file:
        file["energy"], file["data"] = np.arange(5.0), np.ones(5)
    assert read("a.h5").data.tolist() == [1.0] * 5
    assert not trace.exists()
