"""xarray: named dimensions, coordinates and units, in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import DataError, suggest
from pyspec.io.coding import Coding
from pyspec.io.dataset import Dataset
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable, assemble
from pyspec.io.sources.arrays import by_reference
from pyspec.io.units import guess_kind, need_same_unit, show_unit

if TYPE_CHECKING:
    import xarray
    from xarray import DataArray

#: What follows the name of a variable in that of its standard errors.
ERRORS = "_stderr"


@answered
def from_xarray(
    array: object,
    *,
    energy: str | None = None,
    time: str | None = None,
    data: str | None = None,
    errors: str | None = None,
    name: str | None = None,
    sort: bool = False,
) -> Dataset:
    """A Dataset from an xarray.DataArray, or from a variable of an xarray.Dataset.

    `energy` and `time` name dimensions, or coordinates along one; without them they are recognised
    by name and unit (eV, nm, cm-1; s, ps, fs…). `data` names the variable of an xarray.Dataset,
    `errors` the one with its standard errors, by default ``NAME_stderr`` where there is one. All
    other dimensions stay, under their names.

    Raises :class:`DataError` for unknown names and for axes that are not usable.
    """
    table = raw_table_of_xarray(array, "xarray", data=data, errors=errors, energy=energy, time=time)
    return assemble(table, "xarray", sort=sort, name=name)


@answered
def to_xarray(dataset: Dataset) -> Any:
    """A Dataset as an xarray.DataArray, with units and labels as attributes. With standard errors
    it is an xarray.Dataset, ``NAME`` and ``NAME_stderr``; :func:`from_xarray` reads both back."""
    xarray = need("xarray", "to_xarray()")
    coords = {}
    for dim in dataset.dims:
        attrs = _attributes(dataset, dim)
        coords[dim] = (dim, np.array(dataset.axes[dim]), attrs)
    facts = _attributes(dataset, "data")
    told = {**facts, "source": dataset.source}
    named = {"coords": coords, "dims": dataset.dims}
    array = xarray.DataArray(np.array(dataset.data), **named, name=dataset.name, attrs=told)
    if dataset.errors is None:
        return array
    own = "data" if dataset.name in ("", *dataset.dims) else dataset.name
    spread = xarray.DataArray(np.array(dataset.errors), **named, attrs=facts)
    return xarray.Dataset({own: array, f"{own}{ERRORS}": spread})


def _attributes(dataset: Dataset, name: str) -> dict[str, str]:
    pairs = {"units": dataset.units.get(name), "long_name": dataset.labels.get(name)}
    return {key: value for key, value in pairs.items() if value}


def raw_table_of_xarray(
    array: Any,
    where: str,
    *,
    data: str | None,
    energy: str | None,
    time: str | None,
    errors: str | None = None,
    lazy: bool = False,
) -> RawTable:
    """A RawTable from a DataArray or Dataset of xarray; a time axis of dates counts in seconds.
    `lazy` leaves the data where they are."""
    notes: list[str] = []
    beside: Mapping[str, DataArray] = {}
    if hasattr(array, "data_vars"):
        beside, array = array, _variable(array, where, data, errors, notes)
        own = f"{array.name}{ERRORS}"
        if errors is None and own in beside and {*beside[own].dims} == {*array.dims}:
            errors = own
    if not hasattr(array, "dims") or not hasattr(array, "coords"):
        raise DataError(
            f"{where}: from_xarray takes an xarray.DataArray or Dataset, not {type(array).__name__}"
        )
    spread = None if errors is None else _errors(array, beside, where, str(errors))
    lines = {name: line for name, line in beside.items() if name != errors}
    array = _along(array, lines, (energy, time), notes)
    dims = [str(dim) for dim in array.dims]
    kinds = _kinds(array, dims, where, {"energy": energy, "time": time})
    held = by_reference(array) if lazy else _decoded(array)
    table = RawTable(held, [kinds.get(dim, dim) for dim in dims], notes=notes)
    plain = str(array.name or "")
    table.name = "" if plain.startswith("__") else plain
    if spread is not None:
        table.errors = by_reference(spread) if lazy else _decoded(spread)
        table.notes.append(f"standard errors from {errors!r}")
    table.units["data"] = show_unit(str(array.attrs.get("units", "")))
    table.labels["data"] = str(array.attrs.get("long_name", ""))
    for dim in dims:
        new = kinds.get(dim, dim)
        table.labels[new] = dim
        if dim not in array.coords:
            if new in ("energy", "time"):
                table.hint = f"The dimension {dim!r} has no coordinate"
                continue
            table.axes[new] = np.arange(array.sizes[dim], dtype=np.float64)
            continue
        coord = array.coords[dim]
        table.axes[new] = _values(coord, where, dim, table, new)
        unit = str(coord.attrs.get("units", ""))
        if unit and new not in table.units:
            table.units[new] = show_unit(unit)
        if new in ("energy", "time") and new not in table.units:
            shown = show_unit(dim)  # of a dimension that is called "nm"
            table.units[new] = shown if guess_kind("", shown) and len(dim) > 1 else ""
        table.labels[new] = str(coord.attrs.get("long_name", dim))
    named = ", ".join(f"{dim} is {kinds[dim]}" for dim in dims if dim in kinds)
    say = "other dimensions: energy=, time="
    table.notes.append(f"{named or 'no dimension is known'}; {say}")
    return table


def _decoded(array: DataArray) -> npt.NDArray[np.generic]:
    """The numbers of a variable. xarray decodes as it opens a file, and then takes the attributes
    away that say how."""
    return Coding.of(array.attrs).decode(np.asarray(array.values))


def _along(
    array: DataArray,
    beside: Mapping[str, DataArray],
    names: tuple[str | None, ...],
    notes: list[str],
) -> DataArray:
    """The array with axes as coordinates of its dimensions. A dimension without a coordinate gets
    the one in `names`, else the only line along it, such as energies along pixels."""
    every = {str(name): line for name, line in [*array.coords.items(), *beside.items()]}
    lines = {name: line for name, line in every.items() if line.ndim == 1 and name != array.name}
    for dim in map(str, array.dims):
        along = [name for name, line in lines.items() if line.dims == (dim,) and name != dim]
        named = [name for name in along if name in names]
        free = dim not in array.coords and dim not in names
        chosen = named or [name for name in along if free and _serves(array, dim, lines[name])]
        if len(chosen) == 1:
            line = lines[chosen[0]]
            array = array.assign_coords({chosen[0]: (dim, line.values, line.attrs)})
            array = array.swap_dims({dim: chosen[0]})
            notes.append(f"{chosen[0]} lies along the dimension {dim}")
    return array


def _serves(array: DataArray, dim: str, line: DataArray) -> bool:
    """Whether a line may be the axis of the dimension it lies along. A variable beside the data is
    an axis only if it has the name of the missing axis: "e_shift" along the times is none."""
    name = str(line.name)
    kind = guess_kind(name)
    if name in array.coords:
        return kind is not None or len(set(line.values.tolist())) == line.size
    others = {_kind(array, str(other)) for other in array.dims if other != dim}
    return kind is not None and kind not in others and _kind(array, dim) in (None, kind)


def _errors(
    array: DataArray, beside: Mapping[str, DataArray], where: str, errors: str
) -> DataArray:
    """The variable with the standard errors, its dimensions in the order of the data."""
    names = [str(name) for name in beside]
    if errors not in names:
        say = f"it has {', '.join(names)}{suggest(errors, names)}" if names else "give a Dataset"
        raise DataError(f"{where}: errors={errors!r} is no variable; {say}")
    spread = beside[errors]
    if set(spread.dims) != set(array.dims):
        own, those = (", ".join(map(str, variable.dims)) for variable in (spread, array))
        raise DataError(
            f"{where}: errors={errors!r} has the dimensions {own}, the data {those}; give one "
            "error for each value"
        )
    own_unit, unit = (str(variable.attrs.get("units", "")) for variable in (spread, array))
    need_same_unit(where, errors, own_unit, unit)
    return spread.transpose(*array.dims)


def _variable(
    dataset: xarray.Dataset, where: str, data: str | None, errors: str | None, notes: list[str]
) -> DataArray:
    names = [str(name) for name in dataset.data_vars if name != errors]
    if data is not None:
        if data not in names:
            raise DataError(
                f"{where}: no variable {data!r}; it has {', '.join(names)}{suggest(data, names)}"
            )
        return dataset[data]
    own = [name for name in names if name.removesuffix(ERRORS) not in {*names} - {name}]
    numbers = [name for name in own if dataset[name].ndim and dataset[name].dtype.kind in "fiu"]
    most = max((dataset[name].ndim for name in numbers), default=0)
    pool = [name for name in numbers if dataset[name].ndim == most]
    if len(pool) != 1:
        listed = ", ".join(f"{name} ({' × '.join(map(str, dataset[name].dims))})" for name in names)
        raise DataError(
            f"{where}: which variable holds the data? Name it with data=, and with errors= that of "
            f"its standard errors; there is {listed or 'none'}"
        )
    others = [name for name in own if name != pool[0]]
    if others:
        notes.append(f"data from {pool[0]!r}; others, for data=: {', '.join(others)}")
    return dataset[pool[0]]


def _kinds(
    array: DataArray, dims: list[str], where: str, names: dict[str, str | None]
) -> dict[str, str]:
    """Dimension → "energy" or "time"."""
    kinds: dict[str, str] = {}
    for kind, name in names.items():
        if name is not None and name not in dims:
            raise DataError(
                f"{where}: {kind}={name!r} is no dimension of the data; they have "
                f"{', '.join(dims)}{suggest(str(name), dims)}"
            )
        kinds |= {} if name is None else {name: kind}
    for kind in ("energy", "time"):
        if kind in kinds.values():
            continue
        alike = [dim for dim in dims if dim not in kinds and _kind(array, dim) == kind]
        alike = [kind] if kind in alike else alike
        if len(alike) > 1:
            raise DataError(
                f"{where}: {' and '.join(alike)} both look like {kind}; say {kind}={alike[-1]!r}"
            )
        kinds.update(dict.fromkeys(alike, kind))
    free = [dim for dim in dims if dim not in kinds]
    if "energy" not in kinds.values() and free and (len(dims) < 3 or "time" in kinds.values()):
        kinds[free.pop()] = "energy"
    if len(dims) == 2 and len(free) == 1 and free[0].startswith("dim_"):
        kinds[free[0]] = "time"
    return kinds


def _kind(array: DataArray, dim: str) -> str | None:
    unit = str(array.coords[dim].attrs.get("units", "")) if dim in array.coords else ""
    if dim in array.coords and array.coords[dim].dtype.kind in "mM":
        return "time"
    return guess_kind(dim, unit)


def _values(coord: DataArray, where: str, dim: str, table: RawTable, new: str) -> Any:
    values: npt.NDArray[Any] = _decoded(coord)
    if values.dtype.kind in "mM":
        table.units[new] = "s"
        return (values if values.dtype.kind == "m" else values - values[0]) / np.timedelta64(1, "s")
    if values.dtype.kind not in "fiu":
        if new in ("energy", "time"):
            raise DataError(f"{where}: the coordinate {dim!r} has type {values.dtype}, not numbers")
        table.notes.append(f"{dim} is numbered; its labels are {', '.join(map(str, values[:8]))}")
        return np.arange(values.size, dtype=np.float64)
    return values
