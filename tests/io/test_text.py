"""Text files: separators, decimal signs, headers, layouts, and what is said of bad ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.vamas_files import vamas_text

from pyspec.errors import DataError
from pyspec.io import read

X = np.array([84.0, 84.5, 85.25, 86.0, 86.75])
Y = np.array([1.0, 12.5, 3.25, 1e3, -2.0])


def write(folder: Path, text: str, name: str = "spectrum.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(separator: str, decimal: str = ".") -> str:
    rows = [f"{x}{separator}{y}".replace(".", decimal) for x, y in zip(X, Y, strict=True)]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("separator", "decimal"),
    [(",", "."), (", ", "."), (";", "."), ("\t", "."), ("  ", "."), (";", ","), ("\t", ","),
     (" ", ","), ("; ", ",")],
)  # fmt: skip
@pytest.mark.parametrize("head", ["", "# a comment\n", "BE/eV{s}counts\n", "\n% made at 9:00\n\n"])
def test_two_columns_of_any_style(tmp_path: Path, separator: str, decimal: str, head: str) -> None:
    path = write(tmp_path, head.format(s=separator) + lines(separator, decimal))
    found = read(path)
    assert found.dims == ("energy",)
    np.testing.assert_array_equal(found.energy, X)
    np.testing.assert_array_equal(found.data, Y)
    assert found.name == "spectrum"
    if "BE" in head:
        assert found.units["energy"] == "eV"
        assert (found.labels["energy"], found.labels["data"]) == ("BE", "counts")


@pytest.mark.parametrize(
    ("head", "kind", "unit"),
    [
        ("Energy (eV),I", "energy", "eV"),
        ("wavelength [nm],OD", "energy", "nm"),
        ("Wavenumber / cm-1,I", "energy", "cm⁻¹"),
        ("time_fs,I", "time", "fs"),
        ("Delay (ps),dA", "time", "ps"),
        ("t,signal", "time", ""),
        ("x,y", "energy", ""),
        ("Energy,I\neV,counts", "energy", "eV"),
        ("time,I\n(ps),", "time", "ps"),
    ],
)
def test_headers_name_axis_and_unit(tmp_path: Path, head: str, kind: str, unit: str) -> None:
    found = read(write(tmp_path, head + "\n" + lines(",")))
    assert found.dims == (kind,)
    assert found.units.get(kind, "") == unit


def test_windows_files_with_mark_and_quotes_and_trailing_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeff"E, kinetic";I;\r\n1,5;2;\r\n2,5;3;\r\n'.encode())
    found = read(path)
    np.testing.assert_array_equal(found.energy, [1.5, 2.5])
    np.testing.assert_array_equal(found.data, [2, 3])
    path.write_bytes("E\tI\n1\t2\n2\t3\n".encode("utf-16"))
    assert read(path).shape == (2,)
    path.write_bytes("E\tIntensit\xe4t\n1\t2\n2\t3\n".encode("latin-1"))
    assert read(path).labels["data"] == "Intensität"
    # An ellipsis of Windows is a line break in Latin-1: the comment ended there.
    path.write_bytes("# film… 5 8\nE\tIntensität…\n1\t2\n2\t3\n".encode("cp1252"))
    assert read(path).labels["data"] == "Intensität…"
    np.testing.assert_array_equal(read(path).data, [2, 3])
    path.write_bytes(b"E\tI \x81\n1\t2\n2\t3\n")  # no sign of Windows either
    np.testing.assert_array_equal(read(path).data, [2, 3])


def test_several_columns_and_the_choice_of_one(tmp_path: Path) -> None:
    rows = "\n".join(f"{x},{y},{2 * y}" for x, y in zip(X, Y, strict=True))
    path = write(tmp_path, "E/eV,raw,twice\n" + rows)
    both = read(path)
    assert both.dims == ("column", "energy")
    assert both.labels["column"] == "raw, twice"
    for chosen in ("twice", 2, ("E/eV", "twice"), (0, 2)):
        one = read(path, columns=chosen)
        np.testing.assert_array_equal(one.data, 2 * Y)
        assert one.labels["data"] == "twice"
    with pytest.raises(DataError, match=r"no column 'twic'; it has .*did you mean 'twice'"):
        read(path, columns="twic")


@pytest.mark.parametrize("corner", ["", "time/energy", "Time in ps", "nan", "0"])
def test_a_matrix_with_its_axes(tmp_path: Path, corner: str) -> None:
    time, energy = np.array([-1.0, 0.0, 2.5]), np.arange(8.0)
    data = np.arange(24.0).reshape(3, 8) ** 1.5
    rows = [f"{t}\t" + "\t".join(map(repr, map(float, r))) for t, r in zip(time, data, strict=True)]
    text = corner + "\t" + "\t".join(map(str, energy)) + "\n" + "\n".join(rows)
    found = read(write(tmp_path, text, "m.tsv"))
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.time, time)
    np.testing.assert_array_equal(found.energy, energy)
    np.testing.assert_array_equal(found.data, data)
    swapped = read(write(tmp_path, text, "m.tsv"), transpose=True)
    np.testing.assert_array_equal(swapped.data, data.T)
    np.testing.assert_array_equal(swapped.energy, time)


def test_the_corner_says_that_rows_are_energies(tmp_path: Path) -> None:
    text = "Energy (eV),-1,0,1\n10,1,2,3\n11,4,5,6\n12,7,8,9\n"
    found = read(write(tmp_path, text))
    np.testing.assert_array_equal(found.energy, [10, 11, 12])
    np.testing.assert_array_equal(found.time, [-1, 0, 1])
    np.testing.assert_array_equal(found.data, [[1, 4, 7], [2, 5, 8], [3, 6, 9]])
    assert found.units["energy"] == "eV"


def test_axes_in_files_of_their_own(tmp_path: Path) -> None:
    data = np.random.default_rng(1).normal(size=(3, 4))
    np.savetxt(tmp_path / "data.csv", data, delimiter=",")
    np.savetxt(tmp_path / "energy.csv", X[:4])
    np.save(tmp_path / "time.npy", np.array([0.0, 1.0, 3.0]))
    path = tmp_path / "data.csv"
    found = read(path, energy="energy.csv", time="time.npy")
    np.testing.assert_allclose(found.data, data, rtol=1e-15)
    np.testing.assert_array_equal(found.time, [0, 1, 3])
    same = read(path, energy=X[:4], time="index")
    np.testing.assert_array_equal(same.time, [0, 1, 2])
    with pytest.raises(
        DataError,
        match=r"no time and no energy axis.*say read\('.*data.csv', energy='energy.csv', ",
    ):
        read(path)
    with pytest.raises(DataError, match=r"look transposed: say read\(\.\.\., transpose=True\)"):
        read(path, energy=[0, 1, 3], time=X[:4])
    turned = read(path, energy=[0, 1, 3], time=X[:4], transpose=True)
    np.testing.assert_allclose(turned.data, data.T, rtol=1e-15)
    with pytest.raises(DataError, match=r"energy='enrgy.csv' is no file.*mean 'energy.csv'"):
        read(path, energy="enrgy.csv", time="index")
    with pytest.raises(DataError, match=r"give it as read\(\.\.\., time=\.\.\.\)"):
        read(path, energy="energy.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"bad\.csv: the file is empty"),
        ("  \n\n", r"the file is empty"),
        ("# nothing\n# else\n", r"holds comments only"),
        ("a,b\nc,d\n", r"no line holds numbers only"),
        ("1,2\n2,3\n3\n4,5\n", r"bad\.csv:3: the row has 1 values, the others have 2"),
        ("1,2\n2,3\n3,4,5\n4,5\n", r"bad\.csv:3: the row has 3 values"),
        ("1,2\n2,oops\n3,4\n", r"bad\.csv:2: 'oops' is not a number"),
        ("1,2\n2,1_0\n3,4\n", r"bad\.csv:2: '1_0' is not a number"),
        ("1,oops\n2,3\n3,4\n", r"bad\.csv:1: 'oops' is not a number"),
        ("1,2\n2,3\nend of data\n", r"bad\.csv:3: the row has 1 values"),
        ("1,2\n2,3\n2,4\n3,5\n", r"energy axis has 1 duplicate.*positions 1 and 2.*sort=True"),
        ("1,2\n3,3\n2,4\n4,5\n", r"energy axis is not sorted: 3 and 2.*sort=True"),
        ("1,2\n,3\n2,4\n4,5\n", r"bad\.csv:2: the energy is missing"),
        ("1,2\ninf,3\n2,4\n4,5\n", r"the energy axis has inf at position 1"),
        ("1\n2\n3\n", r"no energy axis; give it as read\(\.\.\., energy=\.\.\.\)"),
    ],
)  # fmt: skip
def test_what_is_said_of_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(write(tmp_path, text, "bad.csv"))
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    write(tmp_path, lines(","), "spectrum.csv")
    with pytest.raises(DataError, match=r"no such file; did you mean 'spectrum\.csv'"):
        read(tmp_path / "spektrum.csv")
    with pytest.raises(DataError, match=r"there is no folder"):
        read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataError, match=r"is a folder; give a file of it, such as spectrum\.csv"):
        read(tmp_path)
    (tmp_path / "junk.dat").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(DataError, match=r"junk\.dat: this is no text and no format"):
        read(tmp_path / "junk.dat")
    with pytest.raises(DataError, match="takes the path of a file, not int"):
        read(3)  # type: ignore[arg-type]


def test_missing_values_are_kept_and_counted(tmp_path: Path) -> None:
    found = read(write(tmp_path, "E,I\n1,2\n2,nan\n3,\n4,inf\n5,1\n"))
    assert found.n_bad == 3
    assert found.finite.tolist() == [True, False, False, False, True]
    assert any("3 of 5 values are NaN or infinite" in note for note in found.notes)
    assert "3 values NaN" in repr(found)


def test_sort_merges_equal_points_and_time_is_turned(tmp_path: Path) -> None:
    found = read(write(tmp_path, "3,1\n1,2\n2,3\n1,4\n"), sort=True)
    np.testing.assert_array_equal(found.energy, [1, 2, 3])
    np.testing.assert_array_equal(found.data, [3, 3, 1])
    assert any("1 points with equal energy were averaged" in note for note in found.notes)
    falling = read(write(tmp_path, "time,I\n3,1\n2,5\n1,2\n"))
    np.testing.assert_array_equal(falling.time, [1, 2, 3])
    np.testing.assert_array_equal(falling.data, [2, 5, 1])


def test_other_ways_to_say_it(tmp_path: Path) -> None:
    path = write(tmp_path, "1|2\n2|3\n3|5\n")
    assert read(path, delimiter="|").shape == (3,)
    table = write(tmp_path, "0 1 2\n1 5 6\n2 7 9\n", "t.txt")
    assert read(table).dims == ("column", "energy")
    assert read(table, layout="matrix").shape == (2, 2)
    assert read(table, layout="data", energy="index", time="index").shape == (3, 3)
    assert read(table, units={"energy": "eV"}, name="mine").units["energy"] == "eV"
    assert read(table, name="mine").name == "mine"
    with pytest.raises(
        DataError, match=r"layout is one of matrix, columns, points, data.*mean 'matrix'"
    ):
        read(table, layout="matrx")
    with pytest.raises(DataError, match=r"data= is for npz, .*; this file is read as text, which"):
        read(table, data="counts")
    with pytest.raises(DataError, match=r"no format 'vamsa'; there are npy, .*'vamas'"):
        read(table, format="vamsa")
    with pytest.raises(DataError, match="decimal= is"):
        read(table, decimal=";")


def test_fortran_exponents_and_long_headers(tmp_path: Path) -> None:
    head = "Instrument: X\nPass energy 20 eV\nRegion 1 of 1, counts\n\n"
    found = read(write(tmp_path, head + "1.0D+00 2.0D-01\n2.0D+00 3.0D-01\n"))
    np.testing.assert_array_equal(found.data, [0.2, 0.3])


def test_one_axis_in_the_table_and_one_given(tmp_path: Path) -> None:
    path = write(tmp_path, "-1 5 6 7\n0 7 8 9\n2 9 1 2\n", "t.txt")
    first = read(path, energy=[10, 20, 30])
    np.testing.assert_array_equal(first.time, [-1, 0, 2])
    np.testing.assert_array_equal(first.data, [[5, 6, 7], [7, 8, 9], [9, 1, 2]])
    second = read(path, time=[0.5, 1])
    np.testing.assert_array_equal(second.energy, [-1, 5, 6, 7])
    np.testing.assert_array_equal(second.data, [[0, 7, 8, 9], [2, 9, 1, 2]])


@pytest.mark.parametrize("corner", ["Wavelength (nm)", "nm", "x"])
def test_units_beside_the_numbers_of_an_axis(tmp_path: Path, corner: str) -> None:
    found = read(write(tmp_path, corner + ",-1 ps,0 ps,1.5 ps\n400,1,2,3\n401,4,5,6\n"))
    np.testing.assert_array_equal(found.time, [-1, 0, 1.5])
    np.testing.assert_array_equal(found.data, [[1, 4], [2, 5], [3, 6]])
    assert found.units["time"] == "ps"


@pytest.mark.slow
@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_bytes_and_texts_give_one_error_or_data(tmp_path: Path, count: int) -> None:
    draw = random.Random(7)
    starts = [b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"CDF\x01", b"\x89HDF\r\n\x1a\n"]
    starts += [vamas_text([]).encode()[:300], b"a\nb\nTime explicit\nIntervalnr 2\n"]
    asked: list[dict[str, Any]] = [{}, {"energy": "index"}, {"energy": [1, 2, 3]}, {"columns": 1}]
    asked += [{"energy": "index", "time": "index"}, {"sort": True}, {"layout": "matrix"}]
    said: list[str] = []
    for number in range(count):
        size = draw.randrange(150)
        if number % 2:
            tail = bytes(draw.choice(b'0123456789,;. \t\n\n-eE#na"') for _ in range(size))
        else:
            tail = bytes(draw.randrange(256) for _ in range(size))
        path = tmp_path / f"a{draw.choice(['.csv', '.nc', '.h5', '.SIA', '.npz'])}"
        path.write_bytes(draw.choice(starts) + tail)
        try:
            read(path, **draw.choice(asked)).describe()
        except DataError as error:
            said.append(str(error))
    assert not [text for text in said if "\n" in text]
