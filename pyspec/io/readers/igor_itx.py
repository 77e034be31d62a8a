"""Igor Pro's text waves (.itx): WAVES, BEGIN … END, and the SetScale lines after them.

Format: Igor Pro manual, volume II, "The Igor Text File Format".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyspec.io.blocks import Axis, Block, meta_numbers, raw_table_of
from pyspec.io.raw_table import Array, RawTable, monotonic
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.tables.cells import entries_of, number, numbers_of
from pyspec.io.tables.text import read_text
from pyspec.io.units import dim_name, guess_kind, is_angle, is_unit, split_unit

_WAVES = re.compile(r"^WAVES(?P<flags>(?:\s*/[^\s'\"]+)*)\s*(?P<names>.*)$", re.IGNORECASE)
_SHAPE = re.compile(r"/N=\(([\d,\s]+)\)", re.IGNORECASE)
_NAME = re.compile(r"'([^']*)'|([^\s,;]+)")
_SCALE = re.compile(
    r"^SetScale\s*(?P<flag>/[PI])?\s*(?P<dim>[xyztd])\s*,?\s*(?P<a>[^,]+),(?P<b>[^,]+),"
    r"\s*\"(?P<unit>[^\"]*)\"\s*,\s*(?P<names>.*)$",
    re.IGNORECASE,
)
#: "X //Excitation Energy = 1486.61", above the wave that it belongs to.
_REMARK = re.compile(r"^X?\s*//\s*(?P<key>[^=]*[^=\s])\s*=\s*(?P<value>.*\S)", re.IGNORECASE)
_DIMS = "xyzt"
#: A word up to this length, where Igor has the unit, is one.
_LONGEST_UNIT = 5


@dataclass
class _Wave:
    name: str
    data: Array
    scales: dict[int, tuple[float, float, str]] = field(default_factory=dict)
    data_unit: str = ""
    note: str = ""
    meta: dict[str, str] = field(default_factory=dict)
    group: int = 0


def sniff(start: Start) -> bool:
    """By the first line, IGOR."""
    return re.match(r"IGOR\s*[\r\n]", start.text) is not None


def read(request: Request) -> RawTable:
    """A wave, or all waves together where they share their axes; `block` is a name or number."""
    path = request.path
    waves = _parse(path, read_text(path))
    groups: dict[int, list[_Wave]] = {}  # waves that stand beside each other as columns
    for wave in waves:
        groups.setdefault(wave.group, []).append(wave)
    blocks = [block for group in groups.values() for block in _blocks(group)]
    return raw_table_of(path, blocks, request.block, note="Igor text")


def axes_of(dimensions: Sequence[tuple[str, Array]]) -> list[Axis]:
    """The axes of (unit or label, values) of each dimension.

    Where no axis is an energy by name or unit, the first one is, and the second is the time:
    Igor's x and y.
    """
    words = [label_unit(text) for text, _ in dimensions]
    names = [dim_name(label, unit, k) for k, (label, unit) in enumerate(words)]
    if "energy" not in names and not (len(names) == 1 and names[0] == "time"):
        names[0] = "energy"
        if len(names) == 2 and names[1].startswith("axis_"):
            names[1] = "time"
    names = [name if name not in names[:k] else f"axis_{k}" for k, name in enumerate(names)]
    return [
        Axis(name, values, *word)
        for name, (_, values), word in zip(names, dimensions, words, strict=True)
    ]


def label_unit(text: str) -> tuple[str, str]:
    """Label and unit of an axis: "Binding Energy [eV]", "eV (Kinetic Energy)" as Prodigy has it,
    or a unit alone: "deg"."""
    label, unit = split_unit(text)
    if unit and _is_unit(label) and not _is_unit(unit):
        return unit, label
    return ("", label) if not unit and len(label) <= _LONGEST_UNIT else (label, unit)


def _is_unit(word: str) -> bool:
    return is_unit(word) or is_angle(word)


def _parse(path: Path, text: str) -> list[_Wave]:
    """All waves of the file. Raises :class:`DataError` with the line that is wrong."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    waves: dict[str, _Wave] = {}
    at = 1
    remarks: dict[str, str] = {}
    while at < len(lines):
        line = lines[at].strip()
        match = _WAVES.match(line)
        if match:
            names = [a or b for a, b in _NAME.findall(match["names"])]
            shape = _SHAPE.search(match["flags"])
            sizes = [int(n) for n in shape[1].split(",") if n.strip()] if shape else []
            rows, at = _rows(path, lines, at)
            for wave in _make_waves(path, at, names, sizes, rows):
                wave.group, wave.meta = at, dict(remarks)
                waves[wave.name] = wave
            remarks = {}
        elif remark := _REMARK.match(line):
            remarks[remark["key"]] = remark["value"]
        elif line[:1] in "xX" and line[1:2].isspace():
            # Semicolons part the commands of a line.
            for command in re.findall(r'(?:[^;"]|"[^"]*")+', line[1:]):
                _apply(command.strip(), waves)
        at += 1
    if not waves:
        raise damaged(path, "holds no WAVES")
    return list(waves.values())


def _rows(path: Path, lines: list[str], at: int) -> tuple[list[list[float]], int]:
    """The numbers between BEGIN and END, and the line of END."""
    rows: list[list[float]] = []
    begun = False
    for here in range(at + 1, len(lines)):
        word = lines[here].strip()
        if word.upper() == "BEGIN" and not begun:
            begun = True
        elif word.upper() == "END" and begun:
            return rows, here
        elif word and not begun:
            raise damaged(f"{path}:{here + 1}", f"expected BEGIN, found {word[:40]!r}")
        elif word:
            rows.append(numbers_of(path, here + 1, word))
    raise damaged(f"{path}:{len(lines)}", "the file ends before END")


def _make_waves(
    path: Path, at: int, names: list[str], sizes: list[int], rows: list[list[float]]
) -> list[_Wave]:
    widths = {len(row) for row in rows}
    place = f"{path}:{at + 1}"
    if not names or not rows or len(widths) != 1:
        many = ", ".join(map(str, sorted(widths)[:5])) or "no"
        waves = ", ".join(names)[:100]
        raise damaged(place, f"above are {len(rows)} rows of {many} values for the waves {waves}")
    table = np.array(rows)
    if len(names) == 1 and len(sizes) > 1:
        if int(np.prod(sizes, dtype=np.float64)) != table.size:
            shape = " × ".join(map(str, sizes))
            raise damaged(place, f"{names[0][:60]} has {table.size} values, /N= says {shape}")
        # Rows and columns as they stand, one layer below the other.
        layers = table.reshape(*sizes[:1:-1], sizes[0], sizes[1])
        return [_Wave(names[0], np.moveaxis(layers, (-2, -1), (0, 1)))]
    if table.shape[1] != len(names):
        if len(names) > 1:
            raise damaged(place, f"{table.shape[1]} columns for {len(names)} waves")
        return [_Wave(names[0], table)]
    return [_Wave(name, table[:, k]) for k, name in enumerate(names)]


def _apply(command: str, waves: dict[str, _Wave]) -> None:
    """SetScale and Note; all other commands do not matter for the data."""
    match = _SCALE.match(command)
    if match:
        first, second = number(match["a"]), number(match["b"])
        for a, b in _NAME.findall(match["names"]):
            wave = waves.get(a or b)
            if wave is None or first is None or second is None:
                continue
            if match["dim"].lower() == "d":
                wave.data_unit = match["unit"]
                continue
            dim = _DIMS.index(match["dim"].lower())
            size = wave.data.shape[dim] if dim < wave.data.ndim else 1
            flag = (match["flag"] or "").upper()
            # /P: first and step; /I: first and last; neither: first and the one after the last.
            steps = {"/P": second, "/I": (second - first) / max(size - 1, 1)}
            wave.scales[dim] = first, steps.get(flag, (second - first) / size), match["unit"]
    elif command[:5].lower() == "note ":
        name, _, words = command[5:].partition(",")
        wave = waves.get(name.strip().strip("'"))
        if wave is not None:
            wave.note += words.strip().strip('"')


def _blocks(group: list[_Wave]) -> list[Block]:
    """A block for each wave; the first of several columns is their x, where it is no wave with a
    scale of its own and rises or falls all the way."""
    first = group[0]
    is_axis = first.data.ndim == 1 and first.data.size > 1 and monotonic(first.data)
    if len(group) > 1 and not first.scales and is_axis:
        label, unit = split_unit(first.name)
        unit = first.data_unit or unit
        axis = Axis(guess_kind(label, unit) or "energy", first.data, label, unit)
        return [
            Block(w.name, [axis], [(w.name, w.data_unit, w.data)], meta=_meta(w)) for w in group[1:]
        ]
    return [_block(wave) for wave in group]


def _block(wave: _Wave) -> Block:
    axes = []
    for dim, size in enumerate(wave.data.shape):
        start, step, unit = wave.scales.get(dim, (0.0, 1.0, ""))
        axes.append((unit, start + step * np.arange(size)))
    label, unit = label_unit(wave.data_unit)
    columns = [(label or wave.name, unit, wave.data)]
    return Block(wave.name, axes_of(axes), columns, meta=_meta(wave))


def _meta(wave: _Wave) -> dict[str, object]:
    lines = wave.note.replace("\\r", "\n").replace("\\n", "\n").splitlines()
    return meta_numbers(
        {**wave.meta, **entries_of(lines, "=")},
        photon_energy="Excitation Energy",
        pass_energy="Pass Energy",
    )
