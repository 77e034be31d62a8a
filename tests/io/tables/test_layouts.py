"""Tables as programs write them: a matrix, a row for each point, regions below each other, and rows
that are not like the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read

DATA = np.random.default_rng(0).normal(10.0, 1.0, (5, 9)).round(3)


def written(folder: Path, text: str) -> Path:
    (folder / "table.csv").write_text(text, encoding="utf-8")
    return folder / "table.csv"


def test_columns_that_begin_at_zero_stay_columns(tmp_path: Path) -> None:
    for rows in (
        np.arange(20.0).reshape(4, 5),
        np.column_stack([np.arange(5.0), DATA[:, :4]]),
        np.column_stack([np.arange(5.0), np.sort(DATA[:, :4], axis=1)]),
    ):
        text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
        found = read(written(tmp_path, text))
        assert np.array_equal(found.data, rows[:, 1:].T)
        assert np.array_equal(found.energy, rows[:, 0])
    # Points of a grid that is not complete are none of both.
    with pytest.raises(DataError, match="layout='points'"):
        read(written(tmp_path, "0,80,3\n0,81,4\n0,82,5\n1,80,6\n1,81,7\n"))


@pytest.mark.slow
def test_a_long_row_with_a_remark_is_read_at_once(tmp_path: Path) -> None:
    """Each of its digits was tried as the last one: a row of 10,000 values took two minutes,
    and one of 100,000 would take hours."""
    rows = [" ".join(map(str, range(k, 100_000 + k))) for k in range(4)]
    assert read(written(tmp_path, f"{rows[0]}\n{rows[1]} # spike\n{rows[2]}\n")).shape[1] == 99_999
    with pytest.raises(DataError, match=r":2: the row has 100003 values"):
        read(written(tmp_path, f"{rows[0]}\n{rows[1]} nan # spike\n{rows[2]}\n{rows[3]}\n"))


def test_delays_in_the_order_of_a_scan_are_a_row_of_axis(tmp_path: Path) -> None:
    """A first row of delays in any order, some twice, was data: the wavelengths got one at 0, and
    each delay was a column of a table."""
    rng, wavelength = np.random.default_rng(0), np.linspace(420.0, 750.0, 60)
    delay = np.r_[np.linspace(-1, 1, 21), np.geomspace(1.2, 1500, 20)]
    order = rng.permutation(np.r_[0:41, 3, 20])
    data = delay[None, :] * 0.01 + wavelength[:, None]
    for corner in ("0", "NaN"):
        rows = [[corner, *delay[order].astype(str)]]
        rows += [
            [str(at), *row[order].astype(str)] for at, row in zip(wavelength, data, strict=True)
        ]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(",".join(row) for row in rows))
        with pytest.raises(DataError, match=r"the time axis is not sorted: .*sort=True"):
            read(path)
        scan = read(path, sort=True)
        np.testing.assert_allclose(scan.axes["time"], delay)
        np.testing.assert_allclose(scan.axes["energy"], wavelength)
        np.testing.assert_allclose(scan.data, data.T)
    # Columns beside an axis that begins at 0 are none.
    table = np.c_[np.arange(0.0, 30.0), rng.normal(size=(30, 8))]
    np.savetxt(path, table, delimiter=",")
    assert read(path).dims == ("column", "energy")


DELAYS = np.r_[np.arange(-1, 1, 0.25), np.geomspace(1, 1000, 8)]
WAVELENGTHS = np.linspace(350, 700, 15)
FERMI = np.r_[-2:-0.5:0.25, -0.5:0.5:0.02, 0.5:2.1:0.25]
LOSSES = np.r_[-0.1:0.1:0.005, 0.1:1:0.05]
VALUES = np.outer(np.arange(15.0), np.arange(16.0))  # (n_energy, n_time)


def _text(down: np.ndarray, across: np.ndarray, values: np.ndarray, corner: str = "0") -> str:
    rows = [[corner, *map(repr, map(float, across))]]
    rows += [
        [repr(float(at)), *map(repr, map(float, row))] for at, row in zip(down, values, strict=True)
    ]
    return "".join(",".join(row) + "\n" for row in rows)


FOOT = "file info\nTime units: ps\nAverages: 3\nPump energy: 100 nJ\n"


@pytest.mark.parametrize("separator", ["", "\n"])
def test_lines_below_the_numbers_say_how_was_measured(tmp_path: Path, separator: str) -> None:
    # Files of Surface Xplorer were refused: "the row has 1 values, the others have 17".
    path = tmp_path / "a.csv"
    path.write_text(_text(WAVELENGTHS, DELAYS, VALUES) + separator + FOOT)
    found = read(path)
    np.testing.assert_array_equal(found.data, VALUES.T)
    assert found.meta["Averages"] == "3"
    assert found.meta["Pump energy"] == "100 nJ"
    assert "4 lines of text below the numbers: 'file info', 'Time units: ps', " in str(found)


def test_a_first_row_of_delays_is_the_time(tmp_path: Path) -> None:
    # It was taken for energies, and the wavelengths in the first column for times.
    path = tmp_path / "a.csv"
    for corner in ("0", "", "NaN"):
        path.write_text(_text(WAVELENGTHS, DELAYS, VALUES, corner))
        found = read(path, units={"energy": "nm", "time": "ps"})
        assert found.dims == ("time", "energy")
        np.testing.assert_array_equal(found.time, DELAYS)
        np.testing.assert_array_equal(found.energy, WAVELENGTHS)
        assert "the first row time, as it has both signs and uneven steps" in str(found)
        np.testing.assert_array_equal(read(path, transpose=True).time, WAVELENGTHS)


@pytest.mark.parametrize(
    ("down", "across", "corner"),
    [
        (DELAYS, WAVELENGTHS, "0"),  # as most programs write it
        (np.arange(16.0), np.linspace(-2, 1, 15), "0"),  # energies about the Fermi level
        (DELAYS, np.linspace(-2, 1, 15), "0"),
        (DELAYS, DELAYS[1:], "0"),
        (WAVELENGTHS, DELAYS, "time"),  # the corner says so
        (np.arange(10.0, 110, 10), FERMI, "0"),  # seconds, and energies in finer steps at 0
        (np.arange(100.0, 200, 10), FERMI, "0"),
        (np.arange(1.0, 13), 2 * FERMI, "0"),  # numbers of scans
        (np.arange(1.0, 13), LOSSES, "0"),
        (np.geomspace(0.1, 1000, 12), LOSSES, "0"),
        (np.arange(60.0, 600, 60), 400 * FERMI, "0"),  # shifts of Stokes and anti-Stokes lines
        (np.arange(100.0, 200, 10), FERMI[::-1], "0"),
    ],
)
def test_other_matrices_are_read_as_before(
    tmp_path: Path, down: np.ndarray, across: np.ndarray, corner: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(_text(down, across, np.zeros((down.size, across.size)) + 1, corner))
    # Uneven energies with both signs were times, and the times of the column energies.
    found = read(path)
    np.testing.assert_array_equal(found.time, down)
    np.testing.assert_array_equal(found.energy, across)


ENERGIES = np.linspace(91.0, 80.0, 12)
TIMES = np.array([-1.0, 0.0, 1.0, 2.5, 4.0])
COUNTS = np.arange(60.0).reshape(5, 12)
ROWS = [(t, e, COUNTS[i, j]) for i, t in enumerate(TIMES) for j, e in enumerate(ENERGIES)]


def write_points(folder: Path, rows: Sequence[Sequence[float]], head: str = "") -> Path:
    path = folder / "points.csv"
    text = "\n".join(",".join(f"{value:.10g}" for value in row) for row in rows)
    path.write_text(f"{head}\n{text}\n" if head else text, encoding="utf-8")
    return path


def test_scattered_points_are_no_grid(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(t + 1e-3 * rng.normal(), e, y) for t, e, y in ROWS]
    with pytest.raises(DataError, match="60 times and 12 energies, too many for a grid"):
        read(write_points(tmp_path, rows), layout="points")


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
