"""Tables as instruments write them: delays or etch times in the first row, and how it was measured
below the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import DataError, read

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("80,2\n81,3\n82,4\nend of data\n", r":4: the row has 3 values|:4: the row has 1 values"),
        ("80,2\n81,3\nmean,2.5\nname: x\n", r":3: 'mean' is not a number"),
        ("80,2\n81,3\nname: x\n82,4\n", r":3: the row has 1 values"),
        ("80,2\n81,3\n82:4\nname: x\n", r":3: the row has 1 values"),
    ],
)
def test_no_row_of_numbers_passes_as_such_a_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path)


def test_of_columns_too(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("80 2\n81 3\n82 4\nPass energy: 20\nName: a b c\n")
    found = read(path)
    np.testing.assert_array_equal(found.data, [2, 3, 4])
    assert found.meta == {"Pass energy": "20", "Name": "a b c"}


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


@pytest.mark.parametrize("names_first", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_row_beside_the_names_of_columns_has_its_own_name(
    tmp_path: Path, turned: bool, names_first: bool
) -> None:
    # The name of the row was taken for that of the first column: energies were times.
    path = tmp_path / "a.csv"
    names = ("Binding Energy (eV)", "Etch Time (s)")
    down, across = np.array([285.0, 284.0, 283.0, 282.0]), np.array([0.0, 30.0, 60.0])
    if turned:
        names, down, across = names[::-1], across, down
    values = np.arange(12.0).reshape(down.size, across.size)
    head = [[names[1], *map(str, across)], [names[0], *["Counts / s"] * across.size]]
    rows = [[str(at), *map(str, row)] for at, row in zip(down, values, strict=True)]
    head = head[::-1] if names_first else head
    path.write_text("".join(",".join(row) + "\n" for row in (*head, *rows)))
    found = read(path)
    np.testing.assert_array_equal(found.time, [0, 30, 60])
    np.testing.assert_array_equal(found.energy, [285, 284, 283, 282])
    np.testing.assert_array_equal(found.data, values if turned else values.T)
    assert found.units == {"time": "s", "energy": "eV"}
    assert found.labels["time"] == "Etch Time"


@pytest.mark.parametrize(
    "title",
    ["Energy (eV),,,", "Energy axis,eV,,", "Pump wavelength: 400 nm,,,", "hν,1486.6,,", ",,,"],
)
def test_what_stands_above_a_row_with_a_name_is_a_title(tmp_path: Path, title: str) -> None:
    # It was taken for the name of the first column: the times below "Time (ps)" were energies.
    path = tmp_path / "a.csv"
    path.write_text(f"{title}\nTime (ps),280,281,282\n10,1,2,3\n20,4,5,6\n30,7,8,9\n")
    found = read(path)
    np.testing.assert_array_equal(found.time, [10, 20, 30])
    np.testing.assert_array_equal(found.energy, [280, 281, 282])
    path.write_text("Time (ps),,,\nEnergy (eV),10,20,30\n280,1,4,7\n281,2,5,8\n282,3,6,9\n")
    turned = read(path)
    np.testing.assert_array_equal(turned.energy, [280, 281, 282])
    np.testing.assert_array_equal(turned.data, found.data)
