"""Which file an axis is read from: `energy:` of a job, --energy, and energy= of read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from pyspec.cli import main
from pyspec.cli.jobs.job import read_job
from pyspec.cli.jobs.loader import load_data

X = np.linspace(80.0, 90.0, 41)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data in a folder, a job in another one, and who calls in a third."""
    for name in ("data", "job", "here"):
        (tmp_path / name).mkdir()
    np.savetxt(tmp_path / "data" / "counts.txt", 5 + 100 * np.exp(-((X - 85) ** 2)), "%.5f")
    (tmp_path / "job" / "job.yaml").write_text(
        "data: {path: ../data/counts.txt, energy: energy.txt}\nmodels: models.yaml\n"
    )
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def put(folder: Path, begins: float) -> Path:
    np.savetxt(folder / "energy.txt", X - 80 + begins, "%.5f")
    return folder / "energy.txt"


@pytest.mark.parametrize("where", ["data", "job"])
def test_a_job_finds_it_in_its_folder_or_beside_the_data(where: str, folders: Path) -> None:
    """The folder in which the command was called came first, and that of the job not at all."""
    near = put(folders / where, 80.0)
    put(folders / "here", 0.0)
    dataset = load_data(read_job("../job/job.yaml"))
    assert dataset.energy is not None
    assert dataset.energy[0] == 80.0
    assert f"energy is what {near.resolve()} holds" in dataset.notes


def test_two_files_that_differ_are_refused(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of them was taken without a word."""
    put(folders / "data", 80.0)
    put(folders / "job", 180.0)
    assert main(["fit", "../job/job.yaml", "--check"]) == 1
    said = capsys.readouterr().err
    assert "job.yaml:1: data.energy: " in said
    assert str(folders / "job" / "energy.txt") in said
    assert f"also {folders / 'data' / 'energy.txt'}, and these differ; give the whole path" in said
    put(folders / "job", 80.0)
    assert load_data(read_job("../job/job.yaml")).axes["energy"][0] == 80.0


def test_a_job_takes_none_from_where_it_is_called(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The axis of another measurement was taken where the job had none by that name: what was
    fitted depended on where the command was called."""
    near = put(folders / "here", 0.0)
    assert main(["fit", "../job/job.yaml", "--check"]) == 1
    said = capsys.readouterr().err
    assert "job.yaml:1: data.energy: is no file seen from the folder of the job" in said
    assert f"if {near.resolve()} is meant, give this path" in said
    near.unlink()
    assert main(["fit", "../job/job.yaml", "--check"]) == 1
    assert "energy: 'energy.txt' is no file" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["data", "here"])
def test_new_writes_it_as_the_job_sees_it(where: str, folders: Path) -> None:
    put(folders / where, 80.0)
    assert main(["new", "../fit", "../data/counts.txt", "--energy", "energy.txt"]) == 0
    data = yaml.safe_load((folders / "fit" / "job.yaml").read_text())["data"]
    assert data["energy"] == f"../{where}/energy.txt"
    assert main(["fit", "../fit/job.yaml", "--check"]) == 0
