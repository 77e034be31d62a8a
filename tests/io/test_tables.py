"""Several tables below each other in one text, as CasaXPS exports regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import DataError, read

REGIONS = (("C 1s", 280, 12), ("O 1s", 525, 15), ("Ti 2p", 450, 9))


def _casa(names: tuple[str, ...] = ("C 1s", "O 1s", "Ti 2p"), *, peaks: bool = True) -> str:
    """K.E., counts, a component for all but the first, B.E. and CPS; headings as CasaXPS has."""
    text = []
    for k, ((_, low, n), name) in enumerate(zip(REGIONS, names, strict=True)):
        more = k if peaks else 0
        text += [f"Cycle 0:Sample A:{name}\t\t", "\tName" + f"\t{name} A" * more]
        text += ["\t".join(["K.E.", "Counts", *["peak"] * more, "B.E.", "CPS"])]
        for at in range(n):
            be = low + n - at
            row = [1486.7 - be, 100 * k + at, *[1.5] * more, be, 50 * k + at / 2]
            text.append("\t".join(f"{value:g}" for value in row))
        text.append("")
    return "\n".join(text)


@pytest.mark.parametrize("block", [1, "O 1s", "Cycle 0:Sample A:O 1s"])
def test_a_table_is_chosen_by_number_or_heading(tmp_path: Path, block: int | str) -> None:
    # The heading of the second one was "not a number", and so was every line of it in turn.
    path = tmp_path / "a.txt"
    path.write_text(_casa())
    found = read(path, block=block, columns=("B.E.", "CPS"))
    np.testing.assert_array_equal(found.energy, np.arange(540, 525, -1))
    np.testing.assert_array_equal(found.data, 50 + np.arange(15) / 2)
    assert found.name == "a: O 1s"
    assert "one of 3 tables, below 'Cycle 0:Sample A:O 1s'" in found.notes


def test_without_a_choice_they_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(_casa())
    listed = r"0: Cycle 0:Sample A:C 1s \(12 rows\), 1: .*O 1s \(15 rows\), 2: .*Ti 2p \(9 rows\)"
    for block, message in (
        (None, r"holds 3 tables, one below the other; choose one with block=: " + listed),
        (3, r"no block 3; it has " + listed),
        ("O1s", r"no block 'O1s'; .* did you mean 'O 1s'\?"),
    ):
        with pytest.raises(DataError, match=message):
            read(path, block=block)
    path.write_text(_casa(("C 1s", "C 1s", "Ti 2p")))
    with pytest.raises(DataError, match="2 tables are called 'C 1s'; it has 0: "):
        read(path, block="C 1s")
    assert read(path, block=1, columns=(0, 1)).energy.size == 15


def test_axes_that_go_on_are_no_single_spectrum(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    tables = [
        "energy,counts\n" + "".join(f"{at},{at % 7}\n" for at in range(low, low + 5))
        for low in (80, 90, 100)
    ]
    path.write_text("\n".join(tables))
    with pytest.raises(DataError, match=r"holds 3 tables.*block=: 0: energy counts \(5 rows\)"):
        read(path)
    np.testing.assert_array_equal(read(path, block=2).energy, np.arange(100, 105))


@pytest.mark.parametrize(
    "wrong",
    ["aborted", "aborted,by user", "84,oops", "energy,counts\n84,1"],
)
def test_a_wrong_line_begins_no_table(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"energy,counts\n80,1\n81,2\n82,3\n{wrong}\n")
    rows = "83,4\n85,5\n86,6\n" if "oops" in wrong else ""
    path.write_text(path.read_text() + rows)
    with pytest.raises(DataError, match=r"a\.csv:5: "):
        read(path)


@pytest.mark.parametrize("wrong", ["ERR,ERR", "----,----", "saturated,saturated", ",", "x,"])
def test_a_row_of_missing_values_begins_no_table(tmp_path: Path, wrong: str) -> None:
    # The rows below it were a table called "ERR ERR": whoever chose a block lost the others.
    path = tmp_path / "a.csv"
    rows = [f"{at},{at % 7}" for at in range(80, 90)]
    path.write_text("\n".join(["energy,counts", *rows[:5], wrong, *rows[5:], "x: 3,4"]))
    with pytest.raises(DataError) as error:
        read(path)
    assert "tables" not in str(error.value)


@pytest.mark.parametrize("separator", [",", "\t", " "])
@pytest.mark.parametrize("more", [1, 3])
def test_a_short_table_above_a_long_one_is_no_header(
    tmp_path: Path, more: int, separator: str
) -> None:
    # The longer one alone was read, without a word; where it has one column more than the other,
    # the last row of that was its axis.
    path = tmp_path / "a.csv"
    names = ["energy", "counts", *(f"peak{k}" for k in range(more))]
    rows = [["energy", "counts"], *([f"{at}", f"{at % 7}"] for at in range(80, 85))]
    rows += [names, *([f"{at}", *["3"] * (1 + more)] for at in range(90, 99))]
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"holds 2 tables.*\(5 rows\), 1: .*\(9 rows\)"):
        read(path)
    np.testing.assert_array_equal(read(path, block=0).energy, np.arange(80, 85))
    np.testing.assert_array_equal(read(path, block=1).energy, np.arange(90, 99))


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("row", ["7O,5", "l7,5", "~70,5"])
def test_no_row_of_numbers_is_lost_between_tables(tmp_path: Path, row: str, at: int) -> None:
    # It was the heading of the next table, and below the last one it was left out.
    path = tmp_path / "a.csv"
    table = "energy,counts\n" + "".join(f"{k},{k % 7}\n" for k in range(80, 85))
    path.write_text(f"C 1s\n{table}{row * (at == 1)}\nO 1s\n{table}{row * (at == 2)}\n")
    with pytest.raises(DataError, match=r"a\.csv:\d+: "):
        read(path, block=1)


def test_energies_below_0_with_the_minus_sign_of_print_stay_in_their_table(tmp_path: Path) -> None:
    # They were taken for the heading of the next table, or left out of the last.
    path = tmp_path / "a.csv"
    rows = "".join(f"{at},{at + 9}\n" for at in range(3, -4, -1)).replace("-", "\N{MINUS SIGN}")
    path.write_text(f"C 1s,\nenergy,counts\n{rows}O 1s,\nenergy,counts\n{rows}Dwell: 3\n")
    for block in ("C 1s", "O 1s"):
        found = read(path, block=block)
        np.testing.assert_array_equal(found.energy, np.arange(3, -4, -1))
        np.testing.assert_array_equal(found.data, np.arange(12, 5, -1))
    assert found.meta == {"Dwell": "3"}


def test_errors_in_a_table_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    text = _casa(peaks=False).replace("\n946.7\t", "\n946.7\tx", 1)
    at = next(k for k, line in enumerate(text.splitlines(), 1) if "\tx" in line)
    path.write_text(text)
    with pytest.raises(DataError, match=rf"a\.txt:{at}: "):
        read(path, block=1, columns=(0, 1))
