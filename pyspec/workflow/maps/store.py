"""The zarr store of a map's results: a block is there as a whole, or it does not count."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, one_line
from pyspec.io.atomic import write_text
from pyspec.io.optional import need
from pyspec.model.data.checksum import Data

if TYPE_CHECKING:
    import xarray

#: The group beside the results: one marker for each block.
BLOCKS = "blocks"

#: What a block has there before it is written: no checksum is negative.
NOT_WRITTEN = -1

#: The attribute that says what the results are results of.
IDENTITY = "pyspec_map"

#: A range of each leading axis.
Place = tuple[slice, ...]


class Stored(Protocol):
    """An array of zarr: its chunks, and values at a place."""

    @property
    def chunks(self) -> tuple[int, ...]: ...
    def __getitem__(self, place: tuple[slice | int, ...]) -> Data: ...
    def __setitem__(self, place: tuple[slice | int, ...], values: Data | int) -> None: ...


class Group(Protocol):
    """A group of zarr: its attributes, and arrays by their paths."""

    @property
    def attrs(self) -> Mapping[str, str]: ...
    def __getitem__(self, path: str) -> Stored: ...


class MapStore:
    """Results on disk, a chunk of every variable for each block.

    The group ``blocks`` holds for each block the checksum of what was fitted (`inputs`) and of what
    was written (`results`). `results` is written last. A block counts only if its values have that
    checksum. This excludes fill values and torn writes.
    """

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self.path, self.names = path, tuple(names)

    def write(
        self, number: tuple[int, ...], place: Place, results: Mapping[str, Data], inputs: int
    ) -> None:
        """Writes the values of one block, then its marker."""
        root = self._open("r+")
        for name in self.names:
            root[name][place] = results[name]
        root[f"{BLOCKS}/inputs"][number] = inputs
        root[f"{BLOCKS}/results"][number] = checksum_of(results[name] for name in self.names)

    def inputs_of(self, number: tuple[int, ...], place: Place) -> int | None:
        """The checksum of what a block was fitted to; None for a block that is not whole."""
        root = self._open("r")
        try:
            marker = int(root[f"{BLOCKS}/results"][number])
            if marker == NOT_WRITTEN:
                return None
            if marker != checksum_of(root[name][place] for name in self.names):
                return None
            return int(root[f"{BLOCKS}/inputs"][number])
        except (OSError, ValueError, RuntimeError, KeyError):  # a torn write
            return None

    def dataset(self) -> xarray.Dataset:
        """The results as an ``xarray.Dataset``, in chunks that are read when they are asked for."""
        dataset: xarray.Dataset = need("xarray", "a map", "zarr").open_zarr(self.path)
        return dataset

    def tell(self, texts: Mapping[str, Mapping[str, str | None]]) -> None:
        """Writes attributes of variables, and of the store itself (""); None removes an attribute.
        They go to the files of the variables first, then to the file of all attributes. A store
        that cannot be written to stays as it is."""
        every = self.path / ".zmetadata"
        with suppress(DataError, OSError):
            together = json.loads(every.read_text())
            for name, facts in texts.items():
                key = f"{name}/.zattrs" if name else ".zattrs"
                attributes = {**together["metadata"].get(key, {}), **facts}
                kept = {k: text for k, text in attributes.items() if text is not None}
                together["metadata"][key] = kept
                write_text(self.path / key, json.dumps(kept, indent=2))
            write_text(every, json.dumps(together, indent=2))

    def create(
        self, template: xarray.Dataset, block: tuple[int, ...], grid: tuple[int, ...]
    ) -> None:
        """Makes the store of a Dataset of fill values; it gets its name when it is whole."""
        xarray, dask = need("xarray", "a map", "zarr"), need("dask.array", "a map", "zarr")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            made = self.path.with_name(f".{self.path.name}.{uuid4().hex[:8]}")
            made.mkdir()
        except OSError as error:
            raise DataError(
                f"{self.path} cannot be made: {one_line(error)}; give another store="
            ) from error
        along = tuple(f"block_{k}" for k in range(len(grid)))
        empty = dask.full(grid, NOT_WRITTEN, dtype=np.int64, chunks=1)
        markers = xarray.Dataset(dict.fromkeys(("results", "inputs"), (along, empty)))
        marker = {"chunks": (1,) * len(grid), "_FillValue": NOT_WRITTEN}
        # Format 2 is read and written by zarr 2 and by zarr 3.
        options: dict[str, Any] = {"compute": False, "mode": "a", "zarr_format": 2}
        coding: dict[str, dict[str, object]] = {name: {"chunks": block} for name in self.names}
        for name in self.names:
            if template[name].dtype.kind == "f":
                coding[name]["_FillValue"] = np.nan
        try:
            markers.to_zarr(made, group=BLOCKS, encoding=dict.fromkeys(markers, marker), **options)
            template.to_zarr(made, encoding=coding, **options)
            made.rename(self.path)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def identity(self) -> dict[str, object]:
        """What the store holds the results of.

        Raises :class:`DataError` for a path that is no store of a map.
        """
        try:
            return dict(json.loads(self._open("r").attrs[IDENTITY]))
        except Exception:
            raise DataError(
                f"{self.path} exists and is no store of a map; nothing is written over, so give "
                "another store="
            ) from None

    def block(self) -> tuple[int, ...]:
        """The shape of a block."""
        return tuple(int(size) for size in self._open("r")[self.names[0]].chunks)

    def _open(self, mode: str) -> Group:
        group: Group = need("zarr", "a map", "zarr").open_group(os.fspath(self.path), mode=mode)
        return group


def checksum_of(arrays: Iterable[npt.ArrayLike]) -> int:
    """CRC-32 of the bytes of arrays, one after the other."""
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
    return checksum
