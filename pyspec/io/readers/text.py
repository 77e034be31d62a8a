"""Tables of numbers in text: CSV, TSV, columns between white space; also several in one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pyspec.errors import DataError, several, suggest
from pyspec.io.raw_table import RawTable, runs
from pyspec.io.reader import Request, Start
from pyspec.io.tables.cells import cells, entries_of, number, style_of, words_of
from pyspec.io.tables.columns import Table, roles_of, without_empty, without_index, without_text
from pyspec.io.tables.layout import may_be_columns, read_layout
from pyspec.io.tables.text import is_comment, lines_of, read_table, read_text

#: So many "key: value" comments are kept.
_MOST_META = 200
#: A table has so many rows at least.
_LEAST_ROWS = 3


def sniff(start: Start) -> bool:
    """Every text; :func:`pyspec.io.tables.text.read_text` refuses what is none."""
    return True


def read(request: Request) -> RawTable:
    """The table of a text file as `layout=` says, or as its shape and header say."""
    path = request.path
    separator = {"tab": "\t", "space": " "}.get(str(request.delimiter), request.delimiter)
    text = read_text(path)
    try:
        table = read_table(path, text, separator, request.decimal)
        # Above a table of more rows another one passes as a header, or its last row as an axis.
        above = [row for _, row in table.header if not words_of(row)]
        parts = (
            parts_of(path, text, separator, request.decimal) if len(above) >= _LEAST_ROWS else []
        )
    except DataError:
        parts = parts_of(path, text, separator, request.decimal)
        if not parts:
            raise
    if not parts:
        return _with_end(table, request)
    part = choose(path, parts, request.block)
    lines = text.splitlines()[part.begin : part.end]
    alone = "\n" * part.begin + "\n".join(lines)  # on the lines where it stands in the file
    table = read_table(path, alone, separator, request.decimal)
    result = _with_end(table, replace(request, block=None))
    result.name = part.name
    result.notes.append(f"one of {len(parts)} tables, below {part.title!r}")
    return result


def _with_end(table: Table, request: Request) -> RawTable:
    """What a table holds without the empty rows at its end, which Excel writes."""
    if table.n_empty and not request.sizes:  # of rows that are counted none is left out
        blank = np.arange(len(table.values)) >= len(table.values) - table.n_empty
        table = table.without_rows(blank, "without a value at the end")
    result = raw_table_of(table, request, layout=request.layout)
    return result if request.block is None else cut(result, request)


def raw_table_of(table: Table, request: Request, *, layout: str | None) -> RawTable:
    """Data and axes of a table, with the errors of a column if they are asked for."""
    own = request.columns
    columns = [own] if isinstance(own, (str, int)) else None if own is None else [*own]
    at = None if request.errors is None else table.pick([request.errors])[0]
    if columns is None:
        table, at = _set_aside(table, request, layout, at)
    elif not request.sizes:
        # Two regions may stand side by side, and one of them is shorter. The first column is the
        # axis, also of columns="counts".
        axis = [0] if len(columns) == 1 else []
        chosen = table.pick([*axis, *columns, *([] if at is None else [at])])
        blank = np.asarray(np.isnan(table.values[:, chosen]).all(axis=1))
        if blank.any() and not blank.all():
            table = table.without_rows(blank, "that are empty in these columns")
    named: list[int] = []
    if columns is None and at is None and not request.sizes and may_be_columns(table, layout):
        columns, named = roles_of(table)
    result = read_layout(table, layout=layout, columns=columns, sizes=request.sizes, errors=at)
    if named:
        errors = table.values[:, named].T
        result.errors = errors if len(named) > 1 else errors[0]
        plural = "column" if len(named) == 1 else "columns"
        shown = f"{plural} {', '.join(str(table.numbers[k]) for k in named)}"
        result.notes.append(f"standard errors from {shown}; columns=(x, y) leaves them out")
    elif at is not None and result.errors is None:
        result.errors = table.values[:, at]
        if result.data.shape != result.errors.shape:
            raise DataError(
                f"{table.path}: errors= belongs to one column of data; choose it with "
                "columns=(x, y)"
            )
        result.notes.append(f"standard errors from column {request.errors!r}")
    result.notes += table.notes
    result.meta = entries_of([*table.comments, *table.foot][:_MOST_META], ":")
    return result


def _set_aside(
    table: Table, request: Request, layout: str | None, errors: int | None
) -> tuple[Table, int | None]:
    """The table without text and row numbers, and the number that the column `errors` has then:
    numbers that are given are those of the file."""

    def place() -> int | None:
        return None if errors is None else errors - sum(k < errors for k in table.left_out)

    has_axes = bool(request.sizes)
    table = without_text(table, has_axes=has_axes)
    if place() != 0 and layout not in ("matrix", "data"):
        table = without_empty(without_index(table, has_axes=has_axes))
    if errors in table.left_out:
        raise DataError(
            f"{table.path}: column {request.errors!r} holds no value; choose the one of standard "
            "errors, or leave errors= out"
        )
    return table, place()


def cut(result: RawTable, request: Request) -> RawTable:
    """One of the blocks of an axis that starts again."""
    kind = "time" if result.dims == ["time"] else "energy"
    if kind not in result.axes or kind not in result.dims:
        raise DataError(f"{request.path}: block= needs an axis in the table; leave it out")
    parts = runs(np.asarray(result.axes[kind]))
    if not isinstance(request.block, int) or not 0 <= request.block < len(parts):
        sizes = ", ".join(f"{k}: {b - a} points" for k, (a, b) in enumerate(parts[:12]))
        raise DataError(f"{request.path}: no block {request.block!r}; it has {sizes}")
    inside, along = range(*parts[request.block]), result.dims.index(kind)
    result.data = np.take(result.data, inside, axis=along)
    result.axes[kind] = np.take(result.axes[kind], inside)
    if result.errors is not None:
        result.errors = np.take(result.errors, inside, axis=along)
    if len(parts) > 1:
        result.notes.append(f"block {request.block} of {len(parts)}: the {kind} axis starts again")
    return result


@dataclass
class Part:
    """One of several tables of a text, each with a heading and names of its columns: `title` is the
    first line of the heading, the table goes from the line `begin` on, before `end`, and has
    `n_rows` rows of numbers."""

    title: str
    begin: int
    end: int
    n_rows: int

    @property
    def name(self) -> str:
        """The last part of the title: "C 1s" of "Cycle 0:Sample A:C 1s"."""
        return self.title.rpartition(":")[2].strip()


def parts_of(path: Path, text: str, separator: str | None, decimal: str | None) -> list[Part]:
    """The tables of a text, or an empty list where it holds one, or rows with wrong words."""
    lines = lines_of(text)
    try:
        kept = [line for line in lines if not is_comment(line)]
        sep, sign, *_ = style_of(path, kept, separator, decimal)
    except DataError:
        return []
    parts: list[Part] = []
    head: list[tuple[int, list[str]]] = []
    width = 0
    for at, line in enumerate(lines):
        row = cells(line, sep, sign)
        if is_comment(line) or not any(row):
            continue
        if number(row[0]) is None or not row[0]:
            head.append((at, row))
            continue
        if head:
            # Only below names of its columns a row of numbers begins another table.
            if not any(_names(words, len(row)) for _, words in head):
                return []
            # A line below a table goes with the next one, unless it is a row of it: "28O.5, 120"
            # is one with a wrong sign in it, but "Region 2" between white space is a name.
            first = head[0][1]
            is_row = len(first) == width and all(c and number(c) is not None for c in first[1:])
            if parts and is_row and (sep is not None or not first[0][:1].isalpha()):
                return []
            title = " ".join(filter(None, first))
            parts.append(Part(title, head[0][0], at, 0))
            head, width = [], len(row)
        if not parts or len(row) != width:
            return []
        parts[-1].end, parts[-1].n_rows = at + 1, parts[-1].n_rows + 1
    if len(parts) < 2 or min(part.n_rows for part in parts) < _LEAST_ROWS:
        return []
    parts[-1].end = len(lines)  # what stands below the last one is judged where it is read
    return parts


def _names(row: Sequence[str], width: int) -> bool:
    """Whether these are names of columns: "ERR, ERR" and "----, ----" stand for missing values."""
    words = {cell for cell in row if cell}
    is_text = all(number(cell) is None for cell in words) and any(map(str.isalpha, "".join(words)))
    return len(row) == width and is_text and (len(words) > 1 or width == 1)


def choose(path: Path, parts: Sequence[Part], block: int | str | None) -> Part:
    """The table that is asked for.

    `block` is its number or a name. Raises :class:`DataError` with a list of the tables for another
    one, and where none was chosen.
    """
    listed = several([f"{k}: {p.title[:60]} ({p.n_rows} rows)" for k, p in enumerate(parts)])
    if block is None:
        raise DataError(
            f"{path}: holds {len(parts)} tables, one below the other; choose one with block=: "
            f"{listed}"
        )
    chosen = [p for k, p in enumerate(parts) if block in (k, p.title, p.name)]
    if len(chosen) != 1:
        says = f"{len(chosen)} tables are called {block!r}" if chosen else f"no block {block!r}"
        near = suggest(str(block), [name for part in parts for name in (part.title, part.name)])
        raise DataError(f"{path}: {says}; it has {listed}{near if not chosen else ''}")
    return chosen[0]
