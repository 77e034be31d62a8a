"""What a table of numbers means: a matrix with its axes, columns x, y, or data alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyspec.errors import DataError, suggest
from pyspec.io.found import Found
from pyspec.io.text import NAMES, Table, number
from pyspec.io.units import guess_kind, is_unit, show_unit, split_unit

LAYOUTS = ("matrix", "columns", "data")
#: A first row that rises or falls all the way over so many columns is no accident.
_SURE = 6


@dataclass
class _Head:
    """What stands above the numbers: names of columns, units, or an axis with its corner."""

    names: list[str]
    units: list[str]
    corner: str
    axis: list[float] | None


def read_layout(
    table: Table,
    *,
    layout: str | None,
    columns: Sequence[int | str] | None,
    has_energy: bool,
    has_time: bool,
) -> Found:
    """A Found from a table: `layout` as given, or as its shape and header say."""
    if layout is not None and layout not in LAYOUTS:
        raise DataError(
            f"{table.path}: layout is one of {', '.join(LAYOUTS)}, not {layout!r}"
            f"{suggest(str(layout), list(LAYOUTS))}"
        )
    head = _head(table)
    if columns is not None:
        layout = layout or "columns"
    chosen = layout or _guess(table, head, has_energy, has_time)
    maker = {"matrix": _matrix, "columns": _columns, "data": _data}[chosen]
    found = maker(table, head, columns)
    sign = "comma" if table.decimal == "," else "point"
    found.notes.insert(0, f"text, {NAMES[table.separator]} between values, decimal {sign}")
    if layout is None:
        others = " or ".join(repr(word) for word in LAYOUTS if word != chosen)
        found.notes.append(f"layout={chosen!r} was taken; say layout={others} if it is wrong")
    return found


def _head(table: Table) -> _Head:
    width = table.values.shape[1]
    head = _Head([], [], "", None)
    for _, row in table.header:
        if not any(row):
            continue
        values = [number(cell) for cell in row]
        tail = row[1:] if len(row) == width else row
        numbers = [v for v in (values[1:] if len(row) == width else values) if v is not None]
        if width > 1 and len(tail) == width - 1 == len(numbers) and not np.isnan(numbers).any():
            head.axis = [float(v) for v in numbers]
            head.corner = row[0] if len(row) == width else ""
        elif len(row) == width and all(is_unit(cell) or not cell for cell in row) and head.names:
            head.units = [show_unit(cell.strip("()[]")) for cell in row]
        elif len(row) == width:
            head.names = row
    if not head.names and head.axis is None:
        head.names = _comment_names(table, width)
    if head.axis is not None and not head.corner and head.names:
        head.corner = head.names[0]
    return head


def _comment_names(table: Table, width: int) -> list[str]:
    """Column names in the last comment line above the numbers."""
    if not table.comments:
        return []
    line = table.comments[-1]
    words = line.split(table.separator) if table.separator else line.split()
    words = [word.strip() for word in words]
    if len(words) == width or (len(words) > width > 1 and guess_kind(words[0]) is not None):
        return words[:width]
    return []


def _guess(table: Table, head: _Head, has_energy: bool, has_time: bool) -> str:
    n_rows, width = table.values.shape
    if head.axis is not None and width > 2:
        return "matrix"
    if has_energy and (has_time or width == 1 or n_rows == 1):
        return "data"
    if has_energy or has_time:
        return "data" if width > 2 else "columns"
    if width == 1:
        return "data"
    if head.names and width > 1 and _monotonic(table.values[:, 0]):
        return "columns"
    inner = table.values[0, 1:]
    if width > _SURE and n_rows > 2 and _monotonic(inner) and _monotonic(table.values[1:, 0]):
        return "matrix"
    if width == 2 or _monotonic(table.values[:, 0]):
        return "columns"
    return "data"


def _monotonic(line: Any) -> bool:
    step = np.diff(line)
    return bool((step > 0).all() or (step < 0).all())


def _matrix(table: Table, head: _Head, columns: Any) -> Found:
    values = table.values
    if columns is not None:
        raise DataError(f"{table.path}: columns= is for layout='columns', not for a matrix")
    if head.axis is not None:
        across, down, data = np.array(head.axis), values[:, 0], values[:, 1:]
    elif values.shape[0] > 1 and values.shape[1] > 1:
        across, down, data = values[0, 1:], values[1:, 0], values[1:, 1:]
    else:
        raise DataError(
            f"{table.path}: a matrix needs a row and a column of axis values; the table has the "
            f"shape {values.shape}"
        )
    dims, units, labels, told = _roles(head.corner)
    names = dict(zip(dims, (down, across), strict=True))
    found = Found(data, list(dims), names, units, labels)
    rows, cols = dims
    found.notes.append(
        f"a matrix: the first column is {rows}, the first row {cols}"
        + (f" (the corner says {head.corner!r})" if told else "")
        + "; if they are exchanged say transpose=True"
    )
    return found


def _roles(corner: str) -> tuple[tuple[str, str], dict[str, str], dict[str, str], bool]:
    """Names of rows and columns, units and labels from the corner cell of a matrix."""
    for sign in ("\\", "|", "/"):
        first, _, second = corner.partition(sign)
        kinds = guess_kind(first), guess_kind(second)
        if set(kinds) == {"energy", "time"}:
            dims = ("energy", "time") if kinds[0] == "energy" else ("time", "energy")
            parts = [split_unit(first), split_unit(second)]
            labels = {dim: label for dim, (label, _) in zip(dims, parts, strict=True)}
            units = {dim: unit for dim, (_, unit) in zip(dims, parts, strict=True)}
            return dims, units, labels, True
    kind = guess_kind(corner) if corner else None
    dims = ("energy", "time") if kind == "energy" else ("time", "energy")
    label, unit = split_unit(corner)
    known = kind is not None
    return dims, {dims[0]: unit} if known else {}, {dims[0]: label} if known else {}, known


def _columns(table: Table, head: _Head, columns: Sequence[int | str] | None) -> Found:
    width = table.values.shape[1]
    names = head.names if len(head.names) == width else [f"column {k}" for k in range(width)]
    if head.axis is not None and not head.names:
        names = [head.corner or "column 0", *(f"{value:g}" for value in head.axis)]
    picked = _pick(table, names, columns)
    if len(picked) < 2:
        raise DataError(
            f"{table.path}: layout='columns' needs x and at least one y; the table has {width} "
            "column(s); give the axis as energy= instead"
        )
    x, *ys = picked
    label, unit = split_unit(names[x])
    unit = head.units[x] if len(head.units) == width else unit
    kind = guess_kind(names[x], unit) or "energy"
    axis = table.values[:, x]
    if np.isnan(axis).any():
        row = int(np.argmax(np.isnan(axis)))
        raise DataError(f"{table.at(row)}: the {kind} is missing; complete it or remove the line")
    found = Found(table.values[:, ys].T, ["column", kind], {kind: axis})
    found.axes["column"] = np.array(ys, dtype=np.float64)
    found.units[kind] = unit
    if head.names:
        found.labels[kind] = label
    if len(ys) == 1:
        found.data, found.dims = found.data[0], [kind]
        if head.names:
            found.labels["data"], found.units["data"] = split_unit(names[ys[0]])
    else:
        found.labels["column"] = ", ".join(names[k] for k in ys)
    shown = ", ".join(f"{names[k]!r}" if head.names else str(k) for k in ys)
    found.notes.append(
        f"columns: {names[x]!r} is {kind}, data from {shown}; choose others with columns=(x, y)"
    )
    return found


def _pick(table: Table, names: list[str], columns: Sequence[int | str] | None) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    wanted = [columns] if isinstance(columns, (str, int)) else list(columns)
    picked = []
    for one in wanted:
        if isinstance(one, str) and one in names:
            picked.append(names.index(one))
        elif isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(names):
            picked.append(one)
        else:
            known = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
            raise DataError(
                f"{table.path}: no column {one!r}; it has {known}{suggest(str(one), names)}"
            )
    return [0, *picked] if len(picked) == 1 else picked


def _data(table: Table, head: _Head, columns: Any) -> Found:
    values = table.values
    if columns is not None:
        raise DataError(f"{table.path}: columns= is for layout='columns', not for data alone")
    note = "numbers alone: rows are times, columns are energies"
    if values.shape[1] == 1 or values.shape[0] == 1:
        return Found(values.ravel(), [None], notes=["one line of numbers"])
    return Found(values.copy(), [None, None], notes=[note])
