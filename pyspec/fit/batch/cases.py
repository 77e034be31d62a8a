"""What the fits of a batch are of: measurements, and values in place of those of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from operator import attrgetter, is_not
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from pyspec.executor.laid import Arrays
from pyspec.executor.protocol import Stored
from pyspec.model import Measurement
from pyspec.model.data.checksum import Data, checksums
from pyspec.model.data.measurement import row_of

Bools = npt.NDArray[np.bool_]


class Measured(Protocol):
    """Measurements by number."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Measurement: ...
    def arrays(self, places: range, like: Measurement, n_threads: int) -> tuple[Arrays, Bools]:
        """The arrays of consecutive measurements, data as numbers of 8 bytes, weights and masks
        where they differ; nobody has looked at their values. And which measurements differ from
        `like` in these alone; others have any values. `n_threads` share what takes long."""

    def checksums(self, places: range) -> Sequence[int] | None:
        """Of the data, where results are made of them when they are asked for."""


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

    def arrays(self, places: range, like: Measurement, n_threads: int) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`."""
        if len(self.measured) == len(self):
            return self.measured.arrays(places, like, n_threads)
        (arrays_of_one, able), n = self.measured.arrays(range(1), like, 1), len(places)
        rows = (
            None if a is None else np.broadcast_to(a[0], (n, *a.shape[1:])) for a in arrays_of_one
        )
        return Arrays(*rows), np.repeat(able, n)  # type: ignore[arg-type]


class Listed(tuple[Measurement, ...]):
    """Measurements that were made one by one."""

    def arrays(self, places: range, like: Measurement, n_threads: int) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`. Series may differ from `like` only in their data: C sums
        them in other ways if weights are constant along an axis."""
        assert like.data is not None
        measurements, same, shape = (
            list(self[places.start : places.stop]),
            _SAME(like),
            like.data.shape,
        )
        able = [
            type(measurement.data) is np.ndarray
            and measurement.data.shape == shape
            and _SAME(measurement) == same
            for measurement in measurements
        ]
        differ = [
            name
            for name in ("weight", "keep")
            if any(
                map(
                    is_not,
                    map(attrgetter(name), compress(measurements, able)),
                    repeat(getattr(like, name)),
                )
            )
        ]
        if differ:
            able = [
                is_alike and _have_arrays(measurement, like, differ)
                for measurement, is_alike in zip(measurements, able, strict=True)
            ]
        rows = measurements
        if not all(able):
            rows = [
                measurement if is_able else like
                for measurement, is_able in zip(measurements, able, strict=True)
            ]
        own = cast(list[Data], [measurement.data for measurement in rows])
        joined = np.concatenate(own, dtype=np.float64, casting="unsafe")
        data, differ = joined.reshape(len(rows), *shape), differ if any(able) else []
        beside = {
            name: _spread([getattr(measurement, name) for measurement in rows], data)
            for name in differ
        }
        return Arrays(data, **beside), np.array(able)

    def checksums(self, places: range) -> None:
        """No data are asked for again."""


#: What two measurements have in common that differ in nothing but their arrays.
_SAME = attrgetter("rows", "columns", "loss", "loss_scale", "energy_step", "ends")


def _have_arrays(measurement: Measurement, like: Measurement, names: Sequence[str]) -> bool:
    """Whether these of two measurements differ only in their values."""
    assert like.data is not None
    pairs = [(getattr(measurement, name), getattr(like, name)) for name in names]
    return not pairs or (
        like.data.ndim == 1
        and all(type(a) is type(b) is np.ndarray and a.shape == b.shape for a, b in pairs)
    )


def _spread(arrays: Sequence[Data], data: Data) -> Data:
    """Weights or masks of spectra, for each point of their data (n, …)."""
    return np.broadcast_to(np.stack(arrays).reshape(len(data), -1), data.shape)


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

    def _cut(self, places: range) -> Arrays:
        """Rows of data, weights and mask."""
        weight, keep, first = self.series.weight, self.series.keep, self.numbers.start
        rows = slice(first + places.start, first + places.stop)
        if weight is not None:
            weight = np.broadcast_to(weight, self._data.shape)[rows]
        return Arrays(self._data[rows], weight, None if keep is None else keep[rows])

    def arrays(self, places: range, like: Measurement, n_threads: int) -> tuple[Arrays, Bools]:
        """As of :meth:`Measured.arrays`."""
        cut = self._cut(places)
        able = np.ones(len(places), bool)
        return cut._replace(data=as_doubles(np.asarray(cut.data))), able

    def checksums(self, places: range) -> Sequence[int]:
        """Of these rows."""
        return checksums(np.asarray(self._cut(places).data))


def as_doubles(array: Stored) -> npt.NDArray[np.float64]:
    """The same values as numbers of 8 bytes, side by side."""
    return np.ascontiguousarray(array, dtype=np.float64)
