"""``pyspec new`` and ``pyspec fit`` over a folder, and the verdict that reports print."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.io import load_fits

pytest.importorskip("h5py")

X = np.linspace(80.0, 92.0, 121)


def line(x0: float, height: float = 300.0) -> np.ndarray:
    return np.asarray(height * np.exp(-4 * np.log(2) * ((X - x0) / 1.4) ** 2))


def write(path: Path, values: np.ndarray, axis: np.ndarray = X, head: str = "KE (eV)") -> None:
    noisy = values + np.random.default_rng(len(path.name)).normal(0, 2, values.size)
    np.savetxt(path, np.c_[axis, noisy], "%.4f", ",", header=f"{head},counts", comments="")


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """A spectrum, one of more lines than are fitted, a trace, and a file that is none."""
    folder = tmp_path / "scans"
    folder.mkdir()
    write(folder / "good.csv", 30 + line(85.0))
    write(folder / "shoulder.csv", 30 + line(85.0) + line(86.1, 90.0))
    times = np.linspace(-5.0, 40.0, 91)
    write(folder / "trace.csv", 50 * np.exp(-np.maximum(times, 0) / 9), times, "delay (ps)")
    (folder / "notes.txt").write_text("no numbers here\n")
    return folder


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    main([*words, "--json"])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_folder_from_new_to_one_page(
    scans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace ended the command after all fits; a curve that misses was green."""
    home = tmp_path / "all"
    assert main(["new", str(home), str(scans), "--peaks", "1"]) == 1
    shown = capsys.readouterr().out
    assert "failed" in shown.splitlines()[2]  # what failed comes first
    assert f"pyspec fit {home}" in shown
    assert "#" not in shown
    assert main(["new", str(home), str(scans / "trace.csv"), str(scans / "good.csv")]) == 1
    assert "good.csv" in capsys.readouterr().out.splitlines()[2]  # its folder exists
    job = (home / "good" / "job.yaml").read_text()
    (home / "sliced").mkdir()
    (home / "sliced" / "job.yaml").write_text(
        job.replace("type: spectrum", "type: slices").replace("models.yaml", "../good/models.yaml")
    )
    capsys.readouterr()
    facts = answer(capsys, "fit", str(home))
    states = {one["name"]: one["state"] for one in facts["results"]}  # type: ignore[index,attr-defined]
    assert states == {
        "good": "converged", "shoulder": "misses", "sliced": "failed", "trace": "converged"
    }  # fmt: skip
    assert facts["exit_code"] == 1
    page = (home / "results" / "report.html").read_text("utf-8")
    assert '<span class="badge bad">2 converged, 1 misses, 1 failed</span>' in page
    assert page.count("<svg") == 3
    assert len(load_fits(home / "results" / "fits.h5")) == 3


@pytest.mark.slow
def test_the_badge_of_a_report_follows_the_findings(
    scans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was green over a residual with structure."""
    pytest.importorskip("matplotlib")
    folder = tmp_path / "one"
    words = ["new", str(folder), str(scans / "shoulder.csv"), "--peaks", "1"]
    assert main(words) == 0
    assert main(["fit", str(folder / "job.yaml"), "--quiet"]) == 0
    command = [text for text in capsys.readouterr().out.splitlines() if "--force" in text]
    assert command == [f"  pyspec new {folder} {scans / 'shoulder.csv'} --peaks 2 --force"]
    report = folder / "results" / "report.html"
    assert '<span class="badge bad">misses</span>' in report.read_text("utf-8")
    assert main(command[0].split()[1:]) == 0
    assert main(["fit", str(folder / "job.yaml"), "--quiet"]) == 0
    assert '<span class="badge good">converged</span>' in report.read_text("utf-8")
