"""VAMAS files for tests: what a block holds, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MAGIC = "VAMAS Surface Chemical Analysis Standard Data Transfer Format 1988 May 4"


def vamas_text(
    blocks: Sequence[tuple[str, float, float, Sequence[float]]],
    *,
    scan: str = "REGULAR",
    label: str = "kinetic energy",
    variable: tuple[str, str] = ("Etch Time", "s"),
    excluded: Sequence[int] = (),
    photon: float = 1486.6,
    mode: str = "NORM",
    listed: bool = True,
) -> str:
    """Blocks of (name, variable, first energy, values) with a step of 0.5 eV.

    `excluded` are block items left out of all blocks but the first; `listed` says whether the
    header has the ones left out or the ones that stay.
    """
    items = list(excluded) if listed else [k for k in range(1, 41) if k not in excluded]
    count = -len(items) if listed else len(items)
    head = [MAGIC, "lab", "machine", "me", "test", "1", "a comment", mode, scan]
    head += ["1"] if mode in ("NORM", "SDP") else []
    head += ["1", *variable, str(count), *map(str, items), "0", "0", "0", str(len(blocks))]
    lines = head
    for number, (name, value, start, values) in enumerate(blocks):
        lines = [*lines, name, "sample"]
        for item, content in _items(value, start, scan, label, photon, mode):
            if number == 0 or item not in excluded:
                lines = [*lines, *content]
        lines = lines + _values(start, values, scan)
    return "\r\n".join([*lines, "end of experiment", ""])


def _items(
    value: float, start: float, scan: str, label: str, photon: float, mode: str
) -> list[tuple[int, list[str]]]:
    items = [(k, [v]) for k, v in enumerate(["2024", "1", "31", "12", "0", "0", "1"], 1)]
    items += [(8, ["2", "first", "second"]), (9, ["XPS"]), (11, [repr(value)]), (12, ["Al"])]
    items += [(13, ["18", "1", "1"])] if mode == "SDP" else []
    items += [(14, [repr(photon)]), (15, ["100"]), (16, ["1", "1"]), (19, ["54"]), (20, ["0"])]
    items += [(21, ["FAT"]), (22, ["20"]), (24, ["1"]), (25, ["4.5"]), (26, ["0"])]
    items += [(27, ["0", "0"]), (28, ["0", "0"]), (29, ["C"]), (30, ["1s", "-1"])]
    columns = ["counts", "d", "transmission", "d"]
    if scan == "REGULAR":
        items += [(31, [label, "eV", repr(start), "0.5"]), (32, ["2", *columns])]
    else:
        items += [(32, ["3", label, "eV", *columns])]
    items += [(33, ["pulse counting"]), (34, ["0.1"]), (35, ["1"]), (36, ["0"])]
    items += [(37, ["1", "2", "3", "4", "5", "6", "mode"])] if mode == "SDP" else []
    return [*items, (38, ["0", "0"]), (39, ["0"]), (40, ["1", "extra", "d", "7"])]


def _values(start: float, values: Sequence[float], scan: str) -> list[str]:
    table = [[value, 2.0] for value in map(float, values)]
    if scan != "REGULAR":
        table = [[start + 0.5 * k, *row] for k, row in enumerate(table)]
    flat = np.array(table)
    limits = [repr(float(v)) for pair in zip(flat.min(0), flat.max(0), strict=True) for v in pair]
    return [str(flat.size), *limits, *(repr(float(v)) for v in flat.ravel())]
