"""What belongs to data by reference point by point, and is read with them: weights and masks."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.model.data.checksum import Data
from pyspec.model.data.source import (
    KEPT_TYPES,
    Derived,
    Held,
    Seen,
    Source,
    located,
    source_of,
    whole_of,
)


class Beside(Derived):
    """Weights or a mask, made of the values of a source as it was handed over.

    Attributes
    ----------
    seen : checksums of its values as they were read first
    """

    def __init__(self, source: Source, dtype: type) -> None:
        super().__init__(source)
        self.seen, self.dtype = Seen(), np.dtype(dtype)

    def of_rows(self, begin: int, end: int) -> Any:
        """Rows begin to end - 1 for another process, with their checksums alone."""
        own = copy(self)
        own.seen = self.seen.within(begin, end)
        return own[begin:end]


class Weights(Beside):
    """1 / σ of each point, from a source of σ or of weights. It is -1 where σ is not usable;
    :meth:`refuse` finds such points if they count."""

    def __init__(self, source: Source, are_sigma: bool = True) -> None:
        super().__init__(source, np.float64)
        self.are_sigma = are_sigma

    def read(self, begin: int, end: int) -> npt.NDArray[np.float64]:
        values = np.asarray(self.given.rows(begin, end), np.float64)
        good = np.isfinite(values) & ((values > 0) if self.are_sigma else (values >= 0))
        if not self.are_sigma:
            return np.where(good, values, -1.0)
        weight: npt.NDArray[np.float64] = np.full(values.shape, -1.0)
        return np.divide(1.0, values, out=weight, where=good)

    def refuse(
        self, first: int, weight: Data, kept: npt.NDArray[np.bool_] | None, column: int
    ) -> None:
        """Raises :class:`DataError` where a point that counts has no weight. `weight` and `kept`
        are of rows from `first`, columns from `column` on."""
        bad = (weight < 0) if kept is None else (weight < 0) & kept
        if not bad.any():
            return
        row, k = (int(index) for index in np.argwhere(bad)[0])
        at = self.place(first + row, column + k)
        rule = "σ must be finite and above 0" if self.are_sigma else "weights must be 0 or more"
        raise DataError(
            f"{self.name}: {rule}, and is not in {self.where(first + row, first + row + 1)}, "
            f"column {at[1]}; mask points without an error"
        )


class Kept(Beside):
    """False where a point is masked, from a source that is True, or not 0, there.

    `columns` (n_energy,) is False where all points of a column are left out besides.
    """

    def __init__(self, source: Source, columns: npt.NDArray[np.bool_] | None = None) -> None:
        super().__init__(source, np.bool_)
        self.columns = columns

    def read(self, begin: int, end: int) -> npt.NDArray[np.bool_]:
        kept: npt.NDArray[np.bool_] = np.equal(self.given.rows(begin, end), 0)
        return kept if self.columns is None else kept & self.columns


def check_mask(values: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """A mask of data of this shape: True leaves a point out. (n_energy,) masks whole columns,
    (n_time, 1) whole rows.

    Raises :class:`DataError` for what is not boolean, or does not match.
    """
    mask = np.asarray(values)
    if mask.dtype.kind != "b":
        raise DataError(
            f"mask has type {mask.dtype}; give booleans, True where a point is left out, such as "
            "data > limit"
        )
    of_rows = (*shape[:-1], 1) if len(shape) == 2 else shape
    if mask.shape not in (shape, shape[-1:], of_rows, ()):
        rows = "" if of_rows == shape else ", or each row, mask[:, None]"
        raise DataError(
            f"mask has shape {mask.shape}, the data {shape}; give each point its True or False, "
            f"or each column{rows}"
        )
    return np.array(np.broadcast_to(mask, shape))


def both_kept(keep: npt.ArrayLike | None, left: npt.NDArray[np.bool_]) -> Data:
    """Where a point counts by both; `keep` itself where it is no array of booleans."""
    kept = left if keep is None else np.asarray(keep)
    if kept.dtype.kind != "b":
        return kept  # refused with what else is no array of booleans
    if kept.shape != left.shape:
        raise DataError(
            f"keep has shape {kept.shape}, with the mask {left.shape}; give each point its True "
            "or False"
        )
    return kept & left


def taken_beside(data: object, weight: Any, keep: Any) -> tuple[Any, Any]:
    """Weights and mask of a measurement, some of them by reference; their values are looked at with
    the data.

    Raises :class:`DataError` where the data are in memory.
    """
    if source_of(data) is None:
        raise DataError(
            "weights and masks by reference belong to data by reference; give them as arrays: "
            "np.asarray(...)"
        )
    if source_of(weight) is not None and not isinstance(whole_of(weight), Weights):
        weight = Weights(weight, are_sigma=False)
    if source_of(keep) is not None and not isinstance(whole_of(keep), Kept):
        raise DataError("keep by reference is not known; give mask=, which is the opposite")
    return weight, keep


def rows_of(array: Any, begin: int, end: int) -> Any:
    """Rows of an array, or of a source; None of None."""
    if array is None:
        return None
    source = source_of(array)
    return array[begin:end] if source is None else source.rows(begin, end)


def seen_rows(array: Any, begin: int, end: int) -> Any:
    """The same; of a source beside the data those that were read first.

    Raises :class:`DataError`, which names the source, where they have changed since, or it grew.
    """
    whole, first = located(array, begin)
    if not isinstance(whole, Beside):
        return rows_of(array, begin, end)
    whole.look()
    rows = rows_of(array, begin, end)
    if rows.shape[1:] == whole.shape[1:]:
        whole.seen.check(whole, first, rows)
    return rows


class Veiled(Derived):
    """Data whose fully masked rows are 0. Chunks that hold only such rows are not read.

    Parameters
    ----------
    given : the data
    keep : False where a point is masked, of the rows from `first` on
    """

    def __init__(self, source: Source, keep: npt.NDArray[np.bool_] | None, first: int) -> None:
        super().__init__(source)
        self._keep, self._first = keep, first

    @property
    def collection(self) -> Any:
        return self.given.collection

    @property
    def step(self) -> int:
        return self.given.step

    def read(self, begin: int, end: int) -> Data:
        keep = np.asarray(rows_of(self._keep, begin - self._first, end - self._first))
        counts: npt.NDArray[np.bool_] = np.any(keep, axis=1)
        if counts.all():
            return self.given.rows(begin, end)
        kept_type = self.dtype in KEPT_TYPES and self.dtype.isnative
        block = np.zeros((end - begin, self.shape[1]), self.dtype if kept_type else np.float64)
        wanted: list[tuple[int, int]] = []  # chunks, those side by side as one
        for first, stop in self._chunks(begin, end):
            if counts[first - begin : stop - begin].any():
                if wanted and wanted[-1][1] == first:
                    first = wanted.pop()[0]
                wanted.append((first, stop))
        for first, stop in wanted:
            own = counts[first - begin : stop - begin]
            block[first - begin : stop - begin][own] = self.given.rows(first, stop)[own]
        return block

    def _chunks(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Chunks, cut to these rows; single rows where the source has no chunks."""
        chunks = []
        while begin < end:
            chunk = self.bounds(begin)
            # The row number within what is read, which may be a part of what is stored.
            stop = begin + 1 if chunk is None else begin - self.place(begin)[0] + chunk[2]
            chunks.append((begin, min(max(stop, begin + 1), end)))
            begin = chunks[-1][1]
        return chunks


def veiled(source: Source, keep: npt.NDArray[np.bool_] | None, first: int = 0) -> Source:
    """The source itself, or with a mask of rows a source that does not read the rows that `keep`
    leaves out. `keep` is for its rows from `first` on. Arrays that workers hold stay as they are:
    the workers veil what they have of them."""
    if keep is None or isinstance(source, (Veiled, Held)):
        return source
    if source_of(keep) is None and (keep.ndim < 2 or keep.strides[0] == 0):
        return source  # the same columns of all rows
    return Veiled(source, keep, first)
