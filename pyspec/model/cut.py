"""A series whose rows are summed some at a time, whoever holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.model.measurement import Measurement
from pyspec.model.source import Source, source_of


class Cut(Source):
    """The rows of an array, or of another source, `rows` at a time."""

    def __init__(self, data: Any, rows: int) -> None:
        self._data, self._rows = data, rows
        source = source_of(data)
        self.shape, self.dtype = data.shape, data.dtype
        self.name = "the data" if source is None else source.name
        self.chunk = 1 if source is None else source.chunk
        self.readers = 1 if source is None else source.readers

    @property
    def step(self) -> int:
        return self._rows

    def look(self) -> None:
        if (source := source_of(self._data)) is not None:
            source.look()

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        source = source_of(self._data)
        return None if source is None else source.bounds(row)

    def place(self, row: int, column: int = 0) -> tuple[int, int]:
        source = source_of(self._data)
        return (row, column) if source is None else source.place(row, column)

    def read(self, begin: int, end: int) -> npt.NDArray[Any]:
        source = source_of(self._data)
        return self._data[begin:end] if source is None else source.rows(begin, end)


def in_chunks(measurement: Measurement, chunks: Any) -> Measurement:
    """The measurement, whose rows are summed `chunks` at a time.

    Raises :class:`DataError` for what is no number of rows, and where there are no rows.
    """
    if isinstance(chunks, bool) or not isinstance(chunks, (int, np.integer)) or chunks < 1:
        raise DataError(f"chunks is {chunks!r}; give the number of rows of a chunk, 1 or more")
    data = measurement.data
    if data is None or data.ndim != 2:
        raise DataError("chunks= is of series (n_time, n_energy); leave it out for one spectrum")
    cut: Any = Cut(data, int(chunks))
    given = {one: getattr(measurement, one) for one in _FIELDS}
    return Measurement(cut, **given)


_FIELDS = ("rows", "columns", "weight", "keep", "loss", "loss_scale", "labels", "units")
