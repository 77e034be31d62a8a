"""Numbers in text: which separator, which decimal sign, where the table begins."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.io.cells import common_words, is_no_value, number
from pyspec.io.lines import COMMA, Lines, cells
from pyspec.io.rows import begins, foot, n_empty, refuse_remark, turned

Array = npt.NDArray[np.float64]

COMMENTS = ("#", "%", "//", "!")
#: Separator, decimal sign, number of columns and columns of text.
Style = tuple[str | None, str, int, tuple[int, ...]]
#: Separator (None is any white space) and decimal sign, in the order of preference.
STYLES: tuple[tuple[str | None, str], ...] = (
    ("\t", "."),
    (";", "."),
    (",", "."),
    (None, "."),
    ("\t", ","),
    (";", ","),
    (None, ","),
    (",", ","),
)
NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", None: "white space"}
#: A number that may have a sign between thousands.
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![\d.,])")
#: The minus sign of Unicode, which spreadsheets and plot programs write.
_MINUS = "\N{MINUS SIGN}"
#: So many lines from either end of a file decide on the separator.
_SAMPLE = 40


@dataclass
class Table:
    """A block of numbers and the text above it.

    `values` is (n_rows, n_columns), `lines` the line number of each row, `header` the lines
    before the block as (line number, cells), `comments` the comment lines before it, `foot` the
    lines of text below it. `words` are
    the columns of text, which are NaN in `values`, each with one of its cells;
    `left_out` are columns of the file that the table has no more. So many rows at the end as
    `n_empty` says hold separators alone.
    """

    path: Path
    values: Array
    lines: list[int]
    header: list[tuple[int, list[str]]]
    comments: list[str]
    separator: str | None
    decimal: str
    notes: list[str] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()
    n_empty: int = 0
    foot: list[str] = field(default_factory=list)

    @property
    def numbers(self) -> list[int]:
        """The numbers that the columns have in the file."""
        n_columns = self.values.shape[1] + len(self.left_out)
        return [k for k in range(n_columns) if k not in self.left_out]

    def at(self, row: int) -> str:
        """ "data.csv:14" for a row of the block."""
        return f"{self.path}:{self.lines[row]}"


def read_text(path: Path, *, nul: bool = False) -> str:
    """The text of a file: UTF-8, UTF-16 with a mark, or else that of Windows, which is Latin-1 with
    signs such as "…" where Latin-1 ends a line. `nul` lets NUL bytes pass. A Ctrl-Z, with which DOS
    ends a text, is left out.

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


def _numeric(row: Sequence[str], words: Sequence[int] = ()) -> bool:
    found = [number(cell) for k, cell in enumerate(row) if k not in words]
    return bool(row) and None not in found and any(v == v for v in found if v is not None)


def is_comment(line: str) -> bool:
    """Whether a line is one of comment or blank."""
    stripped = line.strip()
    return not stripped or (stripped.startswith(COMMENTS) and not is_no_value(stripped))


def _styles(
    separator: str | None, decimal: str | None, *, has_quotes: bool
) -> Iterator[tuple[str | None, str]]:
    """Separators and decimal signs that may be meant. They are one sign only beside quotes."""
    for sep, sign in STYLES if separator is None else ((separator, "."), (separator, ",")):
        if decimal in (None, sign) and (sep != sign or has_quotes):
            yield None if sep is not None and not sep.strip(" ") else sep, sign


def style_of(path: Path, lines: Sequence[str], separator: str | None, decimal: str | None) -> Style:
    """The style of the lines that are no comments."""
    sample = lines if len(lines) <= 2 * _SAMPLE else [*lines[:_SAMPLE], *lines[-_SAMPLE:]]
    best: tuple[int, Style] | None = None
    has_quotes = any('"' in line for line in sample)
    for sep, sign in _styles(separator, decimal, has_quotes=has_quotes):
        counts = Counter(len(row) for line in sample if _numeric(row := cells(line, sep, sign)))
        if not counts:
            continue
        width, agreeing = max(counts.items(), key=lambda item: (item[1], item[0]))
        # "1,2" is a row of two sooner than one number with a decimal comma.
        score = agreeing * min(width, 2)
        if best is None or score > best[0]:
            best = score, (sep, sign, width, ())
        if width > 1 and agreeing > 0.9 * len(sample):
            break
    best = best or _beside_words(sample, _styles(separator, decimal, has_quotes=False))
    if best is None and (separator is not None or decimal is not None):
        given = {"delimiter": separator, "decimal": decimal}
        shown = " and ".join(f"{name} {value!r}" for name, value in given.items() if value)
        raise DataError(
            f"{path}: no line holds numbers only with the {shown}; leave that out to have it found"
        )
    if best is None:
        raise DataError(
            f"{path}: no line holds numbers only{_nearest(sample)}; if they are there, "
            "name their separator and decimal sign: read(..., delimiter=';', decimal=',')"
        )
    return best[1]


def _beside_words(
    lines: Sequence[str], styles: Iterable[tuple[str | None, str]]
) -> tuple[int, Style] | None:
    """The style in which most lines are numbers beside text, such as labels, and how many are."""
    best: tuple[int, Style] | None = None
    for sep, sign in styles:
        found = common_words([cells(line, sep, sign) for line in lines])
        if found and (best is None or found[0] > best[0]):
            best = found[0], (sep, sign, *found[1:])
    return best


def _nearest(lines: Sequence[str]) -> str:
    """What stands among the numbers of the line that has most of them."""
    most, said = (0, -1), ""
    for line in lines:
        for separator, decimal in STYLES:
            row = [cell for cell in cells(line, separator, decimal) if cell]
            words = [cell for cell in row if number(cell) is None]
            found = len(row) - len(words), -max(map(len, words), default=0)
            if words and found[0] and found > most:
                most = found
                said = f": {words[0][:40]!r} is no number, in {line.strip()[:60]!r}"
    return said


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
        sep, sign, width, found = style_of(path, kept, separator, decimal)
    except DataError:
        named = _of_named_rows(path, numbers[0], kept, separator, decimal)
        if named is None:
            raise
        return named
    rows = Lines(numbers, kept, sep, sign)
    first = next(k for k, (_, row) in enumerate(rows) if len(row) == width and _numeric(row, found))
    first = first if found else begins(rows, first, width)
    words = dict.fromkeys(found, "")
    header = [
        rows[k] if sep is not None else _spaced(numbers[k], kept[k], width) for k in range(first)
    ]
    _check_header(path, header, width)
    refuse_remark(path, rows, first, width)
    below = 0 if found else foot(rows[first:], width)
    body = rows[first : len(rows) - below]
    values = body.values(path, width, words)
    values[:, list(words)] = np.nan
    words = {at: words[at] for at in sorted(words)}
    if sign == ",":
        _refuse_thousands(path, list(zip(numbers[first:], kept[first:], strict=True)), sep)
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
    lines, empty = list(body.at), n_empty(body)
    table = Table(path, values, lines, header, comments, sep, sign, words=words, n_empty=empty)
    return _with_foot(
        table, [line.strip().rstrip(sep or " ") for line in kept[len(kept) - below :]]
    )


def _with_foot(table: Table, lines: list[str]) -> Table:
    """The table with the lines below it, which are no data, in a note."""
    if lines:
        shown = ", ".join(repr(line[:40]) for line in lines[:3]) + (", …" if len(lines) > 3 else "")
        line = "line" if len(lines) == 1 else "lines"
        table.notes.append(f"{len(lines)} {line} of text below the numbers: {shown}")
    return replace(table, foot=lines)


def _of_named_rows(
    path: Path, at: int, lines: Sequence[str], separator: str | None, decimal: str | None
) -> Table | None:
    """The table of lines that are named by their first cells, below a line of an axis, the one
    `at`: its columns are these lines."""
    for sep, sign in STYLES:
        if separator not in (None, sep) or decimal not in (None, sign) or sep == sign:
            continue
        columns = turned([cells(line, sep, sign) for line in lines])
        if columns is not None:
            head, *body = columns
            values = [[math.nan if (v := number(c)) is None else v for c in row] for row in body]
            table = Table(path, np.array(values), [at] * len(body), [(at, head)], [], sep, sign)
            table.notes.append("each line is named by its first cell; the first one is the axis")
            return table
    return None


def _refuse_thousands(path: Path, lines: list[tuple[int, str]], separator: str | None) -> None:
    """Where commas are decimal signs, 1.050 is no 1.05; nor is 1,050 where points are.

    Raises :class:`DataError` with file and line where numbers have points and commas, and one may
    be a sign between thousands.
    """
    if not any("." in line for _, line in lines):
        return
    words = [(at, word) for at, line in lines for word in cells(line, separator, ".")]
    pointed = [(at, word) for at, word in words if "." in word]
    with_comma = [(at, word) for at, word in words if COMMA.search(word)]
    if not pointed or not with_comma:
        return
    if not any(_THOUSANDS.search(word) for _, word in (*pointed, *with_comma)):
        return
    at, point = min(pointed, key=lambda one: not _THOUSANDS.search(one[1]))
    comma = with_comma[0][1]
    raise DataError(
        f"{path}:{at}: {point[:40]!r} has a point, and {comma[:40]!r} a comma: "
        "only one of them is a decimal sign; export it without signs between thousands"
    )


def _spaced(at: int, line: str, width: int) -> tuple[int, list[str]]:
    """A line above columns between white space: names with a space in them stand two apart, but
    "12  points in all", "delay = 5 ps  sample 3" and "[Region 1]" are no names."""
    if re.fullmatch(r"\[[^\]]*\]", line.strip()):
        return at, [line.strip()]
    wide = re.split(r"\s{2,}|\t", line.strip())
    is_value = re.match(r"[-+]?[\d.]", wide[0]) or re.search("[=:]", wide[0])
    return at, line.split() if is_value or len(wide) != width else wide


#: A line of numbers, and a remark behind it.
_REMARK = re.compile(r"^([\d\s.,;+eEdD-]*(?<=\d)[\s.,;]*)(#.*)")


def _without_remark(line: str) -> str:
    """A line without the remark behind its numbers: "84.5 120 # spike"."""
    found = _REMARK.match(line) if "#" in line else None
    return found[1].rstrip() if found and not is_no_value(found[2]) else line


def _check_header(path: Path, header: list[tuple[int, list[str]]], width: int) -> None:
    """A row of data with a wrong word in it must not pass as a header."""
    for at, row in header:
        values = [number(cell) for cell in row]
        wrong = [cell for cell, value in zip(row, values, strict=True) if value is None]
        if len(row) == width and values[0] is not None and row[0] and 0 < len(wrong) < width:
            raise DataError(
                f"{path}:{at}: {wrong[0][:40]!r} is not a number; correct it, or put # in front of "
                "the line if it is no data"
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
