"""Tables as spreadsheets, pandas and plot programs write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.cli import main
from pyspec.errors import DataError
from pyspec.io import read


def write(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_trace_over_time_says_what_to_do(tmp_path: Path) -> None:
    """It was refused as data of a File."""
    trace = read(write(tmp_path, "delay (ps),dA\n0,1\n1,2\n2,3\n"))
    file = File.from_dataset(trace, Project(tmp_path))
    np.testing.assert_array_equal(file.time, trace.time)
    assert file.labels["time"] == trace.labels["time"]
    file.load_model("peak: {Gauss: {A: [1, True], x0: [1, True], SD: [1, True]}}\n", "peak")
    with pytest.raises(DataError, match=r"its axis is time: fit_trace, or rename\(time='energy'\)"):
        file.fit_spectrum("peak")


@pytest.mark.parametrize(
    ("flags", "answer"),
    [
        (["--columns", "0", "2"], "called 's2'"),
        (["--columns", "energy", "s1"], "choose others with --columns x y"),
        (["--columns", "0", "1", "--errors", "2"], "standard errors from column '2'"),
        (["--errors", "s2"], "standard errors from column 's2'"),
    ],
)
def test_columns_by_number_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], answer: str
) -> None:
    """Numbers were taken for names, and there was no --errors."""
    path = write(tmp_path, "energy,s1,s2\n1,5,6\n2,6,7\n")
    assert main(["show", str(path), "--no-picture", *flags]) == 0
    assert answer in capsys.readouterr().out
