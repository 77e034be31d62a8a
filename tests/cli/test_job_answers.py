"""What jobs answer to the mistakes of the first day."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspec.cli import main

MODEL = "line: {Offset: {y0: [1, True]}}\n"
TABLE = "energy,s1,s2\n1,5,0.5\n2,6,0.6\n3,7,0.7\n"
START = "data: {path: t.csv, columns: [energy, s1]}\nmodels: m.yaml\n"
TRACE = "delay (ps),s1\n1,5\n2,6\n3,7\n"


@pytest.mark.parametrize(
    ("table", "job", "answer"),
    [
        # It said that a job has no field 'model'.
        (TABLE, "data: {path: t.csv}\nmodel: m.yaml\n", "job.yaml:1: 'models:' is missing; give"),
        # It gave 'at: {column: 1}', which is the column of the errors.
        (TABLE, "data: {path: t.csv}\nmodels: m.yaml\n", "data.path: has more than one column"),
        # It listed the fields of 'fit:' and left out that it is an option.
        (
            TABLE,
            "data: {path: t.csv, columns: [energy, s1]}\nmodels: m.yaml\nfit: {n_starts: 3}\n",
            "job.yaml:3: fit.n_starts: is an option: write 'options: {n_starts: …}' below 'fit:'",
        ),
        # How a File is told of limits.
        *(
            (
                TABLE,
                f"{START}fit: {{options: {{{key}: 2}}}}\n",
                f"fit.options.{key}: is no option; write {instead}",
            )
            for key, instead in (
                ("limits", "'limits: {energy: [82, 90]}'"),
                ("sigma", "'noise: {sigma: 0.4}'"),
                ("scale_errors", "it below 'fit:'"),
            )
        ),
        # These three were taken and had no effect.
        (TABLE, START + "noise: {type: gaussian, sigma: 5, scale: 3}\n", "scale belongs to 'type"),
        (TABLE, START + "noise: {type: none, sigma: 5}\n", "sigma belongs to 'type: gaussian'"),
        (
            "time,80,81,82\n1,5,6,7\n2,5,6,7\n",
            "data: {path: t.csv}\nmodels: m.yaml\nfit: {type: 2d, spectrum: 1}\n",
            "fit: 'spectrum:' belongs to 'type: spectrum', not to type 2d",
        ),
        (TABLE, START + "fit: {workers: 2}\n", "C uses the threads that PYSPEC_NUM_THREADS allows"),
        (TRACE, "data: {path: t.csv}\nmodels: m.yaml\n", "if it is energy, write 'rename: {time"),
    ],
)
def test_the_answer_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, job: str, answer: str
) -> None:
    (tmp_path / "t.csv").write_text(table)
    (tmp_path / "m.yaml").write_text(MODEL)
    (tmp_path / "job.yaml").write_text(job)
    assert main(["fit", str(tmp_path / "job.yaml"), "-q"]) == 1
    assert answer in capsys.readouterr().err


def test_a_job_reads_points(tmp_path: Path) -> None:
    rows = "".join(f"{t},{e},{t + e}\n" for t in (0, 1) for e in (80, 81, 82))
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows)
    (tmp_path / "m.yaml").write_text(MODEL)
    job = "data: {path: t.csv, layout: points, columns: [0, 1, 2]}\nmodels: m.yaml\n"
    (tmp_path / "job.yaml").write_text(job)
    assert main(["fit", str(tmp_path / "job.yaml"), "--check", "-q"]) == 0
