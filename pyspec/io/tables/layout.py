"""What a table of numbers means: a matrix with its axes, columns, points, or data alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.io.raw_table import Array, RawTable, monotonic
from pyspec.io.tables.columns import Table, has_even_steps
from pyspec.io.units import axis_kind, guess_kind, holds_errors, show_unit, split_unit

LAYOUTS = ("matrix", "columns", "points", "data")
_SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma", None: "white space"}
#: Of more columns than this the names of the first are listed.
SHOWN = 8
#: A first row that rises or falls all the way over so many columns is no accident.
SURE = 6
#: Steps of delays that begin fine and go on over decades differ by this factor at least.
_UNEVEN = 5.0
#: Delays go on so many times further after zero than before; wavelengths begin at more than so many
#: steps.
_BEYOND = 2.0
#: A corner of 0 is no point of a column that begins more than so many of its steps away.
_APART = 10.0
#: Less of a grid than this is no grid: the points lie anywhere.
_LEAST = 0.5


def read_layout(
    table: Table,
    *,
    layout: str | None,
    columns: Sequence[int | str] | None,
    sizes: Mapping[str, int | None],
    errors: int | None = None,
) -> RawTable:
    """A RawTable from a table: `layout` as given, or as its shape and header say.

    `errors` is the column of standard errors, which is no data; of "points" they are read here.
    `sizes` has the number of points of the axes that are given otherwise: "energy", "time";
    None where any number fits.
    """
    if layout is not None and layout not in LAYOUTS:
        raise DataError(
            f"{table.path}: layout is one of {', '.join(LAYOUTS)}, not {layout!r}"
            f"{suggest(str(layout), list(LAYOUTS))}"
        )
    lies = layout is None and columns is None and not sizes and _lies(table)
    if lies:
        values = table.values.T.copy()
        table = replace(table, values=values, lines=[table.lines[0]] * len(values), left_out=())
    if columns is not None:
        layout = layout or "columns"
    chosen = layout or _guess(table, sizes, errors)
    if errors is not None and columns is None and chosen != "points":
        columns = [k for k in range(table.width) if k != errors]
        chosen = layout or "columns"
    if chosen == "points":
        result = _points(table, columns, errors)
    elif chosen == "columns":
        result = _columns(table, columns)
    elif columns is not None:
        other = "a matrix" if chosen == "matrix" else "data alone"
        raise DataError(f"{table.path}: columns= is for layout='columns', not for {other}")
    else:
        result = _matrix(table) if chosen == "matrix" else _data(table, sizes, layout)
    sign = "comma" if table.decimal == "," else "point"
    separator = _SEPARATORS.get(table.separator, repr(table.separator))
    result.notes.insert(0, f"text, {separator} between values, decimal {sign}")
    if lies:
        result.notes.append("the first row is the axis, the second one spectrum along it")
    elif layout is None:
        others = " or ".join(repr(word) for word in LAYOUTS if word != chosen)
        result.notes.append(f"layout={chosen!r} was taken; say layout={others} if it is wrong")
    return result


def may_be_columns(table: Table, layout: str | None) -> bool:
    """Whether a table is an axis with columns beside it, also one that is in no order."""
    if layout is None:
        layout = "lies" if _lies(table) else _guess(table, {}, None)
    return layout == "columns" or (layout == "data" and bool(table.head.names))


def _guess(table: Table, sizes: Mapping[str, int | None], errors: int | None) -> str:
    n_rows, width = table.values.shape
    names = table.head.names
    has_energy, has_time = "energy" in sizes, "time" in sizes
    if table.head.axis is not None and width > 2:
        return "matrix"
    if has_energy and (has_time or width == 1 or n_rows == 1):
        return "data"
    if has_energy or has_time:
        return "data" if width > 2 else "columns"
    if width == 1 or (n_rows == 1 and width > 2 and not names):
        return "data"
    if width in (3, 4) and _has_points(table, errors):
        return "points"
    if names and width > 1 and table.axis_column is not None:
        return "columns"
    if n_rows > 2 and width > 2 and _has_corner(table.values):
        return "matrix"
    return "columns" if width == 2 or monotonic(table.values[:, 0]) else "data"


def _lies(table: Table) -> bool:
    """Whether two rows are an axis and the values along it, not two points of many spectra."""
    n_rows, width = table.values.shape
    is_axis = n_rows == 2 and width > SURE and monotonic(table.values[0])
    return is_axis and table.head.axis is None and not table.head.names


# numbers alone


def _data(table: Table, sizes: Mapping[str, int | None], layout: str | None) -> RawTable:
    """Numbers alone, or with one axis in the first column or row where the other one is given
    otherwise."""
    values = table.values
    n_rows, width = values.shape
    if layout is None and sizes == {"energy": width - 1}:
        note = "the first column is time; energy is given"
        return RawTable(values[:, 1:].copy(), ["time", None], {"time": values[:, 0]}, notes=[note])
    if layout is None and sizes == {"time": n_rows - 1}:
        note = "the first row is energy; time is given"
        return RawTable(values[1:].copy(), [None, "energy"], {"energy": values[0]}, notes=[note])
    if 1 in values.shape:
        return RawTable(values.ravel(), [None], notes=["one line of numbers"])
    note = "numbers alone: rows are times, columns are energies"
    hint = "If each row is one point, say layout='points', columns=(time, energy, value)"
    return RawTable(values.copy(), [None, None], notes=[note], hint=hint if width in (3, 4) else "")


# a matrix


def _matrix(table: Table) -> RawTable:
    values, why, head = table.values, "", table.head
    if head.axis is not None:
        across, down, data = np.array(head.axis), values[:, 0], values[:, 1:]
    elif values.shape[0] > 1 and values.shape[1] > 1:
        across, down, data = values[0, 1:], values[1:, 0], values[1:, 1:]
    else:
        raise DataError(
            f"{table.path}: a matrix needs a row and a column of axis values; the table has the "
            f"shape {values.shape}"
        )
    dims, units, labels = _roles(head.corner)
    is_told = bool(labels)
    if not is_told and head.across:
        dims = dims[::-1] if guess_kind("", head.across) == dims[0] else dims
    elif not is_told and _times_across(down, across):
        dims, why = ("energy", "time"), ", as it has both signs and uneven steps"
    rows, cols = dims
    if head.across and guess_kind("", head.across) == cols:
        units[cols] = head.across
    told = f" (the corner says {head.corner!r})" if is_told else ""
    note = (
        f"a matrix: the first column is {rows}, the first row {cols}{why}{told}; if they are "
        "exchanged say transpose=True"
    )
    return RawTable(data, [rows, cols], {rows: down, cols: across}, units, labels, notes=[note])


def _roles(corner: str) -> tuple[tuple[str, str], dict[str, str], dict[str, str]]:
    """Names of rows and columns, units and labels from the corner cell of a matrix; without labels
    where it says nothing."""
    for sign in ("\\", "|", "/"):
        parts = list(corner.partition(sign)[::2])
        kinds = [guess_kind(part) for part in parts]
        if {*kinds} == {"energy", "time"}:
            break
    else:
        parts, kinds = [corner], [guess_kind(corner) if corner else None]
    dims = ("energy", "time") if kinds[0] == "energy" else ("time", "energy")
    if kinds[0] is None:
        return dims, {}, {}
    words = [split_unit(part) for part in parts]
    units = {dim: unit for dim, (_, unit) in zip(dims, words, strict=False)}
    return dims, units, {dim: label for dim, (label, _) in zip(dims, words, strict=False)}


def _has_corner(values: Array) -> bool:
    """Whether the first row is an axis beside a corner, and the first column another one. That may
    have equal values: a delay that was measured twice."""
    corner, inner, outer = values[0, 0], values[0, 1:], values[1:, 0]
    is_empty = bool(np.isnan(corner) or corner == 0.0)
    if not monotonic(inner):
        # Delays in the order in which they were measured, where the corner is no point of the
        # first column.
        if min(inner.size, outer.size) < SURE or not monotonic(outer) or not is_empty:
            return False
        far = np.abs(outer).min() > _APART * np.median(np.abs(np.diff(outer)))
        return bool(np.isnan(corner) or far)
    if inner.size >= SURE:  # beside an empty corner, or a zero, in any order
        return is_empty or _goes_on(outer)
    if not is_empty or not _goes_on(outer):
        return False
    # With few columns it is a corner if 0 is no point of the first column, or if the first row
    # alone has even steps.
    if corner == 0.0 and not _goes_on(values[:, 0]):
        return True
    return has_even_steps(inner, 2) and not any(has_even_steps(row, 2) for row in values[1:, 1:])


def _goes_on(line: Array) -> bool:
    """Whether values rise or fall, and some perhaps come again."""
    step = np.diff(line)
    return bool(((step >= 0).all() or (step <= 0).all()) and step.any())


def _times_across(down: Array, across: Array) -> bool:
    """Whether the first row holds delays, and the first column the wavelengths or energies that
    belong to them, as spectrometers write it.

    Energies about the Fermi level, losses and shifts have both signs, too. But delays go on further
    after zero than before, and their steps are less even than those of the column. The column
    begins far from 0. Delays that were measured in any order are looked at in order.
    """
    across = across if monotonic(across) else np.unique(across)
    if min(across.size, down.size) <= SURE or across[0] >= 0 or across[-1] < -_BEYOND * across[0]:
        return False
    steps, others = np.diff(across), np.abs(np.diff(down))
    if steps.min() <= 0 or others.min() <= 0:
        return False
    unevenness = steps.max() / steps.min()
    is_far = down.min() > _BEYOND * np.median(others)
    return bool(is_far and unevenness > max(_UNEVEN, others.max() / others.min()))


# columns


def _columns(table: Table, columns: Sequence[int | str] | None) -> RawTable:
    names, head = table.names, table.head
    picked = list(range(len(names))) if columns is None else table.pick(columns)
    x, *ys = picked if columns is None or len(picked) > 1 else [0, *picked]
    if not ys:
        raise DataError(
            f"{table.path}: layout='columns' needs x and at least one y; the table has "
            f"{table.width} column(s); give the axis as energy= instead"
        )
    has_units = len(head.units) == table.width
    label, unit = split_unit(names[x])
    unit = head.units[x] if has_units else unit
    kind, taken = axis_kind(names[x], unit)
    axis = table.values[:, x]
    if np.isnan(axis).any():
        row = int(np.argmax(np.isnan(axis)))
        raise DataError(f"{table.at(row)}: the {kind} is missing; complete it or remove the line")
    numbers = np.array([table.numbers[k] for k in ys], dtype=np.float64)
    result = RawTable(table.values[:, ys].T, ["column", kind], {kind: axis, "column": numbers})
    result.units[kind] = unit
    if head.names:
        result.labels[kind] = label
    if len(ys) == 1:
        result.data, result.dims = result.data[0], [kind]
        if head.names:
            own, unit = split_unit(names[ys[0]])
            unit = head.units[ys[0]] or unit if has_units else unit
            is_unit_alone = show_unit(own) in ("", unit)
            result.units["data"], result.labels["data"] = unit, unit if is_unit_alone else own
    else:
        more = ", …" if len(ys) > SHOWN else ""
        result.labels["column"] = ", ".join(names[k] for k in ys[:SHOWN]) + more
    shown = ", ".join(f"{names[k]!r}" if head.names else str(table.numbers[k]) for k in ys[:SHOWN])
    shown += f", … {len(ys)} in all" if len(ys) > SHOWN else ""
    result.notes.append(
        f"columns: {names[x]!r} is {kind}{taken}, data from {shown}; choose others with "
        "columns=(x, y)"
    )
    return result


# a row for each point


def _has_points(table: Table, errors: int | None) -> bool:
    """Whether three columns, or four with standard errors, are time, energy and value of points:
    the first two are a grid, or their names say so and values come again."""
    if table.width == 4 and _errors_of_points(table, errors) is None:
        return False
    pair = table.values[:, :2].T
    sizes = [np.unique(column).size for column in pair]
    if min(sizes) > 1 and sizes[0] * sizes[1] == pair.shape[1] == np.unique(pair, axis=1).shape[1]:
        return True
    kinds = {guess_kind(name) for name in table.names[:2]}
    return kinds == {"energy", "time"} and max(sizes) < pair.shape[1]


def _errors_of_points(table: Table, errors: int | None) -> int | None:
    """The column of standard errors: that one, or the fourth of four, by its name."""
    names = table.names
    is_told = errors is None and len(names) == 4 and holds_errors(names[3], names[2])
    return 3 if is_told else errors


def _points(table: Table, columns: Sequence[int | str] | None, errors: int | None) -> RawTable:
    """A series (n_time, n_energy) from columns of times, energies and values, in any order of rows.

    The names of the first two columns tell time from energy; without names the first one is time.
    Pairs
    that have no row are NaN. Energies that fall in the file fall.
    """
    names, head = table.names, table.head
    if columns is None:
        errors = _errors_of_points(table, errors)
        picked = [k for k in range(len(names)) if k != errors]
    else:
        picked = table.pick(columns)
        picked = [0, *picked] if len(picked) == 1 else picked
    if len(picked) != 3:
        raise DataError(
            f"{table.path}: layout='points' needs three columns, time, energy and value; choose "
            f"them of the {len(names)} with columns=(time, energy, value)"
        )
    words = {k: split_unit(names[k]) for k in picked}
    if head.units:
        words = {k: (word, head.units[k]) for k, (word, _) in words.items()}
    kinds = [guess_kind(*words[k]) for k in picked[:2]]
    if kinds[0] == "energy" or (kinds[1] == "time" and kinds[0] is None):
        picked = [picked[1], picked[0], picked[2]]
    time, row = _axis(table, "time", picked[0])
    energy, column = _axis(table, "energy", picked[1])
    shape = (time.size, energy.size)
    at = np.ravel_multi_index((row, column), shape)
    n_rows = len(table.values)
    if n_rows < _LEAST * shape[0] * shape[1]:
        raise DataError(
            f"{table.path}: the {n_rows} rows hold {shape[0]} times and {shape[1]} energies, too "
            f"many for a grid of {n_rows} points; round the times and energies of the file to "
            "those that belong together, or say what the columns are with columns="
        )
    order = np.argsort(at, kind="stable")
    same = np.flatnonzero(np.diff(at[order]) == 0)
    if same.size:
        first, again = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise DataError(
            f"{table.at(again)}: the point at time {time[row[first]]:.10g}, energy "
            f"{energy[column[first]]:.10g} stands in the file already; keep one of the two"
        )

    def spread(values: Array) -> Array:
        data = np.full(shape, np.nan)
        data.reshape(-1)[at] = values
        return data

    result = RawTable(
        spread(table.values[:, picked[2]]), ["time", "energy"], {"time": time, "energy": energy}
    )
    if errors is not None:
        result.errors = spread(table.values[:, errors])
    for dim, k in zip(("time", "energy", "data"), picked, strict=True):
        result.units[dim] = words[k][1]
        if head.names:
            result.labels[dim] = words[k][0]
    shown = ", ".join(repr(names[k]) for k in picked)
    result.notes.append(
        f"a row for each point: time, energy and value are {shown}; choose others with "
        "layout='points', columns=(time, energy, value)"
    )
    if result.data.size > at.size:
        missing = result.data.size - at.size
        result.notes.append(f"{missing} pairs of time and energy have no row: NaN")
    return result


def _axis(table: Table, dim: str, column: int) -> tuple[Array, npt.NDArray[np.intp]]:
    """The values of a column, each once, and the place of each row among them."""
    values = table.values[:, column]
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise DataError(f"{table.at(row)}: the {dim} is missing; complete it or remove the line")
    axis, first, place = np.unique(values, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    falls = dim == "energy" and axis.size > 1 and bool((np.diff(first) < 0).all())
    return (axis[::-1], axis.size - 1 - place) if falls else (axis, place)
