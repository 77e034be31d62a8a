"""Columns of a table that are no data: those that number the rows, hold text, or hold errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.io.cells import says_when
from pyspec.io.layout import MANY, axis_column, column_number, head_of, names_of
from pyspec.io.text import Table
from pyspec.io.units import guess_kind, holds_errors

#: How pandas and others call a column that only numbers the rows.
_INDEX = ("", "index", "unnamed: 0")
#: How pandas calls a column without a name.
_NAMELESS = re.compile(r"\s*(unnamed: \d+)?\s*", re.IGNORECASE)
#: What curves are called that were made of the data, and what the data are called beside them.
_CURVES = (
    "fit", "fitted", "fits", "model", "envelope", "background", "backgr", "backgnd", "bg", "bkg",
    "baseline", "shirley", "tougaard", "residual", "residuals", "resid", "difference",
)  # fmt: skip
_MEASURED = re.compile(r"(?i)counts|cps|cts|intensity|intensität|signal|raw|data|measured")


def roles_of(table: Table) -> tuple[list[int | str] | None, list[int]]:
    """(columns, errors): the axis and the data in this order, None for all as they stand, and the
    columns of standard errors. Names tell errors, "energy, a, a_err, b, b_err", and curves that
    were made of the data, "fit" beside "counts". Of three columns without names the values tell
    errors."""
    width = table.values.shape[1]
    head = head_of(table)
    names = names_of(table, head)
    axis = axis_column(table, head) or 0
    rest = [k for k in range(width) if k != axis]
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    if (
        pairs
        and width % 2
        and all(holds_errors(names[error], names[value]) for value, error in pairs)
    ):
        return [axis, *rest[::2]], rest[1::2]
    if not head.names and width == 3 and _are_errors(*table.values[:, rest].T):
        return [axis, rest[0]], [rest[1]]
    errors = [k for k in rest if any(holds_errors(names[k], names[j]) for j in rest if j != k)]
    curves = [k for k in rest if _is_curve(names[k])]
    measured = [k for k in rest if k not in errors and k not in curves]
    called = [k for k in measured if _MEASURED.search(names[k])] if curves else []
    data = called if len(called) == 1 else measured
    if len(data) == 1 and len(errors) < 2:
        return [axis, *data], errors
    return [axis, *rest] if axis else None, []


def _is_curve(name: str) -> bool:
    """Whether the name of a column is that of a curve which was made of the data."""
    return any(word in _CURVES for word in re.split(r"[\W\d_]+", name.lower()))


def _are_errors(values: np.ndarray, errors: np.ndarray) -> bool:
    """Whether these are the roots of counts, or one error for all values."""
    if not (np.all(errors > 0) and values.size >= MANY):
        return False
    return bool(np.all(errors == errors[0]) or np.allclose(errors**2, values, rtol=0.02))


def without(table: Table, columns: Sequence[int], note: str) -> Table:
    """The table without some columns, and a note that says so."""
    width, numbers = table.values.shape[1], table.numbers
    kept = [k for k in range(width) if k not in columns]
    header = [
        (at, [row[k] for k in kept] if len(row) == width else row) for at, row in table.header
    ]
    return replace(
        table,
        values=table.values[:, kept],
        header=header,
        notes=[*table.notes, note],
        words={},
        left_out=(*table.left_out, *(numbers[k] for k in columns)),
    )


def without_end(table: Table) -> Table:
    """The table without the rows at its end that hold separators alone, as Excel writes them."""
    blank = np.arange(len(table.values)) >= len(table.values) - table.n_empty
    return _without_rows(table, blank, "without a value at the end")


def _without_rows(table: Table, blank: npt.NDArray[np.bool_], which: str) -> Table:
    """The table without the rows that are `blank`, and a note that says `which` they are."""
    note = f"{np.count_nonzero(blank)} rows {which} are left out"
    lines = [at for at, out in zip(table.lines, blank, strict=True) if not out]
    return replace(
        table, values=table.values[~blank], lines=lines, notes=[*table.notes, note], n_empty=0
    )


def without_empty(table: Table) -> Table:
    """The table without columns that have neither a name nor a value, such as the gap between two
    regions of a spreadsheet that stand side by side."""
    names = head_of(table).names
    if len(names) != table.values.shape[1]:
        return table
    is_empty = np.asarray(np.isnan(table.values).all(axis=0))
    empty = [k for k, name in enumerate(names) if _NAMELESS.fullmatch(name) and is_empty[k]]
    if not empty or len(names) - len(empty) < 2:
        return table
    shown = ", ".join(str(table.numbers[k]) for k in empty)
    return without(table, empty, f"columns without a name and a value are left out: {shown}")


def without_blanks(table: Table, columns: Sequence[int | str]) -> Table:
    """The table without the rows that are empty in all of these columns, the first of which is the
    axis, as of the shorter of two regions that stand side by side."""
    chosen = [column_number(table, column) for column in columns]
    blank = np.asarray(np.isnan(table.values[:, chosen]).all(axis=1))
    if blank.all() or not blank.any():
        return table
    return _without_rows(table, blank, "that are empty in these columns")


def without_index(table: Table, *, has_axes: bool = False) -> Table:
    """The table without a first column that only numbers the rows, as pandas writes it: it has no
    name, and the column behind it is an axis by its name or its even steps. Columns "E1, E2, E3"
    are no axis but spectra. `has_axes` says that axes are given otherwise: row numbers are none
    then."""
    n_rows, width = table.values.shape
    names = head_of(table).names
    if len(names) != width or width < 3 or n_rows < 2 or names[0].lower() not in _INDEX:
        return table
    if not np.array_equal(table.values[:, 0], np.arange(n_rows)):
        return table
    if not has_axes and (_are_a_series(names[1:]) or not _is_axis(names[1], table.values[:, 1])):
        note = (
            "the first column, which numbers the rows, was taken for the axis; if it is none, "
            "give the axis: read(..., energy=...)"
        )
        return replace(table, notes=[*table.notes, note])
    return without(table, [0], "the first column numbers the rows and is left out")


def _are_a_series(names: Sequence[str]) -> bool:
    """Whether the first two names differ in a number at their end alone."""
    first, second = (re.fullmatch(r"(.*?)[\s_]*\d+", name) for name in names[:2])
    return first is not None and second is not None and first[1] == second[1]


def _is_axis(name: str, values: np.ndarray) -> bool:
    """Whether a column is an axis: by its name, or by many steps that are even but for rounding."""
    steps = np.diff(values)
    many = steps.size >= MANY and steps[0] != 0
    is_even = many and np.allclose(steps, steps[0], rtol=1e-3, atol=0.0)
    return guess_kind(name) is not None or name.strip().lower() == "x" or bool(is_even)


def without_text(table: Table, *, has_axes: bool = False) -> Table:
    """The table without its columns of text, such as labels beside numbers. `has_axes` says that
    axes are given otherwise.

    Raises :class:`DataError` for a first column of text that is the axis: dates and times, or what
    its name says, with no axis behind it."""
    if not table.words:
        return table
    names = names_of(table, head_of(table))
    first = table.words.get(0, "")
    if first and not has_axes and (says_when(first) or guess_kind(names[0]) is not None):
        behind = next(k for k in range(len(names)) if k not in table.words)
        if guess_kind(names[behind]) is None:
            raise DataError(
                f"{table.path}: the first column, {names[0]!r}, holds text, {first[:40]!r}, "
                "where the axis is expected; write numbers there, such as seconds since the start, "
                f"or choose other columns: columns=({behind}, {behind + 1})"
            )
    shown = ", ".join(f"{names[k]!r} ({word[:40]!r}, …)" for k, word in table.words.items())
    return without(table, list(table.words), f"text among the numbers is left out: {shown}")
