"""Data with labels of their own, of pandas and xarray: axes that contradict these are refused."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

Axis = npt.NDArray[np.float64] | None


def refuse_other_order(data: object, time: Axis, energy: Axis) -> None:
    """Raises :class:`DataError` if the labels of a DataFrame, Series or DataArray are the values of
    the axes in another order: transposed or reversed. Other labels say nothing: an axis may have
    been converted or calibrated."""
    labels = _labels("data", data)
    _refuse_transposed("data", labels, time, energy)
    what = "time" if energy is None else "energy"
    for (where, found), name in zip(labels[::-1], (what, "time"), strict=False):
        said = f"write {name}={where}, or if the labels mean something else pass data.to_numpy()"
        _refuse_reversed("data", found, {name: energy if name == "energy" else time}, said)


def refuse_beside(what: str, given: object, time: Axis, energy: Axis = None) -> None:
    """The same for arrays given beside the data, such as a mask or sigma; in one dimension they lie
    along either axis."""
    labels = _labels(what, given)
    _refuse_transposed(what, labels, time, energy)
    said = f"sort {what} as the axis is, or drop the labels if they mean something else"
    for place, (_, found) in enumerate(labels):
        along = {"time": time, "energy": energy}
        if len(labels) == 2:
            along.pop(("energy", "time")[place])
        _refuse_reversed(what, found, along, said)


def _refuse_transposed(what: str, labels: list[tuple[str, Axis]], time: Axis, energy: Axis) -> None:
    if len(labels) != 2:
        return
    (_, rows), (_, columns) = labels
    straight = _same(rows, time) and _same(columns, energy)
    if _same(rows, energy) and _same(columns, time) and not straight:
        raise DataError(
            f"the labels of {what} say that its rows are energies and its columns times; "
            f"pass {what}.T"
        )


def _refuse_reversed(what: str, labels: Axis, along: Mapping[str, Axis], said: str) -> None:
    """Labels that are the values of an axis in another order, and those of no axis as they are."""
    if labels is None or any(_same(labels, one) or _same(-labels, one) for one in along.values()):
        return  # energies about 0 whose sign was changed are the same values, in another order
    for name, axis in along.items():
        if axis is not None and _same(np.sort(labels), np.sort(axis)):
            raise DataError(
                f"the labels of {what} run from {labels[0]:g} to {labels[-1]:g}, the {name} axis "
                f"from {axis[0]:g} to {axis[-1]:g}, with the same values; {said}"
            )


def _labels(what: str, data: object) -> list[tuple[str, Axis]]:
    """For each dimension where its labels are, and these, None where there are none of numbers."""
    if hasattr(data, "dims") and hasattr(data, "coords"):
        names = [dim for dim in data.dims if isinstance(dim, str)]
        found = [(f"{what}[{dim!r}]", data.coords.get(dim)) for dim in names]
    else:
        kept = [name for name in ("index", "columns") if hasattr(data, name)]
        found = [(f"{what}.{name}", getattr(data, name)) for name in kept if hasattr(data, "iloc")]
    return [(where, _numbers(values)) for where, values in found]


def _numbers(labels: object) -> Axis:
    if labels is None or type(labels).__name__ == "RangeIndex":  # counts, is no label
        return None
    values = np.asarray(labels)
    return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None


def _same(one: Axis, other: Axis) -> bool:
    if one is None or other is None or one.size != other.size:
        return False
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max()))
