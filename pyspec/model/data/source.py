"""Data by reference: rows that stay where they are until a sum asks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from pyspec._library import CONSTANTS
from pyspec._library.threads import Threads
from pyspec.errors import DataError, one_line
from pyspec.model.data.checksum import Data, checksum

#: Bytes of the rows that are summed at a time while the next are read. They stay in the processor's
#: cache until they are summed (4 MiB: 0.56 s, 16 MiB: 0.87 s for 4e9 bytes).
BLOCK = 4 * 2**20

#: Threads that read blocks whose values have to be decoded, at most.
READERS = 4

#: Bytes up to which data by reference are loaded where something needs all of them at once.
LOADED = 256 * 2**20

#: Bytes of the rows that share a checksum; one chunk if that is larger. Rows stored without chunks
#: have one for each block: more of them take as long as the reading.
SEEN = 2**18

#: Types that sums take as they are; masks are of the last one.
KEPT_TYPES = tuple(np.dtype(one) for one in (np.float64, np.float32, np.uint16, np.bool_))


class Seen(dict[tuple[int, int], int]):
    """Checksums of rows as they were read first, (first, end) → checksum: who reads them again
    notices that they have changed."""

    def check(self, source: Source, first: int, block: Data) -> None:
        """Looks at rows that were read, or keeps their checksums where they were not known.

        Raises :class:`DataError`, which names the chunk, where they are not what they were.
        """
        end = first + len(block)
        row = max(prod(source.shape[1:]) * source.dtype.itemsize, 1)
        size = SEEN if source.chunk > 1 else BLOCK
        step = min(max(size // (row * source.chunk), 1) * source.chunk, source.step)
        cuts = [first, *range(first - first % step + step, end, step), end]
        for begin, stop in pairwise(cuts):
            crc = checksum(block[begin - first : stop - first])
            if self.setdefault((begin, stop), crc) != crc:
                raise DataError(
                    f"{source.name}: {source.where(begin, stop)}, changed while the data were "
                    "fitted: something writes to them; fit them when they are complete, or a copy"
                )

    def within(self, begin: int, end: int) -> Seen:
        """Those of rows begin to end - 1."""
        return Seen({key: crc for key, crc in self.items() if begin <= key[0] and key[1] <= end})


class Source(NDArrayOperatorsMixin, ABC):
    """Measured values (n_time, n_energy) that are read by rows.

    It stands where an array of data stands: ``shape``, ``dtype`` and slices along both axes, which
    give a source again. ``np.asarray(source)`` loads up to 256 MiB; more is refused, since it would
    not fit beside the memory of the fit.

    Attributes
    ----------
    shape, dtype : of the stored values
    chunk : rows that are stored together, so that blocks are whole chunks
    readers : threads that read blocks side by side
    name : how errors call it
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunk: int
    name: str
    readers: int = 1

    @property
    def collection(self) -> Any:
        """The dask array that holds the rows; None where they are read from elsewhere."""
        return None

    @abstractmethod
    def read(self, begin: int, end: int) -> Data:
        """Rows from begin to end - 1, (end - begin, n_energy)."""

    def shape_now(self) -> tuple[int, ...]:
        """The shape of what is stored, looked at anew where that is possible."""
        return self.shape

    def look(self) -> None:
        """Raises :class:`DataError` where the store has another shape than it was opened with."""
        try:
            shape = self.shape_now()
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{self.name} cannot be opened again: {one_line(error)}") from error
        if shape == self.shape:
            return
        before = ", ".join(map(str, self.shape))
        if shape[1:] == self.shape[1:] and shape[0] > self.shape[0]:
            new = self.where(self.shape[0], shape[0])
            raise DataError(
                f"{self.name} grows while it is fitted: it had {self.shape[0]} rows when it was "
                f"opened, and now {shape[0]}, with {new}; fit it when it is complete, or a copy"
            )
        raise DataError(
            f"{self.name} has shape ({', '.join(map(str, shape))}), it had ({before}) when it was "
            "opened: the store has changed since it was opened; open it again"
        )

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        """Number, first row and end of the chunk of a row; None where rows are stored one by one,
        or nobody knows."""
        number = row // self.chunk
        return (number, number * self.chunk, (number + 1) * self.chunk) if self.chunk > 1 else None

    def place(self, row: int, column: int = 0) -> tuple[int, int]:
        """Row and column of the store."""
        return row, column

    def where(self, begin: int, end: int) -> str:
        """How errors call rows begin to end - 1: "chunk 73, rows 730 to 739"."""
        first, last = self.bounds(begin), self.bounds(end - 1)
        low, high = self.place(begin)[0], self.place(end - 1)[0]
        rows = f"rows {low} to {high}" if high > low else f"row {low}"
        if first is None or last is None:
            return rows
        if first == last:
            return f"chunk {first[0]}, {rows}"
        return f"chunks {first[0]} to {last[0]}, {rows}"

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def rows(self, begin: int, end: int) -> Data:
        """Rows as sums take them: float64, float32 or uint16 as stored, else float64.

        Raises :class:`DataError` with the chunk where they cannot be read.
        """
        try:
            block = np.asarray(self.read(begin, end))
        except DataError:
            raise
        except Exception as error:  # whatever the library that reads them raises
            raise self._unreadable(begin, end, error) from error
        expected = (end - begin, *self.shape[1:])
        if block.shape != expected:
            raise DataError(
                f"{self.name}: {self.where(begin, end)}, have shape {block.shape}, not {expected}: "
                "the store has changed since it was opened; open it again"
            )
        if block.dtype in KEPT_TYPES and block.dtype.isnative:
            return block
        return block.astype(np.float64)

    def _unreadable(self, begin: int, end: int, error: Exception) -> DataError:
        """The error of the first chunk that cannot be read."""
        while (chunk := self.bounds(begin)) is not None:
            stop = min(begin - self.place(begin)[0] + chunk[2], end)
            try:
                self.read(begin, stop)
            except Exception as own:
                end, error = stop, own
                break
            if stop == end:
                break
            begin = stop
        return DataError(
            f"{self.name}: {self.where(begin, end)}, cannot be read: {one_line(error)}; mend the "
            "file, or leave them out: set_fit_limits(time_limits=...)"
        )

    def blocks(
        self,
        begin: int = 0,
        end: int | None = None,
        seen: Seen | None = None,
        step: int | None = None,
    ) -> Iterator[tuple[int, Data]]:
        """(first row, rows) from begin on, `step` rows or about 4 MiB each; next ones are read
        meanwhile. With `seen`, rows that have changed and a store that grew are refused."""
        end, step = len(self) if end is None else end, step or self.step
        cuts = [begin, *range(begin - begin % step + step, end, step), end]
        places = iter(pairwise(cuts))
        reader = Threads(self.readers, "pyspec-reader")
        try:
            ahead = deque(
                (place[0], reader.submit(self._looked_at, *place, seen))
                for place in islice(places, self.readers)
            )
            while ahead:
                first, future = ahead.popleft()
                block = future.result()
                for place in islice(places, 1):
                    ahead.append((place[0], reader.submit(self._looked_at, *place, seen)))
                del future  # so that only the block in hand is kept
                yield first, block
        finally:
            # Does not wait for the thread: a generator that is not read to its end is closed by the
            # garbage collector, perhaps in a thread that must not wait.
            reader.shutdown(wait=False, cancel_futures=True)

    def _looked_at(self, begin: int, end: int, seen: Seen | None) -> Data:
        if seen is None:
            return self.rows(begin, end)
        self.look()
        try:
            block = self.rows(begin, end)
        except DataError:
            self.look()  # who reads beside this may have opened a store anew that has changed
            block = self.rows(begin, end)
        seen.check(self, begin, block)
        return block

    @property
    def step(self) -> int:
        """Rows of a block: whole chunks; without chunks whole strips, which need not be cut again
        where shapes and times are summed apart."""
        row = max(prod(self.shape[1:]), 1) * 8
        n_rows = max(BLOCK // (row * self.chunk), 1) * self.chunk
        whole = n_rows - n_rows % CONSTANTS["STRIP"] if self.chunk == 1 else n_rows
        return whole or n_rows

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            row = range(len(self))[key]
            return self.rows(row, row + 1)[0]
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) == 2 and keys[0] is Ellipsis:
            keys = (slice(None), keys[1])
        plain = all(isinstance(part, slice) and part.step in (None, 1) for part in keys)
        if not plain or len(keys) > 2:
            return np.asarray(self)[key]
        rows, columns = (*keys, slice(None), slice(None))[:2]
        return Part(self, range(len(self))[rows], range(self.shape[1])[columns])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Data:
        if self.nbytes > LOADED:
            raise DataError(
                f"{self.name}: {self.nbytes / 1e6:.0f} MB are not loaded at once; take a part, "
                "data[1000:2000], or a window: set_fit_limits(time_limits=...)"
            )
        whole = np.concatenate([block for _, block in self.blocks()])
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> object:
        plain = [
            np.asarray(operand) if isinstance(operand, Source) else operand for operand in inputs
        ]
        return getattr(ufunc, method)(*plain, **options)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.dtype} {self.shape}, by reference>"


class Derived(Source):
    """Values that are made of those of another source row by row, and lie where these lie.

    Attributes
    ----------
    given : the other source
    """

    def __init__(self, source: Source) -> None:
        self.given = source
        self.shape, self.dtype, self.name = source.shape, source.dtype, source.name
        self.chunk, self.readers = source.chunk, source.readers

    def look(self) -> None:
        self.given.look()

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        return self.given.bounds(row)

    def place(self, row: int, column: int = 0) -> tuple[int, int]:
        return self.given.place(row, column)


class Held(Source):
    """The rows of another source, held by the workers of a cluster as a dask array."""

    def __init__(self, source: Source, array: Any) -> None:
        self._array = array
        self.shape, self.dtype = source.shape, source.dtype
        self.name, self.chunk = source.name, source.chunk

    @property
    def collection(self) -> Any:
        return self._array

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        return bounds_of(self._array.chunks[0], row)

    def read(self, begin: int, end: int) -> Data:
        return np.asarray(self._array[begin:end])


def bounds_of(sizes: Sequence[int], row: int) -> tuple[int, int, int] | None:
    """Number, first row and end of the chunk of a row, where chunks have these sizes."""
    ends = np.cumsum(sizes)
    k = int(np.searchsorted(ends, row, side="right"))
    return None if k == len(sizes) else (k, int(ends[k] - sizes[k]), int(ends[k]))


def source_of(data: object) -> Source | None:
    """The data where they are by reference, else None."""
    # An abstract class takes a microsecond to say that an array is none of it.
    is_plain = data is None or type(data) is np.ndarray
    return data if not is_plain and isinstance(data, Source) else None


def whole_of(data: object) -> Source | None:
    """The source that this is, or is a part of; None for what is none."""
    return located(data, 0)[0]


def located(data: object, row: int) -> tuple[Source | None, int]:
    """The source that this is, or is a part of, and which of its rows `row` is."""
    while isinstance(data, Part):
        row += data.first_row
        data = data.whole
    return source_of(data), row


class Part(Source):
    """Consecutive rows and columns of a source."""

    def __init__(self, whole: Source, rows: range, columns: range) -> None:
        self.whole, self._rows, self._columns = whole, rows, columns
        self.shape = (len(rows), len(columns))
        self.dtype, self.name, self.chunk = whole.dtype, whole.name, whole.chunk
        self.readers = whole.readers

    @property
    def first_row(self) -> int:
        """Where it begins in the whole."""
        return self._rows.start

    @property
    def collection(self) -> Any:
        held = self.whole.collection
        if held is None:
            return None
        rows, columns = self._rows, self._columns
        return held[rows.start : rows.stop, columns.start : columns.stop]

    def look(self) -> None:
        self.whole.look()

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        return self.whole.bounds(self._rows.start + row)

    def place(self, row: int, column: int = 0) -> tuple[int, int]:
        return self.whole.place(self._rows.start + row, self._columns.start + column)

    def read(self, begin: int, end: int) -> Data:
        first = self._rows.start
        rows = self.whole.rows(first + begin, first + end)
        return rows[:, self._columns.start : self._columns.stop]
