"""Files of several spectra: which of them are meant, and what they are together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, several, suggest
from pyspec.io.raw_table import Array, RawTable
from pyspec.io.units import guess_kind, show_unit

#: A value that is not known is written as 1E37 in some formats.
UNKNOWN = 1e36


@dataclass
class Axis:
    """One axis of a block: its name in a Dataset, values, and what the file calls it."""

    dim: str
    values: Array
    label: str = ""
    unit: str = ""


@dataclass
class Block:
    """One spectrum, or one image, of a file.

    `axes` are those of every quantity in `columns` (label, unit, values), the energy last;
    `variables` are values that hold for the whole block, such as a time (label, unit, value).
    """

    name: str
    axes: list[Axis]
    columns: Sequence[tuple[str, str, npt.NDArray[np.generic]]]
    detail: str = ""
    variables: list[tuple[str, str, float]] = field(default_factory=list)
    meta: Mapping[str, object] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name and detail, as errors list it."""
        return self.name if self.detail in ("", self.name) else f"{self.name} ({self.detail})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(axis.values.size for axis in self.axes)


def raw_table_of(
    path: Path,
    blocks: Sequence[Block],
    block: int | str | None = None,
    columns: object = None,
    *,
    note: str = "",
) -> RawTable:
    """The block that is asked for, or all of them where they share their axes.

    `block` is a number from 0 or a name, `columns` the quantity (label or number), `note` the first
    of its notes. Raises :class:`DataError` with a list of the blocks where their axes differ and
    none was chosen.
    """
    if not blocks:
        raise DataError(f"{path}: the file holds no block of data; export it again")
    chosen = list(blocks) if block is None else choose(path, blocks, block)
    first = chosen[0]
    dims = [axis.dim for axis in first.axes]
    if not all(
        block.shape == first.shape
        and [axis.dim for axis in block.axes] == dims
        and all(_same(a.values, b.values) for a, b in zip(first.axes, block.axes, strict=True))
        for block in chosen
    ):
        raise DataError(
            f"{path}: holds {len(chosen)} blocks with different axes, separate spectra; choose "
            f"one with block=: {listed(chosen if block is None else blocks)}"
        )
    if not first.columns:
        raise DataError(f"{path}: block {first.name!r} has an axis but no data")
    which = _column(path, first, columns)
    label, unit, _ = first.columns[which]
    for other in chosen:
        if len(other.columns) <= which or other.columns[which][0] != label:
            raise DataError(
                f"{path}: block {other.name!r} has no quantity {label!r} at the same place as the "
                "others; choose one block with block="
            )
    parts = [other.columns[which][2] for other in chosen]
    alone = sum(other.name == first.name for other in blocks) == 1
    name = first.name if alone else first.title
    table = RawTable(parts[0], [*dims], name=name, meta=dict(first.meta))
    table.notes += [note] if note else []
    for axis in first.axes:
        table.axes[axis.dim] = axis.values
        table.labels[axis.dim], table.units[axis.dim] = axis.label, show_unit(axis.unit)
    table.labels["data"], table.units["data"] = label, unit
    if len(chosen) > 1:
        table.data = np.stack(parts)
        _series(table, chosen)
    others = [f"{k}: {name}" for k, (name, _, _) in enumerate(first.columns) if k != which]
    if others:
        table.notes.append(f"data from {label!r}; columns= chooses another: {', '.join(others)}")
    if len(blocks) > 1:
        part = f"{len(chosen)} of {len(blocks)}" if len(chosen) < len(blocks) else f"{len(chosen)}"
        stacked = " with the same axes are stacked" if len(chosen) > 1 else ""
        table.notes.append(f"{part} blocks{stacked}; block= chooses one of {listed(blocks)}")
    return table


def choose(path: Path, blocks: Sequence[Block], block: int | str) -> list[Block]:
    """The block of a number, or those of a name, or else of a detail."""
    if isinstance(block, int) and not isinstance(block, bool):
        if 0 <= block < len(blocks):
            return [blocks[block]]
    else:
        named = [b for b in blocks if b.name == block]
        named = named or [b for b in blocks if block in (b.detail, b.title, *b.detail.split(", "))]
        if named:
            return named
    near = suggest(str(block), [b.name for b in blocks])
    raise DataError(f"{path}: no block {block!r}; it has {listed(blocks)}{near}")


def listed(blocks: Sequence[Block]) -> str:
    """ "0: Survey (1351 points), 1: C 1s (201 points)"."""
    shapes = (" × ".join(map(str, block.shape)) for block in blocks)
    names = (f"{k}: {block.title[:60]}" for k, block in enumerate(blocks))
    return several([f"{name} ({shape} points)" for name, shape in zip(names, shapes, strict=True)])


def _same(axis: Array, other: Array) -> bool:
    """Whether two axes differ by rounding alone, in whatever unit they are."""
    slack = 1e-9 * float(np.abs(axis[np.isfinite(axis)]).max(initial=0.0))
    return bool(np.allclose(axis, other, rtol=0.0, atol=slack, equal_nan=True))


def _column(path: Path, block: Block, columns: object) -> int:
    labels = [label for label, _, _ in block.columns]
    if columns is None:
        return 0
    column = columns[0] if isinstance(columns, (list, tuple)) and len(columns) == 1 else columns
    if isinstance(column, str) and column in labels:
        return labels.index(column)
    if isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(labels):
        return column
    quantities = ", ".join(f"{k}: {label}" for k, label in enumerate(labels[:30]))
    raise DataError(
        f"{path}: no quantity {columns!r}; it has {quantities}{suggest(str(column), labels)}"
    )


def _series(table: RawTable, blocks: Sequence[Block]) -> None:
    """Several blocks: along the variable that differs, if there is one."""
    table.name = blocks[0].name
    table.meta = _common(blocks)
    dim, values = "block", np.arange(len(blocks), dtype=np.float64)
    for k, (label, unit, _) in enumerate(blocks[0].variables):
        each = np.array([b.variables[k][2] if len(b.variables) > k else np.nan for b in blocks])
        if (np.diff(each) != 0).all() and np.abs(each).max() < UNKNOWN:
            free = "time" not in table.dims
            dim = "time" if guess_kind(label, unit) == "time" and free else "series"
            values, table.labels[dim], table.units[dim] = each, label, show_unit(unit)
            break
    table.dims.insert(0, dim)
    table.axes[dim] = values


def _common(blocks: Sequence[Block]) -> dict[str, object]:
    """Metadata of the blocks: values that all share, and tuples of texts that differ. Numbers that
    differ are left out."""
    meta: dict[str, object] = {}
    for key in blocks[0].meta:
        each: tuple[Any, ...] = tuple(block.meta.get(key) for block in blocks)
        if all(np.array_equal(value, each[0]) for value in each):
            meta[key] = each[0]
        elif all(isinstance(value, str) for value in each):
            meta[key] = each
    return meta


def meta_numbers(meta: Mapping[str, object], **names: str) -> dict[str, object]:
    """`meta` with some entries as numbers under the names that pyspec knows:
    ``photon_energy="Excitation Energy"``."""
    result = dict(meta)
    for new, old in names.items():
        words = str(meta.get(old, "")).split()
        try:
            value = float(words[0]) if words else np.nan
        except ValueError:
            continue
        if np.isfinite(value) and 0 < abs(value) < UNKNOWN:
            result[new] = value
    return result
