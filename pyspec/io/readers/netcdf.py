"""NetCDF, through xarray: one variable with its dimensions and coordinates."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, one_line
from pyspec.io.optional import available, need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start
from pyspec.io.readers.hdf5 import MAGIC, opened
from pyspec.io.sizes import check_size
from pyspec.io.xarrays import raw_table_of_xarray

_ENDINGS = ("nc", "nc4", "cdf", "netcdf")


def sniff(start: Start) -> bool:
    """By its first bytes; NetCDF 4 is HDF5, where the ending of the name decides."""
    named = start.suffix[1:] in _ENDINGS
    return start.starts_with(b"CDF") or (named and start.starts_with(MAGIC))


def read(request: Request) -> RawTable:
    """One variable of a NetCDF file, of version 3 or 4."""
    path = request.path
    with open_netcdf(path) as dataset:
        for name, variable in dataset.variables.items():
            check_size(path, str(name), variable.size * variable.dtype.itemsize)
        return raw_table_of_netcdf(dataset.load(), request)


def raw_table_of_netcdf(dataset: object, request: Request, lazy: bool = False) -> RawTable:
    """What a request asks of an open file; `lazy` data stay there."""
    names: dict[str, Any] = {"data": request.data, "energy": request.energy, "time": request.time}
    names["errors"] = request.errors
    table = raw_table_of_xarray(dataset, str(request.path), lazy=lazy, **names)
    table.notes.insert(0, "NetCDF, read with xarray")
    return table


def open_netcdf(path: Path, **options: object) -> Any:
    """The file as an xarray.Dataset; `options` are those of ``xarray.open_dataset``.

    h5netcdf closes a file that it could not open once more when its object goes, and fails:
    Python would print that error beside the one that is raised here.
    """
    xarray = need("xarray", f"{path}: NetCDF")
    engine = "scipy"
    if not Start.of(path).starts_with(b"CDF"):
        engine = "netcdf4" if available("netCDF4") and not available("h5netcdf") else "h5netcdf"
        if engine == "h5netcdf":
            need("h5netcdf", f"{path}: NetCDF 4")
        if available("h5py"):
            with opened(path):  # says what is wrong with an HDF5 file
                pass
    before = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        try:
            return xarray.open_dataset(path, engine=engine, decode_times=False, **options)
        except Exception as error:  # a damaged file shows itself in many ways
            reason = one_line(error)
        gc.collect(1)
    finally:
        sys.unraisablehook = before
    raise DataError(f"{path}: cannot be opened as NetCDF ({reason}); copy it again")
