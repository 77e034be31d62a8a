"""Which worker sums which rows of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.executor.chunks import STRIP
from pyspec.executor.cluster.worker import FilePlan, Piece
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.source import SourceExecutor


def ranges(begin: int, end: int, n: int) -> list[tuple[int, int]]:
    """Rows begin to end - 1 in up to `n` parts of about one size, which begin at multiples of
    :data:`STRIP`."""
    inner = (begin + (end - begin) * k / n for k in range(1, n))
    cuts = [begin, *(round(cut / STRIP) * STRIP for cut in inner), end]
    cuts = sorted({min(max(cut, begin), end) for cut in cuts})
    return list(pairwise(cuts))


def without_data(executor: CompiledExecutor) -> FilePlan:
    """A file as it goes to each worker."""
    measurement = replace(executor.measurement, data=None, weight=None, keep=None)
    lines = (_line(executor.weight), _line(executor.keep))
    return FilePlan(executor.plan, executor.packed, measurement, *lines)


def _line(array: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    """An array that is the same along an axis, once; None for others."""
    if array is None or 0 not in array.strides:
        return None
    return np.array(array[:1] if array.strides[0] == 0 else array[:, :1])


def pieces(executor: CompiledExecutor, n: int) -> Iterator[Piece]:
    """The rows of the window in up to `n` pieces: rows in memory, or a source that the worker
    opens."""
    own = executor.weight, executor.keep
    scattered = [a if _line(a) is None else None for a in own]
    data: Any = executor.measurement.data
    if isinstance(executor, SourceExecutor):
        data = executor.source
    for begin, end in ranges(executor.window.row_begin, executor.window.row_end, n):
        rows = slice(begin, end)
        weight, keep = (None if a is None else a[rows] for a in scattered)
        held = data if isinstance(executor, SourceExecutor) else np.asarray(data[rows])
        yield Piece(begin, end, held, weight, keep)
