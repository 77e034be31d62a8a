"""Numbers in text: where the table begins and ends, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pyspec.errors import DataError, several
from pyspec.io.raw_table import Array, monotonic
from pyspec.io.tables.cells import (
    COMMA,
    STYLES,
    Lines,
    Row,
    cells,
    has_words,
    is_label,
    is_no_value,
    is_number,
    is_numeric,
    number,
    style_of,
    words_of,
)
from pyspec.io.tables.columns import Table
from pyspec.io.units import guess_kind

COMMENTS = ("#", "%", "//", "!")
#: A number that may have a sign between thousands.
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![\d.,])")
#: The minus sign of Unicode, which spreadsheets and plot programs write.
_MINUS = "\N{MINUS SIGN}"
_HEADING = re.compile(r"\[[^\]]*\]")
#: A line of numbers, and a remark behind it.
_REMARK = re.compile(r"^([\d\s.,;+eEdD-]*(?<=\d)[\s.,;]*)(#.*)")
#: From one row to the next, the first number changes by nearly the same step. Beside a row with a
#: remark two steps differ by this factor at most.
_STEP = 3.0
#: So many numbers stand behind the name of a row at least.
_NUMBERS = 3


def read_text(path: Path, *, nul: bool = False) -> str:
    """The text of a file: UTF-8, UTF-16 with a byte order mark, else Windows-1252.

    `nul` lets NUL bytes pass. A Ctrl-Z at the end, as DOS writes it, is left out.

    Raises :class:`DataError` for an empty file or one that is no text.
    """
    raw = path.read_bytes()
    if raw.rstrip().endswith(b"\x1a"):
        raw = raw.rstrip(b"\x1a\r\n\t ") + b"\n"
    if not raw.strip():
        raise DataError(f"{path}: the file is empty; check how it was exported")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    control = sum(raw[:4096].count(code) for code in [*range(9), *range(14, 27), *range(28, 32)])
    if not nul and (b"\x00" in raw[:4096] or control > 8):
        raise DataError(
            f"{path}: this is no text and no format that pyspec knows; export it as CSV, HDF5, "
            "NetCDF or VAMAS, or load it yourself and hand over arrays"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def lines_of(text: str) -> list[str]:
    """The lines of a text, with hyphens for the minus signs of Unicode."""
    return text.replace(_MINUS, "-").splitlines()


def is_comment(line: str) -> bool:
    """Whether a line is one of comment or blank."""
    stripped = line.strip()
    return not stripped or (stripped.startswith(COMMENTS) and not is_no_value(stripped))


def read_table(
    path: Path, text: str, separator: str | None = None, decimal: str | None = None
) -> Table:
    """The block of numbers of a text.

    Raises :class:`DataError` with file and line for rows of unequal length and for words among
    the numbers.
    """
    every = lines_of(text)
    numbers = [at for at, line in enumerate(every, 1) if not is_comment(line)]
    kept = [_without_remark(every[at - 1]) for at in numbers]
    if not kept:
        raise DataError(f"{path}: holds comments only, no numbers; check how it was exported")
    try:
        sep, sign, width, columns_of_text = style_of(path, kept, separator, decimal)
    except DataError:
        named = _of_named_rows(path, numbers[0], kept, separator, decimal)
        if named is None:
            raise
        return named
    rows = Lines(numbers, kept, sep, sign)
    first = next(
        k
        for k, (_, row) in enumerate(rows)
        if len(row) == width and is_numeric(row, columns_of_text)
    )
    first = first if columns_of_text else _first_row(rows, first, width)
    words = dict.fromkeys(columns_of_text, "")
    header = [
        rows[k] if sep is not None else _spaced(numbers[k], kept[k], width) for k in range(first)
    ]
    for at, row in header:  # a row of data with a wrong word in it must not pass as a header
        wrong = words_of(row)
        if len(row) == width and row[0] and 0 not in wrong and 0 < len(wrong) < width:
            raise DataError(
                f"{path}:{at}: {row[wrong[0]][:40]!r} is not a number; correct it, or put # in "
                "front of the line if it is no data"
            )
    _refuse_remark(path, rows, first, width)
    below = 0 if columns_of_text else _n_below(rows[first:], width)
    body = rows[first : len(rows) - below]
    values = body.values(path, width, words)
    values[:, list(words)] = np.nan
    words = {at: words[at] for at in sorted(words)}
    if sign == ",":
        _refuse_thousands(path, Lines(numbers[first:], kept[first:], sep, "."))
    for side, rest in ((-1, slice(None, -1)), (0, slice(1, None))):  # separators at the ends
        if sep is not None and values.shape[1] > 1 and not any(row[side] for _, row in body):
            header = [(at, row[rest] if len(row) == width else row) for at, row in header]
            values, width = values[:, rest], width - 1
            words = {at - (side == 0): word for at, word in words.items()}
    comments = [
        line.strip().lstrip("#%/!").strip()
        for line in every[: body.at[0] - 1]
        if is_comment(line) and line.strip()
    ]
    foot = [line.strip().rstrip(sep or " ") for line in kept[len(kept) - below :]]
    notes = []
    if foot:
        shown = several([repr(line[:40]) for line in foot], 3)
        plural = "s" if len(foot) > 1 else ""
        notes.append(f"{len(foot)} line{plural} of text below the numbers: {shown}")
    n_empty = 0
    while n_empty < len(body) - 1 and not any(body[len(body) - n_empty - 1][1]):
        n_empty += 1
    return Table(
        path, values, list(body.at), header, comments, sep, sign, notes, words,
        n_empty=n_empty, foot=foot,
    )  # fmt: skip


def _without_remark(line: str) -> str:
    """A line without the remark behind its numbers: "84.5 120 # spike"."""
    parts = _REMARK.match(line) if "#" in line else None
    return parts[1].rstrip() if parts and not is_no_value(parts[2]) else line


def _of_named_rows(
    path: Path, at: int, lines: Sequence[str], separator: str | None, decimal: str | None
) -> Table | None:
    """The table of lines that are named by their first cells, below a line of an axis, the one
    `at`: its columns are these lines."""
    for sep, sign in STYLES:
        if separator not in (None, sep) or decimal not in (None, sign) or sep == sign:
            continue
        first, *named = rows = [cells(line, sep, sign) for line in lines]
        if (
            named
            and len(first) > _NUMBERS
            and all(len(row) == len(first) and not words_of(row[1:]) for row in rows)
            and all(is_label(row[0]) and number(row[0]) is None for row in named)
            and number(first[0]) in (None, 0.0)
            and monotonic(np.array([number(cell) for cell in first[1:]], np.float64))
        ):
            name = first[0] if guess_kind(first[0]) is not None else "energy"
            head = [name, *(row[0] for row in named)]
            values = np.array(
                [[number(cell) for cell in row[1:]] for row in rows], np.float64
            ).T.copy()
            note = "each line is named by its first cell; the first one is the axis"
            return Table(path, values, [at] * len(values), [(at, head)], [], sep, sign, [note])
    return None


def _first_row(rows: Sequence[Row], first: int, width: int) -> int:
    """The number of the first row. `first` is the first row of numbers alone; rows before it may
    belong to the table too, if their only words stand in a column of remarks."""
    while first > 0:
        _, row = rows[first - 1]
        words = words_of(row)
        if len(row) != width or not words or not is_number(row[0]):
            return first
        if not all(has_words(rows[first - 1 :], k, width - len(words) + 1) for k in words):
            return first
        first -= 1
    return first


def _spaced(at: int, line: str, width: int) -> Row:
    """A line above columns between white space: names with a space in them stand two apart, but
    "12  points in all", "delay = 5 ps  sample 3" and "[Region 1]" are no names."""
    if _HEADING.fullmatch(line.strip()):
        return at, [line.strip()]
    wide = re.split(r"\s{2,}|\t", line.strip())
    is_value = re.match(r"[-+]?[\d.]", wide[0]) or re.search("[=:]", wide[0])
    return at, line.split() if is_value or len(wide) != width else wide


def _refuse_remark(path: Path, rows: Sequence[Row], first: int, width: int) -> None:
    """Raises :class:`DataError` if the last row above the numbers is a row of data with a remark
    behind it: it must not pass as a header."""
    if first == 0 or len(rows) < first + 2:
        return
    at, row = rows[first - 1]
    remarks = [cell for cell in row[width:] if cell]
    is_row = remarks and all(map(is_number, row[:width]))
    if not is_row or any(number(cell) is not None for cell in remarks):
        return
    points = [number(cell) for cell in (row[0], rows[first][1][0], rows[first + 1][1][0])]
    before, after = np.diff(np.array(points, np.float64))  # NaN where one is no number
    if before * after > 0 and 1 / _STEP < before / after < _STEP:
        raise DataError(
            f"{path}:{at}: {remarks[0][:40]!r} is behind the numbers of a row; put # in front of "
            "the remark, or in front of the line if it is no data"
        )


def _n_below(rows: Sequence[Row], width: int) -> int:
    """The number of lines of text below the numbers, such as "Averages: 3".

    They begin with a word, and at least one of them is "key: value". A row of the table with a
    word in it does not count. Below a heading in brackets, such as "[Comments]", all lines count.
    """
    kept = len(rows)
    while kept > 1 and rows[kept - 1][1] and number(rows[kept - 1][1][0]) is None:
        kept -= 1
    if kept < len(rows) and _HEADING.fullmatch(" ".join(rows[kept][1]).strip()):
        return len(rows) - kept
    kept = len(rows)
    while kept > 1 and _says_how(rows[kept - 1][1], width):
        kept -= 1
    is_meta = any(":" in cell or "=" in cell for _, row in rows[kept:] for cell in row)
    return len(rows) - kept if is_meta else 0


def _says_how(row: list[str], width: int) -> bool:
    """Whether a line begins with a word, and is no row of the table with a word in it."""
    first, *rest = row
    if not first[:1].isalpha() or number(first) is not None:
        return False
    has_numbers = any(number(cell) is not None for cell in rest if cell)
    return len(row) != width or not has_numbers or first.endswith((":", "="))


def _refuse_thousands(path: Path, rows: Lines) -> None:
    """Where commas are decimal signs, 1.050 is no 1.05; nor is 1,050 where points are.

    Raises :class:`DataError` with file and line where numbers have points and commas, and one may
    be a sign between thousands.
    """
    if not any("." in line for line in rows.lines):
        return
    words = [(at, cell) for at, row in rows for cell in row]
    pointed = [(at, cell) for at, cell in words if "." in cell]
    with_comma = [(at, cell) for at, cell in words if COMMA.search(cell)]
    both = [*pointed, *with_comma] if pointed and with_comma else []
    if not any(_THOUSANDS.search(cell) for _, cell in both):
        return
    at, point = min(pointed, key=lambda pair: not _THOUSANDS.search(pair[1]))
    comma = with_comma[0][1]
    raise DataError(
        f"{path}:{at}: {point[:40]!r} has a point, and {comma[:40]!r} a comma: "
        "only one of them is a decimal sign; export it without signs between thousands"
    )


def read_axis(path: Path) -> Array:
    """An axis in a file of its own: one column or one row of numbers.

    Raises :class:`DataError` for a table.
    """
    table = read_table(path, read_text(path))
    values = table.values
    if 1 not in values.shape:
        raise DataError(
            f"{path}: an axis is one column or one row of numbers; this has "
            f"{values.shape[0]} rows and {values.shape[1]} columns"
        )
    return values.ravel()
