"""Tables of numbers in text: CSV, TSV, columns between white space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyspec.errors import DataError
from pyspec.io.cells import entries_of
from pyspec.io.found import Found, runs
from pyspec.io.layout import column_number, may_be_columns, read_layout
from pyspec.io.reader import Reader, Request, Start
from pyspec.io.set_aside import (
    roles_of,
    without_blanks,
    without_empty,
    without_end,
    without_index,
    without_text,
)
from pyspec.io.tables import alone, choose, has_rows_above, parts_of
from pyspec.io.text import Table, read_table, read_text

#: So many "key: value" comments are kept.
_MOST_META = 200


def sniff(start: Start) -> bool:
    """Every text; :func:`pyspec.io.text.read_text` refuses what is none."""
    return True


def read(request: Request) -> Found:
    """The table of a text file as `layout=` says, or as its shape and header say."""
    path = request.path
    separator = {"tab": "\t", "space": " "}.get(str(request.delimiter), request.delimiter)
    text = read_text(path)
    try:
        table = read_table(path, text, separator, request.decimal)
        # Above a table of more rows another one passes as a header, or its last row as an axis.
        parts = parts_of(path, text, separator, request.decimal) if has_rows_above(table) else []
    except DataError:
        parts = parts_of(path, text, separator, request.decimal)
        if not parts:
            raise
    if not parts:
        return _found(table, request)
    part = choose(path, parts, request.block)
    table = read_table(path, alone(text, part), separator, request.decimal)
    found = _found(table, replace(request, block=None))
    found.name = part.names[1]
    found.notes.append(f"one of {len(parts)} tables, below {part.title!r}")
    return found


def _found(table: Table, request: Request) -> Found:
    if table.n_empty and not request.sizes:  # of rows that are counted none is left out
        table = without_end(table)
    found = found_in(table, request, layout=request.layout)
    return found if request.block is None else cut(found, request)


def found_in(table: Table, request: Request, *, layout: str | None) -> Found:
    """Data and axes of a table, with the errors of a column if they are asked for."""
    columns = as_list(request.columns)
    at = None if request.errors is None else column_number(table, request.errors)
    if columns is None:
        table, at = _set_aside(table, request, layout, at)
    elif not request.sizes:
        axis = [0] if len(columns) == 1 else []  # columns="counts" has the first one
        table = without_blanks(table, [*axis, *columns, *([] if at is None else [at])])
    named: list[int] = []
    if columns is None and at is None and not request.sizes and may_be_columns(table, layout):
        columns, named = roles_of(table)
    found = read_layout(table, layout=layout, columns=columns, sizes=request.sizes, errors=at)
    if named:
        errors = table.values[:, named].T
        found.errors = errors if len(named) > 1 else errors[0]
        of_these = "columns " + ", ".join(str(table.numbers[k]) for k in named)
        if len(named) == 1:
            of_these = f"column {table.numbers[named[0]]}"
        found.notes.append(f"standard errors from {of_these}; columns=(x, y) leaves them out")
    elif at is not None and found.errors is None:
        found.errors = table.values[:, at]
        if found.data.shape != found.errors.shape:
            raise DataError(
                f"{table.path}: errors= belongs to one column of data; choose it with "
                "columns=(x, y)"
            )
        found.notes.append(f"standard errors from column {request.errors!r}")
    found.notes += table.notes
    found.meta = entries_of([*table.comments, *table.foot][:_MOST_META], ":")
    return found


def _set_aside(
    table: Table, request: Request, layout: str | None, errors: int | None
) -> tuple[Table, int | None]:
    """The table without text and row numbers, and the number that the column `errors` has then:
    numbers that are given are those of the file."""
    table = without_text(table, has_axes=bool(request.sizes))
    if _number_now(table, errors) != 0 and layout not in ("matrix", "data"):
        table = without_empty(without_index(table, has_axes=bool(request.sizes)))
    if errors in table.left_out:
        raise DataError(
            f"{table.path}: column {request.errors!r} holds no value; choose the one of standard "
            "errors, or leave errors= out"
        )
    return table, _number_now(table, errors)


def _number_now(table: Table, column: int | None) -> int | None:
    """The number that a column of the file has in the table."""
    return None if column is None else column - sum(k < column for k in table.left_out)


def as_list(columns: object) -> list[int | str] | None:
    """`columns=` as a list."""
    if columns is None:
        return None
    return [columns] if isinstance(columns, (str, int)) else list(columns)  # type: ignore[call-overload]


def cut(found: Found, request: Request) -> Found:
    """One of the blocks of an axis that starts again."""
    kind = "time" if found.dims == ["time"] else "energy"
    if kind not in found.axes or kind not in found.dims:
        raise DataError(f"{request.path}: block= needs an axis in the table; leave it out")
    parts = runs(np.asarray(found.axes[kind]))
    if not isinstance(request.block, int) or not 0 <= request.block < len(parts):
        sizes = ", ".join(f"{k}: {b - a} points" for k, (a, b) in enumerate(parts[:12]))
        raise DataError(f"{request.path}: no block {request.block!r}; it has {sizes}")
    inside, along = range(*parts[request.block]), found.dims.index(kind)
    found.data = np.take(found.data, inside, axis=along)
    found.axes[kind] = np.take(found.axes[kind], inside)
    if found.errors is not None:
        found.errors = np.take(found.errors, inside, axis=along)
    if len(parts) > 1:
        found.notes.append(f"block {request.block} of {len(parts)}: the {kind} axis starts again")
    return found


READER = Reader(
    name="text",
    what="CSV, TSV, columns between white space; XAS, XES and EELS tables with # headers",
    endings=("csv", "tsv", "txt", "dat", "xy", "prn"),
    sniff=sniff,
    read=read,
    keywords=("layout", "columns", "delimiter", "decimal", "block", "errors"),
    example='read("scan.csv", columns=["energy", "counts"], errors="sigma", decimal=",")',
    checked="measured files",
)
