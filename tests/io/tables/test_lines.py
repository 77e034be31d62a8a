"""The numbers of lines: read many at once they are those of each cell, and take little memory."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io.tables.cells import Lines, number, numbers_of

FILE = Path("table.csv")

#: Cells that are read as numbers are, or as missing values.
UNUSUAL = ("nan", "-inf", "", "--", "1e400", "4.9e-324", " 7 ", "1\xa0", "2d3", "١", '"8"', "+.5")


def lines_of(texts: list[str], separator: str | None = ",", decimal: str = ".") -> Lines:
    return Lines(range(1, len(texts) + 1), texts, separator, decimal)


def cell_by_cell(lines: Lines) -> np.ndarray:
    found = [[number(cell) for cell in row] for _, row in lines]
    return np.array(found, dtype=np.float64)


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (None, "."), (";", ",")])
def test_they_have_the_bits_of_each_cell_alone(separator: str | None, decimal: str) -> None:
    rng = random.Random(3)
    draw = [[rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 30) for _ in "abc"] for _ in range(2500)]
    texts = [(separator or "  ").join(map(repr, row)).replace(".", decimal) for row in draw]
    found = lines_of(texts, separator, decimal).values(FILE, 3, {})
    np.testing.assert_array_equal(found, np.array(draw))


@pytest.mark.parametrize("place", [0, 2499])
@pytest.mark.parametrize("cell", UNUSUAL)
def test_an_unusual_cell_is_read_as_any_other_between_them(cell: str, place: int) -> None:
    texts = [f"{k},{k / 7!r}" for k in range(2500)]
    texts[place] = f"{place},{cell}"
    lines = lines_of(texts)
    np.testing.assert_array_equal(lines.values(FILE, 2, {}), cell_by_cell(lines))


def test_a_line_between_white_space_has_the_same_numbers() -> None:
    for word in [*(one for one in UNUSUAL if one), "1_0", "0x1p3", "two"]:
        parts = f"1 {word} 3".split()
        values = [number(part) for part in parts]
        if None in values:
            with pytest.raises(DataError, match=r"table\.csv:7: .* is not a number"):
                numbers_of(FILE, 7, f"1 {word} 3")
        else:
            np.testing.assert_array_equal(numbers_of(FILE, 7, f"1 {word} 3"), values)
