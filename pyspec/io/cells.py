"""What the cell of a table of text holds: a number, a label, or a number that is not understood."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.found import monotonic
from pyspec.io.units import is_unit

MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
#: What spreadsheets write in place of a value, in several languages: #NV, #N/A, #DIV/0!, #WERT!.
_NO_VALUE = re.compile(r"#(N/?[ABDVK]!?|[¡¿]?[^\W\d_][\w/]*[!?])(?=[\s,;|]|$)")
_FORTRAN = re.compile(r"^([+-]?[\d.]+)[dD]([+-]?\d+)$")
#: A cell of these characters alone is a number that was not understood, never a label.
_LIKE_A_NUMBER = re.compile(r"(?=\D*\d)[\d\s.,'()<>~≈=+*ijeE%-]*")
#: A number and its unit.
_QUANTITY = re.compile(r"[+-]?\d[\d.,' ]*(?:[eE][+-]?\d+)?\s*([^\W\d]\S*)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\b")
#: A date or a time of day.
_WHEN = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,2}:\d\d\b")
#: Signs that separate cells: in a label they mean that the separator is another one.
_SEPARATORS = re.compile(r"[;,\t]")
#: So many numbers stand beside the text at least, the axis and a value, in so many lines.
_NUMBERS, _LINES = 2, 3


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


def is_no_value(text: str) -> bool:
    """Whether a text begins with what spreadsheets write in place of a value, such as #NV."""
    return text.startswith("#") and _NO_VALUE.match(text) is not None


def numbers_of(path: Path, at: int, line: str) -> list[float]:
    """The numbers of a line between white space.

    Raises :class:`DataError` with file and line where one of its words is none.
    """
    with suppress(ValueError):
        if "_" not in line:
            return list(map(float, line.split()))
    found = []
    for word in line.split():
        value = number(word)
        if value is None:
            raise DataError(
                f"{path}:{at}: {word[:40]!r} is not a number, and {line.strip()[:40]!r} is no row "
                "of numbers; correct the line, or export the file again"
            )
        found.append(value)
    return found


def entries_of(lines: Iterable[str], sign: str) -> dict[str, str]:
    """Lines "key: value", or with another sign between them; others are left out."""
    pairs = (line.partition(sign) for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip() and value.strip()}


def is_label(cell: str) -> bool:
    """Whether a cell that is no number is text, and not a number in a form that is not read."""
    if _SEPARATORS.search(cell):
        return False
    found = _QUANTITY.fullmatch(cell)
    if found and is_unit(found[1]):
        return False
    return _DATE.match(cell) is not None or _LIKE_A_NUMBER.fullmatch(cell) is None


def says_when(cell: str) -> bool:
    """Whether text begins with a date or a time of day."""
    return _WHEN.match(cell) is not None


def common_words(rows: Sequence[Sequence[str]]) -> tuple[int, int, tuple[int, ...]] | None:
    """(agreeing rows, number of columns, columns of text) of a table with text beside numbers, as
    most of the rows have it; None where they do not agree on one."""
    found: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for row in rows:
        values = [number(cell) for cell in row]
        words = tuple(k for k, value in enumerate(values) if value is None)
        known = sum(value is not None and value == value for value in values)
        if words and known >= _NUMBERS and all(is_label(row[k]) for k in words):
            found[len(row), words] += 1
    if not found:
        return None
    (width, words), agreeing = found.most_common(1)[0]
    if agreeing < _LINES or 2 * agreeing <= len(rows):
        return None
    numbers = [k for k in range(width) if k not in words]
    if words[0] == 0 and len(numbers) > 3:
        first = next(row for row in rows if len(row) == width)
        values = [number(first[k]) for k in numbers]
        if monotonic([np.nan if value is None else value for value in values]):
            return None  # an axis above rows that are named, not placed
    return agreeing, width, words
