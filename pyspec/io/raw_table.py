"""What a reader found in a file, and how it becomes a Dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, several, suggest
from pyspec.io.dataset import Dataset
from pyspec.io.energy import with_energies
from pyspec.io.units import WAVELENGTHS, guess_kind, show_unit
from pyspec.model.data.source import KEPT_TYPES, Source, source_of

Array = npt.NDArray[np.float64]


@dataclass
class RawTable:
    """Data as they lie in a file. A dimension without a name is None.

    `errors` are standard errors of the shape of the data, `meta` what else the file says;
    "photon_energy" and "work_function" there are in eV.
    """

    data: npt.NDArray[np.generic] | Source
    dims: list[str | None]
    axes: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    name: str = ""
    notes: list[str] = field(default_factory=list)
    hint: str = ""
    errors: npt.NDArray[np.generic] | Source | None = None
    meta: Mapping[str, object] = field(default_factory=dict)


def assemble(
    table: RawTable,
    source: str,
    *,
    energy: object = None,
    time: object = None,
    transpose: bool = False,
    sort: bool = False,
    name: str | None = None,
    units: dict[str, str] | None = None,
) -> Dataset:
    """Names the dimensions, adds the axes given, orders and checks: the last step of `read`."""
    is_lazy = source_of(table.data) is not None
    if is_lazy and (transpose or sort):
        word = "transpose" if transpose else "sort"
        raise DataError(f"{source}: {word}= needs the data in memory; leave lazy= out")
    if not is_lazy:
        table.data = _real(table.data, source)
    if table.errors is not None and source_of(table.errors) is None:
        table.errors = _real(table.errors, source).astype(np.float64)
        if table.errors.shape != table.data.shape:
            raise DataError(
                f"{source}: the errors have shape {table.errors.shape}, the data "
                f"{table.data.shape}; give one error for each value"
            )
    if transpose:
        _transpose(table)
    axes = {"energy": energy, "time": time}
    outside = {kind: axis for kind, axis in axes.items() if axis is not None}
    _place(table, outside)
    for kind, axis in outside.items():
        table.axes[kind] = _given_axis(axis, kind, table, source)
    _refuse_missing(table, source)
    for kind in ("time", "energy"):
        if kind in table.dims:
            _order(table, kind, sort, source)
    if units:
        _add_units(table, units, source)
    if is_lazy:
        table.notes.append("lazy=True: the data stay where they are; a fit reads them by rows")
        if table.dims != ["time", "energy"]:
            raise DataError(
                f"{source}: the data are stored as ({', '.join(map(str, table.dims))}), and cannot "
                "be turned where they are; leave lazy= out, or store them as (time, energy)"
            )
    elif bad := int(np.count_nonzero(~np.isfinite(table.data))):
        table.notes.append(
            f"{bad} of {table.data.size} values are NaN or infinite; File.from_dataset leaves them "
            "out of fits (elsewhere: mask=~dataset.finite)"
        )
    data: Any = table.data  # a source stands where an array stands
    errors: Any = table.errors
    dataset = Dataset(
        data=data,
        dims=tuple(str(dim) for dim in table.dims),
        axes=table.axes,
        units=table.units,
        labels=table.labels,
        name=name or table.name or "data",
        source=source,
        notes=tuple(table.notes),
        errors=errors,
        meta=with_energies(table.meta),
    )
    return dataset._ordered()


def _add_units(table: RawTable, units: dict[str, str], source: str) -> None:
    """Raises :class:`DataError` for the unit of an axis that the data have not, and for wavelengths
    that are negative: times, as a rule."""
    dims = [str(dim) for dim in table.dims]
    for name in units:
        if name not in (*dims, "energy", "time", "data"):
            kind = guess_kind(str(name))
            hint = f"; did you mean {kind!r}?" if kind in dims else suggest(str(name), dims)
            raise DataError(
                f"{source}: the unit of {name!r} is given, but the axes are called "
                f"{', '.join(dims)}{hint}"
            )
    table.units.update(units)
    unit, axis = units.get("energy", ""), table.axes.get("energy")
    if axis is not None and show_unit(unit) in WAVELENGTHS and axis.min() < 0.0:
        raise DataError(
            f"{source}: the energy axis is {axis.min():g} to {axis.max():g}, and no wavelength is "
            "negative; if time and energy are exchanged say transpose=True, if they are not in "
            f"{unit} leave the unit out"
        )


def _real(data: object, source: str) -> npt.NDArray[np.number]:
    array = np.asarray(data)
    if array.dtype.kind == "c":
        raise DataError(f"{source}: the data are complex; save their real part or magnitude")
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"{source}: the data have type {array.dtype}, not numbers; choose other data"
        )
    if array.size == 0 or array.ndim == 0:
        raise DataError(f"{source}: the data have shape {array.shape}: there is nothing to fit")
    kept = array.dtype in KEPT_TYPES and array.dtype.isnative
    return array if kept else array.astype(np.float64)


def _transpose(table: RawTable) -> None:
    if {"time", "energy"} <= set(table.dims):
        swap = {"time": "energy", "energy": "time"}
        table.dims = [swap.get(dim, dim) if dim else dim for dim in table.dims]
        for named in (table.axes, table.units, table.labels):
            moved = {swap.get(key, key): value for key, value in named.items()}
            named.clear()
            named.update(moved)  # type: ignore[arg-type]
    else:
        table.data, table.dims = np.transpose(table.data), table.dims[::-1]
        table.errors = None if table.errors is None else np.transpose(table.errors)
    table.notes.append("transpose=True: time and energy are exchanged")


def _place(table: RawTable, outside: Mapping[str, object]) -> None:
    """Names the dimensions without a name: energy last, time before it, then axis_0, axis_1…"""
    free = [k for k, dim in enumerate(table.dims) if dim is None]
    if not free:
        return
    size = len(free)
    wanted = [kind for kind in ("energy", "time") if kind not in table.dims]
    if size == 1 and outside and list(outside) != ["energy"]:
        wanted = [kind for kind in wanted if kind in outside] or wanted
    names = wanted[:size]
    for place, kind in zip(reversed(free), names, strict=False):
        table.dims[place] = kind
    for number, place in enumerate(free[: size - len(names)]):
        dim = f"axis_{number}"
        table.dims[place] = dim
        table.axes[dim] = np.arange(table.data.shape[place], dtype=np.float64)
        table.notes.append(f"dimension {place} has no axis: it is called {dim} and numbered")


def _given_axis(axis: object, kind: str, table: RawTable, source: str) -> Array:
    if kind not in table.dims:
        raise DataError(
            f"{source}: {kind}= is given, but the data have the axes "
            f"{', '.join(str(dim) for dim in table.dims)}; leave it out"
        )
    size = table.data.shape[table.dims.index(kind)]
    if isinstance(axis, str) and axis == "index":
        return np.arange(size, dtype=np.float64)
    try:
        values = np.asarray(axis, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{source}: {kind}= holds no real numbers; give one for each point"
        ) from None
    if values.ndim != 1 or values.size != size:
        hint = ""
        if values.ndim == 1 and values.size in table.data.shape:
            hint = "; the data look transposed: say read(..., transpose=True)"
        raise DataError(
            f"{source}: {kind}= has shape {values.shape}, but the data {table.data.shape} have "
            f"{size} points along {kind}{hint}"
        )
    return values


def _refuse_missing(table: RawTable, source: str) -> None:
    missing = [str(dim) for dim in table.dims if dim not in table.axes]
    if missing:
        shape = " × ".join(map(str, table.data.shape))
        say = ", ".join(f"{dim}=..." for dim in missing)
        hint = f". {table.hint}" if table.hint else ""
        raise DataError(
            f"{source}: the data ({shape}) have no {' and no '.join(missing)} axis; give it as "
            f"read(..., {say}): an array, the path of a file, or 'index' for 0, 1, 2…{hint}"
        )


def _order(table: RawTable, kind: str, sort: bool, source: str) -> None:
    """Energy rises or falls; time rises. Time that falls is turned; `sort` does the rest."""
    axis = np.asarray(table.axes[kind], dtype=np.float64)
    place = table.dims.index(kind)
    if not np.isfinite(axis).all():
        at = int(np.argmin(np.isfinite(axis)))
        raise DataError(
            f"{source}: the {kind} axis has {axis[at]} at position {at}; remove that point from "
            "the file"
        )
    step = np.diff(axis)
    if (step > 0).all() or (kind == "energy" and (step < 0).all()):
        return
    if source_of(table.data) is not None:
        raise DataError(
            f"{source}: the {kind} axis does not rise all the way, and the data stay where they "
            "are; leave lazy= out, or store them in order"
        )
    if (step < 0).all():
        table.axes[kind] = axis[::-1]
        table.data = np.flip(table.data, axis=place)
        if table.errors is not None:
            table.errors = np.flip(table.errors, axis=place)
        table.notes.append(f"the {kind} axis fell; it was turned round, with the data")
        return
    if not sort:
        raise DataError(_disorder(axis, kind, source, table.hint))
    _sort(table, kind, place, axis)


def _sort(table: RawTable, kind: str, place: int, axis: Array) -> None:
    """Sorts the axis with the data; points with equal values become their mean."""
    step = np.diff(axis)
    if kind == "energy" and np.count_nonzero(step < 0) > 2 * np.count_nonzero(step > 0):
        _sort(table, kind, place, -axis)  # they fall in the file but for a few: they still fall
        table.axes[kind] = np.negative(table.axes[kind])
        return
    values, inverse, count = np.unique(axis, return_inverse=True, return_counts=True)

    def summed(array: npt.ArrayLike, power: int) -> npt.NDArray[np.generic]:
        moved = np.moveaxis(np.asarray(array), place, 0)
        if values.size == axis.size:
            return np.moveaxis(moved[np.argsort(axis)], 0, place)
        total = np.zeros((values.size, *moved.shape[1:]))
        np.add.at(total, inverse, moved.astype(np.float64) ** power)
        mean = total ** (1 / power) / count.reshape(-1, *[1] * (moved.ndim - 1))
        return np.moveaxis(mean, 0, place)

    table.data, table.axes[kind] = summed(table.data, 1), values
    if table.errors is not None:
        table.errors = summed(table.errors, 2)
    merged = axis.size - values.size
    table.notes.append(
        f"sort=True: the {kind} axis was sorted with the data"
        + (f"; {merged} points with equal {kind} were averaged" if merged else "")
    )


def runs(axis: Array) -> list[tuple[int, int]]:
    """Where an axis starts again: the parts, as half-open ranges of positions.

    A jump parts two of them. It is more than three times as long as the steps beside it, or runs
    against both and is longer than two usual steps. Each part rises or falls all the way and has
    at least three points; otherwise the axis is one part.
    """
    step = np.diff(axis)
    if step.size < 5:
        return [(0, axis.size)]
    before, here, after = step[:-2], step[1:-1], step[2:]
    size = np.abs(here)
    long = size > 3 * np.maximum(np.abs(before), np.abs(after))
    back = (np.sign(before) == np.sign(after)) & (np.sign(here) != np.sign(before))
    cuts = np.flatnonzero(long | (back & (size > 2 * np.median(np.abs(step))))) + 2
    parts = list(pairwise([0, *map(int, cuts), axis.size]))
    if all(stop - start > 2 and monotonic(axis[start:stop]) for start, stop in parts):
        return parts
    return [(0, axis.size)]


def monotonic(axis: npt.ArrayLike) -> bool:
    """Whether values rise, or fall, all the way."""
    step = np.diff(axis)
    return bool((step > 0).all() or (step < 0).all())


def _disorder(axis: Array, kind: str, source: str, hint: str) -> str:
    """What is wrong with the order of an axis, and what to do; first the `hint` of the reader."""
    parts = runs(axis)
    if len(parts) > 1:
        sizes = several([str(stop - start) for start, stop in parts])
        scans = "; scans of one series are averaged by read(..., sort=True)"
        return (
            f"{source}: the {kind} axis starts again at position {parts[1][0]}: these are "
            f"{len(parts)} blocks one after the other, of {sizes} points, that is separate "
            f"spectra; choose one with block=0 to block={len(parts) - 1} (text files), or write "
            f"each to a file of its own{scans if kind == 'time' else ''}"
        )
    step = np.diff(axis)
    excess = np.count_nonzero(step > 0) - np.count_nonzero(step < 0)
    rises = excess > 0 or (excess == 0 and (kind != "energy" or step[0] >= 0))
    at = int(np.argmax(step <= 0 if rises else step >= 0))
    pair = f"{axis[at]:.10g} and {axis[at + 1]:.10g} at positions {at} and {at + 1}"
    repeated = int(axis.size - np.unique(axis).size)
    many = "1 duplicate value:" if repeated == 1 else f"{repeated} duplicate values, such as"
    trouble = f"has {many}" if axis[at] == axis[at + 1] else "is not sorted:"
    otherwise = f"{hint[0].lower()}{hint[1:]}; otherwise " if hint else ""
    return (
        f"{source}: the {kind} axis {trouble} {pair}; {otherwise}read(..., sort=True) sorts it "
        "with the data and averages points with equal values"
    )
