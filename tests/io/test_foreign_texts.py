"""Texts of programs that were refused with a reason that was none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read

WAVES = [f"{500 + k}" for k in range(7)]
PLACES = [f"{0.5 * k:.2f}" for k in range(5)]
VALUES = [[f"{0.1 * i + k:.4f}" for k in range(7)] for i in range(5)]
HEAD = "file.ascii\nname\n{kind} explicit\nIntervalnr 7\n"


def wrapped(numbers: Sequence[str], n: int) -> str:
    return "".join(" ".join(numbers[k : k + n]) + "\n" for k in range(0, len(numbers), n))


def timp(n: int, how: str) -> str:
    rows = [[place, *values] for place, values in zip(PLACES, VALUES, strict=True)]
    if how == "axis alone":
        return wrapped(WAVES, n) + "".join(" ".join(row) + "\n" for row in rows)
    if how == "row by row":
        return wrapped(WAVES, n) + "".join(wrapped(row, n) for row in rows)
    if how == "on and on":
        return wrapped(WAVES, n) + wrapped([cell for row in rows for cell in row], n)
    return wrapped(WAVES + [cell for row in rows for cell in row], n)


@pytest.mark.parametrize("n", [1, 3, 5, 8, 9, 100])
@pytest.mark.parametrize("how", ["axis alone", "row by row", "on and on", "all together"])
@pytest.mark.parametrize("kind", ["Wavelength", "Time"])
def test_numbers_run_over_the_ends_of_lines(tmp_path: Path, n: int, how: str, kind: str) -> None:
    """Files of TIMP: "Intervalnr says 7 values, the line has 5; correct the one that is wrong"."""
    path = tmp_path / "a.ascii"
    path.write_text(HEAD.format(kind=kind) + timp(n, how))
    dataset = read(path)
    rows, across = ("time", "energy") if kind == "Wavelength" else ("energy", "time")
    assert np.array_equal(dataset.axes[rows], np.array(PLACES, float))
    assert np.array_equal(dataset.axes[across], np.array(WAVES, float))
    data = dataset.data if dataset.dims[0] == rows else dataset.data.T
    assert np.array_equal(data, np.array(VALUES, float))


@pytest.mark.parametrize("how", ["row by row", "on and on", "all together"])
def test_a_missing_number_is_said(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.ascii"
    text = HEAD.format(kind="Wavelength") + timp(5, how)
    path.write_text(text.replace("1.2000", "", 1))
    with pytest.raises(DataError, match="a number is missing, or one too many"):
        read(path)


JASCO = """TITLE{t}sample
DATA TYPE{t}INFRARED SPECTRUM
ORIGIN{t}JASCO
OWNER{t}
DATE{t}19/05/10
RESOLUTION{t}4
XUNITS{t}1/CM
YUNITS{t}TRANSMITTANCE
FIRSTX{t}400
NPOINTS{t}20
XYDATA
{rows}

##### Extended Information
[Comments]
Sample name{t}x
Comment{t}

[Measurement Information]
Model Name{t}FT/IR-4100
Serial Number{t}B123456
Accumulation{t}32
Resolution{t}4 cm-1
Gain{t}2
Scanning Speed{t}Auto (2 mm/sec)
"""


@pytest.mark.parametrize("t", ["\t", ","])
@pytest.mark.parametrize("n", [1, 3])
def test_a_footer_of_sections_is_no_data(tmp_path: Path, t: str, n: int) -> None:
    """JASCO's: "the row has 1 values, the others have 2"."""
    rows = [t.join([f"{400 + k}.0", *[f"{k}.5"] * n]) for k in range(20)]
    (tmp_path / "a.txt").write_text(JASCO.format(t=t, rows="\n".join(rows)))
    dataset = read(tmp_path / "a.txt", columns=(0, 1))
    assert dataset.data.tolist() == [k + 0.5 for k in range(20)]
    assert any("lines of text below the numbers: '[Comments]'" in one for one in dataset.notes)


@pytest.mark.parametrize("line", ["[Comments]\n5{t}6\n", "remark{t}32\n[Comments]\n"])
def test_numbers_below_a_heading_are_no_footer(tmp_path: Path, line: str) -> None:
    rows = "".join(f"{k}\t{k}\n" for k in range(9))
    (tmp_path / "a.txt").write_text(rows + line.format(t="\t"))
    with pytest.raises(DataError, match=r"a\.txt:10"):
        read(tmp_path / "a.txt")


WORDS = ["#NV", "#N/A", "#N/D", "#DIV/0!", "#WERT!", "#VALUE!", "#ZAHL!", "#¡VALOR!", "#NAME?"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("t", [";", ",", "\t"])
@pytest.mark.parametrize("column", [1, 2])
def test_what_spreadsheets_write_for_no_value(
    tmp_path: Path, word: str, t: str, column: int
) -> None:
    """The rest of the row was taken for a remark: "the row has 2 values, the others have 3"."""
    rows = [[str(k), f"{k}.25", f"{k}.5"] for k in range(8)]
    rows[3][column] = word
    text = "\n".join(t.join(row) for row in [["energy", "a", "b"], *rows])
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    dataset = read(tmp_path / "a.csv", columns=("energy", "a", "b"))
    expected = np.array([[k + 0.25, k + 0.5] for k in range(8)]).T
    expected[column - 1, 3] = np.nan
    assert np.array_equal(dataset.data, expected, equal_nan=True)


def test_a_row_that_begins_with_no_value_is_a_row(tmp_path: Path) -> None:
    """It was a comment, and left out in silence; "# spike" behind numbers is one still."""
    (tmp_path / "a.csv").write_text("1;2\n#NV;3\n3;4\n4;5 #NVM, a spike\n")
    with pytest.raises(DataError, match=r"a\.csv:2: the energy is missing"):
        read(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("1;2\n#note;3\n3;4\n4;5 #NVM, a spike\n")
    assert read(tmp_path / "a.csv").data.tolist() == [2, 4, 5]


@pytest.mark.parametrize("end", ["\x1a", "\r\n\x1a", "\x1a\r\n", "\x1a" * 20, "\n\x1a\x1a\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.ascii"])
def test_a_final_ctrl_z_is_no_data(tmp_path: Path, end: str, name: str) -> None:
    """DOS ends a text with it: "the row has 1 values, the others have 2"."""
    text = "".join(f"{k},{2 * k}\n" for k in range(9)).rstrip("\n")
    if name == "a.ascii":
        text = HEAD.format(kind="Wavelength") + timp(5, "row by row").rstrip("\n")
    (tmp_path / name).write_bytes((text + end).encode())
    assert np.isfinite(read(tmp_path / name).data).all()
    (tmp_path / "axis.txt").write_bytes(("1\n2\n3" + end).encode())
    assert read(tmp_path / "axis.txt", energy="index").data.tolist() == [1, 2, 3]


def test_a_ctrl_z_alone_is_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\r\n\x1a")
    with pytest.raises(DataError, match="the file is empty"):
        read(tmp_path / "a.txt")


SPEC = """#F test.spec
#E 1413842723
#O0 th  tth  phi

#S {k}  ascan  energy 7.0 7.1  10 1
#D Mon Oct 20 17:05:23 2014
#T 1  (Seconds)
#P0 1 2 3
#N 4
#L Energy  H K{gap}Ion Chamber  Counts
"""


@pytest.mark.parametrize("gap", ["  ", "    ", "\t"])
def test_column_names_of_spec_stand_two_spaces_apart(tmp_path: Path, gap: str) -> None:
    """They were no names: "no column 'Ion Chamber'; it has 0: column 0"."""
    rows = "".join(f"{7 + 0.01 * k:.2f} {k} {1000 + k} {k * k}\n" for k in range(11))
    path = tmp_path / "a.spec"
    path.write_text(SPEC.format(k=1, gap=gap) + rows)
    for name, expected in (("H K", 0), ("Ion Chamber", 1000), ("Counts", 0)):
        assert read(path, columns=("Energy", name)).data[0] == expected
    with pytest.raises(DataError, match=r"no column 'Ion'.*2: Ion Chamber"):
        read(path, columns=("Energy", "Ion"))
    path.write_text(SPEC.format(k=1, gap=gap) + rows + "\n" + SPEC.format(k=2, gap=gap) + rows)
    assert read(path, columns=("Energy", "Counts"), block=1).data[-1] == 100


def test_a_comment_that_begins_with_l_is_no_line_of_spec(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("# L  alpha\n# energy counts\n" + "1 2\n2 3\n3 4\n")
    assert read(tmp_path / "a.txt", columns=("energy", "counts")).data.tolist() == [2, 3, 4]
