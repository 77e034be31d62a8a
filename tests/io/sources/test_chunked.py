"""Compressed chunks that are decoded here: the rows that the library of the store gives."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import by_reference

ROWS = np.random.default_rng(4).poisson(90.0, (53, 21))


def check(stored: Any, expected: Any) -> Any:
    """Rows of all kinds, by a reader of its own."""
    source: Any = by_reference(stored)
    assert source._reader is not None
    assert source.readers >= 1
    for begin, end in ((0, 53), (0, 7), (5, 6), (6, 33), (52, 53)):
        np.testing.assert_array_equal(source._reader.read(begin, end), expected[begin:end])
        np.testing.assert_array_equal(source.rows(begin, end), expected[begin:end])
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.rows(3, 50), expected[3:50])
    return source


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<u2", ">f8", "<i4"])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("chunk", [(7, 21), (10, 5), (53, 21), (60, 30)])
def test_gzip_of_hdf5(tmp_path: Path, dtype: str, shuffle: bool, chunk: tuple[int, int]) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        options = {"compression": "gzip", "shuffle": shuffle, "maxshape": (None, None)}
        file.create_dataset("a", data=ROWS.astype(dtype), chunks=chunk, **options)
    check(h5py.File(tmp_path / "a.h5")["a"], ROWS)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", ["zstd", "gzip", "blosc"])
@pytest.mark.parametrize("chunk", [(7, 21), (10, 5)])
def test_zarr(tmp_path: Path, zarr_format: int, codec: str, chunk: tuple[int, int]) -> None:
    zarr = pytest.importorskip("zarr", minversion="3")
    import numcodecs

    if zarr_format == 2:
        compressor = {"zstd": numcodecs.Zstd, "gzip": numcodecs.GZip, "blosc": numcodecs.Blosc}
    else:
        own = zarr.codecs
        compressor = {"zstd": own.ZstdCodec, "gzip": own.GzipCodec, "blosc": own.BloscCodec}
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=ROWS.shape, chunks=chunk, dtype=np.float32,
        zarr_format=zarr_format, compressors=compressor[codec](),
    )  # fmt: skip
    array[:] = ROWS
    check(array, ROWS)
    group = zarr.open_group(tmp_path / "group", mode="w", zarr_format=zarr_format)
    inner = group.create_array(
        "inner/data", shape=ROWS.shape, chunks=chunk, dtype=np.uint16,
        compressors=compressor[codec](),
    )  # fmt: skip
    inner[:] = ROWS
    check(inner, ROWS)


def test_other_stores_are_read_by_their_library(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr", minversion="3")
    stored = []
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, options in (
            ("plain", {}),
            ("lzf", {"compression": "lzf"}),
            ("checked", {"compression": "gzip", "fletcher32": True}),
        ):
            file.create_dataset(name, data=ROWS, **options)
    file = h5py.File(tmp_path / "a.h5")
    stored += [file[name] for name in file]
    memory = zarr.create_array({}, shape=ROWS.shape, chunks=(7, 21), dtype=np.float64)
    shards = zarr.create_array(
        tmp_path / "shards.zarr", shape=ROWS.shape, chunks=(7, 21), shards=(14, 21), dtype=float
    )
    several = zarr.create_array(
        tmp_path / "several.zarr", shape=ROWS.shape, chunks=(7, 21), dtype=float,
        compressors=[zarr.codecs.GzipCodec(), zarr.codecs.ZstdCodec()],
    )  # fmt: skip
    for array in (memory, shards, several):
        array[:] = ROWS
        stored.append(array)
    for one in stored:
        source: Any = by_reference(one)
        assert source._reader is None
        assert source.readers == 1
        np.testing.assert_array_equal(source.rows(3, 50), ROWS[3:50])


def test_chunks_that_were_never_written_hold_the_fill_value(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr", minversion="3")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        options = {"chunks": (7, 21), "compression": "gzip", "fillvalue": 4.0}
        data = file.create_dataset("a", shape=ROWS.shape, dtype="f8", **options)
        data[:20] = ROWS[:20]
    options = {"chunks": (7, 21), "dtype": np.float64, "fill_value": 4.0}
    array = zarr.create_array(tmp_path / "a.zarr", shape=ROWS.shape, **options)
    array[:20] = ROWS[:20]
    expected = np.full(ROWS.shape, 4.0)
    expected[:20] = ROWS[:20]
    for stored in (h5py.File(tmp_path / "a.h5")["a"], array):
        np.testing.assert_array_equal(np.asarray(by_reference(stored)), expected)


def test_of_a_damaged_chunk_its_library_says_what_is_wrong(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr", minversion="3")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = file.create_dataset("a", data=ROWS, chunks=(7, 21), compression="gzip")
        data.id.write_direct_chunk((14, 0), b"torn")
    array = zarr.create_array(tmp_path / "a.zarr", data=ROWS, chunks=(7, 21))
    (tmp_path / "a.zarr" / "c" / "2" / "0").write_bytes(b"torn")
    for stored in (h5py.File(tmp_path / "a.h5")["a"], array):
        source = by_reference(stored)
        np.testing.assert_array_equal(source.rows(0, 14), ROWS[:14])
        with pytest.raises(DataError, match="chunk 2, rows 14 to 15, cannot be read: "):
            source.rows(13, 16)
