"""Files that other programs hold or threads write at once, and names that Windows refuses."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from pyspec.errors import DataError
from pyspec.io import atomic, replacing, write_text
from pyspec.io.atomic import file_name, windows_refuses


def test_a_file_that_is_held_for_a_moment_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virus scanner that looked at a file made saving it fail on Windows."""
    rename, tries = Path.replace, []

    def refuse(self: Path, target: Path) -> Path:
        tries.append(self)
        if len(tries) < 3:
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert len(tries) == 3


def test_a_file_that_stays_held_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(atomic, "_PATIENCE", 0.0)
    said = r"a\.txt: cannot be replaced \(Permission denied\); close it in other programs"
    with pytest.raises(DataError, match=said):
        write_text(tmp_path / "a.txt", "new")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_temporary_file_that_is_held_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be removed hid why the file could not be written."""

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a.txt") as part:
        part.write_text(str(1 // 0))


def test_temporary_names_are_of_one_thread(tmp_path: Path) -> None:
    """Two threads wrote into the same temporary file: a mixture, or an error at the end."""
    path, together = tmp_path / "a.txt", Barrier(4)

    def write(k: int) -> Path:
        with replacing(path) as part:
            together.wait(timeout=20)
            part.write_text(str(k) * 1000)
            together.wait(timeout=20)
        return part

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(write, range(4)))
    assert len(set(parts)) == 4
    assert path.read_text() in {str(k) * 1000 for k in range(4)}
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("con", "is that of a device of Windows"),
        ("AUX.csv", "is that of a device of Windows"),
        ("lpt1.tar.gz", "is that of a device of Windows"),
        ("a:b.csv", "has the character ':', which Windows does not allow"),
        ("what?", "has the character '?', which Windows does not allow"),
        ("scan ", "ends with a space or a dot, which Windows leaves out"),
        ("scan.", "ends with a space or a dot, which Windows leaves out"),
        ("console.csv", ""),
        ("com10.csv", ""),
        ("..", ""),
        ("Größe 7.csv", ""),
    ],
)
def test_names_that_windows_does_not_take(name: str, why: str) -> None:
    assert windows_refuses(name) == why


@pytest.mark.parametrize("text", ["con", "Nul.csv", "lpt9.h5", "a.", "a ", "a/b?c|d", ".hidden"])
def test_names_that_pyspec_makes_hold_on_every_system(text: str) -> None:
    assert windows_refuses(file_name(text)) == ""
