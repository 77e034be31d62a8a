"""NPY: one NumPy array without axes."""

from __future__ import annotations

import numpy as np

from pyspec.errors import DataError, one_line
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, begins_with

#: Whether a file is of this format, by its first bytes.
sniff = begins_with(b"\x93NUMPY")


def read(request: Request) -> RawTable:
    """One array of numbers; objects are never unpickled."""
    try:
        with request.path.open("rb") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # a damaged header shows itself in many ways
        raise DataError(
            f"{request.path}: cannot be read as NPY ({one_line(error)}); save numbers: np.save"
        ) from None
    return RawTable(array, [None] * array.ndim, notes=[f"NPY, {array.dtype}, no axes inside"])
