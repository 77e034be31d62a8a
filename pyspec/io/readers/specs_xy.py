"""SPECS Prodigy's .xy: regions, cycles and scans one after the other, each a block of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyspec.io.blocks import Axis, Block, meta_numbers, raw_table_of
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.cells import number, numbers_of
from pyspec.io.tables.text import read_text

_FIRST = re.compile(r"(?P<prefix>\S{0,4}?)\s*Created by:\s+SpecsLab", re.IGNORECASE)
_SCAN = re.compile(r"Cycle:\s*(\d+)(?:,\s*Curve:\s*(\d+))?(?:,\s*Scan:\s*(\d+))?(.*)")


@dataclass
class _Part:
    """The rows of one scan, with what stands above them."""

    meta: dict[str, str]
    where: str
    labels: list[str]
    begins: int
    rows: list[list[float]] = field(default_factory=list)


def sniff(start: Start) -> bool:
    """By the program in the first line."""
    return _FIRST.match(start.text) is not None


def read(request: Request) -> RawTable:
    """A scan, or all scans together where they share one axis."""
    path = request.path
    blocks = [_block(path, part) for part in _parts(path, read_text(path))]
    return raw_table_of(path, blocks, request.block, request.columns, note="SPECS Prodigy .xy")


def _parts(path: Path, text: str) -> list[_Part]:
    first = _FIRST.match(text)
    prefix = first["prefix"] if first else "#"
    parts: list[_Part] = []
    file: dict[str, str] = {}
    group: dict[str, str] = {}
    region: dict[str, str] = {}
    where, external = "", False
    labels: list[str] = []
    part: _Part | None = None
    for at, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if not word:
            continue
        if not word.startswith(prefix) or (not prefix and number(word.split()[0]) is not None):
            if external:
                continue
            if part is None:
                part = _Part({**file, **group, **region}, where, labels, at)
                parts.append(part)
            part.rows.append(_row(path, at, word, part))
            continue
        part = None
        word = word[len(prefix) :].strip()
        scan = _SCAN.search(word)
        if scan:
            external = "External" in word
            if scan[3] is not None:
                where = f"cycle {scan[1]}, curve {scan[2]}, scan {scan[3]}{scan[4]}".strip()
            continue
        key, _, value = (piece.strip() for piece in word.partition(":"))
        if key == "ColumnLabels":
            labels = value.split()
        elif key == "Group":
            group, region = {"Group": value}, {}
        elif key == "Region":
            region = {"Region": value}
        elif key and value:
            (region if region else group if group else file)[key] = value
    return parts


def _row(path: Path, at: int, line: str, part: _Part) -> list[float]:
    values = numbers_of(path, at, line.replace(",", "."))
    width = len(part.rows[0]) if part.rows else len(values)
    if len(values) != width or width < 2:
        raise damaged(f"{path}:{at}", f"{line[:40]!r} is no row of {max(width, 2)} numbers")
    return values


def _block(path: Path, part: _Part) -> Block:
    table, meta = np.array(part.rows), part.meta
    announced = number(meta.get("Values/Curve", ""))
    if announced is not None and announced == announced and announced != len(table):
        says = f"{len(table)} values where the region announces {announced:g}"
        raise damaged(f"{path}:{part.begins}", says)
    labels = part.labels if len(part.labels) == table.shape[1] else []
    x_label = labels[0] if labels else "energy"
    names = labels[1:] or [f"column {k}" for k in range(1, table.shape[1])]
    if x_label == "energy":
        axis = Axis("energy", table[:, 0], meta.get("Energy Axis", "energy"), "eV")
    else:  # points at a fixed energy, one after the other
        axis = Axis("time", table[:, 0], x_label)
    columns = []
    for k, name in enumerate(names):
        rate = name in ("counts/s", "counts")
        columns.append(("intensity" if rate else name, name if rate else "", table[:, k + 1]))
    numbers = meta_numbers(
        meta,
        photon_energy="Excitation Energy",
        work_function="Eff. Workfunction",
        pass_energy="Pass Energy",
    )
    detail = ", ".join(word for word in (meta.get("Group", ""), part.where) if word)
    return Block(meta.get("Region", "spectrum"), [axis], columns, detail, meta=numbers)
