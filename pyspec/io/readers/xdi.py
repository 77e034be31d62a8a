"""XDI: X-ray absorption tables whose # headers name columns and units.

Format: XAS Data Interchange 1.0 (https://github.com/XraySpectroscopy/XAS-Data-Interchange).
"""

from __future__ import annotations

import re

from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start
from pyspec.io.readers.text import raw_table_of
from pyspec.io.tables.cells import entries_of
from pyspec.io.tables.text import read_table, read_text
from pyspec.io.units import show_unit

_COLUMN = re.compile(r"^Column\.(\d+)$", re.IGNORECASE)


def sniff(start: Start) -> bool:
    """By its first line."""
    return re.match(r"#\s*XDI/", start.text) is not None


def read(request: Request) -> RawTable:
    """A table of columns with names and units from the header."""
    text = read_text(request.path)
    columns = read_table(request.path, text, None, None)
    meta = entries_of(columns.comments, ":")
    named = {int(m[1]): meta[key].split() for key in meta if (m := _COLUMN.match(key))}
    words = [named.get(k + 1, [f"column {k}"]) for k in range(columns.values.shape[1])]
    columns.header = [(1, [word[0] for word in words])]
    table = raw_table_of(columns, request, layout="columns")
    if len(words[0]) > 1 and table.dims[-1] == "energy":
        table.units["energy"] = show_unit(words[0][1])
    table.meta = meta
    table.notes.insert(0, "XDI")
    return table
