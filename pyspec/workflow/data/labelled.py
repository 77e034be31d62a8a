"""Data with labels of their own, of pandas and xarray: axes that contradict these are refused."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

Axis = npt.NDArray[np.float64] | None


def refuse_other_order(subject: str, array: object, time: Axis, energy: Axis = None) -> None:
    """Raises :class:`DataError` if the labels of a DataFrame, Series or DataArray are the values of
    the axes in another order: transposed or reversed. In one dimension they lie along either axis.
    Other labels say nothing: an axis may have been converted or calibrated."""
    labels = _labels(array)
    along: list[dict[str, Axis]] = [{"time": time, "energy": energy}]
    if len(labels) == 2:
        rows, columns = labels
        straight = _same(rows, time) and _same(columns, energy)
        if _same(rows, energy) and _same(columns, time) and not straight:
            raise DataError(
                f"the labels of {subject} say that its rows are energies and its columns times; "
                f"pass {subject}.T"
            )
        along = [{"time": time}, {"energy": energy}]
    for values, axes in zip(labels, along, strict=False):
        if values is None or any(_same(values, a) or _same(-values, a) for a in axes.values()):
            continue  # energies about 0 whose sign was changed are the same values reversed
        for name, axis in axes.items():
            if axis is not None and _same(np.sort(values), np.sort(axis)):
                raise DataError(
                    f"the labels of {subject} run from {values[0]:g} to {values[-1]:g}, the {name} "
                    f"axis from {axis[0]:g} to {axis[-1]:g}, with the same values; give both in "
                    "one order, or drop the labels if they mean something else"
                )


def _labels(data: object) -> list[Axis]:
    """The labels of each dimension, None where there are none of numbers."""
    if hasattr(data, "dims") and hasattr(data, "coords"):
        labels = [data.coords.get(dim) for dim in data.dims]
    elif hasattr(data, "iloc"):
        labels = [getattr(data, name) for name in ("index", "columns") if hasattr(data, name)]
    else:
        return []
    return [_numbers(values) for values in labels]


def _numbers(labels: object) -> Axis:
    if labels is None or type(labels).__name__ == "RangeIndex":  # counts, is no label
        return None
    values = np.asarray(labels)
    return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None


def _same(first: Axis, second: Axis) -> bool:
    if first is None or second is None or first.size != second.size:
        return False
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-9 * np.abs(second).max()))
