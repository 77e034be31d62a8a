"""Tables as instruments write them: delays or etch times in the first row, and how it was measured
below the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import read

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
