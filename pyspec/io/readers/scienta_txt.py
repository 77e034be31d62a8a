"""Text files of Scienta's SES: [Region n], [Info n] and [Data n]."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyspec.io.blocks import Axis, Block, meta_numbers, raw_table_of
from pyspec.io.raw_table import Array, RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.cells import number, numbers_of
from pyspec.io.tables.text import read_text
from pyspec.io.units import dim_name, split_unit

_HEAD = re.compile(r"^\[(Region|Info|Data|Run Mode Information|User Interface Information)\s*"
                   r"(\d+)(?::(\d+))?\]$")  # fmt: skip
#: Where the computer writes decimal commas, SES does.
_WITH_COMMA = re.compile(r"([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)")


@dataclass
class _Region:
    """What stands in the sections of one number."""

    keys: dict[str, str] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    layers: list[list[tuple[int, str]]] = field(default_factory=list)


def sniff(start: Start) -> bool:
    """By its first section, and the number of regions in it."""
    return start.text.startswith("[Info]") and "Number of Regions=" in start.text[:400]


def read(request: Request) -> RawTable:
    """A region, or all regions together where they share their axes."""
    path = request.path
    regions = _sections(read_text(path))
    if not regions:
        raise damaged(path, "holds no [Region]")
    blocks = [_block(path, number_, region) for number_, region in regions.items()]
    return raw_table_of(path, blocks, request.block, note="Scienta SES text")


def _pointed(cell: str) -> str:
    """A number with a decimal point in place of its comma; other text as it is."""
    match = _WITH_COMMA.fullmatch(cell) if "," in cell else None
    return f"{match[1]}.{match[2]}" if match else cell


def _sections(text: str) -> dict[str, _Region]:
    regions: dict[str, _Region] = {}
    section, region = "", _Region()
    for at, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        head = _HEAD.match(word)
        if head:
            section = head[1]
            region = regions.setdefault(head[2], _Region())
            if section == "Data":
                region.layers.append([])
        elif section == "Data":
            if word:
                region.layers[-1].append((at, word))
        elif "=" in word and section:
            key, _, value = word.partition("=")
            (region.keys if section == "Region" else region.info)[key.strip()] = value.strip()
    return regions


def _block(path: Path, number_: str, region: _Region) -> Block:
    axes = _axes(path, number_, region)
    if not axes:
        raise damaged(path, f"region {number_} names no dimension")
    lead = 1 if len(axes) < 2 else axes[1].values.size
    layers = [_table(path, number_, rows, axes[0].values, lead) for rows in region.layers]
    n_layers = axes[2].values.size if len(axes) > 2 else 1
    if len(layers) != n_layers:
        raise damaged(path, f"region {number_} has {len(layers)} of {n_layers} blocks of data")
    data = np.stack([layer.T for layer in layers])
    data = data.reshape(data.shape[3 - len(axes) :])
    info = {key: _pointed(value) for key, value in region.info.items()}
    meta = meta_numbers(info, photon_energy="Excitation Energy", pass_energy="Pass Energy")
    name = region.keys.get("Region Name", "") or f"region {number_}"
    return Block(name, axes[::-1], [("intensity", "counts", data)], meta=meta)


def _axes(path: Path, number_: str, region: _Region) -> list[Axis]:
    """Dimension 1 is the energy; 2 is an angle or a place, 3 what the run changed."""
    axes: list[Axis] = []
    for k in range(1, 4):
        scale = region.keys.get(f"Dimension {k} scale")
        if scale is None:
            break
        values = [number(_pointed(cell)) for cell in scale.split()]
        size = region.keys.get(f"Dimension {k} size", str(len(values)))
        if None in values or not values or size != str(len(values)):
            says = f"has {len(values)} values of {size[:20]}, or words among them"
            raise damaged(path, f"region {number_}: dimension {k} {says}")
        label, unit = split_unit(region.keys.get(f"Dimension {k} name", ""))
        dim = "energy" if k == 1 else dim_name(label, unit, k)
        taken = [axis.dim for axis in axes]
        axes.append(
            Axis(dim if dim not in taken else f"axis_{k}", np.array(values, float), label, unit)
        )
    return axes


def _table(
    path: Path, number_: str, rows: list[tuple[int, str]], energy: Array, width: int
) -> Array:
    """(n_energy, width) values of one [Data]; the first column repeats the energies."""
    table = np.empty((len(rows), width + 1))
    for k, (at, line) in enumerate(rows):
        values = numbers_of(path, at, " ".join(map(_pointed, line.split())))
        if len(values) != width + 1:
            raise damaged(f"{path}:{at}", f"{line[:40]!r} is no row of {width + 1} numbers")
        table[k] = values
    if len(rows) != energy.size:
        says = f"has {len(rows)} rows for {energy.size} energies"
        raise damaged(path, f"region {number_} {says}")
    step = np.abs(np.diff(energy)).max(initial=0.0)
    if not (np.abs(table[:, 0] - energy) <= 1e-6 * np.abs(energy) + 0.01 * step).all():
        says = "the first column of [Data] is not the energy that the region announces"
        raise damaged(path, f"region {number_}: {says}")
    return table[:, 1:]
