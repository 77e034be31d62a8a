"""Tables with one row for each point: time, energy and value, and perhaps its standard error."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.io.found import Found
from pyspec.io.text import Table
from pyspec.io.units import guess_kind, split_unit

#: Less of a grid than this is no grid: the points lie anywhere.
_LEAST = 0.5

Array = npt.NDArray[np.float64]


def is_grid(first: Array, second: Array) -> bool:
    """Whether two columns hold every pair of their values, each once: two axes."""
    sizes = [np.unique(column).size for column in (first, second)]
    if min(sizes) < 2 or sizes[0] * sizes[1] != first.size:
        return False
    return int(np.unique(np.stack([first, second]), axis=1).shape[1]) == first.size


def from_points(
    table: Table,
    names: list[str],
    units: list[str],
    picked: list[int],
    errors: int | None,
    named: bool,
) -> Found:
    """A series (n_time, n_energy) from columns of times, energies and values, in any order of rows.

    Which of the first two columns is which, their names say; else the first one is time. `named`
    says that the names are the file's own. Pairs that have no row are NaN. Energies that fall in
    the file fall.
    """
    if len(picked) != 3:
        raise DataError(
            f"{table.path}: layout='points' needs three columns, time, energy and value; choose "
            f"them of the {len(names)} with columns=(time, energy, value)"
        )
    words = [split_unit(names[k]) for k in picked]
    if units:
        words = [(word, units[k]) for (word, _), k in zip(words, picked, strict=True)]
    kinds = [guess_kind(word, unit) for word, unit in words[:2]]
    turned = kinds[0] == "energy" or (kinds[1] == "time" and kinds[0] is None)
    order = (1, 0) if turned else (0, 1)
    dims = ("time", "energy")
    values = [table.values[:, picked[k]] for k in (*order, 2)]
    axes, places = {}, []
    for dim, column in zip(dims, values[:2], strict=True):
        axes[dim], place = _axis(table, dim, column)
        places.append(place)
    shape = (axes["time"].size, axes["energy"].size)
    _refuse_scattered(table, shape, values[0].size)
    at = np.ravel_multi_index((places[0], places[1]), shape)
    _refuse_repeated(table, at, values)
    found = Found(_spread(values[2], at, shape), list(dims), dict(axes))
    if errors is not None:
        found.errors = _spread(table.values[:, errors], at, shape)
    for dim, k in zip((*dims, "data"), (*order, 2), strict=True):
        found.units[dim] = words[k][1]
        if named:
            found.labels[dim] = words[k][0]
    shown = ", ".join(repr(names[picked[k]]) for k in (*order, 2))
    found.notes.append(
        f"a row for each point: time, energy and value are {shown}; choose others with "
        "layout='points', columns=(time, energy, value)"
    )
    missing = found.data.size - at.size
    if missing:
        found.notes.append(f"{missing} pairs of time and energy have no row: NaN")
    return found


def _axis(table: Table, dim: str, column: Array) -> tuple[Array, npt.NDArray[Any]]:
    """The values of a column, each once, and the place of each row among them."""
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise DataError(f"{table.at(row)}: the {dim} is missing; complete it or remove the line")
    axis, first, place = np.unique(column, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    falls = dim == "energy" and axis.size > 1 and bool((np.diff(first) < 0).all())
    return (axis[::-1], axis.size - 1 - place) if falls else (axis, place)


def _spread(values: Array, at: npt.NDArray[Any], shape: tuple[int, int]) -> Array:
    """Values of rows at their places; NaN where there is none."""
    data = np.full(shape, np.nan)
    data.reshape(-1)[at] = values
    return data


def _refuse_scattered(table: Table, shape: tuple[int, int], n_rows: int) -> None:
    if n_rows < _LEAST * shape[0] * shape[1]:
        raise DataError(
            f"{table.path}: the {n_rows} rows hold {shape[0]} times and {shape[1]} energies, too "
            f"many for a grid of {n_rows} points; round the times and energies of the file to "
            "those that belong together, or say what the columns are with columns="
        )


def _refuse_repeated(table: Table, at: npt.NDArray[Any], values: list[Array]) -> None:
    order = np.argsort(at, kind="stable")
    same = np.flatnonzero(np.diff(at[order]) == 0)
    if same.size:
        row, again = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise DataError(
            f"{table.at(again)}: the point at time {values[0][row]:.10g}, energy "
            f"{values[1][row]:.10g} stands in the file already; keep one of the two"
        )
