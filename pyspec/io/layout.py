"""What a table of numbers means: a matrix with its axes, columns, points, or data alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.io.cells import number
from pyspec.io.comments import names_in_comments
from pyspec.io.corner import SURE, has_corner, times_across
from pyspec.io.found import Found, monotonic
from pyspec.io.points import from_points, is_grid
from pyspec.io.text import NAMES, Table
from pyspec.io.units import axis_kind, guess_kind, holds_errors, is_unit, show_unit, split_unit

Array = npt.NDArray[np.float64]

#: Of more columns than this the names of the first are listed.
SHOWN = 8
#: So many even steps are no accident.
MANY = 5
LAYOUTS = ("matrix", "columns", "points", "data")


@dataclass
class Head:
    """What stands above the numbers: names of columns, units, or an axis with its corner."""

    names: list[str]
    units: list[str]
    corner: str
    axis: list[float] | None
    across: str = ""


def read_layout(
    table: Table,
    *,
    layout: str | None,
    columns: Sequence[int | str] | None,
    sizes: Mapping[str, int | None],
    errors: int | None = None,
) -> Found:
    """A Found from a table: `layout` as given, or as its shape and header say.

    `errors` is the column of standard errors, which is no data; of "points" they are read here.
    `sizes` has the number of points of the axes that are given otherwise: "energy", "time";
    None where any number fits.
    """
    if layout is not None and layout not in LAYOUTS:
        raise DataError(
            f"{table.path}: layout is one of {', '.join(LAYOUTS)}, not {layout!r}"
            f"{suggest(str(layout), list(LAYOUTS))}"
        )
    head = head_of(table)
    lies = layout is None and columns is None and not sizes and _lies(table, head)
    if lies:
        values = table.values.T.copy()
        table = replace(table, values=values, lines=[table.lines[0]] * len(values), left_out=())
    if columns is not None:
        layout = layout or "columns"
    chosen = layout or _guess(table, head, sizes, errors)
    if errors is not None and columns is None and chosen != "points":
        columns = [k for k in range(table.values.shape[1]) if k != errors]
        chosen = layout or "columns"
    beside = _beside(table, sizes) if layout is None and chosen == "data" else None
    if chosen == "points":
        found = _points(table, head, columns, errors)
    else:
        maker = {"matrix": _matrix, "columns": _columns, "data": _data}[chosen]
        found = beside or maker(table, head, columns)
    sign = "comma" if table.decimal == "," else "point"
    found.notes.insert(
        0,
        f"text, {NAMES.get(table.separator, repr(table.separator))} between values, decimal {sign}",
    )
    if lies:
        found.notes.append("the first row is the axis, the second one spectrum along it")
    elif layout is None:
        others = " or ".join(repr(word) for word in LAYOUTS if word != chosen)
        found.notes.append(f"layout={chosen!r} was taken; say layout={others} if it is wrong")
    return found


def column_number(table: Table, column: int | str) -> int:
    """The number of a column that is named, or numbered from 0.

    Raises :class:`DataError` with a list of the columns where there is none.
    """
    return _numbers(table, names_of(table, head_of(table)), [column])[0]


def names_of(table: Table, head: Head) -> list[str]:
    """What the columns are called."""
    width = table.values.shape[1]
    if head.axis is not None and not head.names:
        return [head.corner or "column 0", *(f"{value:g}" for value in head.axis)]
    return head.names if len(head.names) == width else [f"column {k}" for k in table.numbers]


def head_of(table: Table) -> Head:
    width = table.values.shape[1]
    head = Head([], [], "", None)
    above: list[str] = []
    for _, row in table.header:
        if not any(row):
            continue
        values = [number(cell) for cell in row]
        row, values, unit = _bare(row, values, width)
        head.across = unit or head.across
        tail = row[1:] if len(row) == width else row
        numbers = [v for v in (values[1:] if len(row) == width else values) if v is not None]
        if width > 1 and len(tail) == width - 1 == len(numbers) and not np.isnan(numbers).any():
            head.axis = [float(v) for v in numbers]
            head.corner, above = row[0] if len(row) == width else "", head.names
        elif len(row) == width and all(is_unit(cell) or not cell for cell in row) and head.names:
            head.units = [show_unit(cell.strip("()[]")) for cell in row]
        elif len(row) == width:
            head.names = row
    if not head.names and head.axis is None:
        head.names = names_in_comments(table, width)
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


_QUANTITY = re.compile(r"^([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([^\W\d].*)$")


def _bare(
    row: list[str], values: list[float | None], width: int
) -> tuple[list[str], list[float | None], str]:
    """A row of "-1 ps", "0 ps", … without its unit, and the unit."""
    found = [_QUANTITY.match(cell) for cell in row[1:]]
    units = {one[2] for one in found if one}
    if len(row) != width or width < 3 or None in found or len(units) != 1:
        return row, values, ""
    unit = units.pop()
    if guess_kind("", show_unit(unit)) is None:
        return row, values, ""
    bare = [row[0], *(one[1] for one in found if one)]
    return bare, [number(cell) for cell in bare], show_unit(unit)


def _guess(table: Table, head: Head, sizes: Mapping[str, int | None], errors: int | None) -> str:
    n_rows, width = table.values.shape
    has_energy, has_time = "energy" in sizes, "time" in sizes
    if head.axis is not None and width > 2:
        return "matrix"
    if has_energy and (has_time or width == 1 or n_rows == 1):
        return "data"
    if has_energy or has_time:
        return "data" if width > 2 else "columns"
    if width == 1 or (n_rows == 1 and width > 2 and not head.names):
        return "data"
    if width in (3, 4) and _has_points(table, head, errors):
        return "points"
    if head.names and width > 1 and axis_column(table, head) is not None:
        return "columns"
    if n_rows > 2 and width > 2 and has_corner(table.values):
        return "matrix"
    if width == 2 or monotonic(table.values[:, 0]):
        return "columns"
    return "data"


def may_be_columns(table: Table, layout: str | None) -> bool:
    """Whether a table is an axis with columns beside it, also one that is in no order."""
    head = head_of(table)
    if layout is None:
        layout = "lies" if _lies(table, head) else _guess(table, head, {}, None)
    return layout == "columns" or (layout == "data" and bool(head.names))


def axis_column(table: Table, head: Head) -> int | None:
    """The axis: the first column, where it rises or falls all the way or has the name of an axis.
    Else another one of such a name, or of even steps; None where there is none."""
    names = head.names if len(head.names) == table.values.shape[1] else []
    if monotonic(table.values[:, 0]) or (names and guess_kind(names[0]) is not None):
        return 0
    ordered = [k for k, column in enumerate(table.values.T) if monotonic(column)]
    called = [k for k in ordered if names and guess_kind(names[k]) is not None]
    even = [k for k in ordered if _is_even(np.diff(table.values[:, k]))]
    return min(called or even, default=None)


def _is_even(steps: Array) -> bool:
    return steps.size > MANY and bool(np.allclose(steps, steps[0], rtol=0.02))


def _lies(table: Table, head: Head) -> bool:
    """Whether two rows are an axis and the values along it, not two points of many spectra."""
    n_rows, width = table.values.shape
    is_axis = n_rows == 2 and width > SURE and monotonic(table.values[0])
    return is_axis and head.axis is None and not head.names


def _has_points(table: Table, head: Head, errors: int | None) -> bool:
    """Whether three columns, or four with standard errors, are time, energy and value of points:
    the first two are a grid, or their names say so and values come again."""
    if table.values.shape[1] == 4 and _errors_of_points(table, errors) is None:
        return False
    first, second = table.values[:, 0], table.values[:, 1]
    if is_grid(first, second):
        return True
    kinds = {guess_kind(name) for name in names_of(table, head)[:2]}
    again = all(np.unique(column).size < column.size for column in (first, second))
    return kinds == {"energy", "time"} and again


def _errors_of_points(table: Table, errors: int | None) -> int | None:
    """The column of standard errors: that one, or the fourth of four, by its name."""
    names = names_of(table, head_of(table))
    is_told = errors is None and len(names) == 4 and holds_errors(names[3], names[2])
    return 3 if is_told else errors


def _points(
    table: Table, head: Head, columns: Sequence[int | str] | None, errors: int | None
) -> Found:
    names = names_of(table, head)
    if columns is not None:
        picked = _pick(table, names, columns)
    else:
        errors = _errors_of_points(table, errors)
        picked = [k for k in range(len(names)) if k != errors]
    return from_points(table, names, head.units, picked, errors, bool(head.names))


def _beside(table: Table, sizes: Mapping[str, int | None]) -> Found | None:
    """Data with one axis in the first column or row, where the other is given otherwise."""
    values = table.values
    if set(sizes) == {"energy"} and sizes["energy"] == values.shape[1] - 1:
        found = Found(values[:, 1:].copy(), ["time", None], {"time": values[:, 0]})
        found.notes.append("the first column is time; energy is given")
        return found
    if set(sizes) == {"time"} and sizes["time"] == values.shape[0] - 1:
        found = Found(values[1:].copy(), [None, "energy"], {"energy": values[0]})
        found.notes.append("the first row is energy; time is given")
        return found
    return None


def _matrix(table: Table, head: Head, columns: Any) -> Found:
    values, said = table.values, ""
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
    if not told and head.across:
        dims = dims[::-1] if guess_kind("", head.across) == dims[0] else dims
    elif not told and times_across(down, across):
        dims, said = ("energy", "time"), ", as it has both signs and uneven steps"
    if head.across and guess_kind("", head.across) == dims[1]:
        units[dims[1]] = head.across
    names = dict(zip(dims, (down, across), strict=True))
    found = Found(data, list(dims), names, units, labels)
    rows, cols = dims
    found.notes.append(
        f"a matrix: the first column is {rows}, the first row {cols}{said}"
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


def _columns(table: Table, head: Head, columns: Sequence[int | str] | None) -> Found:
    width = table.values.shape[1]
    names = names_of(table, head)
    picked = _pick(table, names, columns)
    if len(picked) < 2:
        raise DataError(
            f"{table.path}: layout='columns' needs x and at least one y; the table has {width} "
            "column(s); give the axis as energy= instead"
        )
    x, *ys = picked
    label, unit = split_unit(names[x])
    unit = head.units[x] if len(head.units) == width else unit
    kind, taken = axis_kind(names[x], unit)
    axis = table.values[:, x]
    if np.isnan(axis).any():
        row = int(np.argmax(np.isnan(axis)))
        raise DataError(f"{table.at(row)}: the {kind} is missing; complete it or remove the line")
    found = Found(table.values[:, ys].T, ["column", kind], {kind: axis})
    found.axes["column"] = np.array([table.numbers[k] for k in ys], dtype=np.float64)
    found.units[kind] = unit
    if head.names:
        found.labels[kind] = label
    if len(ys) == 1:
        found.data, found.dims = found.data[0], [kind]
        if head.names:
            own, unit = split_unit(names[ys[0]])
            unit = head.units[ys[0]] or unit if len(head.units) == width else unit
            is_unit_alone = show_unit(own) in ("", unit)
            found.units["data"], found.labels["data"] = unit, unit if is_unit_alone else own
    else:
        more = ", …" if len(ys) > SHOWN else ""
        found.labels["column"] = ", ".join(names[k] for k in ys[:SHOWN]) + more
    shown = ", ".join(f"{names[k]!r}" if head.names else str(table.numbers[k]) for k in ys[:SHOWN])
    shown += f", … {len(ys)} in all" if len(ys) > SHOWN else ""
    found.notes.append(
        f"columns: {names[x]!r} is {kind}{taken}, data from {shown}; choose others with "
        "columns=(x, y)"
    )
    return found


def _pick(table: Table, names: list[str], columns: Sequence[int | str] | None) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    picked = _numbers(table, names, [columns] if isinstance(columns, (str, int)) else columns)
    return [0, *picked] if len(picked) == 1 else picked


def _numbers(table: Table, names: list[str], wanted: Sequence[int | str]) -> list[int]:
    """The numbers of columns. Raises :class:`DataError` unless one has a name, and for text."""
    picked: list[int] = []
    for one in wanted:
        found = _called(one, names)
        if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(names):
            found = [one]
        elif not found and isinstance(one, str) and one.isdecimal() and int(one) < len(names):
            found = [int(one)]  # a number from the command line
        if len(found) > 1:
            numbers = ", ".join(map(str, found[:-1])) + f" and {found[-1]}"
            raise DataError(
                f"{table.path}: {len(found)} columns are called {one!r}, {numbers}; give the "
                "number of the one that is meant"
            )
        if not found:
            known = ", ".join(f"{k}: {name[:40]}" for k, name in enumerate(names[:30]))
            raise DataError(
                f"{table.path}: no column {one!r}; it has {known}{suggest(str(one), names)}"
            )
        picked += found
    text = [k for k in picked if k in table.words]
    if text:
        raise DataError(
            f"{table.path}: column {names[text[0]]!r} holds text, such as "
            f"{table.words[text[0]][:40]!r}, and no numbers"
        )
    return picked


def _called(name: object, names: list[str]) -> list[int]:
    """The columns of that name, or without their units: "Energy" of "Energy (eV)"."""
    if not isinstance(name, str):
        return []
    same = [k for k, one in enumerate(names) if one == name]
    return same or [k for k, one in enumerate(names) if split_unit(one)[0].lower() == name.lower()]


def _data(table: Table, head: Head, columns: Any) -> Found:
    values = table.values
    if columns is not None:
        raise DataError(f"{table.path}: columns= is for layout='columns', not for data alone")
    note = "numbers alone: rows are times, columns are energies"
    if values.shape[1] == 1 or values.shape[0] == 1:
        return Found(values.ravel(), [None], notes=["one line of numbers"])
    return Found(values.copy(), [None, None], notes=[note])
