"""Residual arrays that are used again once nobody holds them."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class BufferPool:
    """Hands out arrays of one size; an array comes again when all views of it are gone.

    MINPACK copies every residual but the first, which it keeps and writes into. Whether an
    array is still held is read from its reference count, so that no optimizer can be
    surprised.
    """

    LIMIT = 4

    def __init__(self, size: int) -> None:
        self.size = size
        self._arrays: list[Array] = [np.empty(size)]
        # What the count is for an array that only the pool holds, as `take` sees it.
        self._idle = self._count(0)

    def _count(self, index: int) -> int:
        return sys.getrefcount(self._arrays[index])

    def take(self) -> Array:
        """An array of `size` doubles, contents undefined."""
        for index in range(len(self._arrays)):
            if self._count(index) == self._idle:
                return self._arrays[index]
        array = np.empty(self.size)
        if len(self._arrays) < self.LIMIT:
            self._arrays.append(array)
        return array
