"""Job files: what they may say, and the answer to what they may not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Measurement
from pyspec.cli.commands.new import JOB, example_data, example_texts, write_folder
from pyspec.cli.jobs.fields import Fields, JobError
from pyspec.cli.jobs.job import Job, read_job
from pyspec.cli.jobs.loader import file_of, load_data
from pyspec.plot.config import ALIASES, FIELDS

SHORT = "data: {path: data.csv}\nmodels: models.yaml\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path, example_texts(), force=False)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "job.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def the_file(job: Job) -> File:
    return file_of(job, load_data(job))


def series(job: Job) -> Measurement:
    """The data of a job as they are fitted."""
    return the_file(job)._whole()


def mean_spectrum(job: Job, rows: tuple[int, int]) -> Measurement:
    return the_file(job)._mean(rows)


def test_axes_are_calibrated_before_a_part_is_taken(folder: Path) -> None:
    whole = load_data(read_job(write(folder, SHORT)))
    text = "data: {path: data.csv, shift: {energy: -0.5, time: 2}, select: {energy: [1, 3]}}\n"
    found = load_data(read_job(write(folder, text + "models: models.yaml\n")))
    assert whole.energy is not None
    assert whole.time is not None
    moved = whole.energy - 0.5
    np.testing.assert_array_equal(found.energy, moved[(moved >= 1.0) & (moved <= 3.0)])
    np.testing.assert_array_equal(found.time, whole.time + 2.0)
    mean = load_data(read_job(write(folder, SHORT.replace("csv}", "csv, mean: [time]}"))))
    np.testing.assert_allclose(mean.data, whole.data.mean(axis=0))


def test_every_choice_of_the_template_can_be_taken(folder: Path) -> None:
    """Each commented line, its mark removed, is still a job that can be read."""
    lines = JOB.splitlines()
    choices = [k for k, line in enumerate(lines) if line.lstrip().startswith("# ") and ":" in line]
    tried = 0
    for k in choices[2:]:
        text = lines[k]
        if text.startswith("#"):
            continue  # blocks that are commented as a whole
        changed = [*lines[:k], text.replace("# ", "", 1), *lines[k + 1 :]]
        read_job(write(folder, "\n".join(changed)))
        tried += 1
    assert tried >= 12
    block = JOB.replace("# profiles:", "profiles:").replace(
        "#   - {parameter: GLP_01_x0, model: depth}", "   - {parameter: GLP_01_x0, model: depth}"
    )
    block = block.replace("# auxiliary:", "auxiliary:").replace("# noise:", "noise:")
    job = read_job(write(folder, block))
    assert job.auxiliary["aux_axis"] is not None
    assert job.auxiliary["aux_axis"].size == 20
    assert job.noise is not None
    assert job.noise["sigma"] == 0.4


def test_files_that_are_no_job(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"cannot be read .* 'pyspec new'"):
        read_job(tmp_path / "job.yaml")
    write(tmp_path, SHORT)
    with pytest.raises(JobError, match=r"is a folder: did you mean .*job.yaml"):
        read_job(tmp_path)
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(JobError, match="not UTF-8"):
        read_job(tmp_path / "bad.yaml")


def test_nan_is_refused_or_masked(folder: Path) -> None:
    lines = example_data().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:7], "nan", *cells[8:]])
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    job = read_job(folder / "job.yaml")
    with pytest.raises(JobError, match="1 values are NaN or infinite; write 'mask: nan'"):
        load_data(job)
    job = read_job(write(folder, JOB.replace("path: data.csv", "mask: nan\n  path: data.csv")))
    measurement = series(job)
    assert measurement.keep is not None
    assert np.count_nonzero(~measurement.keep) == 1
    mean = mean_spectrum(job, (0, 10))
    assert np.isfinite(mean.data).all()


def test_limits_may_be_open_and_ranges_left_out(folder: Path) -> None:
    limits = "energy: [null, 17]\n  time: [-2, null]\n  exclude: [[4, 4.5], [16, null]]"
    text = JOB.replace("energy: [1.0, 19.0]", limits).replace("[-10, -1]", "[null, -1]")
    job = read_job(write(folder, text))
    file = the_file(job)
    energy, time = file.energy, file.time
    assert energy is not None
    assert time is not None
    assert file.columns == (0, np.count_nonzero(energy <= 17))
    assert file.rows == (np.count_nonzero(time < -2), time.size)
    assert file.baseline_rows == (0, np.count_nonzero(time <= -1))
    kept = ~(((energy >= 4) & (energy <= 4.5)) | (energy >= 16))
    assert 2 < np.count_nonzero(~kept) < energy.size
    for seen in (series(job), mean_spectrum(job, (0, 5))):
        np.testing.assert_array_equal(seen.keep, np.broadcast_to(kept, seen.data.shape))


def test_noise_is_a_number_a_file_or_that_of_counts(folder: Path) -> None:
    shape = load_data(read_job(folder / "job.yaml")).shape
    np.savetxt(folder / "sigma.csv", np.full(shape, 0.2), delimiter=",")
    for noise, weight in (("{sigma: 0.4}", 2.5), ("{sigma: sigma.csv}", 5.0)):
        job = read_job(write(folder, JOB + f"noise: {noise}\n"))
        np.testing.assert_allclose(series(job).weight, weight)
    job = read_job(write(folder, JOB + "noise: {type: poisson, scale: 3}\n"))
    assert series(job).loss_scale == 3.0
    np.savetxt(folder / "sigma.csv", np.zeros(shape), delimiter=",")
    job = read_job(write(folder, JOB + "noise: {sigma: sigma.csv}\n"))
    with pytest.raises(JobError, match=r"noise: sigma must be finite and above 0, but"):
        series(job)


def test_the_page_of_job_files_names_every_field(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    node = Fields.node

    def remember(self: Fields, key: str) -> object:
        asked.add(key)
        return node(self, key)

    monkeypatch.setattr(Fields, "node", remember)
    more = "noise: {type: none}\nprofiles: {parameter: a, model: b}\noutput: {folder: r}\n"
    read_job(write(folder, (JOB + more).replace("output: results", "auxiliary: {values: [0, 1]}")))
    page = Path(__file__).parents[2] / "docs" / "job_file.md"
    text = page.read_text(encoding="utf-8")
    fields = asked - set(FIELDS) - set(ALIASES)  # those of pictures stand with PlotConfig
    assert len(fields) > 40
    assert [name for name in sorted(fields) if not re.search(rf"\b{name}\b", text)] == []
