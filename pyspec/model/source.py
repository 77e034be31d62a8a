"""Data by reference: rows that stay where they are until a sum asks for them."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import fsum, prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from pyspec.errors import DataError

Array = npt.NDArray[np.float64]

#: Bytes of the rows that are in memory at a time, twice: the next block is read meanwhile.
BLOCK = 16 * 2**20

#: Bytes up to which data by reference are loaded where something needs all of them at once.
LOADED = 256 * 2**20

#: Types that sums take as they are.
KEPT_TYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.uint16))


class Source(NDArrayOperatorsMixin, ABC):
    """Measured values (n_time, n_energy) that are read by rows.

    It stands where an array of data stands: ``shape``, ``dtype`` and slices along both axes, which
    give a source again. What needs an array loads it, ``np.asarray(source)``, up to 256 MiB; more
    is refused, for it would not fit beside what the fit needs.

    Attributes
    ----------
    shape, dtype : of the stored values
    chunk : rows that are stored together, so that blocks are whole chunks
    name : how errors call it
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunk: int
    name: str

    @property
    def collection(self) -> Any:
        """The dask array that holds the rows; None where they are read from elsewhere."""
        return None

    @abstractmethod
    def read(self, begin: int, end: int) -> npt.NDArray[Any]:
        """Rows from begin to end - 1, (end - begin, n_energy)."""

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

    def rows(self, begin: int, end: int) -> npt.NDArray[Any]:
        """Rows as sums take them: float64, float32 or uint16 as stored, else float64.

        Raises :class:`DataError` with the rows where they cannot be read.
        """
        where = f"{self.name}: rows {begin} to {end - 1}"
        try:
            found = np.asarray(self.read(begin, end))
        except DataError:
            raise
        except Exception as error:  # whatever the library that reads them raises
            reason = str(error).split("\n")[0][:300] or type(error).__name__
            raise DataError(f"{where} cannot be read: {reason}") from error
        expected = (end - begin, *self.shape[1:])
        if found.shape != expected:
            raise DataError(
                f"{where} have shape {found.shape}, not {expected}: the store has changed since "
                "it was opened; open it again"
            )
        if found.dtype in KEPT_TYPES and found.dtype.isnative:
            return found
        return found.astype(np.float64)

    def blocks(self, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, Any]]:
        """(first row, rows) from begin on, about 16 MiB each; the next is read meanwhile."""
        end = len(self) if end is None else end
        cuts = [begin, *range(begin - begin % self.step + self.step, end, self.step), end]
        with ThreadPoolExecutor(1, "pyspec-reader") as reader:
            ahead = reader.submit(self.rows, cuts[0], cuts[1])
            for k in range(len(cuts) - 1):
                block = ahead.result()
                if k + 2 < len(cuts):
                    ahead = reader.submit(self.rows, cuts[k + 1], cuts[k + 2])
                yield cuts[k], block

    @property
    def step(self) -> int:
        """Rows of a block: whole chunks."""
        row = max(prod(self.shape[1:]), 1) * 8
        return max(BLOCK // (row * self.chunk), 1) * self.chunk

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            row = range(len(self))[key]
            return self.rows(row, row + 1)[0]
        rows, columns = _slices(key)
        if rows is None:
            return np.asarray(self)[key]
        return Part(self, range(len(self))[rows], range(self.shape[1])[columns])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.nbytes > LOADED:
            raise DataError(
                f"{self.name}: {self.nbytes / 1e6:.0f} MB are not loaded at once; take a part, "
                "data[1000:2000], or a window: set_fit_limits(time_limits=...)"
            )
        found = np.concatenate([block for _, block in self.blocks()])
        return found if dtype is None else found.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(one) if isinstance(one, Source) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.dtype} {self.shape}, by reference>"


class Held(Source):
    """The rows of another source, held by the workers of a cluster as a dask array."""

    def __init__(self, source: Source, array: Any) -> None:
        self._array = array
        self.shape, self.dtype = source.shape, source.dtype
        self.name, self.chunk = source.name, source.chunk

    @property
    def collection(self) -> Any:
        return self._array

    def read(self, begin: int, end: int) -> npt.NDArray[Any]:
        return np.asarray(self._array[begin:end])


def source_of(data: Any) -> Source | None:
    """The data where they are by reference, else None."""
    # An abstract class takes a microsecond to say that an array is none of it.
    is_source = type(data) is not np.ndarray and isinstance(data, Source)
    return data if is_source else None


class Part(Source):
    """Consecutive rows and columns of a source."""

    def __init__(self, whole: Source, rows: range, columns: range) -> None:
        self.whole, self._rows, self._columns = whole, rows, columns
        self.shape = (len(rows), len(columns))
        self.dtype, self.name, self.chunk = whole.dtype, whole.name, whole.chunk

    @property
    def collection(self) -> Any:
        held = self.whole.collection
        if held is None:
            return None
        rows, columns = self._rows, self._columns
        return held[rows.start : rows.stop, columns.start : columns.stop]

    def read(self, begin: int, end: int) -> npt.NDArray[Any]:
        first = self._rows.start
        found = self.whole.rows(first + begin, first + end)
        return found[:, self._columns.start : self._columns.stop]


def _slices(key: Any) -> tuple[slice | None, slice]:
    """Rows and columns of a key of plain slices; None where it is something else."""
    given = key if isinstance(key, tuple) else (key,)
    if len(given) == 2 and given[0] is Ellipsis:
        given = (slice(None), given[1])
    plain = all(isinstance(one, slice) and one.step in (None, 1) for one in given)
    if not plain or len(given) > 2:
        return None, slice(None)
    return given[0], given[1] if len(given) == 2 else slice(None)


@dataclass(frozen=True)
class Survey:
    """What a fit needs of all data beside sums: found in one pass.

    Attributes
    ----------
    square : chi² of a model that is 0
    n_points, mean, scatter : of the points that count; their squared distances from the mean
    means : (n_columns,) their mean spectrum, NaN where there is none
    low : smallest value that counts
    is_whole : whether all values that count are whole numbers
    checksum : CRC-32 of the bytes of the rows
    """

    square: float
    n_points: int
    mean: float
    scatter: float
    means: Array
    low: float
    is_whole: bool
    checksum: int


def survey(
    source: Source,
    rows: tuple[int, int],
    columns: slice,
    weight: npt.NDArray[Any] | None,
    keep: npt.NDArray[np.bool_] | None,
    loss_scale: float | None,
) -> Survey:
    """Reads the rows of a window once. `weight` and `keep` have the shape of the source;
    `loss_scale` is that of counts, None for squares. Raises :class:`DataError` where a value that
    counts is NaN or infinite."""
    squares, low, whole, crc = [], np.inf, True, 0
    spread = Spread()
    counts, sums = (np.zeros(len(range(source.shape[1])[columns])) for _ in range(2))
    for first, block in source.blocks(*rows):
        crc = zlib.crc32(np.ascontiguousarray(block).data, crc)
        place = slice(first, first + len(block))
        values = np.asarray(block[:, columns], np.float64)
        kept = np.ones(values.shape, bool) if keep is None else keep[place, columns]
        _refuse_nonfinite(source, first, values, kept)
        values = np.where(kept, values, 0.0)
        spread.add(values[kept])
        counts += kept.sum(axis=0)
        sums += values.sum(axis=0)
        low = min(low, float(np.min(values, where=kept, initial=np.inf)))
        whole = whole and bool((values == np.round(values)).all())
        if loss_scale is not None:
            values = np.sqrt(2.0 * loss_scale * np.maximum(values, 0.0))
        if weight is not None:
            values = values * weight[place, columns]
        squares += np.einsum("ij,ij->i", values, values).tolist()
    with np.errstate(invalid="ignore"):
        facts = spread.n, spread.mean, spread.scatter, sums / counts
    return Survey(fsum(squares), *facts, low, whole, crc)


class Spread:
    """Number, mean and squared distances from it, of values that come in parts.

    Source: T. F. Chan, G. H. Golub & R. J. LeVeque, The American Statistician 37, 242 (1983).
    """

    def __init__(self) -> None:
        self.n, self.mean, self.scatter = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Adds a part."""
        if not values.size:
            return
        n, mean = self.n + values.size, float(values.mean())
        step = mean - self.mean
        self.scatter += float(((values - mean) ** 2).sum())
        self.scatter += step**2 * self.n * values.size / n
        self.mean += step * values.size / n
        self.n = n


def _refuse_nonfinite(
    source: Source, first: int, values: Array, kept: npt.NDArray[np.bool_]
) -> None:
    bad = ~np.isfinite(values) & kept
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise DataError(
            f"{source.name}: {int(bad.sum())} point(s) of the block of rows {first} to "
            f"{first + len(values) - 1} are NaN or infinite, the first in row {first + row}, "
            f"column {column} of the window; mask them (mask=True there) or repair them"
        )
