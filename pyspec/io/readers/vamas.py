"""VAMAS: the text format of ISO 14976 for surface analysis, regular and irregular scans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError
from pyspec.io.blocks import UNKNOWN, Axis, Block, choose, raw_table_of
from pyspec.io.raw_table import Array, RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.text import read_text
from pyspec.io.units import guess_kind, show_unit

MAGIC = "VAMAS Surface Chemical Analysis Standard Data Transfer Format"
_MAPS = ("MAP", "MAPDP", "MAPSV", "MAPSVDP", "SEM")
_SPUTTER = ("MAPDP", "MAPSVDP", "SDP", "SDPSV")
_SPUTTER_TECHNIQUES = ("FABMS", "FABMS energy spec", "ISS", "SIMS", "SIMS energy spec", "SNMS",
                       "SNMS energy spec")  # fmt: skip
#: CasaXPS: measured at M, where A is meant; it shows binding energies shifted by A - M.
_CALIBRATION = re.compile(r"Calib M = (\S+) A = (\S+)\s*(BE|KE)?")
_SOURCE_TECHNIQUES = ("AES diff", "AES dir", "EDX", "ELS", "UPS", "XPS", "XRF")


class _Lines:
    """The lines of a file, one at a time, as text or numbers; errors name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.next = 0

    def text(self) -> str:
        if self.next >= len(self.lines):
            raise self.damaged("the file ends in the middle of a block")
        self.next += 1
        return self.lines[self.next - 1].strip()

    def real(self) -> float:
        word = self.text()
        try:
            return float(word)
        except ValueError:
            raise self.damaged(f"expected a number, found {word[:40]!r}") from None

    def whole(self) -> int:
        value = self.real()
        if not np.isfinite(value) or value != int(value):
            raise self.damaged(f"expected a whole number, found {value:g}")
        return int(value)

    def count(self) -> int:
        value = self.whole()
        if not 0 <= value <= len(self.lines):
            raise self.damaged(f"{value} cannot be a number of entries")
        return value

    def damaged(self, what: str) -> DataError:
        return damaged(f"{self.path}:{self.next}", what)

    def texts(self, number: int) -> list[str]:
        return [self.text() for _ in range(number)]

    def reals(self, number: int) -> list[float]:
        return [self.real() for _ in range(number)]


@dataclass
class Header:
    """What all blocks share. `included` has True for block items 1 … 40 that each block has."""

    mode: str
    scan: str
    variables: list[tuple[str, str]]
    included: list[bool]
    n_future: int


def parse_vamas(path: Path, text: str) -> tuple[str, list[Block]]:
    """Scan mode and blocks of a VAMAS text. Raises :class:`DataError` with file and line."""
    lines = _Lines(path, text)
    if not lines.text().startswith(MAGIC):
        raise DataError(f"{path}:1: does not start with {MAGIC!r}: this is no VAMAS file")
    lines.texts(4)
    lines.texts(lines.count())
    mode, scan = lines.text().upper(), lines.text().upper()
    if scan not in ("REGULAR", "IRREGULAR"):
        raise DataError(
            f"{path}:{lines.next}: scan mode {scan!r} is not read; export spectra, not images "
            "(REGULAR or IRREGULAR)"
        )
    if mode in ("MAP", "MAPDP", "NORM", "SDP"):
        lines.real()
    if mode in ("MAP", "MAPDP"):
        lines.reals(3)
    variables = [(lines.text(), show_unit(lines.text())) for _ in range(lines.count())]
    n_listed = lines.whole()
    listed = {lines.whole() for _ in range(abs(n_listed))}
    included = [(k in listed) == (n_listed > 0) or n_listed == 0 for k in range(1, 41)]
    lines.texts(lines.count())
    n_experiment, n_future = lines.count(), lines.count()
    lines.texts(n_experiment)
    header = Header(mode, scan, variables, included, n_future)
    first: dict[int, Any] = {}
    return scan, [_block(lines, header, first, k == 0) for k in range(lines.count())]


def _block(lines: _Lines, header: Header, first: dict[int, Any], is_first: bool) -> Block:
    """One block. An item that is not included has the value of the first block."""

    def item(number: int, read: Any) -> Any:
        if is_first or header.included[number - 1]:
            value = read()
            first.setdefault(number, value)
            return value
        return first.get(number)

    mode = header.mode
    name, sample = lines.texts(2)
    for number in range(1, 8):
        item(number, lines.text)
    remarks = item(8, lambda: lines.texts(lines.count()))
    technique = str(item(9, lines.text))
    if mode in ("MAP", "MAPDP"):
        item(10, lambda: lines.reals(2))
    variables = item(11, lambda: lines.reals(len(header.variables)))
    item(12, lines.text)
    if mode in _SPUTTER or technique in _SPUTTER_TECHNIQUES:
        item(13, lambda: lines.reals(3))
    source = float(item(14, lines.real))
    item(15, lines.real)
    item(16, lambda: lines.reals(2))
    if mode in _MAPS:
        item(17, lambda: lines.reals(2))
    if mode in ("MAPSV", "MAPSVDP", "SEM"):
        item(18, lambda: lines.reals(6))
    for number in (19, 20):
        item(number, lines.real)
    item(21, lines.text)
    pass_energy = item(22, lines.real)
    if technique == "AES diff":
        item(23, lines.real)
    item(24, lines.real)
    work_function = item(25, lines.real)
    item(26, lines.real)
    for number in (27, 28):
        item(number, lambda: lines.reals(2))
    species = str(item(29, lines.text))
    transition = str(item(30, lambda: lines.texts(2))[0])
    label, unit, start, step = "", "", 0.0, 0.0
    if header.scan == "REGULAR":
        label, unit, start, step = item(31, lambda: (*lines.texts(2), *lines.reals(2)))
    named = item(32, lambda: [tuple(lines.texts(2)) for _ in range(lines.count())])
    item(33, lines.text)
    for number in (34, 35, 36):
        item(number, lines.real)
    if mode in _SPUTTER and technique in _SOURCE_TECHNIQUES:
        item(37, lambda: (lines.reals(6), lines.text()))
    item(38, lambda: lines.reals(2))
    item(39, lines.real)
    item(40, lambda: [(lines.texts(2), lines.real()) for _ in range(lines.count())])
    lines.texts(header.n_future)
    columns = _ordinates(lines, named)
    if header.scan == "REGULAR":
        points = np.arange(columns[0][2].size, dtype=np.float64)
        values = start + step * points
    else:
        label, unit, values = columns.pop(0)
    kind = guess_kind(label, unit) or "energy"
    calibration = "; ".join(line for line in remarks or () if _CALIBRATION.match(line))
    meta = {
        "sample": sample,
        "technique": technique,
        "photon_energy": source,
        "pass_energy": pass_energy,
        "work_function": work_function,
        "casa_calibration": calibration,
    }
    return Block(
        name,
        [Axis(kind, values, label, unit)],
        [(name, "" if unit == "d" else unit, values) for name, unit, values in columns],
        " ".join(part for part in (species, transition) if part),
        [(*named, value) for named, value in zip(header.variables, variables, strict=True)],
        {key: value for key, value in meta.items()
         if (0 < abs(value) < UNKNOWN if isinstance(value, float) else value)},
    )  # fmt: skip


def _ordinates(lines: _Lines, named: list[tuple[str, str]]) -> list[tuple[str, str, Array]]:
    n_values, width = lines.count(), len(named)
    lines.reals(2 * width)
    if width == 0 or n_values == 0 or n_values % width:
        raise lines.damaged(f"{n_values} values cannot be shared by {width} quantities")
    table = np.array(lines.reals(n_values)).reshape(-1, width)
    return [(label, unit, table[:, k]) for k, (label, unit) in enumerate(named)]


def sniff(start: Start) -> bool:
    """By its first line; NUL bytes and empty lines may stand before and between."""
    return start.text.startswith(MAGIC)


def read(request: Request) -> RawTable:
    """A spectrum, or all blocks together where they share one energy axis."""
    text = read_text(request.path, nul=True).replace("\x00", "").lstrip()
    scan, blocks = parse_vamas(request.path, text)
    if len({block.meta.get("sample", "") for block in blocks}) > 1:
        for block in blocks:  # regions of several samples have the same names
            detail = "" if block.detail == block.name else block.detail
            block.detail = ", ".join(filter(None, (detail, str(block.meta.get("sample", "")))))
    table = raw_table_of(request.path, blocks, request.block, request.columns)
    table.notes.insert(0, f"VAMAS, {scan.lower()} scan, {table.meta.get('technique', '')}")
    chosen = blocks if request.block is None else choose(request.path, blocks, request.block)
    table.notes += _calibrations(chosen)
    return table


def _calibrations(blocks: Sequence[Block]) -> list[str]:
    """What CasaXPS does to the energies of these blocks, which are read as they were measured."""
    lines = list(dict.fromkeys(str(block.meta.get("casa_calibration", "")) for block in blocks))
    if lines == [""]:
        return []
    if len(lines) > 1:
        return ["CasaXPS shows these blocks calibrated, each by itself; here none is"]
    note = f"CasaXPS shows these energies calibrated ({lines[0]}); here they are as measured"
    (measured, meant, scale), *more = _CALIBRATION.findall(lines[0])
    try:
        by = (float(meant) - float(measured)) * (-1 if scale == "KE" else 1)
    except ValueError:
        return [note]
    do = f"; shift(energy={by:.6g}) does it to binding energies, {-by:.6g} to kinetic ones"
    return [note + ("" if more else do)]
