"""Files in and out: measured data, archives of fits, tables of parameters."""

from pyspec.io.archive import digest, load_archive, save_archive
from pyspec.io.atomic import replacing, write_text
from pyspec.io.contents import fit_contents
from pyspec.io.dataset import Dataset
from pyspec.io.netcdf import from_xarray, to_xarray
from pyspec.io.parameters import parameters_csv, parameters_json, write_parameters
from pyspec.io.read import FORMATS, read
from pyspec.io.stored import StoredFit, load_fit, load_fits, save_fit

__all__ = [
    "FORMATS",
    "Dataset",
    "StoredFit",
    "digest",
    "fit_contents",
    "from_xarray",
    "load_archive",
    "load_fit",
    "load_fits",
    "parameters_csv",
    "parameters_json",
    "read",
    "replacing",
    "save_archive",
    "save_fit",
    "to_xarray",
    "write_parameters",
    "write_text",
]
