"""``pyspec fit`` with processes that share the fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main

MODEL = """
line:
  Offset: {y0: [2, True, 0, 10]}
  Gauss: {A: [9, True, 0, 100], x0: [84, True, 82, 86], SD: [0.6, True, 0.1, 3]}
"""
JOB = """
data: {path: scan.csv}
models: models.yaml
model: line
fit: {progress: false}
output: {folder: FOLDER}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    energy, time = np.linspace(80.0, 90.0, 61), np.linspace(-1.0, 5.0, 200)
    clean = 2.0 + 10.0 * np.exp(-(((energy - 84.2) / 0.5) ** 2) / 2) + 0.0 * time[:, None]
    data = np.random.default_rng(3).normal(clean, 0.2)
    table = np.block([[np.zeros((1, 1)), energy], [time[:, None], data]])
    np.savetxt(tmp_path / "scan.csv", table, delimiter=",")
    (tmp_path / "models.yaml").write_text(MODEL)
    return tmp_path


def fit(folder: Path, name: str, *flags: str) -> int:
    (folder / "job.yaml").write_text(JOB.replace("FOLDER", name))
    return main(["fit", str(folder / "job.yaml"), "--quiet", *flags])


def test_flags_that_share_nothing_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        fit(folder, "a", "--workers", "0")
    assert "must be a whole number from 1 on, not '0'" in capsys.readouterr().err
    assert fit(folder, "a", "--type", "slices", "--scheduler", "tcp://127.0.0.1:1") != 0
    assert "--scheduler is for fits of type 2d" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_write_the_same_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert fit(folder, "alone") == 0
    code = fit(folder, "shared", "--workers", "2")
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "2 workers" in said.out
    found = [
        json.loads((folder / name / "parameters.json").read_text())["parameters"]
        for name in ("alone", "shared")
    ]
    assert found[0] == found[1]
    assert fit(folder, "b", "--scheduler", "tcp://127.0.0.1:1") != 0
    assert "no scheduler answers" in capsys.readouterr().err
