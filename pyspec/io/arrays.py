"""Named arrays, as NPZ, HDF5 and MATLAB files hold them: which are the data, which the axes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, several, suggest
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request
from pyspec.io.units import guess_kind, need_same_unit, show_unit
from pyspec.model.data.source import LOADED, Source, source_of

_DATA_WORDS = ("data", "counts", "intensity", "spectrum", "spectra", "signal", "z", "y", "map")


@dataclass(frozen=True)
class Entry:
    """One array of a file: name, shape, how to load it, its unit and the axes it names."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], npt.NDArray[np.generic] | Source]
    unit: str = ""
    scales: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, name: str, array: npt.NDArray[np.generic]) -> Entry:
        """One that is in memory."""
        return cls(name, array.shape, lambda: array)

    @property
    def word(self) -> str:
        """The last part of the name, in lower case."""
        return self.name.rsplit("/", 1)[-1].lower()

    @property
    def kind(self) -> str | None:
        """ "energy", "time" or None, by name and unit; only a line can be an axis."""
        return guess_kind(self.word, self.unit) if len(self.shape) == 1 else None


def choose(
    path: Path,
    format: str,
    entries: list[Entry],
    request: Request,
) -> RawTable:
    """Data, errors and axes among named arrays: as named, or else by name and shape.

    Raises :class:`DataError` with a list of all arrays where that is not clear.
    """
    if not entries:
        raise DataError(f"{path}: the file holds no array of numbers; save data and axes in it")
    data = request.data
    wanted = {"energy": request.energy, "time": request.time}
    chosen = {k: _named(path, entries, name) for k, name in wanted.items() if name is not None}
    errors = _named(path, entries, str(request.errors)) if request.errors is not None else None
    free = [entry for entry in entries if entry is not errors]
    block = _named(path, entries, data) if data is not None else _largest(path, free, chosen)
    table = RawTable(block.load(), [None] * len(block.shape), name=block.name)
    if errors is not None:
        need_same_unit(path, errors.name, errors.unit, block.unit)
        table.errors = _ordered(path, block, errors)
        table.notes.append(f"standard errors from {errors.name!r}")
    table.units["data"] = show_unit(block.unit)
    for k, scale in enumerate(block.scales):
        lines = [entry for entry in entries if entry.shape == (block.shape[k],)]
        entry = next((e for e in lines if e.name == scale), None)
        if entry is not None and entry is not block:
            kind = next((kind for kind, axis in chosen.items() if axis is entry), entry.kind)
            _put(table, k, kind or entry.word, entry)
    for kind, entry in chosen.items():
        if entry.name not in table.labels.values():
            _put(table, _place(path, table, block, kind, entry), kind, entry)
    pool = [
        entry
        for entry in entries
        if len(entry.shape) == 1 and entry not in (block, errors, *chosen.values())
    ]
    _by_name(table, block, pool)
    _by_shape(table, block, pool)
    named = ", ".join(f"{dim} from {table.labels.get(dim, dim)!r}" for dim in table.axes)
    table.notes.append(f"{format}: data from {block.name!r}" + (f", {named}" if named else ""))
    others = [e for e in free if e is not block and e.name not in table.labels.values()]
    if others:
        table.notes.append(f"not used: {_listed(others)}; choose with data=, energy=, time=")
    for dim, label in table.labels.items():
        table.labels[dim] = label.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    table.hint = f"The file holds {_listed(entries)}; a name from this list will do"
    return table


def _ordered(path: Path, block: Entry, errors: Entry) -> npt.NDArray[np.generic] | Source:
    """Standard errors with their dimensions in the order of the data, found by the names of
    dimensions, or by their lengths.

    Raises :class:`DataError` if that is ambiguous. Errors that stay on disk cannot be turned: rows
    of the data would be columns of them.
    """
    order = _order(path, block, errors)
    if order == tuple(range(len(errors.shape))):
        return errors.load()
    own, those = (" × ".join(map(str, entry.shape)) for entry in (errors, block))
    values = errors.load()
    if source_of(values) is not None and values.nbytes > LOADED:
        raise DataError(
            f"{path}: errors={errors.name!r} ({own}) have their dimensions in another order than "
            f"the data ({those}), and are too large to be loaded; store them in that of the data"
        )
    return np.asarray(values).transpose(order)


def _order(path: Path, block: Entry, errors: Entry) -> tuple[int, ...]:
    """The places of the dimensions of the data among those of the errors."""
    plain = tuple(range(len(errors.shape)))
    names = [[scale for scale in entry.scales if scale] for entry in (block, errors)]
    are_known = all(len(set(scales)) == len(plain) == len(block.shape) for scales in names)
    if are_known and set(names[0]) == set(names[1]):
        order = tuple(names[1].index(name) for name in names[0])
        if tuple(errors.shape[k] for k in order) == block.shape:
            return order
    if errors.shape == block.shape or sorted(errors.shape) != sorted(block.shape):
        return plain  # of another size they are refused with the data
    if len(set(block.shape)) < len(block.shape):
        raise DataError(
            f"{path}: errors={errors.name!r} has shape {errors.shape}, the data {block.shape}: "
            "which dimension is which? Store them in the order of the data, or name the dimensions"
        )
    return tuple(errors.shape.index(size) for size in block.shape)


def _named(path: Path, entries: list[Entry], name: str) -> Entry:
    wanted = name.strip("/")
    for entry in entries:
        if wanted == entry.name.strip("/"):
            return entry
    dotted = [
        entry for entry in entries if entry.name.replace("/", ".") == wanted.replace("/", ".")
    ]
    short = dotted or [entry for entry in entries if entry.word == wanted.lower()]
    if len(short) == 1:
        return short[0]
    near = suggest(wanted, [entry.name for entry in entries])
    raise DataError(f"{path}: no array {name!r}; it holds {_listed(entries)}{near}")


def _largest(path: Path, entries: list[Entry], chosen: dict[str, Entry]) -> Entry:
    pool = [entry for entry in entries if entry not in chosen.values()]
    most = max((len(entry.shape) for entry in pool), default=0)
    pool = [entry for entry in pool if len(entry.shape) == most]
    if most == 1:
        pool = [entry for entry in pool if entry.kind is None and entry.word != "x"] or pool
    if len(pool) > 1:
        named = [entry for entry in pool if entry.word in _DATA_WORDS]
        pool = named if len(named) == 1 else pool
    if len(pool) != 1:
        raise DataError(
            f"{path}: which array holds the data? Name it, and its axes: read(..., data='...', "
            f"energy='...', time='...'); the file holds {_listed(entries)}"
        )
    return pool[0]


def _place(path: Path, table: RawTable, block: Entry, kind: str, entry: Entry) -> int:
    """The dimension of an axis that was named: the last free one of its length."""
    free = [k for k, dim in enumerate(table.dims) if dim is None]
    fits = [k for k in free if (block.shape[k],) == entry.shape]
    if not fits:
        raise DataError(
            f"{path}: {kind}={entry.name!r} has shape {entry.shape}, no free dimension of "
            f"{block.name!r} {block.shape} has that length"
        )
    if kind == "time" and len(fits) > 1:
        return fits[-2]
    return fits[-1]


def _put(table: RawTable, place: int, dim: str, entry: Entry) -> None:
    if dim in table.dims:
        dim = entry.word if entry.word not in table.dims else f"axis_{place}"
    table.dims[place] = dim
    table.axes[dim] = np.asarray(entry.load())
    table.labels[dim] = entry.name
    if entry.unit:
        table.units[dim] = show_unit(entry.unit)


def _by_name(table: RawTable, block: Entry, pool: list[Entry]) -> None:
    """Axes that are called energy or time, by any of their words."""
    for kind in ("energy", "time"):
        named = [entry for entry in pool if entry.kind == kind]
        if kind in table.dims or len(named) != 1:
            continue
        entry = named[0]
        with suppress(DataError):
            place = _place(Path(), table, block, kind, entry)
            _put(table, place, kind, entry)
            pool.remove(entry)


def _by_shape(table: RawTable, block: Entry, pool: list[Entry]) -> None:
    """Axes whose length fits one free dimension only."""
    free = [k for k, dim in enumerate(table.dims) if dim is None]
    for place in reversed(free):
        alike = [k for k in free if block.shape[k] == block.shape[place]]
        fits = [entry for entry in pool if entry.shape == (block.shape[place],)]
        if len(alike) != 1 or len(fits) != 1:
            continue
        entry = fits[0]
        # One spectrum or series: energy last, time before it. A map keeps the file's names.
        flat = len(table.dims) < 3
        missing = "time" if "energy" in table.dims else "energy"
        _put(table, place, entry.kind or (missing if flat else entry.word), entry)


def _listed(entries: list[Entry]) -> str:
    return several([f"{e.name} ({' × '.join(map(str, e.shape)) or 'one number'})" for e in entries])
