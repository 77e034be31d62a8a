"""Places: an offset for each lifetime, so that what is needed at the same time does not overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pyspec.memory.lifetimes import Lifetime

Fit = Literal["apart", "first", "best"]

#: One behind the other; in the lowest gap that is large enough; in the smallest such gap.
FITS: tuple[Fit, ...] = ("apart", "first", "best")


class Layout(NamedTuple):
    """The offset of each lifetime, and the size of all."""

    offsets: dict[int, int]
    size: int


def place(lifetimes: Mapping[int, Lifetime], fit: Fit = "first") -> Layout:
    """Gives out memory in the order in which it is needed."""
    offsets: dict[int, int] = {}
    live: list[tuple[int, int, int]] = []  # offset, end of the memory, end of the lifetime
    size = 0
    for key, life in sorted(lifetimes.items(), key=lambda item: item[1].begin):
        if fit != "apart":
            live = [block for block in live if block[2] >= life.begin]
        offset = size if fit == "apart" else _gap(sorted(live), life.size, fit)
        offsets[key] = offset
        live.append((offset, offset + life.size, life.end))
        size = max(size, offset + life.size)
    return Layout(offsets, size)


def _gap(live: list[tuple[int, int, int]], size: int, fit: Fit) -> int:
    """The offset of the chosen gap; what lies behind all others is one without end."""
    gaps = []
    free = 0
    for begin, end, _ in live:
        if begin - free >= size:
            gaps.append((begin - free, free))
        free = max(free, end)
    if not gaps:
        return free
    return gaps[0][1] if fit == "first" else min(gaps)[1]
