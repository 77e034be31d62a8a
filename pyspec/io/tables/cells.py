"""The lines of a table of text: where they are cut into cells, and what a cell holds."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import overload

import numpy as np

from pyspec.errors import DataError
from pyspec.io.raw_table import Array, monotonic
from pyspec.io.units import is_unit

Row = tuple[int, list[str]]
#: Separator (None is any white space), decimal sign, number of columns and columns of text.
Style = tuple[str | None, str, int, tuple[int, ...]]

#: Separators and decimal signs, in the order of preference.
STYLES: tuple[tuple[str | None, str], ...] = (
    ("\t", "."), (";", "."), (",", "."), (None, "."), ("\t", ","), (";", ","), (None, ","),
    (",", ","),
)  # fmt: skip
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
#: What spreadsheets write in place of a value, in several languages: #NV, #N/A, #DIV/0!, #WERT!.
_NO_VALUE = re.compile(r"#(N/?[ABDVK]!?|[¡¿]?[^\W\d_][\w/]*[!?])(?=[\s,;|]|$)")
_FORTRAN = re.compile(r"^([+-]?[\d.]+)[dD]([+-]?\d+)$")
#: A cell of these characters alone is a number that was not understood, never a label.
_LIKE_A_NUMBER = re.compile(r"(?=\D*\d)[\d\s.,'()<>~≈=+*ijeE%-]*")
#: A number and its unit.
_QUANTITY = re.compile(r"[+-]?\d[\d.,' ]*(?:[eE][+-]?\d+)?\s*([^\W\d]\S*)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\b")
#: Signs that separate cells: in a label they mean that the separator is another one.
_SEPARATORS = re.compile(r"[;,\t]")
#: A comma that is a decimal sign.
COMMA = re.compile(r"(?<=\d),(?=\d)|(?<=\d),(?=[eE\s;]|$)")

#: So many numbers stand beside the text at least, the axis and a value, in so many lines.
_NUMBERS, _LINES = 2, 3
#: How many lines are read at once. If one of them is unusual, they are read one by one.
_AT_ONCE = 1000
#: So many lines from either end of a file decide on the separator.
_SAMPLE = 40


def number(cell: str) -> float | None:
    """A cell as a number, NaN where it says that a value is missing, None for any other text."""
    word = cell.strip()
    if word.lower() in MISSING or is_no_value(word):
        return math.nan
    try:
        return None if "_" in word else float(word)
    except ValueError:
        fortran = _FORTRAN.match(word)
        return float(f"{fortran[1]}e{fortran[2]}") if fortran else None


def is_number(cell: str) -> bool:
    """Whether a cell holds a number; a missing value is none."""
    value = number(cell)
    return value is not None and value == value


def is_no_value(text: str) -> bool:
    """Whether a text begins with what spreadsheets write in place of a value, such as #NV."""
    return text.startswith("#") and _NO_VALUE.match(text) is not None


def words_of(row: Sequence[str]) -> tuple[int, ...]:
    """The places of the cells that are neither numbers nor missing values."""
    return tuple(k for k, cell in enumerate(row) if number(cell) is None)


def is_label(cell: str) -> bool:
    """Whether a cell that is no number is text, and not a number in a form that is not read."""
    if _SEPARATORS.search(cell):
        return False
    quantity = _QUANTITY.fullmatch(cell)
    if quantity and is_unit(quantity[1]):
        return False
    return _DATE.match(cell) is not None or _LIKE_A_NUMBER.fullmatch(cell) is None


def is_numeric(row: Sequence[str], text: Sequence[int] = ()) -> bool:
    """Whether a row holds numbers, and beside them missing values at most; `text` are columns of
    text."""
    cells_of_numbers = [cell for k, cell in enumerate(row) if k not in text]
    return not words_of(cells_of_numbers) and any(map(is_number, cells_of_numbers))


def numbers_of(path: Path, at: int, line: str) -> list[float]:
    """The numbers of a line between white space.

    Raises :class:`DataError` with file and line where one of its words is none.
    """
    with suppress(ValueError):
        if "_" not in line:
            return list(map(float, line.split()))
    values = []
    for word in line.split():
        value = number(word)
        if value is None:
            raise DataError(
                f"{path}:{at}: {word[:40]!r} is not a number, and {line.strip()[:40]!r} is no row "
                "of numbers; correct the line, or export the file again"
            )
        values.append(value)
    return values


def entries_of(lines: Iterable[str], sign: str) -> dict[str, str]:
    """Lines "key: value", or with another sign between them; others are left out."""
    pairs = (line.partition(sign) for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip() and value.strip()}


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
    """Lines as (line number, cells); `at` are their numbers, `lines` their texts. Lines that hold
    numbers alone are read many at once, and are cut into cells only where these are asked for."""

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
        """(n_lines, width) their numbers, NaN in columns of text. Columns without a
        number, such as remarks on some rows, are added to `words`, each with one of its cells.

        Raises :class:`DataError` with file and line for rows of another length and for words among
        the numbers.
        """
        values = np.empty((len(self), width))
        for begin in range(0, len(self), _AT_ONCE):
            part = self[begin : begin + _AT_ONCE]
            at_once = part._numbers(width)
            values[begin : begin + _AT_ONCE] = (
                [self._row(path, at, row, width, words) for at, row in part]
                if at_once is None
                else at_once
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
            values = np.loadtxt(lines, delimiter=self.separator, comments=None, ndmin=2)
        except (TypeError, ValueError):  # a separator of two signs; a cell that is no number
            return None
        return values if values.shape[1] == width else None

    def _row(
        self, path: Path, at: int, row: list[str], width: int, words: dict[int, str]
    ) -> list[float]:
        """The numbers of one row."""
        if len(row) != width:
            raise DataError(
                f"{path}:{at}: the row has {len(row)} values, the others have {width}; complete "
                "it, or put # in front of what is no data"
            )
        with suppress(ValueError):
            if not any("_" in cell for cell in row):
                return list(map(float, row))
        for column in words_of(row):
            if words.get(column):
                continue
            if column not in words and not has_words(self, column, width - len(words)):
                raise DataError(
                    f"{path}:{at}: {row[column][:40]!r} is not a number; correct it, or put # in "
                    "front of the line if it is no data"
                )
            words[column] = row[column]
        return [math.nan if (value := number(cell)) is None else value for cell in row]


def has_words(body: Sequence[Row], column: int, n_numbers: int) -> bool:
    """Whether a column has labels and no number, beside two columns of numbers at least."""
    inside = [row[column] for _, row in body if column < len(row)]
    if n_numbers < 3 or any(map(is_number, inside)):
        return False
    return all(is_label(cell) for cell in inside if number(cell) is None)


def style_of(path: Path, lines: Sequence[str], separator: str | None, decimal: str | None) -> Style:
    """The style of the lines that are no comments: the one that reads most of them as numbers.

    Raises :class:`DataError` with what stands among the numbers where no style does.
    """
    sample = lines if len(lines) <= 2 * _SAMPLE else [*lines[:_SAMPLE], *lines[-_SAMPLE:]]
    best: tuple[int, Style] | None = None
    # Separator and decimal sign are one sign only beside quotes.
    has_quotes = any('"' in line for line in sample)
    pairs = STYLES if separator is None else ((separator, "."), (separator, ","))
    styles = [
        (sep if sep is None or sep.strip(" ") else None, sign)
        for sep, sign in pairs
        if decimal in (None, sign)
    ]
    for sep, sign in styles:
        if sep == sign and not has_quotes:
            continue
        counts = Counter(len(row) for line in sample if is_numeric(row := cells(line, sep, sign)))
        if not counts:
            continue
        width, agreeing = max(counts.items(), key=lambda item: (item[1], item[0]))
        # "1,2" is a row of two sooner than one number with a decimal comma.
        score = agreeing * min(width, 2)
        if best is None or score > best[0]:
            best = score, (sep, sign, width, ())
        if width > 1 and agreeing > 0.9 * len(sample):
            break
    for sep, sign in styles if best is None else ():
        beside = None if sep == sign else _beside_words([cells(line, sep, sign) for line in sample])
        if beside and (best is None or beside[0] > best[0]):
            best = beside[0], (sep, sign, *beside[1:])
    if best is not None:
        return best[1]
    if separator is not None or decimal is not None:
        options = {"delimiter": separator, "decimal": decimal}
        shown = " and ".join(f"{name} {value!r}" for name, value in options.items() if value)
        raise DataError(
            f"{path}: no line holds numbers only with the {shown}; leave that out to have it found"
        )
    # What stands among the numbers of the line that has most of them.
    most, text = (0, -1), ""
    for line, (sep, sign) in product(sample, STYLES):
        row = [cell for cell in cells(line, sep, sign) if cell]
        words = [row[k] for k in words_of(row)]
        rank = len(row) - len(words), -max(map(len, words), default=0)
        if words and rank[0] and rank > most:
            most, text = rank, f": {words[0][:40]!r} is no number, in {line.strip()[:60]!r}"
    raise DataError(
        f"{path}: no line holds numbers only{text}; if they are there, "
        "name their separator and decimal sign: read(..., delimiter=';', decimal=',')"
    )


def _beside_words(rows: Sequence[Sequence[str]]) -> tuple[int, int, tuple[int, ...]] | None:
    """(agreeing rows, number of columns, columns of text) of a table with text beside numbers, as
    most of the rows have it; None where they do not agree on one."""
    counts: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for row in rows:
        words = words_of(row)
        if words and sum(map(is_number, row)) >= _NUMBERS and all(is_label(row[k]) for k in words):
            counts[len(row), words] += 1
    if not counts:
        return None
    (width, words), agreeing = counts.most_common(1)[0]
    if agreeing < _LINES or 2 * agreeing <= len(rows):
        return None
    numbers = [k for k in range(width) if k not in words]
    if words[0] == 0 and len(numbers) > 3:
        first = next(row for row in rows if len(row) == width)
        values = [number(first[k]) for k in numbers]
        if monotonic([np.nan if value is None else value for value in values]):
            return None  # an axis above rows that are named, not placed
    return agreeing, width, words
