"""Names and texts of files: files stay in their folder, and every error is one of pyspec's."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from support.fit_cases import ENERGY, START, STATIC, data_1d

from pyspec import DataError, File, Project, PyspecError, load_fits
from pyspec.errors import MAX_MESSAGE, cut
from pyspec.io import atomic, load_archive, replacing, save_archive, write_text
from pyspec.io.atomic import file_name, plain_path, windows_refuses
from pyspec.model import load_model

ODD = [
    "../outside",
    "/outside",
    pytest.param(
        "a\x00b",
        marks=pytest.mark.skipif(
            sys.version_info < (3, 11), reason="csv writes no NUL before 3.11"
        ),
    ),
    "µ" * 300,
    "a\nb",
]


@pytest.mark.parametrize("name", ODD)
def test_what_a_file_writes_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    """File(name="../outside") wrote outside of its folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "models.yaml").write_text(STATIC.format(**START))
    file = File(Project(folder, show_output=False), data=data_1d(), energy=ENERGY, name=name)
    file.load_model("models.yaml", "spectrum")
    file.fit_spectrum("spectrum")
    exported = file.export_fit(pictures=False)
    assert exported.resolve().is_relative_to(folder / "fit_results" / "my_project" / "files")
    if "\x00" in name:
        with pytest.raises(DataError, match=r"file_name: the text 'a\\x00b' holds a character"):
            file.save_fit()
        return
    path = file.save_fit()
    assert path.parent == folder
    assert load_fits(path)[0].file_name == name
    assert sorted(os.listdir(tmp_path)) == ["project"]
    assert len(os.listdir(folder)) == 3


def test_file_names() -> None:
    assert file_name("scan 7_fits.h5") == "scan 7_fits.h5"
    assert file_name("../a:b_fits.h5") == "___a_b_fits.h5"
    for text in ("µ" * 400 + ".h5", "x" * 256 + ".csv", "😀" * 100):
        name = file_name(text)
        assert len(name.encode()) <= 255
        assert name.endswith(Path(text).suffix)
    assert file_name("a" * 300) != file_name("a" * 301)
    for text in ("con", "Nul.csv", "a.", "a ", "a/b?c|d"):
        assert windows_refuses(file_name(text)) == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a\x00.h5", "null byte"),
        ("\ud800.h5", "surrogates not allowed"),
        ("x" * 256, "name too long; choose another"),
        ("~nobody_of_that_name/a.h5", "home directory"),
        (7, "7 is no path; give the path of a file"),
        (None, "None is no path"),
    ],
)
def test_paths_that_cannot_be(path: object, said: str) -> None:
    calls = (
        lambda: plain_path(path),
        lambda: save_archive(path, {}),  # type: ignore[arg-type]
        lambda: load_archive(path),  # type: ignore[arg-type]
        lambda: load_fits(path),  # type: ignore[arg-type]
        lambda: write_text(path, ""),  # type: ignore[arg-type]
    )
    for call in calls:
        with pytest.raises(DataError, match=said):
            call()


def test_the_longest_name_can_be_saved(tmp_path: Path) -> None:
    """Its temporary file had a name that was too long."""
    path = tmp_path / ("x" * 252 + ".h5")
    save_archive(path, {"n": 1})
    assert load_archive(path)[0] == [{"n": 1}]


def test_no_error_echoes_more_than_2_kb(tmp_path: Path) -> None:
    long = "x" * 100_000
    for call in (
        lambda: load_archive(long),
        lambda: load_fits(tmp_path, model=long),
        lambda: load_model("m:\n  Gauss:\n    A: 1\n", long),
        lambda: save_archive(tmp_path / "a.h5", {}, mode=long),
    ):
        with pytest.raises(PyspecError) as caught:
            call()
        assert len(str(caught.value)) <= MAX_MESSAGE
    assert cut("a" * 5000).endswith("a" * 100)
    assert "(3334 characters left out)" in cut("a" * 5000)


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
