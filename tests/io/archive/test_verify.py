"""What `pyspec verify` says of an archive, word by word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyspec.io.archive.verify
from pyspec.errors import DataError
from pyspec.io import digest, save_archive, verify_archive
from pyspec.io.archive import header
from pyspec.io.archive.salvage import Report
from pyspec.io.archive.verify import Verification

DATA = np.arange(3.0)
WHOLE = ("fits/0001", "fits/0002", f"arrays/{digest(DATA)}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_archive(tmp_path / "a.h5", [{"a": 1.0}, {"a": 2.0}], arrays={digest(DATA): DATA})
    return tmp_path / "a.h5"


def test_a_whole_archive(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process has to look."""
    monkeypatch.setattr(pyspec.io.archive.verify, "salvage_report", None)
    assert verify_archive(path) == Verification(path, 4, "", WHOLE, {})
    text = f"{path}: whole (version 4): every byte is as it was written; 2 fits, 1 arrays"
    assert str(verify_archive(path)) == text


def test_a_damaged_archive(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process of its own found is told on."""
    report = Report(WHOLE[1:], {"fits/0001": "its sha256 differs"})
    monkeypatch.setattr(pyspec.io.archive.verify, "salvage_report", lambda _: report)
    os.truncate(path, path.stat().st_size - 1)
    found = verify_archive(path)
    assert (found.version, found.whole, found.damaged) == (4, WHOLE[1:], report.damaged)
    assert found.trouble.startswith("the file is cut off: ")
    assert str(found).splitlines() == [
        f"{path}: DAMAGED (version 4): {found.trouble}",
        "  fits/0001: its sha256 differs",
        "  whole: 1 fits, 1 arrays",
        f"  {header.REMEDY}",
    ]


@pytest.mark.parametrize("is_cut", [False, True])
def test_nothing_can_be_read(path: Path, monkeypatch: pytest.MonkeyPatch, is_cut: bool) -> None:
    def nothing(_: Path) -> Any:
        raise header.DamageError("nothing in it can be read", path)

    monkeypatch.setattr(pyspec.io.archive.verify, "salvage_report", nothing)
    if is_cut:
        os.truncate(path, path.stat().st_size - 1)
    else:
        path.write_bytes(bytes(20) + path.read_bytes()[20:])
    found = verify_archive(path)
    assert (found.version, found.whole, found.damaged, found.intact) == (None, (), {}, False)
    assert found.trouble.startswith("the file is cut off" if is_cut else "the header (the fir")
    assert str(found).startswith(f"{path}: DAMAGED (version unknown): {found.trouble}\n  whole: 0 ")


def test_words_of_other_findings() -> None:
    path = Path("a.h5")
    lost = Verification(path, 4, "", (), {"arrays": "1 of 2 are missing"})
    assert not lost.intact
    assert str(lost).splitlines()[0] == "a.h5: DAMAGED (version 4): see below"
    assert not Verification(path, 4, "something", WHOLE, {}).intact


def test_what_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such archive"):
        verify_archive(tmp_path / "a.h5")
    (tmp_path / "a.h5").write_bytes(b"words")
    with pytest.raises(DataError, match="is no archive of fits"):
        verify_archive(tmp_path / "a.h5")
