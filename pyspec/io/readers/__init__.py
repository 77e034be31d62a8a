"""The file formats that pyspec reads, one file each.

A new format is a row in the table, and a file here with two functions: `sniff` says whether a
:class:`pyspec.io.reader.Start` is of it, `read` gives the data that a
:class:`pyspec.io.reader.Request` asks for.
"""

from __future__ import annotations

from importlib import import_module

from pyspec.io.reader import Reader

#: Name, what it is, endings, keywords, libraries beyond NumPy and SciPy; an example, and what its
#: tests read. Asked in this order whether a file is theirs; `text` takes every text: it comes last.
_TABLE: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    ("npy", "one NumPy array", "npy", "", "",
     'read("data.npy", energy="energy.npy", time="time.txt")', "files of NumPy"),
    ("npz", "NumPy arrays by name", "npz", "data errors", "",
     'read("scan.npz", data="counts", energy="E", time="delay")', "files of NumPy"),
    ("scienta_zip", "Scienta SES .zip (DA30): regions with their metadata", "zip", "block", "",
     'read("map_0003.zip", block="Fermi map")', "archives that a writer in the tests makes"),
    ("netcdf", "NetCDF 3 and 4, also as xarray writes it",
     "nc nc4 cdf netcdf", "data errors", "xarray h5netcdf",
     'read("map.nc", data="counts", errors="sigma", energy="eV")', "a measured file"),
    ("nexus", "NeXus, with NXmpes and NXxps", "nxs nexus nx", "data errors", "h5py",
     'read("scan.nxs", data="entry/data", energy_scale="binding")', "files of pynxtools-xps"),
    ("matlab", "MATLAB .mat: arrays by name, fields of structures as name.field",
     "mat", "data errors", "",
     'read("scan.mat", data="scan.counts", energy="scan.E")', "files that SciPy and h5py write"),
    ("hdf5", "HDF5: data sets by name, axes by name, dimension scale or length",
     "h5 hdf5 hdf", "data errors", "h5py",
     'read("scan.h5", data="entry/image", energy="ke")', "files of h5py"),
    ("igor_ibw", "Igor Pro .ibw: one wave with scaling, units and note, also of Scienta SES",
     "ibw bwav", "", "igor2",
     'read("survey.ibw", energy_scale="kinetic")', "a measured file"),
    ("opus", "Bruker OPUS: infrared and Raman spectra", "0 1 opus", "block", "",
     'read("film.0", block="absorbance", to="eV")',
     "files that a writer in the tests makes, compared with brukeropus"),
    ("phi", "PHI .spe: regions of a VersaProbe or Quantera", "spe", "block", "",
     'read("SnO2.spe", block="Su1s", energy_scale="kinetic")', "a measured file"),
    ("vamas", "VAMAS, ISO 14976", "vms npl", "block columns", "",
     'read("survey.vms", block="C 1s", energy_scale="binding")', "measured files"),
    ("igor_itx", "Igor Pro .itx: text waves with their scaling and units", "itx awav", "block", "",
     'read("waves.itx", block="spectrum")', "files that igorwriter writes"),
    ("specs_xy", "SPECS Prodigy .xy: regions, cycles and scans with their metadata",
     "xy", "block columns", "",
     'read("sample.xy", block="Survey")', "a measured file"),
    ("scienta_txt", "Scienta SES .txt: regions with their metadata, angle-resolved or not",
     "txt", "block", "",
     'read("Cu_0001.txt", block="survey")', "a measured file"),
    ("jcamp", "JCAMP-DX, as Bruker and others export it", "jdx dx jcm", "block", "jcamp",
     'read("polystyrene.jdx", to="eV")', "files that a writer in the tests makes"),
    ("emsa", "EMSA/MAS .msa, ISO 22029: EELS and EDX", "msa emsa ems", "", "",
     'read("Fe_L23.msa")', "files that a writer in the tests makes"),
    ("xdi", "XDI .xdi: X-ray absorption, columns and units named in the header",
     "xdi", "columns errors", "",
     'read("Fe_K.xdi", columns=["energy", "mutrans"])', "files that a writer in the tests makes"),
    ("glotaran", "ascii of glotaran and TIMP, wavelength or time explicit", "ascii", "", "",
     'read("pump_probe.ascii", units={"time": "ps", "energy": "nm"})',
     "files of the authors of glotaran"),
    ("sia", "KiMoPack's .SIA: delays × wavelengths, tabs", "sia", "decimal", "",
     'read("TA_film.SIA", units={"energy": "nm"}, to="eV")', "a measured file"),
    ("text", "CSV, TSV, columns between white space; XAS, XES and EELS tables with # headers",
     "csv tsv txt dat xy prn", "layout columns delimiter decimal block errors", "",
     'read("scan.csv", columns=["energy", "counts"], errors="sigma", decimal=",")',
     "measured files"),
)  # fmt: skip


#: Name → reader, in that order.
READERS: dict[str, Reader] = {}
for name, what, endings, keywords, libraries, example, checked in _TABLE:
    module = import_module(f"pyspec.io.readers.{name}")
    READERS[name] = Reader(
        name, what, tuple(endings.split()), module.sniff, module.read, tuple(keywords.split()),
        example, checked, tuple(libraries.split()),
    )  # fmt: skip

#: What `format=` takes: names, and endings.
WORDS = list(dict.fromkeys([*READERS, *(end for one in READERS.values() for end in one.endings)]))

__all__ = ["READERS", "WORDS"]
