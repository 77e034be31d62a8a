"""A file for HDF5 to write to that never fails, and says afterwards whether it did.

HDF5 cannot close a file whose last writes failed: the file stays open in the library. A later file
with the same number is then taken for it. So HDF5 is told that every write succeeded. The first
error is kept, and raised after the file was closed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import h5py
    from _typeshed import ReadableBuffer, WriteableBuffer


class SteadyFile(io.FileIO):
    """A binary file, open for reading and writing, that keeps the first error of writing.

    Attributes
    ----------
    error : the first OSError of a write, or None
    """

    def __init__(self, path: Path, new: bool) -> None:
        super().__init__(path, "w+" if new else "r+")
        self.error: OSError | None = None

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Reads as any file does; gives zero bytes where a write has failed."""
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and (size := super().readinto(view[done:])):
            done += size
        if self.error is not None:
            view[done:] = bytes(len(view) - done)
            return len(view)
        return done

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes all of `data`, or keeps the error."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while self.error is None and done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self.error = error
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        """As of any file, or keeps the error."""
        try:
            if self.error is None:
                return super().truncate(size)
        except OSError as error:
            self.error = error
        return size or 0


@contextmanager
def written(h5py: ModuleType, path: Path, new: bool, **options: object) -> Iterator[h5py.File]:
    """An HDF5 file, made (`new`) or added to; afterwards every write has succeeded.

    Raises the first OSError of a write. Options as of ``h5py.File``.
    """
    with SteadyFile(path, new) as stream:
        try:
            with h5py.File(stream, "w" if new else "r+", **options) as file:
                yield file
        finally:
            if stream.error is not None:
                raise stream.error
