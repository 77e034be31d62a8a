"""The ascii format of glotaran and TIMP: two lines of text, what is explicit, how many."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.raw_table import RawTable, monotonic
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.cells import numbers_of
from pyspec.io.tables.text import read_text

_KINDS = {"wavelength explicit": ("time", "energy"), "time explicit": ("energy", "time")}


def sniff(start: Start) -> bool:
    """By one of the first lines, such as "Time explicit"."""
    first = [line.strip().lower() for line in start.text.splitlines()[:6]]
    return any(line in _KINDS or line == "flim image" for line in first)


def read(request: Request) -> RawTable:
    """ "Wavelength explicit": a line of wavelengths, then rows of a time and its values;
    "Time explicit": a line of times, then rows of a wavelength and its values."""
    path, text = request.path, read_text(request.path)
    lines = text.splitlines()
    marks = [k for k, line in enumerate(lines[:6]) if line.strip().lower() in _KINDS]
    if not marks:
        raise DataError(
            f"{path}: neither 'Wavelength explicit' nor 'Time explicit' stands in its first "
            "lines; other ascii formats of glotaran (FLIM) are not read"
        )
    mark = marks[0]
    kind = lines[mark].strip().lower()
    rows, across = _KINDS[kind]
    words = lines[mark + 1].split() if mark + 1 < len(lines) else []
    if len(words) != 2 or words[0].lower() != "intervalnr" or not words[1].isdigit():
        says = "expected 'Intervalnr' and the number of explicit values"
        raise damaged(f"{path}:{mark + 2}", says)
    n_explicit = int(words[1])
    numbered = enumerate(lines[mark + 2 :], mark + 3)
    blocks = [(at, numbers_of(path, at, line)) for at, line in numbered if line.strip()]
    if sum(len(row) for _, row in blocks) <= n_explicit:
        raise damaged(path, "the file ends before its data")
    axis, records = _records(path, blocks, n_explicit, rows)
    numbers = np.array(records)
    table = RawTable(numbers[:, 1:], [rows, across], {rows: numbers[:, 0], across: np.array(axis)})
    table.labels["energy"] = "wavelength"
    table.name = lines[1].strip() if mark > 1 and lines[1].strip() != "dataset name" else ""
    table.notes.append(f"ascii of glotaran, {kind}; units are not in the file: units={{...}}")
    return table


def _records(
    path: Path, lines: list[tuple[int, list[float]]], n: int, rows: str
) -> tuple[list[float], list[list[float]]]:
    """The axis, and the rows of a place and `n` values. Numbers may run over the ends of lines, as
    TIMP writes them."""
    (at, axis), *rest = lines
    if len(axis) == n and all(len(row) == n + 1 for _, row in rest):
        return axis, [row for _, row in rest]
    every = [value for _, row in lines for value in row]
    records = [every[k : k + n + 1] for k in range(n, len(every), n + 1)]
    # Only a number that is missing, or one too many, moves the places out of their order.
    if n and records and len(records[-1]) == n + 1 and monotonic([row[0] for row in records]):
        return every[:n], records
    if len(axis) != n and all(len(row) in (len(axis), len(axis) + 1) for _, row in rest):
        raise damaged(f"{path}:{at}", f"Intervalnr says {n} values, the line has {len(axis)}")
    for at, row in rest if len(axis) == n else ():
        if len(row) != n + 1:
            needs = f"it needs the {rows} and {n} data"
            raise damaged(f"{path}:{at}", f"the row has {len(row)} values; {needs}")
    needs = f"{n} values of an axis and rows of {n + 1}: the {rows} and {n} data"
    raise DataError(
        f"{path}: holds {len(every)} numbers, which are no {needs}; a number is missing, or one "
        "too many"
    )
