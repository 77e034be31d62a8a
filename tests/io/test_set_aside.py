"""Columns of a table that are no data: row numbers, text, standard errors by their names."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import read
from pyspec.errors import DataError
from pyspec.io.tables.cells import is_label
from pyspec.io.units import guess_kind, holds_errors

ENERGY = np.arange(80, 90, 0.5)
PEAK = np.round(100 * np.exp(-((ENERGY - 84) ** 2)) + 10, 3)
FALLING = np.round(100 * np.exp(-np.arange(20) / 5), 4)


def table(path: Path, head: str, *columns: object, sep: str = ",") -> Path:
    """A file with these columns; a text is the same in each row."""
    lists = [[one] * 20 if isinstance(one, str) else list(one) for one in columns]  # type: ignore
    rows = "".join(sep.join(map(str, row)) + "\n" for row in zip(*lists, strict=True))
    path.write_text(f"{head}\n{rows}" if head else rows, encoding="utf-8")
    return path


def test_row_numbers_beside_spectra_and_beside_an_axis(tmp_path: Path) -> None:
    path, count = tmp_path / "a.csv", range(20)
    # The first spectrum was taken for the axis where it fell all the way, by the "E" of its name.
    found = read(table(path, ",E1,E2,E3", count, FALLING, PEAK, PEAK))
    np.testing.assert_array_equal(found.energy, count)
    np.testing.assert_array_equal(found.data, [FALLING, PEAK, PEAK])
    assert any("which numbers the rows, was taken for the axis" in one for one in found.notes)
    # Row numbers were taken for the axis, and the axis for a spectrum.
    found = read(table(path, ",x,y", count, ENERGY, PEAK))
    np.testing.assert_array_equal(found.energy, ENERGY)
    np.testing.assert_array_equal(found.data, PEAK)
    found = read(table(path, ",position,signal", count, ENERGY, PEAK))
    np.testing.assert_array_equal(found.energy, ENERGY)
    found = read(table(path, ",left,right", count, FALLING, PEAK))  # uneven: no axis
    np.testing.assert_array_equal(found.energy, count)
    # Values in ampere were even steps, all of them below 1e-8, and so an axis.
    found = read(table(path, ",left,right", count, 1e-12 * FALLING, PEAK))
    np.testing.assert_array_equal(found.energy, count)
    # Where the axis is given they are no spectrum.
    given = {"energy": ENERGY, "time": [0, 1], "transpose": True}
    found = read(table(path, ",s1,s2", count, FALLING, PEAK), **given)
    np.testing.assert_array_equal(found.data, [FALLING, PEAK])


@pytest.mark.parametrize(
    ("head", "columns", "sep"),
    [
        ("energy,counts,remark", (ENERGY, PEAK, "ok"), ","),
        ("label,energy,counts", ("C1s", ENERGY, PEAK), ","),
        ("energy,region,counts", (ENERGY, "clean C 1s", PEAK), ","),
        ("energy\tstamp\tcounts", (ENERGY, "2024-05-01 12:00:00", PEAK), "\t"),
        ("# energy region counts", (ENERGY, "C1s", PEAK), " "),
        ("energy,counts,remark", (ENERGY, PEAK, ["", "", "", "spike"] * 5), ","),
        ("energy,counts,remark,", (ENERGY, PEAK, "ok", ""), ","),
        (",energy,what,counts", (range(20), ENERGY, "C1s", PEAK), ","),
    ],
)
def test_text_beside_numbers_is_left_out(
    tmp_path: Path, head: str, columns: tuple[object, ...], sep: str
) -> None:
    # These files were refused.
    found = read(table(tmp_path / "a.txt", head, *columns, sep=sep))
    np.testing.assert_array_equal(found.energy, ENERGY)
    np.testing.assert_array_equal(found.data, PEAK)
    assert found.labels["data"] == "counts"
    assert any("text among the numbers is left out" in one for one in found.notes)


def test_text_with_decimal_commas_and_given_columns(tmp_path: Path) -> None:
    cells = [[str(one).replace(".", ",") for one in line] for line in (ENERGY, PEAK, FALLING)]
    head = "Energie (eV);Gebiet;I;Fehler"
    path = table(tmp_path / "a.csv", head, cells[0], "C1s", *cells[1:], sep=";")
    found = read(path)
    np.testing.assert_array_equal(found.data, PEAK)
    np.testing.assert_array_equal(found.errors, FALLING)
    for columns in ((0, 2), ("Energie", "I")):  # numbers are those of the file
        found = read(path, columns=columns, errors=3)
        np.testing.assert_array_equal(found.data, PEAK)
        np.testing.assert_array_equal(found.errors, FALLING)
    np.testing.assert_array_equal(read(path, errors=2).errors, PEAK)
    with pytest.raises(DataError, match="column 'Gebiet' holds text, such as 'C1s'"):
        read(path, columns=(0, 1))


@pytest.mark.parametrize(
    "cell", ["1.234.567", "(1+2j)", "<5", "1200 cts", "50%", "1,2;3", "01.05.2024", "1'200"]
)
def test_numbers_that_are_not_understood_are_no_text(tmp_path: Path, cell: str) -> None:
    # Left out, they would leave the column behind them in their place.
    sep = "," if " " in cell else "\t"
    head = sep.join(["energy", "counts", "err"])
    path = table(tmp_path / "a.txt", head, ENERGY, cell, PEAK, sep=sep)
    with pytest.raises(DataError, match=r"is no number|is not a number"):
        read(path)
    assert not is_label(cell)


def test_one_wrong_word_is_refused_and_named_rows_are_columns(tmp_path: Path) -> None:
    wrong = [*PEAK.tolist()[:9], "spike", *PEAK.tolist()[10:]]
    with pytest.raises(DataError, match=r"a\.csv:11: 'spike' is not a number"):
        read(table(tmp_path / "a.csv", "energy,counts,b", ENERGY, wrong, PEAK))
    rows = "".join(f"sample {k}," + ",".join(map(str, PEAK)) + "\n" for k in range(5))
    (tmp_path / "b.csv").write_text("name," + ",".join(map(str, ENERGY)) + "\n" + rows)
    found = read(tmp_path / "b.csv")  # no time is made of the names
    assert found.dims == ("column", "energy")
    assert np.array_equal(found.data, np.tile(PEAK, (5, 1)))


@pytest.mark.parametrize("cell", ["10:{:02d}:00", "2024-05-01 10:{:02d}", "{:02d}/05/2024", "C{}s"])
def test_an_axis_of_text_is_not_left_out(tmp_path: Path, cell: str) -> None:
    """The column behind it, a trace that rises, became the axis, with a note alone."""
    times = [cell.format(k) for k in range(20)]
    path = table(tmp_path / "a.csv", "time,a,b", times, ENERGY, PEAK)
    with pytest.raises(DataError, match="first column, 'time', holds text"):
        read(path)
    np.testing.assert_array_equal(read(path, columns=(1, 2)).data, PEAK)
    found = read(table(tmp_path / "b.csv", "time,energy,counts", times, ENERGY, PEAK))
    np.testing.assert_array_equal(found.energy, ENERGY)  # when each point was measured


def test_errors_by_their_names_in_other_languages(tmp_path: Path) -> None:
    for name in (
        "Fehler", "Messfehler", "Standardabweichung", "Stabw.", "Unsicherheit", "I_Fehler",
        "Fehler (counts)", "erreur", "écart-type", "ecart type", "incertitude", "errore",
        "Std. Dev.", "Std Err", "yerr", "Y-Error", "error bars", "u_sigma", "s.d.",
    ):  # fmt: skip
        assert holds_errors(name, "u" if name == "u_sigma" else "I"), name
    for name in ("Se", "SE", "ΔA", "delta", "dI", "I2", "reference", "y", "stdref", "weight"):
        assert not holds_errors(name, "I"), name
    found = read(table(tmp_path / "a.csv", "Energie (eV),I,Fehler", ENERGY, PEAK, FALLING))
    np.testing.assert_array_equal(found.errors, FALLING)  # they were a second spectrum
    # So were those of several spectra, always.
    head = "energy,a,a_err,b,b_err"
    found = read(table(tmp_path / "b.csv", head, ENERGY, PEAK, FALLING, 2 * PEAK, 2 * FALLING))
    np.testing.assert_array_equal(found.data, [PEAK, 2 * PEAK])
    np.testing.assert_array_equal(found.errors, [FALLING, 2 * FALLING])
    assert read(table(tmp_path / "c.csv", "x,a,a_err,b,c", *[ENERGY] * 5)).errors is None


def test_axes_by_their_names_in_other_languages(tmp_path: Path) -> None:
    for name in ("Zeit", "Verzögerung", "temps", "Délai", "retard_2", "tempo"):
        assert guess_kind(name) == "time", name
    for name in ("Bindungsenergie", "énergie de liaison", "Wellenlänge", "Longueur d'onde"):
        assert guess_kind(name) == "energy", name
    found = read(table(tmp_path / "a.csv", "Zeit;Intensität", ENERGY, PEAK, sep=";"))
    assert found.dims == ("time",)  # these were energies
