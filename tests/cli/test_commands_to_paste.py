"""Commands that pyspec suggests can be pasted into a shell, whatever files are called."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.shell import word

ENERGY = np.linspace(80.0, 90.0, 81)


@pytest.mark.parametrize("name", ["my scan (1)", "it's 50 % $HOME"])
def test_what_new_suggests_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Explanations stood behind "#", which zsh takes for arguments."""
    monkeypatch.chdir(tmp_path)
    data = 10 + 20 * np.exp(-(((ENERGY - 84) / 0.7) ** 2) / 2)
    noise = np.random.default_rng(0).normal(0, 0.3, 81)
    np.savetxt(f"{name}.csv", np.column_stack([ENERGY, data + noise]), delimiter=",")
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


NAMES = [
    b"two\nlines.csv", b"carriage\rreturn.csv", b"latin\xff\xe9.csv", b"escape\x1b[31m.csv",
    "separator\u2028.csv".encode(), "next\x85line.csv".encode(), b"colon: #hash.csv",
]  # fmt: skip


@pytest.mark.usefixtures("numbers_alone")
@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
@pytest.mark.parametrize("name", NAMES)
def test_a_job_for_any_name(
    name: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newline ended the comment of models.yaml; bytes that are no UTF-8 were a traceback."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{x:.3f},{3 + 20 * np.exp(-(((x - 85) / 0.7) ** 2)):.4f}\n" for x in ENERGY]
    try:
        with open(name, "w") as file:
            file.write("energy,counts\n" + "".join(rows))
    except OSError:
        pytest.skip("the file system has no such names")
    for command in (["new", "job", os.fsdecode(name)], ["fit", "job/job.yaml"]):
        assert main([*command, "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
    assert facts["results"][-1]["success"]
    assert {"fits.h5", "parameters.json", "parameters.csv"} <= {*facts["written"]}
    json.loads(Path("job/results/parameters.json").read_text(encoding="utf-8"))
