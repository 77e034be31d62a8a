"""The lines of a table of text, and their numbers: lines that hold numbers alone are read many at
once, and are split into cells only where these are asked for."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.io.cells import number
from pyspec.io.rows import Row, has_words

Array = npt.NDArray[np.float64]

#: A comma that is a decimal sign.
COMMA = re.compile(r"(?<=\d),(?=\d)|(?<=\d),(?=[eE\s;]|$)")

#: So many lines are read at once, or one by one where one of them is unusual.
_AT_ONCE = 1000


def cells(line: str, separator: str | None, decimal: str) -> list[str]:
    """The cells of a line, without quotes."""
    if separator == decimal == ",":  # decimal commas stand in quotes: "295,00",31
        return [COMMA.sub(".", cell) for cell in cells(line, separator, ".")]
    if decimal == ",":
        line = COMMA.sub(".", line)
    if separator is None:
        return line.split()
    if '"' in line:
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except csv.Error:  # such as a line of a million characters, of a file that is no table
            pass
    return [cell.strip() for cell in line.rstrip("\r\n").split(separator)]


class Lines(Sequence[Row]):
    """Lines as (line number, cells); `at` are their numbers, `lines` their texts."""

    def __init__(
        self, at: Sequence[int], lines: Sequence[str], separator: str | None, decimal: str
    ) -> None:
        self.at, self.lines = at, lines
        self.separator, self.decimal = separator, decimal

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, key: int) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Lines: ...

    def __getitem__(self, key: int | slice) -> Row | Lines:
        if isinstance(key, slice):
            return Lines(self.at[key], self.lines[key], self.separator, self.decimal)
        return self.at[key], cells(self.lines[key], self.separator, self.decimal)

    def __iter__(self) -> Iterator[Row]:
        return (self[k] for k in range(len(self)))

    def values(self, path: Path, width: int, words: dict[int, str]) -> Array:
        """(n_lines, width) their numbers, NaN in columns of text. A column that has no number, such
        as that of remarks on some rows, is added to `words`, with one of its cells.

        Raises :class:`DataError` with file and line for rows of another length and for words among
        the numbers.
        """
        values = np.empty((len(self), width))
        for begin in range(0, len(self), _AT_ONCE):
            some = self[begin : begin + _AT_ONCE]
            found = some._numbers(width)
            values[begin : begin + _AT_ONCE] = (
                [_row(path, at, row, width, words, self) for at, row in some]
                if found is None
                else found
            )
        return values

    def _numbers(self, width: int) -> Array | None:
        """The same of lines with nothing but numbers and separators; None of others."""
        lines = self.lines
        if self.decimal == ",":
            if self.separator == ",":
                return None
            lines = [COMMA.sub(".", line) for line in lines]
        try:
            found = np.loadtxt(lines, delimiter=self.separator, comments=None, ndmin=2)
        except (TypeError, ValueError):  # a separator of two signs; a cell that is no number
            return None
        return found if found.shape[1] == width else None


def _row(
    path: Path, at: int, row: list[str], width: int, words: dict[int, str], body: Lines
) -> list[float]:
    """The numbers of one row; `body` are all of them."""
    if len(row) != width:
        raise DataError(
            f"{path}:{at}: the row has {len(row)} values, the others have {width}; complete it, "
            "or put # in front of what is no data"
        )
    with suppress(ValueError):
        if not any("_" in cell for cell in row):
            return list(map(float, row))
    found = []
    for column, cell in enumerate(row):
        value = number(cell)
        if value is None and not words.get(column):
            if column not in words and not has_words(body, column, width - len(words)):
                raise DataError(
                    f"{path}:{at}: {cell[:40]!r} is not a number; correct it, or put # in front of "
                    "the line if it is no data"
                )
            words[column] = cell
        found.append(math.nan if value is None else value)
    return found
