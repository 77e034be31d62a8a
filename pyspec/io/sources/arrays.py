"""Data by reference: HDF5, zarr, dask and memory-mapped arrays as sources."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from math import prod
from mmap import ALLOCATIONGRANULARITY, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.calls.outside import stack_outside
from pyspec.errors import DataError
from pyspec.io.sources.chunks import ChunkReader, hdf5_reader, metadata_path, zarr_reader
from pyspec.io.sources.zarr_folders import folders_of, library_of, refuse_missing, root_of
from pyspec.model.data.source import LOADED, READERS, Source, bounds_of

if TYPE_CHECKING:
    import h5py

MemoryMap = np.memmap[tuple[int, ...], np.dtype[np.generic]]

#: So many chunks of dask, of less than so many bytes each, are too small; bytes of good ones.
MANY, SMALL, GOOD = 256, 1 << 15, 1 << 22


class Mapped(NamedTuple):
    """How a memory-mapped array is opened again in another process."""

    path: str
    dtype: np.dtype[np.generic]
    mode: Literal["r"]
    offset: int
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @classmethod
    def of(cls, array: MemoryMap) -> Mapped | None:
        """None for a part of a file that was mapped, whose place in it is not known."""
        held: object = array.base
        if array.filename is None or not isinstance(held, mmap) or not array.flags.forc:
            return None
        skipped = array.ctypes.data - np.frombuffer(held, np.uint8).ctypes.data
        if skipped != array.offset % ALLOCATIONGRANULARITY:
            return None
        path = str(Path(array.filename).resolve())
        order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
        return cls(path, array.dtype, "r", array.offset, array.shape, order)

    @property
    def size(self) -> int:
        """Bytes of the file as it is now."""
        return os.stat(self.path).st_size

    def read(self, begin: int, end: int) -> npt.NDArray[np.generic]:
        """Rows from the file. Rows are missing if the file was cut off meanwhile; a mapped page
        without a file would end the process."""
        row = prod(self.shape[1:])
        skipped = self.offset + begin * row * self.dtype.itemsize
        values = np.fromfile(self.path, self.dtype, (end - begin) * row, offset=skipped)
        n_rows = values.size // max(row, 1)
        return values[: n_rows * row].reshape(n_rows, *self.shape[1:])

    def open(self, name: str) -> MemoryMap:
        """Raises :class:`DataError` where it cannot be."""
        try:
            return np.memmap(*self)
        except (OSError, ValueError) as error:
            raise DataError(f"{name} cannot be opened as {self.path}: {error}") from error


class ArraySource(Source):
    """An array that gives its rows by slices: zarr, dask, numpy.memmap."""

    #: Whether an array of dask is computed by the thread that asks for rows. Another process, which
    #: may be a worker, does so: its engine would wait for the very task that asks.
    _by_itself = False

    def __init__(self, array: Any, name: str, chunk: int, folders: tuple[Path, ...] = ()) -> None:
        self._array = array
        self.shape = tuple(int(size) for size in array.shape)
        self.dtype = np.dtype(array.dtype)
        self.name, self.chunk = name, chunk
        self._found, self._state = self.shape, (0, 0)
        self._folders = folders  # which must stay where they are, as long as rows are read
        self._mapped = Mapped.of(array) if isinstance(array, np.memmap) else None
        self._size = 0 if self._mapped is None else self._mapped.size
        # Changes of a private copy, mode "c", are not in the file.
        in_file = self._mapped is not None and self._mapped.order == "C" and array.mode != "c"
        self._file = self._mapped if in_file else None
        self._use_reader()

    def _use_reader(self) -> None:
        """Decodes the chunks of zarr here where that is possible."""
        self._reader = zarr_reader(self._array) if self._kind == "zarr" else None
        self.readers = 1 if self._reader is None else reader_count()

    @property
    def address(self) -> tuple[str, str, str] | None:
        """(kind, path, name within) of a store of zarr in files, or of an NPY file."""
        if self._kind == "zarr":
            root = root_of(self._array)
            is_local = root is not None and Path(str(root)).is_dir()
            return ("zarr", str(Path(str(root)).resolve()), self._array.path) if is_local else None
        if self._mapped is not None and self._mapped.path.endswith(".npy"):
            return "npy", self._mapped.path, ""
        return None

    @property
    def collection(self) -> Any:
        """The array, if it is one of dask."""
        return self._array if self._kind == "dask" else None

    @property
    def _kind(self) -> str:
        return library_of(self._array)

    def bounds(self, row: int) -> tuple[int, int, int] | None:
        if self._kind == "dask":
            return bounds_of(self._array.chunks[0], row)
        return super().bounds(row)

    def shape_now(self) -> tuple[int, ...]:
        """Of zarr as its metadata say now, of a mapped file by its size. Raises
        :class:`DataError` where a folder that is read from was moved away."""
        refuse_missing(self._folders)
        if self._mapped is not None:
            row = prod(self.shape[1:]) * self.dtype.itemsize
            rows = self.shape[0] + (self._mapped.size - self._size) // max(row, 1)
            return (rows, *self.shape[1:])
        if self._kind == "zarr":
            before = self._state
            try:
                state = os.stat(metadata_path(self._array))
                self._state = state.st_mtime_ns, state.st_ino
            except (AttributeError, OSError):  # no file: nobody knows whether they have changed
                before = (-1, -1)
            if before != self._state:
                import zarr

                array = zarr.open_array(store=self._array.store, path=self._array.path, mode="r")
                self._found = tuple(int(size) for size in array.shape)
        return self._found

    def __getstate__(self) -> dict[str, object]:
        state = {**self.__dict__, "_reader": None}
        return state if self._mapped is None else {**state, "_array": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if self._mapped is not None:
            self._array = self._mapped.open(self.name)
        self._use_reader()
        self._by_itself = self._kind == "dask" and not is_held(self._array)

    def read(self, begin: int, end: int) -> npt.NDArray[np.generic]:
        if self._file is not None:
            return self._file.read(begin, end)
        if self._by_itself:
            return np.asarray(self._array[begin:end].compute(scheduler="synchronous"))
        return _decoded(self._reader, self._array, begin, end)


class HDF5Source(Source):
    """A dataset of an HDF5 file, opened again by path where it is read first, after pickling, and
    where the file has changed. `swmr`: one that is written while it is read."""

    def __init__(self, path: Path, key: str, swmr: bool = False) -> None:
        self._path, self._key, self._swmr = Path(path).resolve(), key, swmr
        self._dataset: h5py.Dataset | None = None
        self._state: tuple[int, ...] = ()
        self._reader: ChunkReader | None = None
        opened = self._open()
        self.shape = tuple(int(size) for size in opened.shape)
        self.dtype = np.dtype(opened.dtype)
        self.name = f"{self._path.name}:{key}"
        self.chunk = int(opened.chunks[0]) if opened.chunks else 1
        self.readers = 1 if self._reader is None else reader_count()

    @property
    def address(self) -> tuple[str, str, str]:
        """(kind, path, name within)."""
        return "hdf5", str(self._path), self._key

    def _open(self) -> h5py.Dataset:
        import h5py

        if self._dataset is None:
            try:
                self._state = self._file_state()
                self._dataset = h5py.File(self._path, "r", swmr=self._swmr)[self._key]
                self._reader = hdf5_reader(self._dataset)
            except (OSError, KeyError) as error:
                raise DataError(
                    f"{self._path.name}:{self._key} cannot be opened: {error}"
                ) from error
        return self._dataset

    def _file_state(self) -> tuple[int, ...]:
        state = os.stat(self._path)
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns

    def shape_now(self) -> tuple[int, ...]:
        """The shape in the file as it is now."""
        dataset = self._open()
        if self._state != self._file_state():
            dataset.file.close()
            self._dataset = None
            dataset = self._open()
            dataset.id.refresh()  # for one who holds it open within this process, the library too
        return tuple(int(size) for size in dataset.shape)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_dataset": None, "_reader": None}

    def read(self, begin: int, end: int) -> npt.NDArray[np.generic]:
        dataset = self._open()
        return _decoded(self._reader, dataset, begin, end)


def reader_count() -> int:
    """Threads that decode chunks side by side: one for each core, a few at most."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, READERS)


def _decoded(
    reader: ChunkReader | None, stored: Any, begin: int, end: int
) -> npt.NDArray[np.generic]:
    """Rows of what is stored: decoded here, or by its library where that is not possible."""
    if reader is not None:
        with suppress(Exception):  # whatever it is: the library has the last word
            return reader.read(begin, end)
    return np.asarray(stored[begin:end])


def by_reference(data: object, *, rows: int | None = None) -> Source:
    """Data (n_time, n_energy) that stay where they are: a fit reads them block by block.

    A fit then needs memory for a few blocks of 4 MiB. It reads the data once for each evaluation
    and has the same bits as in memory. float64, float32 and uint16 are read as they are stored,
    other types become float64 block by block. The file stays open for reading.

    Parameters
    ----------
    data : h5py.Dataset, zarr.Array, dask array, numpy.memmap, or an xarray.DataArray that holds
        one of them. Anything else with ``shape``, ``dtype`` and slices of rows will do. The file
        of an h5py.Dataset is opened again by its path
    rows : rows that are stored together; by default as the data say

    Raises
    ------
    DataError
        values that are not real numbers, or not (n_time, n_energy)
    """
    source = _source(data)
    if rows is not None:
        if not isinstance(rows, (int, np.integer)) or isinstance(rows, bool) or rows < 1:
            raise DataError(f"rows is {rows!r}; give the number of rows of a chunk, 1 or more")
        source.chunk = int(rows)
    if source.ndim != 2 or source.size == 0:
        raise DataError(
            f"{source.name} has shape {source.shape}; data by reference have (n_time, n_energy)"
        )
    if source.dtype.kind not in "fiub":  # booleans are masks
        raise DataError(f"{source.name} holds {source.dtype}; a fit needs real numbers")
    return source


def as_source(data: Any) -> Source | None:
    """A source for what is one, or for data of a store that are too large to be loaded (256 MiB);
    None for all else."""
    if isinstance(data, Source):
        if data.dtype.kind == "b":
            raise DataError(f"{data.name} holds booleans; a fit needs real numbers")
        return by_reference(data)
    if not _stands_elsewhere(data):
        return None
    folders_of(data)  # also of what will be loaded
    size = np.prod(data.shape, dtype=float) * np.dtype(data.dtype).itemsize
    return by_reference(data) if size > LOADED and len(data.shape) == 2 else None


def beside_source(values: object, shape: tuple[int, ...], role: str) -> Source | None:
    """σ or a mask of each point that stays where it is, as data by reference of that shape do; None
    for what is in memory.

    Raises :class:`DataError` for another shape or type.
    """
    if isinstance(values, Source):
        source = values
    elif _stands_elsewhere(values):
        source = _source(values)
    else:
        return None
    if source.shape != shape:
        raise DataError(
            f"{role} ({source.name}) has shape {source.shape}, the data {shape}; give each point "
            f"its own, or an array in memory"
        )
    if source.dtype.kind not in ("biu" if role == "mask" else "fiu"):
        expected = (
            "booleans, or numbers that are 0 where a point counts" if role == "mask" else "numbers"
        )
        raise DataError(f"{role} ({source.name}) holds {source.dtype}; give {expected}")
    return source


def _stands_elsewhere(data: Any) -> bool:
    """Whether these are data of a store, whose values are read when they are asked for."""
    if library_of(data) == "xarray" and hasattr(data, "variable"):
        held = getattr(data.variable, "_data", None)
        return data.chunks is not None or not isinstance(held, np.ndarray)
    is_stored = library_of(data) in ("h5py", "zarr", "dask") or isinstance(data, np.memmap)
    return is_stored and hasattr(data, "shape")


def _source(data: Any) -> Source:
    if isinstance(data, Source):
        return data
    # Of an xarray.DataArray in chunks the dask array; others give their rows themselves.
    in_chunks = library_of(data) == "xarray" and data.chunks is not None
    array = data.data if in_chunks else data
    kind = library_of(array)
    missing = [name for name in ("shape", "dtype", "__getitem__") if not hasattr(array, name)]
    if missing:
        raise DataError(
            f"{type(data).__name__} has no {missing[0]}; give an h5py.Dataset, a zarr or dask "
            "array, or a numpy.memmap"
        )
    if kind == "h5py":
        return HDF5Source(Path(array.file.filename), array.name, array.file.swmr_mode)
    chunks = getattr(array, "chunks", None)
    first = chunks[0] if chunks else 1
    rows_together = int(first[0] if isinstance(first, tuple) else first) or 1
    source = ArraySource(array, _name_of(array, kind), rows_together, folders_of(data))
    n_chunks = -(-source.shape[0] // source.chunk)
    # A task of dask takes as long as a fit of a hundred thousand points.
    if kind == "dask" and n_chunks >= MANY and source.nbytes < SMALL * n_chunks:
        rows = min(max(1, GOOD * source.shape[0] // source.nbytes), source.shape[0])
        warnings.warn(
            f"{source.name} has {n_chunks} chunks of {source.chunk} row{'s' * (source.chunk > 1)}, "
            "and each costs dask more than its sums do; rechunk it: "
            f"data.rechunk({{0: {rows}}}), or data.chunk(time={rows}) in xarray",
            stacklevel=stack_outside(),
        )
    return source


def is_held(array: Any) -> bool:
    """Whether workers hold what an array of dask is made of."""
    layers = array.__dask_graph__().values()
    return any(type(layer).__module__.startswith("distributed.") for layer in layers)


def _name_of(array: Any, kind: str) -> str:
    path = getattr(array, "filename", None)
    if kind == "xarray" and array.name is not None:
        return str(array.name)
    if kind == "zarr":
        path = root_of(array)
    if path:
        key = f":{array.path}" if kind == "zarr" and array.path else ""
        return f"{Path(str(path)).name}{key}"
    return f"{kind} array" if kind in ("dask", "numpy", "zarr") else type(array).__name__
