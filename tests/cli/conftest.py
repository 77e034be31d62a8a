"""A job that `pyspec new` wrote, and fits that draw nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspec.cli import main
from pyspec.cli.commands.output import Output


@pytest.fixture(autouse=True)
def _quick(quick_figures: None) -> None:
    """No command is asked how its pictures are laid out."""


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["new", str(tmp_path / "n")]) == 0
    capsys.readouterr()
    return tmp_path / "n"


@pytest.fixture
def numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pyspec fit` writes archive and tables alone: drawing takes ten times as long as the fit."""
    monkeypatch.setattr(Output, "draw", lambda *_: None)
