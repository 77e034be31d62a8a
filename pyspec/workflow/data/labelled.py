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
    last = "time" if energy is None else "energy"
    for (where, values), name in zip(labels[::-1], (last, "time"), strict=False):
        remedy = f"write {name}={where}, or if the labels mean something else pass data.to_numpy()"
        _refuse_reversed("data", values, {name: energy if name == "energy" else time}, remedy)


def refuse_beside(subject: str, array: object, time: Axis, energy: Axis = None) -> None:
    """The same for arrays given beside the data, such as a mask or sigma; in one dimension they lie
    along either axis."""
    labels = _labels(subject, array)
    _refuse_transposed(subject, labels, time, energy)
    remedy = f"sort {subject} as the axis is, or drop the labels if they mean something else"
    for place, (_, values) in enumerate(labels):
        along = {"time": time, "energy": energy}
        if len(labels) == 2:
            along.pop(("energy", "time")[place])
        _refuse_reversed(subject, values, along, remedy)


def _refuse_transposed(
    subject: str, labels: list[tuple[str, Axis]], time: Axis, energy: Axis
) -> None:
    if len(labels) != 2:
        return
    (_, rows), (_, columns) = labels
    straight = _same(rows, time) and _same(columns, energy)
    if _same(rows, energy) and _same(columns, time) and not straight:
        raise DataError(
            f"the labels of {subject} say that its rows are energies and its columns times; "
            f"pass {subject}.T"
        )


def _refuse_reversed(subject: str, labels: Axis, along: Mapping[str, Axis], remedy: str) -> None:
    """Labels that are the values of an axis in another order, and those of no axis as they are."""
    if labels is None or any(
        _same(labels, axis) or _same(-labels, axis) for axis in along.values()
    ):
        return  # energies about 0 whose sign was changed are the same values, in another order
    for name, axis in along.items():
        if axis is not None and _same(np.sort(labels), np.sort(axis)):
            raise DataError(
                f"the labels of {subject} run from {labels[0]:g} to {labels[-1]:g}, the {name} "
                f"axis from {axis[0]:g} to {axis[-1]:g}, with the same values; {remedy}"
            )


def _labels(subject: str, data: object) -> list[tuple[str, Axis]]:
    """For each dimension where its labels are, and these, None where there are none of numbers."""
    if hasattr(data, "dims") and hasattr(data, "coords"):
        names = [dim for dim in data.dims if isinstance(dim, str)]
        pairs = [(f"{subject}[{dim!r}]", data.coords.get(dim)) for dim in names]
    else:
        kept = [name for name in ("index", "columns") if hasattr(data, name)]
        pairs = [
            (f"{subject}.{name}", getattr(data, name)) for name in kept if hasattr(data, "iloc")
        ]
    return [(where, _numbers(values)) for where, values in pairs]


def _numbers(labels: object) -> Axis:
    if labels is None or type(labels).__name__ == "RangeIndex":  # counts, is no label
        return None
    values = np.asarray(labels)
    return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None


def _same(first: Axis, second: Axis) -> bool:
    if first is None or second is None or first.size != second.size:
        return False
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-9 * np.abs(second).max()))
