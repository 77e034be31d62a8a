"""Tables with one row for each point: time, energy and value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, read
from pyspec.errors import DataError

ENERGY = np.linspace(91.0, 80.0, 12)
TIME = np.array([-1.0, 0.0, 1.0, 2.5, 4.0])
DATA = np.arange(60.0).reshape(5, 12)
ROWS = [(t, e, DATA[i, j]) for i, t in enumerate(TIME) for j, e in enumerate(ENERGY)]
NAMED = "delay (ps),energy (eV),counts"


def write(folder: Path, rows: Sequence[Sequence[float]], head: str = "") -> Path:
    path = folder / "points.csv"
    text = "\n".join(",".join(f"{value:.10g}" for value in row) for row in rows)
    path.write_text(f"{head}\n{text}\n" if head else text, encoding="utf-8")
    return path


def write_model(folder: Path) -> Path:
    path = folder / "models.yaml"
    path.write_text("flat: {Offset: {y0: [1, true]}}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("head", ["", NAMED, "x,y,z"])
def test_a_grid_is_seen(tmp_path: Path, head: str) -> None:
    """It used to be refused as data without axes, or as a spectrum with equal energies."""
    found = read(write(tmp_path, ROWS, head))
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.time, TIME)
    np.testing.assert_array_equal(found.energy, ENERGY)  # it falls, as in the file
    np.testing.assert_array_equal(found.data, DATA)
    if head == NAMED:
        assert (found.units["time"], found.units["energy"]) == ("ps", "eV")


def test_rows_in_any_order_with_energies_first(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(60)
    rows = [(ROWS[k][1], ROWS[k][0], ROWS[k][2]) for k in order]
    found = read(write(tmp_path, rows, "energy (eV),delay (ps),counts"))
    np.testing.assert_array_equal(found.energy, ENERGY[::-1])
    np.testing.assert_array_equal(found.data, DATA[:, ::-1])


def test_points_without_a_row_are_left_out_of_fits(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS[:-4], NAMED)
    found = read(path)
    assert found.n_bad == 4
    assert "4 pairs of time and energy have no row" in str(found)
    file = File.from_dataset(found, Project(tmp_path, show_output=False))
    file.load_model(write_model(tmp_path), "flat")
    assert file.fit_2d("flat").n_data == 56


def test_said_in_words_where_it_cannot_be_seen(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS[:-4])
    with pytest.raises(DataError, match="layout='points'"):
        read(path)
    np.testing.assert_array_equal(read(path, layout="points").data[:4], DATA[:4])


@pytest.mark.parametrize(
    ("head", "options"),
    [(f"{NAMED},sigma", {}), ("", {"errors": 3}), ("", {"errors": 3, "layout": "points"})],
)
def test_a_fourth_column_of_errors(tmp_path: Path, head: str, options: dict[str, Any]) -> None:
    rows = [(*row, 0.5 + row[2]) for row in ROWS]
    found = read(write(tmp_path, rows, head), **options)
    np.testing.assert_array_equal(found.errors, 0.5 + DATA)


def test_columns_among_others(tmp_path: Path) -> None:
    rows = [(k, *row, 7.0) for k, row in enumerate(ROWS)]
    path = write(tmp_path, rows, f"n,{NAMED},dark")
    found = read(path, layout="points", columns=("delay", "energy", "counts"))
    np.testing.assert_array_equal(found.data, DATA)
    with pytest.raises(DataError, match="three columns"):
        read(path, layout="points")


def test_a_point_that_comes_twice_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, [*ROWS, ROWS[3]], NAMED)
    with pytest.raises(DataError, match=r"points.csv:62: the point at time -1, energy 88 stands"):
        read(path)


def test_scattered_points_are_no_grid(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(t + 1e-3 * rng.normal(), e, y) for t, e, y in ROWS]
    with pytest.raises(DataError, match="60 times and 12 energies, too many for a grid"):
        read(write(tmp_path, rows), layout="points")


def test_a_missing_place_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, [*ROWS[:5], (np.nan, 85.0, 1.0), *ROWS[6:]], NAMED)
    with pytest.raises(DataError, match=r"points.csv:7: the time is missing"):
        read(path, layout="points")


def test_a_spectrum_whose_axis_is_the_second_column(tmp_path: Path) -> None:
    """Told to sort, one used to get counts for energies."""
    counts = np.random.default_rng(0).poisson(100, 12)
    rows = list(zip(counts, ENERGY, strict=True))
    for header in ("counts,energy (eV)", ""):  # by the name, by even steps
        found = read(write(tmp_path, rows, header))
        np.testing.assert_array_equal(found.data, counts)
        np.testing.assert_array_equal(found.energy, ENERGY)


@pytest.mark.parametrize(
    ("header", "order"),
    [
        ("energy (eV),counts,error,background", "xyef"),
        ("KE,intensity,fit,residual", "xyff"),
        ("B.E.,CPS,Background,Envelope,C-C,C-O", "xyffff"),
        ("counts,sigma,energy", "yex"),
        ("", "xye"),
    ],
)
def test_columns_by_names_or_values(tmp_path: Path, header: str, order: str) -> None:
    """Of four columns one had to be chosen, and errors without a name were a second spectrum."""
    x, y = np.linspace(80.0, 91.0, 12), np.random.default_rng(0).poisson(100, 12) + 0.0
    columns = {"x": x, "y": y, "e": np.sqrt(y), "f": np.round(y / 2)}
    found = read(write(tmp_path, list(zip(*(columns[k] for k in order), strict=True)), header))
    np.testing.assert_array_equal(found.energy, x)
    np.testing.assert_array_equal(found.data, y)
    assert (found.errors is None) == ("e" not in order)


def test_remarks_behind_numbers(tmp_path: Path) -> None:
    path = tmp_path / "spectrum.txt"
    path.write_text("energy counts\n80.0 12 # start\n80.5 1.5e3\t# spike, 2\n81 14\n", "utf-8")
    np.testing.assert_array_equal(read(path).data, [12, 1500, 14])
