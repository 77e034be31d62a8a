"""NeXus, with NXmpes and NXxps: default entry → default data → signal → axes.

Rules: NeXus manual, "Find the plottable data" and NXdata (https://manual.nexusformat.org).
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pyspec.errors import DataError, several, suggest
from pyspec.io.arrays import choose
from pyspec.io.optional import available, need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start
from pyspec.io.readers.hdf5 import (
    MAGIC,
    attribute,
    coding_of,
    entries_of,
    noted,
    opened,
    values_of,
)
from pyspec.io.sizes import check_size
from pyspec.io.units import dim_name, is_angle, show_unit

if TYPE_CHECKING:
    import h5py

_ENDINGS = ("nxs", "nexus", "nx")
#: No chain of defaults is longer; a chain that closes on itself ends here too.
_MOST_STEPS = 20
#: Names of single values in the file → what they are called in `meta`.
_META = {
    "incident_energy": "photon_energy",
    "incident_photon_energy": "photon_energy",
    "work_function": "work_function",
    "pass_energy": "pass_energy",
    "title": "title",
}
#: Units of these energies; those in others, such as joule, are left out.
_IN_EV = {"": 1.0, "eV": 1.0, "meV": 1e-3, "keV": 1e3}


def sniff(start: Start) -> bool:
    """HDF5 whose root, or a group in it, has a NeXus class; by the ending without h5py."""
    if not start.starts_with(MAGIC):
        return False
    if start.suffix[1:] in _ENDINGS:
        return True
    if not available("h5py"):
        return False
    try:
        with opened(start.path) as file:
            return bool(attribute(file, "NX_class")) or any(
                attribute(item, "NX_class") == "NXentry" for item in file.values()
            )
    except Exception:  # a damaged file: the reader of HDF5 says what is wrong
        return False


def read(request: Request) -> RawTable:
    """The signal of the default NXdata, or of the one that `data=` names, with its axes."""
    path = request.path
    with opened(path) as file:
        group, signal = _signal(path, file, request.data)
        if signal is None:
            entries = entries_of(path, file)
            return noted(choose(path, "NeXus", entries, request), path, file)
        check_size(path, signal.name, signal.size * signal.dtype.itemsize)
        table = RawTable(values_of(signal), [None] * signal.ndim)
        table.labels["data"] = attribute(signal, "long_name")
        unit = attribute(signal, "units")
        label = table.labels["data"] or signal.name.rsplit("/", 1)[-1]
        if is_angle(unit) and label.lower().startswith(("intensit", "count")):  # some programs
            table.notes.append(f"{signal.name}: the unit {unit!r} of an {label} was left out")
            unit = ""
        table.units["data"] = show_unit(unit)
        table.name = group.name.strip("/").split("/")[0]
        for place, axis in enumerate(_axes(group, signal)):
            _put(table, place, axis, request)
        _errors(path, table, group, signal, request.errors)
        _name_energy(table)
        table.meta = _meta(file.get(table.name or "/", group))
        table.notes.append(f"NeXus: signal {signal.name}, axes {', '.join(map(str, table.dims))}")
        if names := coding_of(signal).names:
            table.notes.append(f"{signal.name}: decoded by {', '.join(names)}")
        if others := [name for name in _data_groups(file) if name != group.name]:
            table.notes.append(f"other data, for data=: {several(others, 8)}")
        return noted(table, path, file)


def _signal(
    path: Path, file: h5py.File, wanted: str | None
) -> tuple[h5py.Group, h5py.Dataset | None]:
    """The group of data and the signal in it; None where the file has no NXdata."""
    h5py = need("h5py", f"{path}: NeXus")
    item = file if wanted is None else _named(path, file, wanted, h5py)
    if isinstance(item, h5py.Dataset):
        return item.parent, item
    for _ in range(_MOST_STEPS):  # along the chain of `default` attributes
        name = attribute(item, "default")
        following = item.get(name) if name else None
        if not isinstance(following, h5py.Group):
            break
        item = following
    if attribute(item, "NX_class") != "NXdata" and not attribute(item, "signal"):
        groups = _data_groups(item)
        if len(groups) > 1:
            raise DataError(
                f"{path}: has no default data; choose with data=: {', '.join(groups[:12])}"
            )
        if not groups:
            if wanted is not None:
                raise DataError(f"{path}: data={wanted!r} is a group without NXdata")
            return file, None
        item = file[groups[0]]
    arrays = {
        name: one
        for name, one in item.items()
        if isinstance(one, h5py.Dataset) and one.dtype.kind in "fiu" and one.shape
    }
    old = [name for name, one in arrays.items() if attribute(one, "signal") == "1"]
    name = attribute(item, "signal") or next(iter(old), "data")
    if name not in arrays:
        listed = ", ".join(list(arrays)[:12]) or "none"
        raise DataError(
            f"{path}: the signal {name!r} of {item.name} is no array of numbers; choose with "
            f"data=: {listed}"
        )
    return item, arrays[name]


def _named(path: Path, file: h5py.File, wanted: str, h5py: ModuleType) -> h5py.Group | h5py.Dataset:
    """What a path names, or the one data set or group of data whose name ends so."""
    item = file.get(wanted) if wanted.strip("/") and wanted in file else None
    if item is not None:
        return item
    names: list[str] = []

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Group) or item.dtype.kind in "fiu":
            names.append(name)

    file.visititems(visit)
    alike = [name for name in names if name.endswith("/" + wanted.strip("/"))]
    if len(alike) != 1:
        many = f"several: {', '.join(alike[:8])}" if alike else "none"
        near = suggest(wanted, names[:2000])
        raise DataError(f"{path}: data={wanted!r}: there is {many}; give the whole path{near}")
    return file[alike[0]]


def _data_groups(file: h5py.File) -> list[str]:
    names: list[str] = []

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if attribute(item, "NX_class") == "NXdata":
            names.append(item.name)

    file.visititems(visit)
    return names


def _axes(group: h5py.Group, signal: h5py.Dataset) -> list[h5py.Dataset | None]:
    """The data set of each dimension of the signal, None where there is none."""
    axes = _by_number(group, signal)
    names = group.attrs.get("axes", signal.attrs.get("axes", ()))
    if isinstance(names, (str, bytes)):
        names = _decoded(names).replace(",", ":").strip("[]").split(":")
    for place, raw in enumerate(np.atleast_1d(names)):
        name = _decoded(raw).strip()
        axis = group.get(name) if name not in ("", ".") else None
        if not hasattr(axis, "shape"):
            continue
        indices = np.atleast_1d(group.attrs.get(f"{name}_indices", place))
        at = int(indices[0]) if indices.size == 1 else place
        if 0 <= at < signal.ndim and axes[at] is None:
            axes[at] = axis
    return axes


def _decoded(text: object) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _by_number(group: h5py.Group, signal: h5py.Dataset) -> list[h5py.Dataset | None]:
    """Axes of older files: their attribute `axis` is the number of their dimension, from 1; of
    several for one the `primary`. Programs in Fortran counted from the last dimension."""
    numbered: dict[int, h5py.Dataset] = {}
    lines = [item for item in group.values() if getattr(item, "ndim", 0) == 1]
    for item in sorted(lines, key=lambda item: attribute(item, "primary") != "1"):
        text = attribute(item, "axis")
        if text.isdigit() and 1 <= int(text) <= signal.ndim:
            numbered.setdefault(int(text) - 1, item)
    places = list(range(signal.ndim))
    for order in (places, places[::-1]):
        if all(item.size - signal.shape[order[at]] in (0, 1) for at, item in numbered.items()):
            return [numbered.get(order.index(place)) for place in places]
    return [None] * signal.ndim


def _put(table: RawTable, place: int, axis: h5py.Dataset, request: Request) -> None:
    """Names one dimension after its axis; bin edges become centres."""
    if axis is None or axis.ndim != 1 or axis.dtype.kind not in "fiu":
        return
    size = table.data.shape[place]
    values = np.asarray(values_of(axis), dtype=np.float64)
    if values.size == size + 1:
        values = (values[1:] + values[:-1]) / 2
        table.notes.append(f"{axis.name}: edges of bins, their centres were taken")
    if values.size != size:
        return
    name, unit = axis.name.rsplit("/", 1)[-1], attribute(axis, "units")
    asked = {request.time: "time", request.energy: "energy"}
    dim = asked.get(name) or dim_name(name, unit, place)
    if dim in table.dims:
        dim = name if name not in table.dims else f"axis_{place}"
    table.dims[place], table.axes[dim] = dim, values
    table.units[dim] = show_unit(unit)
    kind = attribute(axis, "type")
    label = attribute(axis, "long_name") or name
    table.labels[dim] = f"{kind} energy" if kind in ("binding", "kinetic") else label


def _name_energy(table: RawTable) -> None:
    """The last axis that is no time is the energy, where none is called so."""
    if "energy" in table.dims or None in table.dims or not table.dims:
        return
    free = [k for k, dim in enumerate(table.dims) if dim != "time"]
    if (len(table.dims) > 1 and "time" not in table.dims) or not free:
        return
    old = str(table.dims[free[-1]])
    table.dims[free[-1]] = "energy"
    for by_dim in (table.axes, table.units, table.labels):
        if old in by_dim:
            by_dim["energy"] = by_dim.pop(old)  # type: ignore[assignment]


def _errors(
    path: Path, table: RawTable, group: h5py.Group, signal: h5py.Dataset, wanted: int | str | None
) -> None:
    """Standard errors: those named, or ``SIGNAL_errors``."""
    name = signal.name.rsplit("/", 1)[-1]
    for key in (wanted,) if wanted is not None else (f"{name}_errors", f"{name}_error", "errors"):
        item = group.get(str(key))
        if hasattr(item, "shape") and item.shape == signal.shape and item.dtype.kind in "fiu":
            table.errors = np.asarray(values_of(item), dtype=np.float64)
            table.notes.append(f"standard errors from {key!r}")
            return
    if wanted is not None:
        raise DataError(
            f"{path}: errors={wanted!r} is no array of the shape of the data in {group.name}; it "
            f"has {', '.join(list(group)[:20])}"
        )


def _meta(entry: h5py.Group) -> dict[str, object]:
    """Photon energy, work function, pass energy and title, where the entry has them."""
    meta: dict[str, object] = {}

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        key = _META.get(name.rsplit("/", 1)[-1])
        if key is None or getattr(item, "shape", None) != () or key in meta:
            return
        value = item[()]
        if isinstance(value, bytes):
            meta[key] = _decoded(value)
        elif item.dtype.kind in "fiu" and np.isfinite(number := float(value)):
            number *= _IN_EV.get(show_unit(attribute(item, "units")), 0.0)
            if number > 0:
                meta[key] = number

    entry.visititems(visit)
    return meta
