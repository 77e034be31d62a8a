"""A table of numbers: what its columns are called, which one is an axis, which are no data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.io.raw_table import Array, monotonic
from pyspec.io.tables.cells import is_number, number
from pyspec.io.units import guess_kind, holds_errors, is_unit, show_unit, split_unit

#: So many even steps are no accident.
MANY = 5
#: How pandas and others call a column that only numbers the rows.
_INDEX = ("", "index", "unnamed: 0")
#: How pandas calls a column without a name.
_NAMELESS = re.compile(r"\s*(unnamed: \d+)?\s*", re.IGNORECASE)
#: Names of curves that were computed from the data, and names of the data beside them.
_CURVES = (
    "fit", "fitted", "fits", "model", "envelope", "background", "backgr", "backgnd", "bg", "bkg",
    "baseline", "shirley", "tougaard", "residual", "residuals", "resid", "difference",
)  # fmt: skip
_MEASURED = re.compile(r"(?i)counts|cps|cts|intensity|intensität|signal|raw|data|measured")
#: A date or a time of day.
_WHEN = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,2}:\d\d\b")
_QUANTITY = re.compile(r"^([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([^\W\d].*)$")


@dataclass
class Head:
    """What stands above the numbers: names of columns, units, or an axis with its corner, in the
    unit `across`."""

    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    corner: str = ""
    axis: list[float] | None = None
    across: str = ""


@dataclass
class Table:
    """A block of numbers and the text above it.

    `values` is (n_rows, n_columns), `lines` the line number of each row, `header` the lines
    before the block as (line number, cells), `comments` the comment lines before it, `foot` the
    lines of text below it. `words` are the columns of text, which are NaN in `values`, each with
    one of its cells; `left_out` are columns of the file that the table has no more. So many rows
    at the end as `n_empty` says hold separators alone.
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
    def width(self) -> int:
        """How many columns it has."""
        return int(self.values.shape[1])

    @property
    def numbers(self) -> list[int]:
        """The numbers that the columns have in the file."""
        return [k for k in range(self.width + len(self.left_out)) if k not in self.left_out]

    def at(self, row: int) -> str:
        """ "data.csv:14" for a row of the block."""
        return f"{self.path}:{self.lines[row]}"

    @cached_property
    def head(self) -> Head:
        """What stands above the numbers."""
        return _head_of(self)

    @cached_property
    def names(self) -> list[str]:
        """What the columns are called."""
        head = self.head
        if head.axis is not None and not head.names:
            return [head.corner or "column 0", *(f"{value:g}" for value in head.axis)]
        named = len(head.names) == self.width
        return head.names if named else [f"column {k}" for k in self.numbers]

    @cached_property
    def axis_column(self) -> int | None:
        """The axis: the first column, where it rises or falls all the way or has the name of an
        axis. Else another one of such a name, or of even steps; None where there is none."""
        names = self.head.names if len(self.head.names) == self.width else []
        if monotonic(self.values[:, 0]) or (names and guess_kind(names[0]) is not None):
            return 0
        ordered = [k for k, column in enumerate(self.values.T) if monotonic(column)]
        called = [k for k in ordered if names and guess_kind(names[k]) is not None]
        even = [k for k in ordered if has_even_steps(self.values[:, k], MANY + 1, 0.02, 1e-8)]
        return min(called or even, default=None)

    def pick(self, wanted: Sequence[int | str]) -> list[int]:
        """The places of columns by name, or by number from 0.

        Raises :class:`DataError` with a list of the columns unless one has the name, and for text.
        """
        picked: list[int] = []
        for column in wanted:
            places = self._called(column)
            if len(places) > 1:
                numbers = ", ".join(map(str, places[:-1])) + f" and {places[-1]}"
                raise DataError(
                    f"{self.path}: {len(places)} columns are called {column!r}, {numbers}; give "
                    "the number of the one that is meant"
                )
            if not places:
                listed = ", ".join(f"{k}: {name[:40]}" for k, name in enumerate(self.names[:30]))
                raise DataError(
                    f"{self.path}: no column {column!r}; it has {listed}"
                    f"{suggest(str(column), self.names)}"
                )
            picked += places
        text = [k for k in picked if k in self.words]
        if text:
            raise DataError(
                f"{self.path}: column {self.names[text[0]]!r} holds text, such as "
                f"{self.words[text[0]][:40]!r}, and no numbers"
            )
        return picked

    def _called(self, name: int | str) -> list[int]:
        """The columns of that name, or without their units, "Energy" of "Energy (eV)"; else the
        column of that number."""
        names = self.names
        if not isinstance(name, str):
            return [name] if not isinstance(name, bool) and 0 <= name < len(names) else []
        same = [k for k, other in enumerate(names) if other == name] or [
            k for k, other in enumerate(names) if split_unit(other)[0].lower() == name.lower()
        ]
        if not same and name.isdecimal() and int(name) < len(names):
            return [int(name)]  # a number from the command line
        return same

    def without(self, columns: Sequence[int], note: str) -> Table:
        """The table without some columns, and a note that says so."""
        kept = [k for k in range(self.width) if k not in columns]
        header = [
            (at, [row[k] for k in kept] if len(row) == self.width else row)
            for at, row in self.header
        ]
        numbers = self.numbers
        return replace(
            self,
            values=self.values[:, kept],
            header=header,
            notes=[*self.notes, note],
            words={},
            left_out=(*self.left_out, *(numbers[k] for k in columns)),
        )

    def without_rows(self, blank: npt.NDArray[np.bool_], which: str) -> Table:
        """The table without the rows that are `blank`, and a note that says `which` they are."""
        return replace(
            self,
            values=self.values[~blank],
            lines=[at for at, out in zip(self.lines, blank, strict=True) if not out],
            notes=[*self.notes, f"{np.count_nonzero(blank)} rows {which} are left out"],
            n_empty=0,
        )


def has_even_steps(values: Array, least: int, rtol: float = 1e-3, atol: float = 0.0) -> bool:
    """Whether values, as many as `least` steps, have the same distance, which is not zero."""
    steps = np.diff(values)
    return bool(
        steps.size >= least and steps[0] != 0 and np.allclose(steps, steps[0], rtol=rtol, atol=atol)
    )


def _head_of(table: Table) -> Head:
    width = table.width
    head = Head()
    above: list[str] = []
    for _, row in table.header:
        if not any(row):
            continue
        row, head.across = _without_unit(row, width, head.across)
        is_full = len(row) == width
        tail = row[1:] if is_full else row
        if width > 1 and len(tail) == width - 1 and all(map(is_number, tail)):
            head.axis = [value for value in map(number, tail) if value is not None]
            head.corner, above = row[0] if is_full else "", head.names
        elif is_full and all(is_unit(cell) or not cell for cell in row) and head.names:
            head.units = [show_unit(cell.strip("()[]")) for cell in row]
        elif is_full:
            head.names = row
    if not head.names and head.axis is None:
        head.names = _names_in_comments(table)
    if head.axis is not None and head.names:
        kinds = guess_kind(head.names[0]), guess_kind(head.corner)
        # "Etch time (s), 0, 30" is a row by its own name, beside "Binding energy (eV), counts, …";
        # "Energy (eV),,," above it is a title.
        first, *others = head.names
        are_alike = len({*others}) == 1 and others[0] not in ("", first)
        is_named = set(kinds) == {"energy", "time"} and (head.names is not above or are_alike)
        both = f"{first}\\{head.corner}" if is_named else ""
        head.corner = both or head.corner or head.names[0]
    return head


def _without_unit(row: list[str], width: int, unit: str) -> tuple[list[str], str]:
    """A row of "-1 ps", "0 ps", … without its unit, and the unit; any other row as it is, with the
    `unit` of the row before."""
    parts = [_QUANTITY.match(cell) for cell in row[1:]]
    units = {part[2] for part in parts if part}
    if len(row) != width or width < 3 or None in parts or len(units) != 1:
        return row, unit
    own = show_unit(units.pop())
    if guess_kind("", own) is None:
        return row, unit
    return [row[0], *(part[1] for part in parts if part)], own or unit


def _names_in_comments(table: Table) -> list[str]:
    """Column names in the last comment line above the numbers, or in the line "#L" of SPEC."""
    width, comments = table.width, table.comments
    if not comments:
        return []
    labels = [line for line in comments if re.match(r"L\s", line)]
    if labels and any(re.match(r"S \d+\s", line) for line in comments):
        words = re.split(r"\s{2,}|\t", labels[-1][1:].strip())  # of SPEC, two spaces apart
        names = [name for k, name in enumerate(words) if k not in table.left_out]
        return names if len(names) == width else []
    words = [word.strip() for word in comments[-1].split(table.separator)]
    if table.left_out and len(words) == width + len(table.left_out):
        words = [word for k, word in enumerate(words) if k not in table.left_out]
    # A comment may say what was measured: "delay = 5 ps", or "delay 5" above two columns.
    first = words[0] if words and table.separator else " ".join(words[:width])
    values = [*first.split(), *words[1:width]]
    may_be_a_value = len(words) != width or width == 2
    if re.search("[=:]", first) or (may_be_a_value and any(map(is_number, values))):
        return []
    if len(words) == width or (len(words) > width > 1 and guess_kind(words[0]) is not None):
        return words[:width]
    return []


def roles_of(table: Table) -> tuple[list[int | str] | None, list[int]]:
    """(columns, errors): the axis and the data in this order, None for all as they stand, and the
    columns of standard errors. Names tell errors, "energy, a, a_err, b, b_err", and curves that
    were made of the data, "fit" beside "counts". Of three columns without names the values tell
    errors."""
    names, width, axis = table.names, table.width, table.axis_column or 0
    rest = [k for k in range(width) if k != axis]
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    if pairs and width % 2 and all(holds_errors(names[b], names[a]) for a, b in pairs):
        return [axis, *rest[::2]], rest[1::2]
    if not table.head.names and width == 3 and len(table.values) >= MANY:
        # The roots of counts, or one error for all values.
        values, spread = table.values[:, rest].T
        are_roots = np.all(spread == spread[0]) or np.allclose(spread**2, values, rtol=0.02)
        if are_roots and np.all(spread > 0):
            return [axis, rest[0]], [rest[1]]
    errors = [k for k in rest if any(holds_errors(names[k], names[j]) for j in rest if j != k)]
    curves = [k for k in rest if {*re.split(r"[\W\d_]+", names[k].lower())} & {*_CURVES}]
    measured = [k for k in rest if k not in errors and k not in curves]
    called = [k for k in measured if _MEASURED.search(names[k])] if curves else []
    data = called if len(called) == 1 else measured
    if len(data) == 1 and len(errors) < 2:
        return [axis, *data], errors
    return [axis, *rest] if axis else None, []


def without_empty(table: Table) -> Table:
    """The table without columns that have neither a name nor a value: spreadsheets leave such
    gaps between regions."""
    names = table.head.names
    if len(names) != table.width:
        return table
    is_empty = np.asarray(np.isnan(table.values).all(axis=0))
    empty = [k for k, name in enumerate(names) if _NAMELESS.fullmatch(name) and is_empty[k]]
    if not empty or len(names) - len(empty) < 2:
        return table
    shown = ", ".join(str(table.numbers[k]) for k in empty)
    return table.without(empty, f"columns without a name and a value are left out: {shown}")


def without_index(table: Table, *, has_axes: bool) -> Table:
    """The table without a first column of row numbers, as pandas writes it.

    Such a column has no name, and the next column is an axis by its name or its even steps.
    Columns "E1, E2, E3" are spectra, not an axis. With `has_axes` the caller has given the axes,
    and row numbers are always left out.
    """
    n_rows, width = table.values.shape
    names = table.head.names
    if len(names) != width or width < 3 or n_rows < 2 or names[0].lower() not in _INDEX:
        return table
    if not np.array_equal(table.values[:, 0], np.arange(n_rows)):
        return table
    first, second = (re.fullmatch(r"(.*?)[\s_]*\d+", name) for name in names[1:3])
    are_a_series = first is not None and second is not None and first[1] == second[1]
    is_axis = guess_kind(names[1]) is not None or names[1].strip().lower() == "x"
    if has_axes or (not are_a_series and (is_axis or has_even_steps(table.values[:, 1], MANY))):
        return table.without([0], "the first column numbers the rows and is left out")
    note = (
        "the first column, which numbers the rows, was taken for the axis; if it is none, "
        "give the axis: read(..., energy=...)"
    )
    return replace(table, notes=[*table.notes, note])


def without_text(table: Table, *, has_axes: bool) -> Table:
    """The table without its columns of text, such as labels beside numbers. `has_axes` says that
    axes are given otherwise.

    Raises :class:`DataError` for a first column of text that is the axis: dates and times, or what
    its name says, with no axis behind it."""
    if not table.words:
        return table
    names, first = table.names, table.words.get(0, "")
    if first and not has_axes and (_WHEN.match(first) or guess_kind(names[0]) is not None):
        behind = next(k for k in range(len(names)) if k not in table.words)
        if guess_kind(names[behind]) is None:
            raise DataError(
                f"{table.path}: the first column, {names[0]!r}, holds text, {first[:40]!r}, "
                "where the axis is expected; write numbers there, such as seconds since the start, "
                f"or choose other columns: columns=({behind}, {behind + 1})"
            )
    shown = ", ".join(f"{names[k]!r} ({word[:40]!r}, …)" for k, word in table.words.items())
    return table.without(list(table.words), f"text among the numbers is left out: {shown}")
