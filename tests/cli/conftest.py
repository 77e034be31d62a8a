"""A job that `pyspec new` wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspec.cli import main


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["new", str(tmp_path / "n")]) == 0
    capsys.readouterr()
    return tmp_path / "n"
