"""How fits ended beside their numbers, as an archive holds it: a text for each fit, a line for each
parameter. Archives did not hold it at first; of these nothing is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspec.fit import FitResult


@dataclass(frozen=True)
class Ends:
    """What :class:`pyspec.FitResult` says of its parameters: `at_bound`, `without_effect` and
    `intervals`."""

    at_bound: Mapping[str, str] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def intervals_text(intervals: Mapping[str, tuple[float, float]]) -> str:
    """Lines ``name low high``, all digits."""
    return "\n".join(f"{name} {low!r} {high!r}" for name, (low, high) in intervals.items())


def intervals_of(text: Any) -> dict[str, tuple[float, float]]:
    """These again. Raises ValueError for any other text."""
    rows = [line.split(" ") for line in str(text).splitlines()]
    return {name: (float(low), float(high)) for name, low, high in rows}


def ends_contents(results: Sequence[FitResult | None]) -> dict[str, list[str]]:
    """How the fits ended, of those that have a result."""
    ends = [Ends() if one is None else one for one in results]
    return {
        "at_bound": [
            "\n".join(f"{name} {side}" for name, side in one.at_bound.items()) for one in ends
        ],
        "without_effect": ["\n".join(one.without_effect) for one in ends],
        "intervals": [intervals_text(one.intervals) for one in ends],
    }


def ends_of(contents: Mapping[str, Any], n: int) -> tuple[Ends, ...]:
    """The same again. Raises ValueError for other texts, or another number of them."""
    if "at_bound" not in contents:
        return (Ends(),) * n
    columns = [contents[name] for name in ("at_bound", "without_effect", "intervals")]
    found = []
    for bounds, lost, intervals in zip(*columns, strict=True):
        sides = dict(line.split(" ") for line in str(bounds).splitlines())
        found.append(Ends(sides, tuple(str(lost).splitlines()), intervals_of(intervals)))
    if len(found) != n:
        raise ValueError(f"{len(found)} ends of {n} fits")
    return tuple(found)
