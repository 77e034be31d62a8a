"""One pass over data by reference for all that a fit needs beside sums; in this process or several,
with the same bits."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.model.data.checksum import Data, checksums
from pyspec.model.data.lazy_weights import Beside, Weights, seen_rows, veiled
from pyspec.model.data.source import Seen, Source, source_of, whole_of

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: What a measurement has beside its data.
BESIDE = ("weight", "keep")

#: Joins nodes (k, n) of a tree with their right neighbours.
Join = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Survey:
    """What a fit needs of all data beside sums: found in one pass.

    Attributes
    ----------
    square : chi² of a model that is 0
    n_points, mean, scatter : of the points that count; their squared distances from the mean
    means : (n_columns,) their mean spectrum, NaN where there is none
    low, high : smallest and largest value that counts
    is_whole : whether all values that count are whole numbers
    checksum : CRC-32 of the checksums of the rows, in their order
    """

    square: float
    n_points: int
    mean: float
    scatter: float
    means: Array
    low: float
    high: float
    is_whole: bool
    checksum: int


@dataclass(frozen=True)
class Rules:
    """Which points count, and how much.

    Attributes
    ----------
    columns : of the window
    begin, end : rows that these rules are of
    weight, keep : of these rows, or the same along an axis, as of a Measurement
    loss_scale : that of counts, None for squares
    counted : False where weights by reference are 0, None where they are not by reference
    """

    columns: slice
    begin: int
    end: int
    weight: Data | None = None
    keep: Flags | None = None
    loss_scale: float | None = None
    counted: Flags | None = None

    def beside(self) -> dict[str, Seen]:
        """Checksums of weights and mask as they were read, where these are by reference."""
        wholes = {name: whole_of(getattr(self, name)) for name in BESIDE}
        return {name: whole.seen for name, whole in wholes.items() if isinstance(whole, Beside)}

    def within(self, begin: int, end: int) -> Rules:
        """The same for some of the rows."""
        rows = slice(begin - self.begin, end - self.begin)
        weight = _of_rows(self.weight, rows, self.end - self.begin)
        keep = _of_rows(self.keep, rows, self.end - self.begin)
        return Rules(self.columns, begin, end, weight, keep, self.loss_scale)

    def at_hand(self) -> Rules:
        """The same with arrays, where weights or mask are by reference.

        Raises :class:`DataError` for points that count and have no weight, and for rows that have
        changed.
        """
        whole = whole_of(self.weight)
        if whole is None and source_of(self.keep) is None:
            return self
        keep: Flags | None = seen_rows(self.keep, 0, self.end - self.begin)
        weight: Data = seen_rows(self.weight, 0, self.end - self.begin)
        if isinstance(whole, Weights):
            kept = None if keep is None else keep[..., self.columns]
            whole.refuse(self.begin, weight[:, self.columns], kept, self.columns.start or 0)
        counted = weight > 0 if isinstance(whole, Weights) else None
        return replace(self, weight=weight, keep=keep, counted=counted)


def _of_rows(array: Data | None, rows: slice, n_rows: int) -> Data | None:
    if array is None or array.ndim < 2:
        return array
    if source_of(array) is None and array.strides[0] == 0:
        return array[:1]
    return array[rows] if len(array) == n_rows else array


class RowTree:
    """Sums values of rows in a binary tree over the row number. The bits of the total do not depend
    on blocks, or on who joins them."""

    def __init__(self, join: Join) -> None:
        self._join = join
        self._nodes: dict[tuple[int, int], Array] = {}

    def add(self, first: int, rows: Array) -> None:
        """Takes the values (n_rows, n) of rows from `first` on."""
        level = 0
        while len(rows):
            if first & 1:
                self._put(level, first, rows[:1].copy())
                rows, first = rows[1:], first + 1
            if len(rows) & 1:
                self._put(level, first + len(rows) - 1, rows[-1:].copy())
                rows = rows[:-1]
            rows = self._join(rows[0::2], rows[1::2])
            level, first = level + 1, first // 2

    def _put(self, level: int, index: int, node: Array) -> None:
        while (beside := self._nodes.pop((level, index ^ 1), None)) is not None:
            node = self._join(beside, node) if index & 1 else self._join(node, beside)
            level, index = level + 1, index // 2
        self._nodes[level, index] = node

    def merge(self, other: RowTree) -> None:
        """Takes the rows of another tree."""
        for (level, index), node in other._nodes.items():
            self._put(level, index, node)

    def total(self) -> Array:
        """(n,) of all rows."""
        in_order = sorted(self._nodes.items(), key=lambda entry: entry[0][1] << entry[0][0])
        result: Array = reduce(self._join, (node for _, node in in_order))[0]
        return result


def _spread(left: Array, right: Array) -> Array:
    """Joins (chi², number, mean, squared distances from it).

    Source: T. F. Chan, G. H. Golub & R. J. LeVeque, The American Statistician 37, 242 (1983).
    """
    both = left + right
    share = np.divide(right[:, 1], both[:, 1], out=np.zeros(len(both)), where=both[:, 1] > 0)
    step = right[:, 2] - left[:, 2]
    both[:, 2] = np.where(left[:, 1] > 0, left[:, 2] + step * share, right[:, 2])
    both[:, 3] += np.where(left[:, 1] > 0, step**2 * left[:, 1] * share, 0.0)
    return both


@dataclass
class Surveyed:
    """What is known of some rows.

    Attributes
    ----------
    seen : checksums of the rows as they were read
    beside : those of weights and mask by reference
    """

    seen: Seen = field(default_factory=Seen)
    beside: dict[str, Seen] = field(default_factory=dict)
    points: RowTree = field(default_factory=lambda: RowTree(_spread))
    columns: RowTree = field(default_factory=lambda: RowTree(np.add))
    low: float = np.inf
    high: float = -np.inf
    is_whole: bool = True
    is_masked: bool = False
    row_checksums: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    def add(self, source: Source, first: int, block: Data, rules: Rules) -> None:
        """Takes rows from `first` on, of which `rules` are.

        Raises :class:`DataError` where a value that counts is NaN or infinite.
        """
        plain = np.ascontiguousarray(block)
        self.row_checksums[first] = np.array(checksums(plain), "<u4")
        values = np.ascontiguousarray(plain[:, rules.columns], np.float64)
        shape = values.shape
        kept: Flags | None = None
        if rules.keep is not None:
            kept = np.broadcast_to(rules.keep, block.shape)[:, rules.columns]
        _refuse_nonfinite(source, first, rules.columns.start or 0, values, kept)
        if rules.counted is not None:
            own = rules.counted[:, rules.columns]
            kept = own if kept is None else kept & own
        counts: Flags | float = 1.0
        if kept is not None:
            values, counts = np.where(kept, values, 0.0), kept
        where: Flags | bool = True if kept is None else kept
        self.low = min(self.low, float(np.min(values, where=where, initial=np.inf)))
        self.high = max(self.high, float(np.max(values, where=where, initial=-np.inf)))
        self.is_whole = self.is_whole and bool((values == np.round(values)).all())
        self.is_masked = kept is not None
        self.columns.add(first, values if kept is None else np.concatenate([values, kept], axis=1))
        rows = np.empty((len(values), 4))
        rows[:, 1] = shape[1] if kept is None else kept.sum(axis=1)
        rows[:, 2] = np.divide(values.sum(axis=1), np.maximum(rows[:, 1], 1))
        off = (values - rows[:, 2:3]) * counts
        rows[:, 3] = np.einsum("ij,ij->i", off, off)
        if rules.loss_scale is not None:
            values = np.sqrt(2.0 * rules.loss_scale * np.maximum(values, 0.0))
        if rules.weight is not None:
            values = values * np.broadcast_to(rules.weight, block.shape)[:, rules.columns]
        rows[:, 0] = np.einsum("ij,ij->i", values, values)
        self.points.add(first, rows)

    def merge(self, other: Surveyed) -> None:
        """Takes what is known of other rows."""
        self.seen.update(other.seen)
        for name, seen in other.beside.items():
            self.beside.setdefault(name, Seen()).update(seen)
        self.points.merge(other.points)
        self.columns.merge(other.columns)
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.is_whole = self.is_whole and other.is_whole
        self.is_masked = self.is_masked or other.is_masked
        self.row_checksums.update(other.row_checksums)

    def survey(self) -> Survey:
        """What these rows are together."""
        square, n_points, mean, scatter = self.points.total().tolist()
        total = self.columns.total()
        sums, counts = np.split(total, 2) if self.is_masked else (total, n_points / total.size)
        with np.errstate(invalid="ignore"):
            means = sums / counts
        rows = [self.row_checksums[first] for first in sorted(self.row_checksums)]
        crc = zlib.crc32(np.concatenate(rows).data)
        facts = square, int(n_points), mean, scatter
        return Survey(*facts, means, self.low, self.high, self.is_whole, crc)


def survey_rows(source: Source, rules: Rules, seen: Seen) -> Surveyed:
    """Reads the rows of `rules` once. Raises :class:`DataError`."""
    surveyed = Surveyed(seen)
    source = veiled(source, rules.keep, rules.begin)
    for first, block in source.blocks(rules.begin, rules.end, seen):
        surveyed.add(source, first, block, rules.within(first, first + len(block)).at_hand())
    surveyed.beside = rules.beside()
    return surveyed


def joined(parts: Iterable[Surveyed]) -> Surveyed:
    """What is known of the rows of all parts."""
    surveyed = Surveyed()
    for part in parts:
        surveyed.merge(part)
    return surveyed


def _refuse_nonfinite(
    source: Source, first: int, column: int, values: Array, kept: Flags | None
) -> None:
    bad = ~np.isfinite(values)
    if kept is not None:
        bad &= kept
    if not bad.any():
        return
    row, k = (int(index) for index in np.argwhere(bad)[0])
    place = source.place(first + row, column + k)
    chunk = source.bounds(first + row)
    where = "" if chunk is None else f"chunk {chunk[0]}, "
    others = int(bad.sum()) - 1
    end = source.place(first + len(values) - 1)[0]
    more = f", and {others} more up to row {end}" if others else ""
    raise DataError(
        f"{source.name}: {where}row {place[0]}, column {place[1]} is NaN or infinite{more}; mask "
        "such points (mask=True there) or repair them"
    )
