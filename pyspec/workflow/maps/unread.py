"""The values of a block that its task reads by itself."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from pyspec.io.optional import need
from pyspec.model.data.checksum import Data

#: Tasks of dask for each chunk, up to which a block is read within its own task. Where there are
#: more, values are made of other blocks, too, and the engine makes those once for all.
EACH = 4


class Lazy(Protocol):
    """An array of dask."""

    def __array__(self, dtype: npt.DTypeLike | None = None) -> Data: ...
    def compute(self, *, scheduler: str, optimize_graph: bool) -> Data: ...


class Unread:
    """An array of dask that whoever needs its values computes, chunk by chunk: `np.asarray`.

    A chunk as a task of dask costs some ten milliseconds, and another worker than that of the fit
    may read it.
    """

    def __init__(self, array: Lazy) -> None:
        self._array = array

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Data:
        array = self._array.compute(scheduler="synchronous", optimize_graph=False)
        return np.asarray(array, dtype)


def unread(array: Data | Lazy) -> Data | Lazy | Unread:
    """The values of a block for its task. Arrays of dask stay unread, unless many others go into
    them."""
    dask = need("dask", "a map", "zarr")
    if not dask.is_dask_collection(array):
        return array
    (plain,) = dask.optimize(array)
    n_tasks = len(plain.__dask_graph__())
    return array if n_tasks > EACH * (plain.npartitions + 1) else Unread(plain)
