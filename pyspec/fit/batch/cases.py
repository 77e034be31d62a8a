"""What the fits of a batch are of: measurements, and values in place of those of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from pyspec.executor.laid import Arrays
from pyspec.model import Measurement
from pyspec.model.data.checksum import Data, checksums
from pyspec.model.data.measurement import row_of

Bools = npt.NDArray[np.bool_]


class Measured(Protocol):
    """Measurements by number."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Measurement: ...
    def arrays(self, places: range, like: Measurement) -> tuple[Arrays, Bools]:
        """The arrays of consecutive measurements, data as numbers of 8 bytes, weights and masks
        where they differ; nobody has looked at their values. And which measurements differ from
        `like` in these alone; others have any values."""


@dataclass(frozen=True)
class Cases:
    """Measurements and start values; of one or the other there may be one for all."""

    measured: Measured
    values: Sequence[Mapping[str, float]] = ({},)

    def __len__(self) -> int:
        return max(len(self.measured), len(self.values))

    def measurement(self, k: int) -> Measurement:
        """The k-th, whose values are looked at."""
        return self.measured[0 if len(self.measured) == 1 else k]

    def values_of(self, k: int) -> Mapping[str, float]:
        """The k-th values in place of those of the model: starts, and those of fixed parameters."""
        return self.values[0 if len(self.values) == 1 else k]

    def arrays(self, places: range, like: Measurement) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`."""
        if len(self.measured) == len(self):
            return self.measured.arrays(places, like)
        (arrays_of_one, able), n = self.measured.arrays(range(1), like), len(places)
        rows = (
            None if a is None else np.broadcast_to(a[0], (n, *a.shape[1:])) for a in arrays_of_one
        )
        return Arrays(*rows), np.repeat(able, n)  # type: ignore[arg-type]


class Listed(tuple[Measurement, ...]):
    """Measurements that were made one by one."""

    def arrays(self, places: range, like: Measurement) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`. Series may differ from `like` only in their data: C sums
        them in other ways if weights are constant along an axis."""
        assert like.data is not None
        shape, own = like.data.shape, self[places.start : places.stop]
        able = [_is_like(measurement, like, shape) for measurement in own]
        rows = [measured if is_able else like for measured, is_able in zip(own, able, strict=True)]
        joined = np.concatenate(
            [cast(Data, row.data) for row in rows], dtype=np.float64, casting="unsafe"
        )
        arrays: dict[str, Any] = {"data": joined.reshape(len(rows), *shape)}
        for name in ("weight", "keep"):
            each = [getattr(row, name) for row in rows]
            if any(array is not getattr(like, name) for array in each):
                beside = np.stack(each).reshape(len(rows), -1)  # a number, or one for each point
                arrays[name] = np.broadcast_to(beside, (len(rows), *shape))
        return Arrays(**arrays), np.array(able)


#: What two measurements have in common that differ in nothing but their arrays.
_SAME = attrgetter("rows", "columns", "loss", "loss_scale", "energy_step", "ends")


def _is_like(measurement: Measurement, like: Measurement, shape: tuple[int, ...]) -> bool:
    """Whether a measurement differs from another one only in the values of its arrays."""
    if type(measurement.data) is not np.ndarray or measurement.data.shape != shape:
        return False
    pairs = (measurement.weight, like.weight), (measurement.keep, like.keep)
    return _SAME(measurement) == _SAME(like) and all(
        a is b or (len(shape) == 1 and type(a) is type(b) is np.ndarray and a.shape == b.shape)
        for a, b in pairs
    )


class Rows:
    """The spectra of the window of a series. `numbers` are those of its rows in the data."""

    def __init__(self, series: Measurement) -> None:
        assert series.data is not None
        self.series, self._data = series, series.data
        self.numbers = range(*(series.rows or (0, len(self._data))))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, key: int, /) -> Measurement:
        return row_of(self.series, self.numbers[key])

    def _rows(self, places: range) -> slice:
        first = self.numbers.start
        return slice(first + places.start, first + places.stop)

    def arrays(self, places: range, like: Measurement) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`."""
        weight, keep, rows = self.series.weight, self.series.keep, self._rows(places)
        if weight is not None:
            weight = np.broadcast_to(weight, self._data.shape)[rows]
        data = np.ascontiguousarray(self._data[rows], dtype=np.float64)
        able = np.ones(len(places), bool)
        return Arrays(data, weight, None if keep is None else keep[rows]), able

    def checksums(self, places: range) -> Sequence[int]:
        """Of the data: results are made of them when they are asked for."""
        return checksums(np.asarray(self._data[self._rows(places)]))
