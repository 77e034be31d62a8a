"""Data with labels of their own, of pandas and xarray: axes that contradict these are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

Axis = npt.NDArray[np.float64] | None


def refuse_other_order(data: Any, time: Axis, energy: Axis) -> None:
    """Raises :class:`DataError` where the labels of a DataFrame, Series or DataArray are the values
    of the axes in another order: transposed, where both are as many, or reversed. Other labels
    say nothing: an axis may have been converted or calibrated."""
    labels = _labels(data)
    if len(labels) == 2:
        (_, rows), (_, columns) = labels
        straight = _same(rows, time) and _same(columns, energy)
        if _same(rows, energy) and _same(columns, time) and not straight:
            raise DataError(
                "the labels of data say that its rows are energies and its columns times; "
                "pass data.T"
            )
        _refuse_reversed(*labels[0], time, "time")
    if labels:
        given, what = (time, "time") if energy is None else (energy, "energy")
        _refuse_reversed(*labels[-1], given, what)


def _refuse_reversed(where: str, labels: Axis, axis: Axis, what: str) -> None:
    if labels is None or axis is None or _same(labels, axis) or _same(-labels, axis):
        return  # energies about 0 whose sign was changed are the same values, in another order
    if _same(np.sort(labels), np.sort(axis)):
        raise DataError(
            f"the labels of data run from {labels[0]:g} to {labels[-1]:g}, the {what} axis from "
            f"{axis[0]:g} to {axis[-1]:g}, with the same values; write {what}={where}, or if the "
            "labels mean something else pass data.to_numpy()"
        )


def _labels(data: Any) -> list[tuple[str, Axis]]:
    """For each dimension where its labels are, and these, None where there are none of numbers."""
    if hasattr(data, "dims") and hasattr(data, "coords"):
        names = [dim for dim in data.dims if isinstance(dim, str)]
        found = [(f"data[{dim!r}]", data.coords.get(dim)) for dim in names]
    else:
        kept = [name for name in ("index", "columns") if hasattr(data, name)]
        found = [(f"data.{name}", getattr(data, name)) for name in kept if hasattr(data, "iloc")]
    return [(where, _numbers(values)) for where, values in found]


def _numbers(labels: Any) -> Axis:
    if labels is None or type(labels).__name__ == "RangeIndex":  # counts, is no label
        return None
    values = np.asarray(labels)
    return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None


def _same(one: Axis, other: Axis) -> bool:
    if one is None or other is None or one.size != other.size:
        return False
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max()))
