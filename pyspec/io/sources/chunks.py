"""Rows of compressed chunks, decoded without the library of their store.

The library holds a lock, or the interpreter, while it decodes; nothing else runs meanwhile.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import h5py
    import numcodecs

#: A chunk's place in the grid of chunks → its bytes, decoded.
Decode = Callable[[tuple[int, int]], bytes | npt.NDArray[np.uint8]]

#: Filters of HDF5, by their number in its file format.
_DEFLATE, _SHUFFLE = 1, 2


@dataclass(frozen=True)
class ChunkReader:
    """Rows of an array (n_time, n_energy) of chunks (rows, columns) of one type.

    Raises for chunks that it cannot read, such as one never written. The library of the store
    then reads the rows, or raises its own error.
    """

    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    dtype: np.dtype[np.generic]
    decode: Decode

    def read(self, begin: int, end: int) -> npt.NDArray[np.generic]:
        """Rows from begin to end - 1."""
        rows, columns = self.chunk
        values = np.empty((end - begin, self.shape[1]), self.dtype)
        across = range(-(-self.shape[1] // columns))
        for i, j in product(range(begin // rows, -(-end // rows)), across):
            chunk = np.frombuffer(self.decode((i, j)), self.dtype).reshape(self.chunk)
            first, last = max(begin, i * rows), min(end, (i + 1) * rows)
            place = values[first - begin : last - begin, j * columns : (j + 1) * columns]
            place[...] = chunk[first - i * rows : last - i * rows, : place.shape[1]]
        return values


def hdf5_reader(dataset: h5py.Dataset) -> ChunkReader | None:
    """Of a dataset that is compressed by gzip, shuffled or not; None for any other."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(k)[0] for k in range(plist.get_nfilters())]
    if filters not in ([_DEFLATE], [_SHUFFLE, _DEFLATE]) or dataset.dtype.kind not in "fiu":
        return None
    chunk, dtype = dataset.chunks, dataset.dtype
    size = chunk[0] * chunk[1] * dtype.itemsize if dataset.ndim == 2 else 0

    def decode(place: tuple[int, int]) -> bytes | npt.NDArray[np.uint8]:
        left_out, text = dataset.id.read_direct_chunk(tuple(np.multiply(place, chunk)))
        if left_out:
            raise ValueError("a filter was left out")
        plain = zlib.decompress(text, bufsize=size)
        if filters[0] == _DEFLATE:
            return plain
        by_byte = np.frombuffer(plain, np.uint8).reshape(dtype.itemsize, -1)
        return np.ascontiguousarray(by_byte.T)

    return ChunkReader(dataset.shape, chunk, dtype, decode) if size else None


def zarr_reader(array: Any) -> ChunkReader | None:
    """Of an array of zarr in local files that one codec compresses, zstd, gzip or Blosc; None for
    any other."""
    try:
        codec = _zarr_codec(array)
        root = Path(array.store.root) / array.path
        key_of, chunk, dtype = array.metadata.encode_chunk_key, array.chunks, array.dtype
    except (AttributeError, ImportError, TypeError):  # another version of zarr, or another store
        return None
    if codec is None or len(array.shape) != 2 or dtype.kind not in "fiu":
        return None
    return ChunkReader(
        array.shape,
        chunk,
        dtype,
        lambda place: codec.decode((root / key_of(place)).read_bytes()),
    )


def metadata_path(array: Any) -> Path:
    """The file that says the shape of an array of zarr. Raises :class:`AttributeError` for one that
    is not in local files."""
    name = {2: ".zarray", 3: "zarr.json"}[array.metadata.zarr_format]
    root: Path = Path(array.store.root) / array.path
    return root / name


def _zarr_codec(array: Any) -> numcodecs.abc.Codec | None:
    """What decodes the bytes of a chunk, None where that is not all there is to do."""
    import numcodecs

    metadata = array.metadata
    if metadata.zarr_format == 2:
        plain = metadata.order == "C" and not metadata.filters
        return metadata.compressor if plain and metadata.compressor is not None else None
    decoders = {"zstd": numcodecs.Zstd, "gzip": numcodecs.GZip, "blosc": numcodecs.Blosc}
    codecs = [codec.to_dict() for codec in metadata.codecs]
    names = [codec["name"] for codec in codecs]
    if len(names) != 2 or names[0] != "bytes" or names[1] not in decoders:
        return None
    endian = codecs[0].get("configuration", {}).get("endian", "little")
    if endian != "little" or metadata.chunk_grid.to_dict()["name"] != "regular":
        return None
    return decoders[names[1]]()
