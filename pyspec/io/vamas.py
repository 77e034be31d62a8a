"""VAMAS: the text format of ISO 14976 for surface analysis, regular and irregular scans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.io.found import Found
from pyspec.io.units import guess_kind, show_unit

Array = npt.NDArray[np.float64]

MAGIC = "VAMAS Surface Chemical Analysis Standard Data Transfer Format"
_MAPS = ("MAP", "MAPDP", "MAPSV", "MAPSVDP", "SEM")
_SPUTTER = ("MAPDP", "MAPSVDP", "SDP", "SDPSV")
_SPUTTER_TECHNIQUES = (
    "FABMS",
    "FABMS energy spec",
    "ISS",
    "SIMS",
    "SIMS energy spec",
    "SNMS",
    "SNMS energy spec",
)
_SOURCE_TECHNIQUES = ("AES diff", "AES dir", "EDX", "ELS", "UPS", "XPS", "XRF")
#: A value that is not known is written as 1E37.
_UNKNOWN = 1e36


class _Lines:
    """The lines of a file, one at a time, as text or numbers; errors name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.next = 0

    def text(self) -> str:
        if self.next >= len(self.lines):
            raise DataError(
                f"{self.path}:{self.next}: the file ends in the middle of a block; it was not "
                "written completely, export it again"
            )
        self.next += 1
        return self.lines[self.next - 1].strip()

    def real(self) -> float:
        word = self.text()
        try:
            return float(word)
        except ValueError:
            raise DataError(
                f"{self.path}:{self.next}: expected a number, found {word[:40]!r}; the file does "
                "not follow ISO 14976"
            ) from None

    def whole(self) -> int:
        value = self.real()
        if value != int(value):
            raise DataError(f"{self.path}:{self.next}: expected a whole number, found {value:g}")
        return int(value)

    def count(self) -> int:
        value = self.whole()
        if not 0 <= value <= len(self.lines):
            raise DataError(f"{self.path}:{self.next}: {value} cannot be a number of entries")
        return value

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
    n_blocks: int


@dataclass
class Block:
    """One spectrum: energies, and the quantities recorded at each (label, unit, values)."""

    name: str
    sample: str
    technique: str
    variables: list[float]
    source_energy: float
    species: str
    transition: str
    x_label: str
    x_unit: str
    x: Array
    columns: list[tuple[str, str, Array]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Name and species, as errors list it."""
        extra = " ".join(part for part in (self.species, self.transition) if part)
        return self.name if extra in ("", self.name) else f"{self.name} ({extra})"


def parse_vamas(path: Path, text: str) -> tuple[Header, list[Block]]:
    """Header and blocks of a VAMAS text. Raises :class:`DataError` with file and line."""
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
    header = Header(mode, scan, variables, included, n_future, lines.count())
    first: dict[int, Any] = {}
    blocks = [_block(lines, header, first, k == 0) for k in range(header.n_blocks)]
    if not blocks:
        raise DataError(f"{path}: the file holds no block of data; export it again")
    return header, blocks


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
    item(8, lambda: lines.texts(lines.count()))
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
    item(22, lines.real)
    if technique == "AES diff":
        item(23, lines.real)
    for number in (24, 25, 26):
        item(number, lines.real)
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
    block = Block(
        name, sample, technique, variables, source, species, transition, label, unit, np.zeros(0)
    )
    if header.scan == "REGULAR":
        points = np.arange(columns[0][2].size, dtype=np.float64)
        block.x, block.columns = start + step * points, columns
    else:
        block.x_label, block.x_unit, block.x = columns[0]
        block.columns = columns[1:]
    return block


def _ordinates(lines: _Lines, named: list[tuple[str, str]]) -> list[tuple[str, str, Array]]:
    n_values, width = lines.count(), len(named)
    lines.reals(2 * width)
    if width == 0 or n_values == 0 or n_values % width:
        raise DataError(
            f"{lines.path}:{lines.next}: {n_values} values cannot be shared by {width} "
            "quantities; export the file again"
        )
    table = np.array(lines.reals(n_values)).reshape(-1, width)
    return [(label, unit, table[:, k]) for k, (label, unit) in enumerate(named)]


def read_vamas(
    path: Path,
    text: str,
    *,
    block: int | str | None = None,
    columns: Any = None,
    energy_scale: str | None = None,
) -> Found:
    """A spectrum, or all blocks together where they share one energy axis.

    `block` is a number or a name, `columns` the quantity (label or number), `energy_scale` is
    "binding" or "kinetic": ``E_binding = hν - E_kinetic`` with the source's energy.
    """
    header, blocks = parse_vamas(path, text)
    chosen = blocks if block is None else [_choose(path, blocks, block)]
    one = chosen[0]
    if any(b.x.shape != one.x.shape or not np.allclose(b.x, one.x, rtol=1e-9) for b in chosen):
        raise DataError(
            f"{path}: holds {len(blocks)} blocks with different axes; choose one with block=: "
            f"{_listed(blocks)}"
        )
    if not one.columns:
        raise DataError(f"{path}: block {one.name!r} has an axis but no data")
    which = _column(path, one, columns)
    label, unit, _ = one.columns[which]
    kind = guess_kind(one.x_label, one.x_unit) or "energy"
    data = np.stack([b.columns[which][2] for b in chosen])
    found = Found(data, ["block", kind], {kind: one.x}, name=one.title)
    found.axes["block"] = np.arange(len(chosen), dtype=np.float64)
    found.units = {kind: show_unit(one.x_unit), "data": "" if unit == "d" else unit}
    found.labels = {kind: one.x_label, "data": label}
    found.notes.append(f"VAMAS, {header.scan.lower()} scan, {one.technique}")
    if len(chosen) == 1:
        found.data, found.dims = data[0], [kind]
    else:
        _series(found, header, chosen)
    others = [f"{k}: {name}" for k, (name, _, _) in enumerate(one.columns) if k != which]
    if others:
        found.notes.append(f"data from {label!r}; columns= chooses another: {', '.join(others)}")
    if len(chosen) == 1 and len(blocks) > 1:
        found.notes.append(f"one of {len(blocks)} blocks: {_listed(blocks)}")
    _scale(found, path, one, kind, energy_scale)
    return found


def _choose(path: Path, blocks: list[Block], block: int | str) -> Block:
    if isinstance(block, int) and not isinstance(block, bool):
        if 0 <= block < len(blocks):
            return blocks[block]
    else:
        named = [b for b in blocks if block in (b.name, b.species, b.title)]
        if len(named) == 1:
            return named[0]
    near = suggest(str(block), [b.name for b in blocks])
    raise DataError(f"{path}: no single block {block!r}; it has {_listed(blocks)}{near}")


def _listed(blocks: list[Block], most: int = 12) -> str:
    shown: Iterator[str] = (f"{k}: {b.title}" for k, b in enumerate(blocks[:most]))
    return ", ".join(shown) + (f" and {len(blocks) - most} more" if len(blocks) > most else "")


def _column(path: Path, block: Block, columns: Any) -> int:
    labels = [label for label, _, _ in block.columns]
    if columns is None:
        return 0
    one = columns[0] if isinstance(columns, (list, tuple)) and len(columns) == 1 else columns
    if isinstance(one, str) and one in labels:
        return labels.index(one)
    if isinstance(one, int) and 0 <= one < len(labels):
        return one
    listed = ", ".join(f"{k}: {label}" for k, label in enumerate(labels))
    raise DataError(f"{path}: no quantity {columns!r}; it has {listed}{suggest(str(one), labels)}")


def _series(found: Found, header: Header, blocks: list[Block]) -> None:
    """Several blocks: along the experimental variable that differs, if there is one."""
    for k, (label, unit) in enumerate(header.variables):
        values = np.array([b.variables[k] for b in blocks])
        if (np.diff(values) != 0).all() and np.abs(values).max() < _UNKNOWN:
            dim = "time" if guess_kind(label, unit) == "time" else "series"
            found.dims[0] = dim
            found.axes[dim] = values
            found.labels[dim], found.units[dim] = label, unit
            break
    found.notes.append(
        f"{len(blocks)} blocks with one energy axis are stacked; block= chooses one of "
        f"{_listed(blocks)}"
    )


def _scale(found: Found, path: Path, block: Block, kind: str, wanted: str | None) -> None:
    label = block.x_label.lower()
    now = "binding" if "binding" in label else "kinetic" if "kinetic" in label else ""
    photon = block.source_energy
    known = 0 < photon < _UNKNOWN
    if wanted is None:
        if now and known and kind == "energy":
            other = "kinetic" if now == "binding" else "binding"
            found.notes.append(
                f"{now} energies as in the file (source {photon:g} eV); for the others say "
                f"energy_scale={other!r}"
            )
        return
    if wanted not in ("binding", "kinetic"):
        raise DataError(f"{path}: energy_scale is 'binding' or 'kinetic', not {wanted!r}")
    if not now or not known or kind != "energy":
        raise DataError(
            f"{path}: cannot give {wanted} energies: the axis is {block.x_label!r}, the source "
            f"energy {photon:g}; convert it yourself and hand it over as energy="
        )
    if wanted != now:
        found.axes["energy"] = photon - found.axes["energy"]
        found.labels["energy"] = f"{wanted} energy"
        found.notes.append(f"{wanted} energy = {photon:g} eV - {now} energy")
