"""Terminals without all letters: a fit ends as anywhere, and its table is shown."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.calls import say
from pyspec.cli import main
from pyspec.cli.commands.output import Output
from pyspec.functions.energy import Gauss

MODEL = "peak:\n  Gauss:\n    A: [2, True]\n    x0: [5, True]\n    SD: [1.2, True, 0.1, 9]\n"


def terminal(monkeypatch: pytest.MonkeyPatch, encoding: str) -> io.BytesIO:
    """What is printed from here on, in bytes."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding, newline="\n", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    return written


def test_letters_that_a_terminal_lacks_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, wanted in (
        ("utf-8", "χ² = 3 ± 1 µm⁻¹ … ─ é ☂"),
        ("latin-1", "chi² = 3 ± 1 µm-¹ ... - é ?"),
        ("ascii", "chi2 = 3 +/- 1 um-1 ... - e ?"),
        ("iso8859-2", "chi2 = 3 +/- 1 um-1 ... - é ?"),
        ("koi8-r", "chi² = 3 +/- 1 um-1 ... ─ e ?"),
        ("gb2312", "χ2 = 3 ± 1 um-1 … ─ é ?"),
    ):
        written = terminal(monkeypatch, encoding)
        say("χ² = 3 ± 1 µm⁻¹ … ─ é ☂")
        assert written.getvalue().decode(encoding) == f"{wanted}\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_fit_is_not_lost_to_letters(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fit_spectrum raised UnicodeEncodeError when it printed χ²."""
    energy = np.linspace(0.0, 10.0, 101)
    file = File(Project(tmp_path), data=Gauss(energy, 2.0, 5.0, 1.0), energy=energy)
    (tmp_path / "models.yaml").write_text(MODEL)
    file.load_model("models.yaml", "peak")
    written = terminal(monkeypatch, encoding)
    result = file.fit_spectrum("peak")
    assert result.success
    assert f"chi{'²' if encoding == 'latin-1' else '2'} " in written.getvalue().decode(encoding)


@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_commands_end_on_such_terminals(
    extra: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They ended with exit code 1, as a mistake of pyspec, and wrote no report of the fit."""
    energy = np.linspace(0.0, 10.0, 101)
    np.savetxt(tmp_path / "scan.csv", np.c_[energy, Gauss(energy, 2.0, 5.0, 1.0)], delimiter=",")
    (tmp_path / "models.yaml").write_text(MODEL)
    job = "data: {path: scan.csv}\nmodels: models.yaml\nmodel: peak\n"
    (tmp_path / "job.yaml").write_text(job)
    monkeypatch.setattr(Output, "draw", lambda *_: None)
    written = terminal(monkeypatch, "ascii")
    assert main(["fit", str(tmp_path / "job.yaml"), *extra]) == 0
    assert (b'"exit_code": 0' if extra else b"chi2") in written.getvalue()
