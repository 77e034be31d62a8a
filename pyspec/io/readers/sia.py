"""KiMoPack's .SIA: a matrix of delays and wavelengths between tabs."""

from __future__ import annotations

from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start
from pyspec.io.tables.layout import read_layout
from pyspec.io.tables.text import read_table, read_text


def sniff(start: Start) -> bool:
    """By the ending of the name: the content is a table like others."""
    return start.suffix == ".sia"


def read(request: Request) -> RawTable:
    """The matrix with its axes in the first row and column."""
    cells = read_table(request.path, read_text(request.path), None, request.decimal)
    table = read_layout(cells, layout="matrix", columns=None, sizes=request.sizes)
    table.notes.insert(0, "KiMoPack .SIA")
    if "energy" not in table.units:
        table.labels.setdefault("energy", "wavelength")
    return table
