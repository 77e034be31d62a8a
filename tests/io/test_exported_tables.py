"""Tables as spreadsheets, pandas and plot programs write them."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("E;I\n284,70;950\n284,60;1.050\n", r":3: '1.050' has a point, and '284,70' a comma: only"),
        ("E\tI\n284.7\t1,050\n284.6\t950\n", r":2: '284.7' has a point, and '1,050' a comma: only"),
        ("284,70 950\n284,60 1.050\n", r":2: '1.050' has a point"),
        ('"284,7",950\n"284,6","1.050"\n', r":2: '1.050' has a point, and '284,7' a comma"),
    ],
)
def test_signs_between_thousands_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """1.050 counts beside energies with decimal commas were read as 1.05."""
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, text))


def test_a_decimal_comma_given_for_numbers_with_points_alone(tmp_path: Path) -> None:
    found = read(write(tmp_path, "1.5;2.5\n2.5;3.5\n"), decimal=",")
    np.testing.assert_array_equal(found.data, [2.5, 3.5])


def test_the_minus_sign_of_unicode(tmp_path: Path) -> None:
    """Rows before time zero were taken for lines of a header, and left out."""
    found = read(write(tmp_path, "delay (ps),signal\n−2.0,1.5\n−1.0,2.5\n0.0,3.5\n1.0,−4.5\n"))
    np.testing.assert_array_equal(found.time, [-2, -1, 0, 1])
    np.testing.assert_array_equal(found.data, [1.5, 2.5, 3.5, -4.5])


@pytest.mark.parametrize("options", [{}, {"delimiter": ",", "decimal": ","}])
def test_decimal_commas_in_quotes_between_commas(tmp_path: Path, options: dict[str, str]) -> None:
    """The third line was read as two values, 284.1 and 4, where it was read at all."""
    text = 'E (eV),I,K\n"284,7",31,32\n"284,6",41,33\n284,1,4\n'
    found = read(write(tmp_path, text), **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found.energy, [284.7, 284.6, 284])
    np.testing.assert_array_equal(found.data, [[31, 41, 1], [32, 33, 4]])


@pytest.mark.parametrize(
    "text",
    [
        "Energy;Counts;\n285,0;1;\n284,5;2;\n",
        "\tEnergy\tCounts\n\t285\t1\n\t284.5\t2\n",
        "Energy,Counts,remark\n285,1,\n284.5,2,\n",
        ";Energy;Counts;\n;285;1;\n;284.5;2;\n",
    ],
)
def test_separators_at_the_ends_of_lines(tmp_path: Path, text: str) -> None:
    """Names were lost with a separator at the end; with one in front there was no axis."""
    found = read(write(tmp_path, text))
    np.testing.assert_array_equal(found.energy, [285, 284.5])
    np.testing.assert_array_equal(found.data, [1, 2])
    assert (found.labels["energy"], found.labels["data"]) == ("Energy", "Counts")


def test_the_index_of_pandas_is_no_axis(tmp_path: Path) -> None:
    """df.to_csv() without index=False: the row numbers were the energies."""
    path = write(tmp_path, ",energy,counts\n0,85.0,3\n1,84.5,4\n2,84.0,5\n")
    found = read(path)
    np.testing.assert_array_equal(found.energy, [85, 84.5, 84])
    np.testing.assert_array_equal(found.data, [3, 4, 5])
    assert any("numbers the rows and is left out" in note for note in found.notes)
    np.testing.assert_array_equal(read(path, columns=(1, 2)).energy, [85, 84.5, 84])
    points = ",delay,energy,counts\n" + "".join(
        f"{k},{k // 3},{80 + k % 3},{k}\n" for k in range(6)
    )
    series = read(write(tmp_path, points))
    assert series.dims == ("time", "energy")
    np.testing.assert_array_equal(series.data, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("head", [",counts,more", "step,energy,counts", "energy,counts,more"])
def test_row_numbers_that_may_be_an_axis_stay(tmp_path: Path, head: str) -> None:
    found = read(write(tmp_path, head + "\n0,85.0,3\n1,84.5,4\n2,84.0,5\n"))
    np.testing.assert_array_equal(found.energy, [0, 1, 2])
    assert found.data.shape == (2, 3)


@pytest.mark.parametrize(
    ("name", "has_errors"),
    [
        ("counts_err", True), ("counts (std)", False), ("sigma_counts", True),
        ("Counts error", True), ("err", True), ("bkg_err", False), ("counts_2", False),
    ],
)  # fmt: skip
def test_errors_that_are_named_after_their_column(
    tmp_path: Path, name: str, has_errors: bool
) -> None:
    """A column counts_err beside counts was a second spectrum."""
    found = read(write(tmp_path, f"energy,counts,{name}\n1,5,0.1\n2,6,0.2\n"))
    if has_errors:
        np.testing.assert_array_equal(found.errors, [0.1, 0.2])
    else:
        assert found.errors is None


@pytest.mark.parametrize("corner", ["", "NaN"])
def test_a_matrix_whose_times_are_in_no_order(tmp_path: Path, corner: str) -> None:
    """The answer was that there is no axis, with sort=True too."""
    wide = [400, 410, 420, 430, 440, 450, 460]
    rows = [f"{t}\t" + "\t".join(str(t + x) for x in wide) for t in (3, 1, 2)]
    text = "\n".join(["\t".join([corner, *map(str, wide)]), *rows]) + "\n"
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=r"the time axis is not sorted: 3 and 1 .*sort=True"):
        read(path)
    found = read(path, sort=True)
    np.testing.assert_array_equal(found.time, [1, 2, 3])
    np.testing.assert_array_equal(found.data, np.add.outer([1, 2, 3], wide))


@pytest.mark.parametrize(
    ("energies", "sorted_so"),
    [
        ([86, 85, 85, 84, 83], [86, 85, 84, 83]),  # a Shirley needs the loss side first
        ([83, 84, 84, 85, 86], [83, 84, 85, 86]),
        ([85, 83, 86, 84], [83, 84, 85, 86]),
    ],
)
def test_energies_that_fall_but_for_a_few_still_fall_when_sorted(
    tmp_path: Path, energies: list[float], sorted_so: list[float]
) -> None:
    """They rose, which turns the background of Shirley round."""
    path = write(tmp_path, "BE,I,sigma\n" + "".join(f"{x},{x / 2},{x / 4}\n" for x in energies))
    found = read(path, sort=True)
    np.testing.assert_array_equal(found.energy, sorted_so)
    np.testing.assert_array_equal(found.data, np.array(sorted_so) / 2)
    assert found.errors is not None
    assert found.errors[0] == sorted_so[0] / 4


def test_a_single_duplicate(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 1 duplicate value: 85 and 85 at positions 1 and 2"):
        read(write(tmp_path, "BE,I\n86,1\n85,1\n85,2\n84,3\n"))


def test_the_unit_of_an_axis_that_the_data_have_not(tmp_path: Path) -> None:
    """units={"wavelength": "nm"} was taken and had no effect."""
    path = write(tmp_path, "a,b\n400,1\n410,2\n")
    with pytest.raises(DataError, match=r"unit of 'wavelength' .* called energy; did you mean 'en"):
        read(path, units={"wavelength": "nm"})
    assert read(path, units={"energy": "nm", "time": "ps", "data": "mOD"}).units["energy"] == "nm"


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("E,I,sample\n284.0,52,Au\n284.1,53,Au\n", "'Au' is no number, in '284.0,52,Au'"),
        ("E;T\n284;52%\n", "'52%' is no number, in '284;52%'"),
        ("E;I\n284,0;1'052\n", '"1\'052" is no number'),
    ],
)
def test_what_stands_among_the_numbers_is_named(tmp_path: Path, text: str, said: str) -> None:
    """The answer advised another separator, whatever the trouble was."""
    with pytest.raises(DataError, match=f"no line holds numbers only: {said}"):
        read(write(tmp_path, text))


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("# delay = 5 ps", {}),
        ("# delay 5 ps", {}),
        ("# time: 12 s", {}),
        ("# delay 5", {}),
        ("# Energy Intensity", {"energy": "Energy", "data": "Intensity"}),
        ("# Energy Intensity (arb. units)", {"energy": "Energy", "data": "Intensity"}),
    ],
)
def test_a_comment_of_one_value_is_no_line_of_names(
    tmp_path: Path, line: str, labels: dict[str, str]
) -> None:
    """Energies below "# delay = 5 ps" were times."""
    found = read(write(tmp_path, f"{line}\n84 10\n85 12\n86 9\n", "spectrum.txt"))
    assert found.dims == ("energy",)
    assert {key: found.labels.get(key) for key in labels} == labels


def test_names_with_spaces_above_columns_between_spaces(tmp_path: Path) -> None:
    """They and the unit were lost."""
    text = "Kinetic Energy (eV)   Intensity (counts)\n84.0   10\n84.1   12\n"
    found = read(write(tmp_path, text, "spectrum.txt"))
    assert (found.labels["energy"], found.units["energy"]) == ("Kinetic Energy", "eV")
    assert (found.labels["data"], found.units["data"]) == ("Intensity", "counts")


@pytest.mark.parametrize("line", ["2  points in all", "2024\tMay scan", "delay = 5 ps  sample 3"])
def test_lines_above_columns_that_are_no_names(tmp_path: Path, line: str) -> None:
    """The answer was that "points in all" is not a number."""
    found = read(write(tmp_path, f"{line}\n84.0 10\n84.1 12\n", "spectrum.txt"))
    assert found.dims == ("energy",)
    assert found.labels.get("energy", "") == ""
    np.testing.assert_array_equal(found.data, [10, 12])


@pytest.mark.parametrize(
    ("line", "dim", "label"),
    [
        ("# Time (ps), Int. at 285 eV", "time", "Int. at 285 eV"),
        ("# Time (ps), Na 1s", "time", "Na 1s"),
        ("# Energy - eV, Counts", "energy", "Counts"),
        ("# Wavelength (nm), T = 5 ps", "energy", "T = 5 ps"),
        ("# delay = 5 ps, T = 300 K", "energy", ""),
        ("# delay 5 ps, scan 3", "energy", ""),
        ("# delay,5", "energy", ""),
    ],
)
def test_names_between_separators_may_hold_numbers(
    tmp_path: Path, line: str, dim: str, label: str
) -> None:
    """Times below "# Time (ps), Int. at 285 eV" were energies."""
    found = read(write(tmp_path, f"{line}\n84.0,10\n84.1,12\n"))
    assert found.dims == (dim,)
    assert found.labels.get("data", "") == label


def test_columns_with_another_decimal_sign_each(tmp_path: Path) -> None:
    """They were refused for signs between thousands, which there are none of."""
    found = read(write(tmp_path, "284,7;95.0\n284,6;1.e3\n"))
    np.testing.assert_array_equal(found.energy, [284.7, 284.6])
    np.testing.assert_array_equal(found.data, [95, 1000])


def test_one_column_with_decimal_commas(tmp_path: Path) -> None:
    """It was read as two columns, 284 and 7."""
    path = write(tmp_path, "10,7\n11,6\n12,5\n")
    found = read(path, decimal=",", energy=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found.data, [10.7, 11.6, 12.5])


@pytest.mark.parametrize("errors", [3, "3", "spread"])
def test_errors_beside_the_index_of_pandas(tmp_path: Path, errors: int | str) -> None:
    """A number was refused, and on the command line it was that of the next column."""
    path = write(tmp_path, ",energy,counts,spread\n0,85.0,3,0.1\n1,84.5,4,0.2\n2,84.0,5,0.3\n")
    found = read(path, errors=errors)
    np.testing.assert_array_equal(found.energy, [85, 84.5, 84])
    np.testing.assert_array_equal(found.errors, [0.1, 0.2, 0.3])


def test_regions_side_by_side_of_different_lengths(tmp_path: Path) -> None:
    """The rows that the shorter one lacks were refused as without an energy; they hold data of the
    other one."""
    text = "C1s BE,C1s I,C1s sigma,O1s BE,O1s I,O1s sigma\n291,5,1,537,7,2\n290,6,1,536,8,2\n"
    path = write(tmp_path, text + "289,7,1,,,\n288,8,1,,,\n")
    found = read(path, columns=("O1s BE", "O1s I"), errors="O1s sigma")
    np.testing.assert_array_equal(found.energy, [537, 536])
    np.testing.assert_array_equal(found.data, [7, 8])
    np.testing.assert_array_equal(found.errors, [2, 2])
    assert "2 rows that are empty in these columns are left out" in found.notes
    assert read(path, columns=(0, 1)).shape == (4,)
    path = write(tmp_path, "E,I,sigma\n291,5,1\n290,,\n289,7,1\n")  # it has an energy
    assert read(path, columns="I", errors="sigma").shape == (3,)
    path = write(tmp_path, "E,I,K\n291,5,1\n,6,1\n289,7,1\n")  # a value without its energy
    with pytest.raises(DataError, match=r"table\.csv:3: the energy is missing"):
        read(path, columns=("E", "I"))


def test_columns_of_one_name_are_chosen_by_number(tmp_path: Path) -> None:
    """The first one was taken without a word, though the second region may have been meant."""
    path = write(tmp_path, "BE (eV),Counts,BE (eV),Counts\n291,5,537,7\n290,6,536,8\n")
    for name in ("BE (eV)", "BE"):
        with pytest.raises(DataError, match=f"2 columns are called '{re.escape(name)}', 0 and 2; "):
            read(path, columns=(name, 3))
    np.testing.assert_array_equal(read(path, columns=(2, 3)).data, [7, 8])
    path = write(tmp_path, "counts (1/s),E,counts\n5,291,2\n6,290,2\n")
    np.testing.assert_array_equal(
        read(path, columns=("E", "counts")).data, [2, 2]
    )  # that name alone


def test_columns_of_nothing_are_left_out(tmp_path: Path) -> None:
    """They were data without a value, or stood in the place of the axis."""
    path = write(
        tmp_path,
        "\t\tBinding Energy\tI\t\tFit\n\t\teV\tcps\t\tcps\n\t\t291\t5\t\t4\n\t\t290\t6\t\t5\n",
    )
    found = read(path)
    np.testing.assert_array_equal(found.energy, [291, 290])
    np.testing.assert_array_equal(found.data, [5, 6])
    assert found.units["energy"] == "eV"
    path = write(tmp_path, "E,Unnamed: 1,I\n291,,5\n290,,6\n")  # the gap as pandas writes it
    np.testing.assert_array_equal(read(path).data, [5, 6])
    path = write(tmp_path, "E,,I,sigma\n291,,5,1\n290,,6,2\n")
    np.testing.assert_array_equal(read(path, errors=3).errors, [1, 2])
    with pytest.raises(DataError, match="column 1 holds no value"):  # errors were those of I
        read(path, errors=1)


@pytest.mark.parametrize("head", ["E (eV)\twho\t\tI", "# E (eV)\twho\t\tI"])
def test_columns_that_are_left_out_keep_names_and_numbers(tmp_path: Path, head: str) -> None:
    """Below a comment the data were called "who", after the text beside them; and the empty column
    had the number 1, not that of the file."""
    found = read(write(tmp_path, head + "\n291\tme\t\t5\n290\tme\t\t6\n289\tme\t\t7\n"))
    assert dict(found.labels) == {"energy": "E", "data": "I"}
    assert found.units["energy"] == "eV"
    assert "columns without a name and a value are left out: 2" in found.notes
    found = read(write(tmp_path, "291\tme\t5\t7\n290\tme\t6\t8\n289\tme\t7\t9\n"))
    np.testing.assert_array_equal(found.axes["column"], [2, 3])
    assert any("data from 2, 3; choose others" in note for note in found.notes)


def test_names_of_many_columns_are_not_all_listed(tmp_path: Path) -> None:
    names = ",".join(f"spot {k}" for k in range(200))
    rows = "\n".join(f"{290 - e}," + ",".join(["1"] * 200) for e in range(3))
    text = str(read(write(tmp_path, f"BE (eV),{names}\n{rows}\n")))
    assert "'spot 6', 'spot 7', … 200 in all" in text
    assert max(map(len, text.splitlines())) < 200


def test_scans_point_by_point_keep_the_direction_of_the_file(tmp_path: Path) -> None:
    """Two values at each energy: half of the steps are none, so that energies that fall were sorted
    to rise, and a Shirley ran the wrong way."""
    energy = np.repeat(np.arange(291.0, 285.0, -1.0), 2)
    rows = "".join(f"{e},{k}\n" for k, e in enumerate(energy))
    found = read(write(tmp_path, f"E,I\n{rows}"), sort=True)
    np.testing.assert_array_equal(found.energy, energy[::2])
    np.testing.assert_array_equal(found.data, np.arange(6) * 2 + 0.5)
    rows = "".join(f"{e},{k}\n" for k, e in enumerate([*energy[::2], *energy[::-2]]))
    with pytest.raises(DataError, match="such as 286 and 286 at positions 5 and 6"):  # it turns
        read(write(tmp_path, f"E,I\n{rows}"))
