"""Rows of a text that do not look like the others: remarks on the first one, rows that are named,
and empty ones at the end."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.cells import is_label, number
from pyspec.io.found import monotonic
from pyspec.io.units import guess_kind

Row = tuple[int, list[str]]

#: The first number of a row with a remark is as far from the next as that from its next, by this
#: factor at most.
_STEP = 3.0

#: So many numbers stand behind the name of a row at least.
_NUMBERS = 3


def has_words(body: Sequence[Row], column: int, n_numbers: int) -> bool:
    """Whether a column has labels and no number, beside two columns of numbers at least."""
    inside = [row[column] for _, row in body if column < len(row)]
    values = [number(cell) for cell in inside]
    if n_numbers < 3 or any(value is not None and value == value for value in values):
        return False
    return all(is_label(cell) for cell, value in zip(inside, values, strict=True) if value is None)


def begins(rows: Sequence[Row], first: int, width: int) -> int:
    """The number of the first row: before `first`, which has numbers and empty cells only, where a
    column of remarks has one on the first rows."""
    while first > 0:
        _, row = rows[first - 1]
        values = [number(cell) for cell in row]
        words = [k for k, value in enumerate(values) if value is None]
        if len(row) != width or not words or values[0] is None or values[0] != values[0]:
            return first
        body = rows[first - 1 :]
        if not all(has_words(body, k, width - len(words) + 1) for k in words):
            return first
        first -= 1
    return first


def refuse_remark(path: Path, rows: Sequence[Row], first: int, width: int) -> None:
    """Raises :class:`DataError` where the last row above the numbers goes on with them, and has a
    remark behind: it must not pass as a header."""
    if first == 0 or len(rows) < first + 2:
        return
    at, row = rows[first - 1]
    values = [number(cell) for cell in row]
    numbers, rest = values[:width], [k for k in range(width, len(row)) if row[k]]
    if not rest or any(value is None or value != value for value in numbers):
        return
    if any(values[k] is not None for k in rest):
        return
    points = [numbers[0], *(number(rows[k][1][0]) for k in (first, first + 1))]
    if None in points or not math.isfinite(sum(map(float, filter(None, points)))):
        return
    before, after = np.diff(np.array(points, np.float64))
    if before * after > 0 and 1 / _STEP < before / after < _STEP:
        raise DataError(
            f"{path}:{at}: {row[rest[0]][:40]!r} is behind the numbers of a row; put # in front of "
            "the remark, or in front of the line if it is no data"
        )


def turned(rows: Sequence[list[str]]) -> list[list[str]] | None:
    """The columns of rows that are named by their first cells, below a row of an axis; None where
    they are others."""
    width = len(rows[0])
    if len(rows) < 2 or width <= _NUMBERS or any(len(row) != width for row in rows):
        return None
    names = [row[0] for row in rows]
    if not all(is_label(name) and number(name) is None for name in names[1:]):
        return None
    values = [[number(cell) for cell in row[1:]] for row in rows]
    if any(None in row for row in values) or number(names[0]) not in (None, 0.0):
        return None
    if not monotonic(np.array(values[0], np.float64)):
        return None
    names[0] = names[0] if guess_kind(names[0]) is not None else "energy"
    return [names, *(list(column) for column in zip(*(row[1:] for row in rows), strict=True))]


_HEADING = re.compile(r"\[[^\]]*\]")


def foot(rows: Sequence[Row], width: int) -> int:
    """How many lines at the end say how was measured, below the numbers, such as "Averages: 3":
    they begin with a word, none is a row of the table with a word in it, and one is "key: value"
    at least. Below a heading in brackets, such as "[Comments]", all lines do."""
    kept = len(rows)
    while kept > 1 and rows[kept - 1][1] and number(rows[kept - 1][1][0]) is None:
        kept -= 1
    if kept < len(rows) and _HEADING.fullmatch(" ".join(rows[kept][1]).strip()):
        return len(rows) - kept
    kept = len(rows)
    while kept > 1 and _is_remark(rows[kept - 1][1], width):
        kept -= 1
    is_meta = any(":" in cell or "=" in cell for _, row in rows[kept:] for cell in row)
    return len(rows) - kept if is_meta else 0


def _is_remark(row: list[str], width: int) -> bool:
    first = row[0]
    if not first[:1].isalpha() or number(first) is not None:
        return False
    has_numbers = any(number(cell) is not None for cell in row[1:] if cell)
    return len(row) != width or not has_numbers or first.endswith((":", "="))


def n_empty(body: Sequence[Row]) -> int:
    """How many rows at the end hold separators alone."""
    kept = len(body)
    while kept > 1 and not any(body[kept - 1][1]):
        kept -= 1
    return len(body) - kept
