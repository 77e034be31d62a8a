"""Zip archives of Scienta's SES: a table of float32 and two .ini files for each region."""

from __future__ import annotations

from configparser import ConfigParser
from math import prod
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from pyspec.io.blocks import Axis, Block, meta_numbers, raw_table_of
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.sizes import check_size, zip_names
from pyspec.io.units import dim_name, split_unit

#: Order in the table of numbers, the energy (width) fastest.
_DIMS = ("depth", "height", "width")


def sniff(start: Start) -> bool:
    """A zip archive with ``Spectrum_REGION.bin``."""
    if not start.starts_with(b"PK\x03\x04"):
        return False
    names = zip_names(start.path)
    if names is None:
        return b"Spectrum_" in start.raw
    return any(name.startswith("Spectrum_") and name.endswith(".bin") for name in names)


def read(request: Request) -> RawTable:
    """A region, or all regions together where they share their axes."""
    path = request.path
    with ZipFile(path) as archive:
        check_size(path, "the archive", sum(entry.file_size for entry in archive.infolist()))
        names = [n for n in archive.namelist() if n.startswith("Spectrum_")]
        regions = [name[9:-4] for name in names if name.endswith(".bin")]
        blocks = [_block(path, archive, region) for region in regions]
    return raw_table_of(path, blocks, request.block, note="Scienta SES archive")


def _ini(archive: ZipFile, name: str) -> dict[str, dict[str, str]]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(archive.read(name).decode("utf-8", "replace").lstrip("\ufeff"))
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _block(path: Path, archive: ZipFile, region: str) -> Block:
    keys = _ini(archive, f"Spectrum_{region}.ini").get("spectrum", {})
    sizes = [int(keys[dim]) for dim in _DIMS]
    n_values = archive.getinfo(f"Spectrum_{region}.bin").file_size // 4
    if min(sizes) < 1 or n_values != prod(sizes):
        says = f"has {n_values} values for {' × '.join(map(str, sizes))} points"
        raise damaged(path, f"region {region[:60]!r} {says}")
    axes = []
    for place, dim in enumerate(_DIMS):
        label, unit = split_unit(keys.get(f"{dim}label", ""))
        first, step = float(keys[f"{dim}offset"]), float(keys[f"{dim}delta"])
        values = first + step * np.arange(sizes[place], dtype=np.float64)
        name = "energy" if dim == "width" else dim_name(label, unit, place)
        axes.append(Axis(name, values, label, unit))
    data = np.frombuffer(archive.read(f"Spectrum_{region}.bin"), "<f4", n_values)
    kept = [k for k, axis in enumerate(axes) if axis.dim == "energy" or axis.values.size > 1]
    info: dict[str, str] = {}
    if f"{region}.ini" in archive.namelist():
        for section in _ini(archive, f"{region}.ini").values():
            info.update(section)
    meta = meta_numbers(info, photon_energy="Excitation Energy", pass_energy="Pass Energy")
    columns = [("intensity", "counts", data.reshape([sizes[k] for k in kept]))]
    return Block(keys.get("name", region), [axes[k] for k in kept], columns, meta=meta)
