"""Commands that pyspec suggests can be pasted into a shell, whatever files are called."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.shell import word


@pytest.mark.parametrize("name", ["my scan (1)", "it's 50 % $HOME"])
def test_what_new_suggests_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Explanations stood behind "#", which zsh takes for arguments."""
    monkeypatch.chdir(tmp_path)
    energy = np.linspace(80, 90, 81)
    data = 10 + 20 * np.exp(-(((energy - 84) / 0.7) ** 2) / 2)
    noise = np.random.default_rng(0).normal(0, 0.3, 81)
    np.savetxt(f"{name}.csv", np.column_stack([energy, data + noise]), delimiter=",")
    assert main(["new", name, f"{name}.csv"]) == 0
    shown = capsys.readouterr().out.splitlines()
    commands = [line.strip() for line in shown if line.startswith("  pyspec ")]
    assert len(commands) == 3
    for command in commands:
        words = [w.strip('"') for w in shlex.split(command, posix=os.name != "nt")]
        assert words[0] == "pyspec"
        assert "#" not in command
        assert any(os.path.exists(word) for word in words[1:]), words


def test_a_word_of_windows() -> None:
    """Single quotes stood around a path with backslashes; the command prompt takes them for
    letters of the name."""
    assert word(r"first\job.yaml", windows=True) == r"first\job.yaml"
    assert word(r"C:\my scans\ä.csv", windows=True) == r'"C:\my scans\ä.csv"'
    assert word("energy=80,90", windows=True) == '"energy=80,90"'
    assert word("it's", windows=True) == '"it\'s"'
