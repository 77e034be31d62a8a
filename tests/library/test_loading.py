"""Finding and refusing libraries: missing, stale, foreign, of another ABI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.kernel_calls import call_function

from pyspec._library import LIBRARY, library_path, load, load_library, raise_status
from pyspec.errors import LibraryError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what an editable install consists of; the path of its library."""
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    shutil.copy(ROOT / "setup.py", tmp_path)
    library = tmp_path / "pyspec" / "_library" / library_path().name
    library.parent.mkdir(parents=True)
    shutil.copy(library_path(), library)
    return library


def test_the_installed_library_is_of_these_sources() -> None:
    assert LIBRARY.pyspec_fingerprint().decode() == load.source_fingerprint(ROOT / "csrc")


def test_a_library_older_than_its_sources_is_refused(tree: Path) -> None:
    with (tree.parents[2] / "csrc" / "kernels" / "time.c").open("a") as file:
        file.write("/* edited */\n")
    with pytest.raises(LibraryError, match=r"other sources than .*pip install -e"):
        load_library(tree)


def test_a_missing_library_says_how_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load.resources, "files", lambda package: tmp_path)
    with pytest.raises(LibraryError, match=r"missing; run 'pip install"):
        library_path()


def test_a_path_that_is_no_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"cannot load .*pip install"):
        load_library(tmp_path / "a" / "b" / "none.so")
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(LibraryError, match=r"cannot load .*text\.so"):
        load_library(text)


def test_another_abi_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "ABI", load.ABI + 1)
    with pytest.raises(LibraryError, match=rf"has ABI {load.ABI - 1}, .* needs {load.ABI}; run"):
        load_library(tree)


def test_a_library_without_an_entry_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load.SIGNATURES, "pyspec_of_tomorrow", (None, []))
    with pytest.raises(LibraryError, match=r"pyspec_of_tomorrow.*pip install"):
        load_library(tree)


def test_a_status_is_raised_with_its_message() -> None:
    raise_status(0)
    with pytest.raises(LibraryError, match=r"^here: the work memory is too small \(WORK\)$"):
        raise_status(15, "here")
    with pytest.raises(LibraryError, match="status 999"):
        raise_status(999)


def test_a_call_with_wrong_shapes_names_the_function() -> None:
    with pytest.raises(LibraryError, match=r"Gauss: params must have shape \(3, n_rows\)"):
        call_function("Gauss", [0.0], [[1.0], [2.0]])
    with pytest.raises(LibraryError, match=r"Shirley: spectrum must have shape \(1, 2\)"):
        call_function("Shirley", [0.0, 1.0], [[1.0]], spectrum=[[1.0, 2.0, 3.0]])
