"""EMSA/MAS (.msa, ISO 22029): electron energy loss and X-ray spectra with # headers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.cells import number, numbers_of
from pyspec.io.tables.text import read_text
from pyspec.io.units import guess_kind, show_unit

_LINE = re.compile(r"^#\s*([^:\s]+)\s*(?:-[^:]*)?:\s*(.*)$")


def sniff(start: Start) -> bool:
    """By its first line, which names the format."""
    first = start.text.splitlines()[:1]
    return bool(first) and re.match(r"#\s*FORMAT\s*:\s*EMSA", first[0], re.I) is not None


def read(request: Request) -> RawTable:
    """One spectrum; the axis comes from OFFSET and XPERCHAN, or stands beside the values."""
    path = request.path
    keys, values, ended = _parse(path, read_text(path))
    announced = number(keys.get("NPOINTS", ""))
    with_x = keys.get("DATATYPE", "Y").upper() == "XY"
    numbers = np.array(values)
    if with_x:
        if numbers.size % 2:
            raise damaged(path, f"DATATYPE is XY, but {numbers.size} values are no pairs")
        x, y = numbers[::2], numbers[1::2]
    else:
        first, step = (_need(path, keys, key) for key in ("OFFSET", "XPERCHAN"))
        x, y = first + step * np.arange(numbers.size), numbers
    if not y.size or not ended or (announced is not None and announced != y.size):
        end = "" if ended else ", and no #ENDOFDATA"
        raise damaged(path, f"{y.size} values of {keys.get('NPOINTS', 'unknown')[:20]}{end}")
    unit, label = keys.get("XUNITS", ""), keys.get("XLABEL", "")
    kind = guess_kind(label, unit) or "energy"
    table = RawTable(y, [kind], {kind: x}, name=keys.get("TITLE", ""), meta=dict(keys))
    table.units = {kind: show_unit(unit), "data": keys.get("YUNITS", "")}
    table.labels = {kind: label, "data": keys.get("YLABEL", "")}
    beam = number(keys.get("BEAMKV", ""))
    if beam is not None and beam > 0:
        table.meta = {**table.meta, "beam_energy": beam * 1e3}
    table.notes.append(f"EMSA/MAS, {keys.get('SIGNALTYPE', 'spectrum')}")
    return table


def _parse(path: Path, text: str) -> tuple[dict[str, str], list[float], bool]:
    keys: dict[str, str] = {}
    values: list[float] = []
    data = False
    for at, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        match = _LINE.match(word)
        if match:
            key = match[1].upper()
            if key == "ENDOFDATA":
                return keys, values, True
            data = key == "SPECTRUM"
            keys.setdefault(key, match[2].strip())
        elif data and word:
            values += numbers_of(path, at, word.replace(",", " "))
    return keys, values, False


def _need(path: Path, keys: dict[str, str], key: str) -> float:
    value = number(keys.get(key, ""))
    if value is None or not np.isfinite(value):
        raise DataError(
            f"{path}: the header has no number for #{key}, so the axis is not known; give it as "
            "energy="
        )
    return value
