"""JCAMP-DX, through the package jcamp: infrared, Raman, UV and other spectra."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.blocks import Axis, Block, raw_table_of
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, damaged

_UNITS = {"1/cm": "cm-1", "nanometers": "nm", "micrometers": "um", "seconds": "s", "ev": "eV"}
_LABELS = {"cm-1": "wavenumber", "nm": "wavelength", "um": "wavelength"}
#: Repetitions in compressed lines, such as "S250"; a damaged one could ask for any memory.
_REPEATED = re.compile(rb"[S-Zs]\d{5,}")


def sniff(start: Start) -> bool:
    """By the labels that every file begins with."""
    text = start.text
    return text.startswith("##") and re.search(r"##\s*JCAMP-?DX\s*=", text, re.I) is not None


def read(request: Request) -> RawTable:
    """A spectrum, or one of a compound file with `block=`."""
    path = request.path
    jcamp = need("jcamp", f"{path}: JCAMP-DX")
    raw = path.read_bytes()
    if _REPEATED.search(raw):
        raise damaged(path, "a value is repeated 10,000 times and more")
    output = StringIO()
    with redirect_stdout(output):
        content = jcamp.read(BytesIO(raw))
    if output.getvalue():
        raise damaged(path, f"a check fails ({output.getvalue().splitlines()[0][:120]})")
    parts = content.get("children") or [content]
    blocks = [_block(path, part, k) for k, part in enumerate(parts)]
    table = raw_table_of(path, blocks, request.block, None)
    table.notes.insert(0, f"JCAMP-DX, {table.meta.get('data type', '')}".rstrip(", "))
    return table


def _block(path: Path, part: Mapping[str, object], number: int) -> Block:
    x, y = np.asarray(part["x"], float), np.asarray(part["y"], float)
    title = str(part.get("title", "")) or f"spectrum {number}"
    announced = part.get("npoints")
    if x.shape != y.shape or not x.size or (announced is not None and announced != x.size):
        forms = ", ".join(str(part[key])[:40] for key in ("xydata", "xypoints") if key in part)
        raise DataError(
            f"{path}: {title[:60]!r} has {y.size} values for {announced} points (form: "
            f"{forms or 'none of XYDATA and XYPOINTS'}); export it again as XYDATA=(X++(Y..Y))"
        )
    unit = str(part.get("xunits", ""))
    unit = _UNITS.get(unit.lower(), unit)
    label = str(part.get("yunits", ""))
    meta = {
        key: value
        for key, value in part.items()
        if isinstance(value, (str, int, float)) and key not in ("xydata", "xypoints", "end")
    }
    dim = "time" if unit == "s" else "energy"
    axis = Axis(dim, x, _LABELS.get(unit, str(part.get("xlabel", ""))), unit)
    return Block(title, [axis], [(label.lower(), "", y)], meta=meta)
