"""The digest of an array, which identifies data for decades, and a quick checksum, which shows a
change since a fit."""

from __future__ import annotations

import hashlib

import numpy as np

from pyspec._library import LIBRARY
from pyspec._library.memory import address_in
from pyspec.model.data.checksum import Data, checksum, checksum_and_square_at, checksum_at
from pyspec.model.data.measurement import Measurement
from pyspec.model.data.source import source_of


def digest(array: Data) -> str:
    """sha256 of an array: its type, shape and values, the same on every machine."""
    source, hasher = source_of(array), None
    for block in [np.asarray(array)] if source is None else (rows for _, rows in source.blocks()):
        plain = little_endian(block)
        if hasher is None:
            hasher = hashlib.sha256(f"{plain.dtype.str} {np.shape(array)}\n".encode())
        hasher.update(plain.data if plain.size else b"")
    return "" if hasher is None else hasher.hexdigest()


def checksum_of(measurement: Measurement) -> int:
    """The checksum of the data of a measurement, 0 without any. Of data by reference it is taken of
    the rows of the window, when they are first read."""
    data = measurement.data
    if type(data) is not np.ndarray and source_of(data) is not None:
        return measurement.survey.checksum
    return 0 if data is None else checksum(data)


def checksum_and_square(measurement: Measurement) -> tuple[int, float]:
    """The checksum of data that are an array, and as of :meth:`Measurement.square`. Of plain data
    it asks once for what both read."""
    data = measurement.data
    assert isinstance(data, np.ndarray)
    dtype = data.dtype
    if (
        measurement.weight is None
        and measurement.keep is None
        and measurement.loss != "poisson"
        and (dtype.char == "d" and dtype.isnative)
        and (data.ndim in (1, 2) and data.size and data.flags.carray)
    ):
        at, whole = address_in(data), data.shape if data.ndim == 2 else (1, data.size)
        begin, end = (measurement.rows if data.ndim == 2 else None) or (0, whole[0])
        first, last = measurement.columns or (0, whole[1])
        stride = whole[1] * data.itemsize
        place = at + begin * stride + first * data.itemsize
        shape = end - begin, last - first
        if shape == data.shape:
            return checksum_and_square_at(data, at)
        square = LIBRARY.pyspec_square(place, *shape, stride, 0, 0, 0, 0, 0, 0)
        return checksum_at(data, at), float(square)
    return checksum(data), measurement.square()


def count_kept(measurement: Measurement) -> int:
    """How many points of the window count, of a measurement with a mask."""
    if source_of(measurement.data) is not None:
        return measurement.survey.n_points
    assert measurement.keep is not None
    keep = measurement.window(measurement.keep)
    # Along an axis on which all are the same, as of a mask of whole columns, one is counted.
    distinct = keep[tuple(slice(None, 1) if step == 0 else slice(None) for step in keep.strides)]
    return int(np.count_nonzero(distinct)) * (keep.size // max(distinct.size, 1))


def little_endian(array: Data) -> Data:
    """The array in C order with little-endian values; itself where it is that already."""
    plain = np.ascontiguousarray(array)
    return plain.astype(plain.dtype.newbyteorder("<"), copy=False)
