"""A finished fit is saved, whatever fails afterwards."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from support.fit_cases import LINE

from pyspec.cli import main
from pyspec.cli.commands.output import Output
from pyspec.io import load_fits

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("h5py")

NUMBERS = {"fits.h5", "parameters.csv", "parameters.json"}
FILES = NUMBERS | {"report.html", "fit.png"}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job that fits one spectrum."""
    folder = tmp_path / "one"
    folder.mkdir()
    rows = [
        f"{0.2 * k},{1 + 10 * 2.0 ** (-((0.2 * k - 5) ** 2)) + 0.1 * (-1) ** k}" for k in range(50)
    ]
    (folder / "data.csv").write_text("energy,intensity\n" + "\n".join(rows) + "\n")
    (folder / "models.yaml").write_text(LINE)
    path = folder / "job.yaml"
    path.write_text("data: {path: data.csv}\nmodels: models.yaml\noutput: results\n")
    return path


def results_of(job: Path) -> Path:
    return job.with_name("results")


@pytest.mark.parametrize(
    ("names", "code"), [({"report.html", "fit.png"}, 0), ({"parameters.csv", "fits.h5"}, 1)]
)
def test_what_cannot_be_written_loses_nothing_else(
    job: Path, names: set[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder in the place of report.html ended the command before anything was written."""
    for name in names:
        (results_of(job) / name / "mine").mkdir(parents=True)
    assert main(["fit", str(job), "--quiet"]) == code
    shown = capsys.readouterr()
    assert all(f"{name} is not written: " in shown.err for name in names)
    assert "GLP_01_x0" in shown.out
    files = {path.name for path in results_of(job).iterdir() if path.is_file()}
    assert files == FILES - names


def test_pictures_that_fail_are_a_remark(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A matplotlibrc that asks for a missing LaTeX lost the fit."""
    monkeypatch.setenv("PATH", "")
    with matplotlib.rc_context({"text.usetex": True}):
        assert main(["fit", str(job), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["results"][-1]["success"]
    assert NUMBERS | {"report.html"} <= set(facts["written"])
    assert "fit.png" in facts["unwritten"]
    page = (results_of(job) / "report.html").read_text(encoding="utf-8")
    assert "GLP_01_x0" in page
    assert "No picture: " in page


def test_the_fit_is_printed_where_no_file_can_be_written(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["fit", str(job), "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["written"] == []
    assert {"fits.h5", "parameters.json", "report.html"} <= set(facts["unwritten"])
    expected = facts["results"][-1]["parameters"]
    assert "GLP_01_x0" in [row["name"] for row in expected]
    monkeypatch.setattr(Output, "draw", lambda *_: None)
    assert main(["fit", str(job), "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert "Nothing could be written" in shown
    found, _ = json.JSONDecoder().raw_decode(shown[shown.index("{") :])
    assert found["parameters"] == expected
    assert list(results_of(job).iterdir()) == []


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@needs_full
@pytest.mark.usefixtures("numbers_alone")
@pytest.mark.parametrize("words", ["--quiet", "--json"])
def test_a_full_disk_behind_the_output_loses_no_fit(
    job: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table was printed before anything was written."""
    with monkeypatch.context() as patch, open("/dev/full", "w") as full:
        patch.setattr(sys, "stdout", full)
        main(["fit", str(job), words])
    assert "output cannot be written (No space left on device)" in capsys.readouterr().err
    assert {p.name for p in results_of(job).iterdir()} == NUMBERS
    assert load_fits(results_of(job) / "fits.h5")[0].success


def test_results_follow_no_link_out_of_their_folder(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link in the folder of results, as of an archive from elsewhere, was written through."""
    results_of(job).mkdir()
    links = {results_of(job) / name: tmp_path / f"my_{name}" for name in FILES}
    for link, mine in links.items():
        mine.write_text("precious")
        link.symlink_to(mine)
    assert main(["fit", str(job), "--quiet"]) == 0
    said = capsys.readouterr().err
    for link, mine in links.items():
        assert mine.read_text() == "precious"
        assert not link.is_symlink()
        assert f"was a link to {mine}" in said


@pytest.mark.parametrize("kind", ["dots", "absolute", "link"])
def test_output_that_leaves_the_folder_of_the_job_is_said(
    job: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word = {"dots": "../away", "absolute": str(tmp_path / "away"), "link": "results"}[kind]
    if kind == "link":
        (tmp_path / "away").mkdir()
        results_of(job).symlink_to(tmp_path / "away")
    job.write_text(job.read_text().replace("output: results", f"output: {word}"))
    assert main(["fit", str(job), "--check", "--quiet"]) == 0
    said = f"The output goes to {tmp_path / 'away'}, which is outside of the job's folder."
    assert said in capsys.readouterr().out
    assert main(["fit", str(job), "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outside"] == str(tmp_path / "away")
    if kind == "dots":
        assert main(["fit", str(job), "--check", "-o", str(tmp_path / "away")]) == 0
        assert "outside" not in capsys.readouterr().out
