"""Dataset: measured data with named axes, as `read` returns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting, frozen
from pyspec.errors import DataError, suggest
from pyspec.model.data.source import source_of
from pyspec.model.data.windows import slack

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Dataset(Suggesting):
    """Data and their axes, as :func:`pyspec.read` returns them. Arrays are read-only.

    Attributes
    ----------
    data : of the shape of `dims`; one spectrum (n_energy,), a series (n_time, n_energy), or with
        further axes in front, such as a map (n_y, n_x, n_energy). NaN stays NaN
    dims : the names of the axes, ``(..., "time", "energy")``
    axes : name → values (n,), one for each of `dims`
    units : name → unit, where known; also for "data"
    labels : name → what the file calls it; also for "data"
    name, source : the name of the data, and the file they come from
    notes : how the file was understood, and how to correct that
    errors : standard errors of the shape of `data`, or None
    meta : what else the file says, by its own names; "photon_energy" and "work_function" are in eV

    Raises :class:`DataError` where data and axes do not match, or an axis is not usable.
    """

    data: npt.NDArray[Any]
    dims: tuple[str, ...]
    axes: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    name: str = "data"
    source: str = ""
    notes: tuple[str, ...] = ()
    errors: Array | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        data, dims = _held(self.data), tuple(self.dims)
        if data.dtype.kind not in "fiu":
            raise DataError(f"{self.name}: the data have type {data.dtype}; give real numbers")
        if len(set(dims)) != len(dims) or len(dims) != data.ndim or not dims:
            raise DataError(
                f"{self.name}: data of shape {data.shape} cannot have the axes {', '.join(dims)}; "
                "name each axis once"
            )
        axes = {
            dim: _axis(self.axes, dim, size) for dim, size in zip(dims, data.shape, strict=True)
        }
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "dims", dims)
        object.__setattr__(self, "axes", MappingProxyType(axes))
        for name in ("units", "labels"):
            kept = {k: v for k, v in getattr(self, name).items() if v and k in (*dims, "data")}
            object.__setattr__(self, name, MappingProxyType(kept))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "meta", MappingProxyType(dict(self.meta)))
        if self.errors is not None:
            errors = _held(self.errors, np.float64)
            if errors.shape != data.shape:
                raise DataError(
                    f"{self.name}: the errors have shape {errors.shape}, the data {data.shape}"
                )
            object.__setattr__(self, "errors", errors)

    def __getstate__(self) -> dict[str, object]:
        plain = {name: dict(getattr(self, name)) for name in ("axes", "units", "labels", "meta")}
        return {**self.__dict__, **plain}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    # what is there

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return tuple(self.data.shape)

    @property
    def energy(self) -> Array | None:
        """(n_energy,) the energy axis, None without one."""
        return self.axes.get("energy")

    @property
    def time(self) -> Array | None:
        """(n_time,) the time axis, None without one."""
        return self.axes.get("time")

    @property
    def extra(self) -> tuple[str, ...]:
        """The axes besides time and energy, such as the positions of a map."""
        return tuple(dim for dim in self.dims if dim not in ("time", "energy"))

    @property
    def finite(self) -> npt.NDArray[np.bool_]:
        """True where a value is finite, False at NaN and infinities; ``~finite`` is a mask."""
        return np.asarray(np.isfinite(self.data))

    @property
    def n_bad(self) -> int:
        """How many values are NaN or infinite; 0 for data by reference, which are checked when they
        are fitted."""
        if source_of(self.data) is not None:
            return 0
        return int(self.data.size - np.count_nonzero(self.finite))

    # parts of it

    def select(self, **where: float | tuple[float, float]) -> Dataset:
        """The part at values of axes: ``select(y=0.08, x=0.095)``, ``select(energy=(5, 18))``.

        A number takes the nearest point and removes the axis; a pair keeps the points from one
        to the other, both included. Raises :class:`DataError` outside of the axis.
        """
        result = self
        for dim, value in where.items():
            index = result._indices(dim, value)
            if isinstance(index, int):
                result = result._point(dim, index)
                continue
            low, high = map(float, value)  # type: ignore[arg-type]
            data, errors = result._values(dim, index)
            axes = {**result.axes, dim: result.axes[dim][index]}
            notes = (*result.notes, f"cut to {dim} {low:g} to {high:g}")
            result = replace(result, data=data, errors=errors, axes=axes, notes=notes)
        return result

    def at(self, **index: int) -> Dataset:
        """The data at these positions, counted from 0; the axes are removed: ``at(y=25, x=20)``."""
        result = self
        for dim, number in index.items():
            size = result._need(dim).size
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise DataError(
                    f"{self.name}: {dim}: {number!r} is not a position; give 0 to {size - 1}"
                )
            if not -size <= number < size:
                raise DataError(
                    f"{self.name}: {dim} has the positions 0 to {size - 1}, not {number}; "
                    f"for values of the axis use select({dim}=...)"
                )
            result = result._point(dim, int(number))
        return result

    def __getitem__(self, index: int | tuple[int, ...]) -> Dataset:
        """``dataset[25, 20]``: positions on the first axes, in order of `dims`."""
        numbers = index if isinstance(index, tuple) else (index,)
        if any(isinstance(number, slice) for number in numbers):
            dim = self.dims[-1]
            low, high = sorted((self.axes[dim][0], self.axes[dim][-1]))
            raise DataError(
                f"{self.name}: takes positions, no slices; a range is select({dim}=({low:g}, "
                f"{high:g})), by values"
            )
        if len(numbers) >= len(self.dims):
            raise DataError(
                f"{self.name}: {len(numbers)} positions leave no spectrum; it has the axes "
                f"{', '.join(self.dims)}"
            )
        return self.at(**dict(zip(self.dims, numbers, strict=False)))

    def mean(self, *dims: str) -> Dataset:
        """The mean over the named axes; without names, over all axes other than time and energy.
        NaN and infinite values are left out."""
        for dim in dims:
            self._need(dim)
        over = tuple(dict.fromkeys(dims)) or self.extra
        if not over:
            return self
        if set(over) == set(self.dims):
            raise DataError(f"{self.name}: a mean over all axes leaves no spectrum")
        places = tuple(self.dims.index(dim) for dim in over)
        good = self.finite
        count = good.sum(axis=places)
        total = np.where(good, self.data, 0).sum(axis=places, dtype=np.float64)
        data = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        errors = None
        if self.errors is not None:
            squares = np.where(good, self.errors**2, 0).sum(axis=places)
            errors = np.where(count > 0, np.sqrt(squares) / np.maximum(count, 1), np.nan)
        kept = tuple(dim for dim in self.dims if dim not in over)
        return self._with(data, errors, kept, f"mean over {', '.join(over)}")

    def rename(self, **names: str) -> Dataset:
        """Renames axes: ``rename(y="time")`` lets a line of positions be fitted as a series."""
        for dim, new in names.items():
            self._need(dim)
            if not isinstance(new, str) or new in ("", "data"):
                raise DataError(f"{self.name}: {dim}={new!r} is no name for an axis; give a word")
        renamed = replace(
            self,
            dims=tuple(names.get(dim, dim) for dim in self.dims),
            axes={names.get(dim, dim): axis for dim, axis in self.axes.items()},
            units={names.get(dim, dim): unit for dim, unit in self.units.items()},
            labels={names.get(dim, dim): label for dim, label in self.labels.items()},
        )
        return renamed._ordered()

    def shift(self, **by: float) -> Dataset:
        """Calibrates axes: ``shift(energy=-0.32, time=0.15)`` adds these to their values, in their
        units. Raises :class:`DataError` for what is no number."""
        axes, notes = dict(self.axes), self.notes
        for dim, step in by.items():
            axis = self._need(dim)
            is_number = isinstance(step, (int, float, np.number)) and not isinstance(step, bool)
            if not is_number or not np.isfinite(step):
                raise DataError(f"{self.name}: {dim}={step!r}; give the number that is added")
            axes[dim] = axis + float(step)
            notes = (*notes, f"{dim} shifted by {step:g} {self.units.get(dim, '')}".rstrip())
        return replace(self, axes=axes, notes=notes)

    def for_file(self) -> dict[str, Any]:
        """The arguments of a File: ``File(project, **dataset.for_file())``.

        Raises :class:`DataError` where axes besides time and energy are left.
        """
        if self.extra:
            extra, is_map = self.extra[0], len(self.extra) > 1 or "time" in self.dims
            points = ", ".join(f"{dim}={self.axes[dim][0]:g}" for dim in self.extra)
            renamed = f", or call one of them time: rename({extra}='time')"
            otherwise = "; fit_map fits every spectrum of such data" if is_map else renamed
            if extra == "column":
                otherwise += "; of a table read(..., columns=(x, y)) chooses a column"
            raise DataError(
                f"{self.name}: has the axes {', '.join(self.dims)}; choose a point with "
                f"select({points}), average with mean({', '.join(map(repr, self.extra))})"
                f"{otherwise}"
            )
        return {
            "path": self.source or self.name,
            "name": self.name,
            "data": self.data,
            "energy": self.energy,
            "time": self.time,
            "labels": self.labels,
            "units": self.units,
        }

    # for people

    def describe(self) -> str:
        """A text: shape, axes with units, range of the data, and the notes."""
        lines = [f"{self.name}: {self._title()}"]
        lines += [f"  {dim}: {text}" for dim, text in self._facts()]
        if self.source:
            lines.append(f"  from {self.source}")
        lines += [f"  - {note}" for note in self.notes]
        return "\n".join(lines)

    __str__ = describe

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self._title()}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(dim)}</th><td>{escape(text)}</td></tr>" for dim, text in self._facts()
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        title = escape(f"{self.name}: {self._title()}")
        return f"<b>{title}</b><table>{rows}</table>" + (f"<ul>{notes}</ul>" if notes else "")

    def _title(self) -> str:
        sizes = " × ".join(f"{dim} {n}" for dim, n in zip(self.dims, self.shape, strict=True))
        return sizes + (f", {self.n_bad} values NaN or infinite" if self.n_bad else "")

    def _facts(self) -> list[tuple[str, str]]:
        facts = []
        for dim in self.dims:
            axis, unit = self.axes[dim], self.units.get(dim, "")
            own = self.labels.get(dim, "")
            text = f"{axis[0]:g} to {axis[-1]:g} {unit}".rstrip() + f", {axis.size} points"
            facts.append((dim, text + (f", called {own!r}" if own not in ("", dim) else "")))
        if source_of(self.data) is not None:
            return [*facts, ("data", f"{self.data.dtype}, by reference")]
        good = self.data[self.finite]
        span = f"{good.min():g} to {good.max():g}" if good.size else "no finite value"
        unit, own = self.units.get("data", ""), self.labels.get("data", "")
        text = f"{self.data.dtype}, {span} {unit}".rstrip()
        facts.append(("data", text + (f", called {own!r}" if own else "")))
        return facts

    # inside

    def _need(self, dim: str) -> Array:
        if not isinstance(dim, str):
            raise DataError(
                f"{self.name}: {dim!r} is no name of an axis; give names one by one, such as "
                f"{self.dims[0]!r}; there are {', '.join(self.dims)}"
            )
        if dim not in self.dims:
            raise DataError(
                f"{self.name}: has no axis {dim!r}; it has {', '.join(self.dims)}"
                f"{suggest(dim, list(self.dims))}"
            )
        return self.axes[dim]

    def _indices(self, dim: str, value: object) -> int | npt.NDArray[np.int64]:
        axis = self._need(dim)
        low, high, near = float(axis.min()), float(axis.max()), slack(axis)
        try:
            wanted = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            wanted = np.asarray(np.nan)
        if wanted.shape not in ((), (2,)) or not np.isfinite(wanted).all():
            raise DataError(f"{self.name}: {dim}={value!r}; give a number, or (from, to)")
        if wanted.ndim == 0:
            if not low - near <= wanted <= high + near:
                raise DataError(
                    f"{self.name}: {dim}={value!r} lies outside of the axis, {low:g} to {high:g}"
                )
            return int(np.argmin(np.abs(axis - wanted)))
        inside = np.flatnonzero((axis >= wanted.min() - near) & (axis <= wanted.max() + near))
        if not inside.size:
            raise DataError(
                f"{self.name}: no point of {dim} lies in {value!r}; the axis is {low:g} to {high:g}"
            )
        return inside

    def _point(self, dim: str, index: int) -> Dataset:
        if len(self.dims) == 1:
            raise DataError(f"{self.name}: one point of {dim} is no spectrum; give (from, to)")
        kept = tuple(other for other in self.dims if other != dim)
        note = f"{dim} = {self.axes[dim][index]:g} {self.units.get(dim, '')}".rstrip()
        return self._with(*self._values(dim, index), kept, note)

    def _values(self, dim: str, index: int | npt.NDArray[np.int64]) -> tuple[Any, Array | None]:
        place = self.dims.index(dim)
        errors = None if self.errors is None else _take(self.errors, index, place)
        return _take(self.data, index, place), errors

    def _with(
        self, data: npt.NDArray[Any], errors: Array | None, dims: tuple[str, ...], note: str
    ) -> Dataset:
        axes = {dim: self.axes[dim] for dim in dims}
        name, notes = f"{self.name}, {note}", (*self.notes, note)
        return replace(self, data=data, dims=dims, axes=axes, name=name, notes=notes, errors=errors)

    def _ordered(self) -> Dataset:
        last = [dim for dim in ("time", "energy") if dim in self.dims]
        dims = (*self.extra, *last)
        if dims == self.dims:
            return self
        order = [self.dims.index(dim) for dim in dims]
        errors = None if self.errors is None else np.transpose(self.errors, order)
        return replace(self, data=np.transpose(self.data, order), dims=dims, errors=errors)


def _held(array: Any, dtype: type[np.float64] | None = None) -> Any:
    """A read-only view of an array; what stays where it is, as it is."""
    source = source_of(array)
    return frozen(np.asarray(array, dtype)) if source is None else source


def _take(array: Any, index: int | npt.NDArray[np.int64], place: int) -> Any:
    """Points of an array along an axis; neighbours of one by reference stay there."""
    if source_of(array) is None or not isinstance(index, np.ndarray) or np.ptp(index) >= index.size:
        return np.take(array, index, axis=place)
    part = slice(int(index[0]), int(index[-1]) + 1)
    return array[part] if place == 0 else array[:, part]


def _axis(axes: Mapping[str, object], dim: str, size: int) -> Array:
    if dim not in axes:
        raise DataError(f"the axis {dim!r} has no values; give {dim}=")
    axis = np.array(axes[dim], dtype=np.float64)
    if axis.shape != (size,):
        raise DataError(f"the axis {dim!r} has shape {axis.shape}, the data have {size} there")
    return frozen(axis)
