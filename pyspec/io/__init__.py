"""Files in and out: measured data, archives of fits, tables of parameters."""

from pyspec.io.archive.file import load_archive, save_archive
from pyspec.io.archive.fit_record import record_of
from pyspec.io.archive.fits import load_fit, load_fits, save_fit
from pyspec.io.archive.verify import Verification, verify_archive
from pyspec.io.atomic import replacing, write_text
from pyspec.io.dataset import Dataset
from pyspec.io.parameters import parameters_csv, parameters_json, write_parameters
from pyspec.io.read import FORMATS, read
from pyspec.io.readers import READERS
from pyspec.io.sources.arrays import by_reference
from pyspec.io.xarrays import from_xarray, to_xarray
from pyspec.model.data.digest import digest

__all__ = [
    "FORMATS",
    "READERS",
    "Dataset",
    "Verification",
    "by_reference",
    "digest",
    "from_xarray",
    "load_archive",
    "load_fit",
    "load_fits",
    "parameters_csv",
    "parameters_json",
    "read",
    "record_of",
    "replacing",
    "save_archive",
    "save_fit",
    "to_xarray",
    "verify_archive",
    "write_parameters",
    "write_text",
]


def __dir__() -> list[str]:
    return sorted(__all__)
