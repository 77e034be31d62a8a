"""Series of counts larger than memory is wont to be, simulated and written chunk by chunk."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.executor import CompiledExecutor, make_executor
from pyspec.io import by_reference
from pyspec.model import Measurement, Model, load_dynamics, load_model

_MODEL = """\
lines:
  Offset: {y0: [20, True, 0, 100]}
  GLP: {A: [200, True, 0, 1000], x0: [4, True, 0, 10], F: [1.2, True, 0.1, 5], m: [0.3, True, 0, 1]}
  Gauss: {A: [120, True, 0, 1000], x0: [6.5, True, 0, 10], SD: [0.6, True, 0.1, 5]}
height:
  expFun: {A: [60, True, -200, 200], tau: [30, True, 1, 500], t0: [5, False]}
place:
  expFun: {A: [0.5, True, -5, 5], tau: [30, True, 1, 500], t0: [5, False]}
smeared:
  gaussCONV: {SD: [0.02, True, 0.005, 2]}
  expFun: {A: [0.5, True, -5, 5], tau: [3, True, 0.1, 50], t0: [1, False]}
"""

#: Bytes of a chunk of a store, and of the rows that are simulated at a time.
CHUNK, BLOCK = 2**20, 2**24


@dataclass(frozen=True)
class Grid:
    """A series of n_time spectra of n_energy points; a fit for each of its `motions`."""

    n_time: int
    n_energy: int
    motions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Times × energies."""
        return f"{self.n_time:,} x {self.n_energy:,}"

    def model(self, motion: str) -> Model:
        """Two lines on a constant, the larger of which moves."""
        model = load_model(_MODEL, "lines")
        target = "GLP_01_A" if motion == "height" else "GLP_01_x0"
        model.add_dynamics(target, load_dynamics(_MODEL, motion, target))
        energy, time = np.linspace(0, 10, self.n_energy), np.linspace(0, 100, self.n_time)
        model.set_axes(energy=energy, time=time)
        return model

    def start(self, motion: str) -> Model:
        """The model a little away from the values that were simulated."""
        model = self.model(motion)
        for name in ("GLP_01_A", "GLP_01_F", "Gauss_01_A"):
            model.parameters[name].value *= 1.02
        return model

    def cuts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of that many rows."""
        for begin in range(0, self.n_time, rows):
            yield begin, min(begin + rows, self.n_time)

    def simulated(self) -> Iterator[tuple[int, npt.NDArray[np.uint16]]]:
        """(first row, counts): as many as the model of the first motion expects, with noise."""
        model, rng = self.model(self.motions[0]), np.random.default_rng(1)
        first: Any = make_executor(model, Measurement(rows=(0, 1)))
        for begin, end in self.cuts(BLOCK // (8 * self.n_energy)):
            rows = Measurement(rows=(begin, end))
            expected = CompiledExecutor(first.plan, rows, packed=first.packed).run(model.theta())
            noise = rng.standard_normal(expected.shape, np.float32)
            yield begin, np.maximum(np.rint(expected + np.sqrt(expected) * noise), 0).astype("u2")


def scaled_grids(share: float) -> tuple[Grid, ...]:
    """Both grids of 5e8 points, 4e9 bytes as float64, with this share of their times."""
    return (
        Grid(int(1_250_000 * share), 400, ("height", "place")),
        Grid(int(100_000 * share), 5_000, ("smeared",)),
    )


@dataclass(frozen=True)
class Store:
    """How a series is stored: `write` takes a folder, the grid and its counts."""

    name: str
    file: str
    dtype: str
    write: Callable[[Path, Grid, Any], None]

    def open(self, folder: Path) -> Any:
        """The dataset or array."""
        if self.file.endswith(".zarr"):
            import zarr

            return zarr.open_array(folder / self.file, mode="r")
        import h5py

        return h5py.File(folder / self.file)["counts"]

    def source(self, folder: Path) -> Any:
        """The data by reference."""
        return by_reference(self.open(folder))

    def size(self, folder: Path) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.files(folder))

    def files(self, folder: Path) -> list[Path]:
        """Its files."""
        path = folder / self.file
        return [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]


def _rows_of_chunk(grid: Grid) -> int:
    return max(CHUNK // (8 * grid.n_energy), 1)


def _write_counts(folder: Path, grid: Grid, counts: Any) -> None:
    import h5py

    with h5py.File(folder / "counts.h5", "w") as file:
        data = file.create_dataset("counts", (grid.n_time, grid.n_energy), np.uint16)
        for begin, rows in counts:
            data[begin : begin + len(rows)] = rows


def _write_contiguous(folder: Path, grid: Grid, counts: Any) -> None:
    import h5py

    with h5py.File(folder / "contiguous.h5", "w") as file:
        data = file.create_dataset("counts", (grid.n_time, grid.n_energy), np.float64)
        for begin, end in grid.cuts(BLOCK // (8 * grid.n_energy)):
            data[begin:end] = counts[begin:end]


def _write_gzip(folder: Path, grid: Grid, counts: Any) -> None:
    """As HDF5 itself writes level 4, by two threads: that would take minutes."""
    import h5py

    n = _rows_of_chunk(grid)
    chunk = (n, grid.n_energy)

    def packed(rows: Any) -> bytes:
        whole = np.zeros(chunk)
        whole[: len(rows)] = rows
        return zlib.compress(whole.data, 4)

    with h5py.File(folder / "gzip.h5", "w") as file, ThreadPoolExecutor(2) as pool:
        shape = grid.n_time, grid.n_energy
        data = file.create_dataset("counts", shape, np.float64, chunks=chunk, compression="gzip")
        for begin, end in grid.cuts(16 * n):
            firsts = range(begin, end, n)
            rows = [counts[first : min(first + n, end)] for first in firsts]
            for first, text in zip(firsts, pool.map(packed, rows), strict=True):
                data.id.write_direct_chunk((first, 0), text)


def _write_zarr(folder: Path, grid: Grid, counts: Any) -> None:
    import zarr

    n = _rows_of_chunk(grid)
    array = zarr.create_array(
        folder / "zstd.zarr",
        shape=(grid.n_time, grid.n_energy),
        chunks=(n, grid.n_energy),
        dtype=np.float64,
        compressors=zarr.codecs.ZstdCodec(level=3),
    )
    for begin, end in grid.cuts(16 * n):
        array[begin:end] = counts[begin:end].astype(np.float64)


#: The first one is what the others are written from.
STORES = (
    Store("HDF5, uint16", "counts.h5", "uint16", _write_counts),
    Store("HDF5, contiguous", "contiguous.h5", "float64", _write_contiguous),
    Store("HDF5, gzip", "gzip.h5", "float64", _write_gzip),
    Store("zarr, zstd", "zstd.zarr", "float64", _write_zarr),
)
