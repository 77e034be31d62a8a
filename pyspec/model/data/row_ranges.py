"""A series whose rows are summed some at a time, whoever holds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspec.calls import is_whole
from pyspec.errors import DataError
from pyspec.model.data.checksum import Data
from pyspec.model.data.measurement import Measurement
from pyspec.model.data.source import Derived, Source, source_of


class _Rows(Source):
    """The rows of an array."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self.shape, self.dtype, self.name, self.chunk = data.shape, data.dtype, "the data", 1

    def read(self, begin: int, end: int) -> Data:
        return self._data[begin:end]


class Cut(Derived):
    """The rows of another source, `rows` at a time."""

    def __init__(self, source: Source, rows: int) -> None:
        super().__init__(source)
        self._rows = rows

    @property
    def step(self) -> int:
        return self._rows

    def read(self, begin: int, end: int) -> Data:
        return self.given.rows(begin, end)


def in_chunks(measurement: Measurement, chunks: object) -> Measurement:
    """The measurement, whose rows are summed `chunks` at a time.

    Raises :class:`DataError` for what is no number of rows, and where there are no rows.
    """
    if not is_whole(chunks, 1):
        raise DataError(f"chunks is {chunks!r}; give the number of rows of a chunk, 1 or more")
    data = measurement.data
    if data is None or data.ndim != 2:
        raise DataError("chunks= is of series (n_time, n_energy); leave it out for one spectrum")
    source = source_of(data)
    cut: Any = Cut(_Rows(data) if source is None else source, int(chunks))
    return replace(measurement, data=cut)
