"""What the fits of slices caution about, each kind of caution once."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"[+-]?\d[\d.]*(?:e[+-]?\d+)?")


def gathered(found: Iterable[tuple[float, tuple[str, ...]]], n_slices: int) -> tuple[str, ...]:
    """Sentences of (time, cautions) of each slice; those that differ in numbers alone are one,
    with the words of the first."""
    first: dict[str, tuple[float, str]] = {}
    counts: dict[str, int] = {}
    for time, sentences in found:
        for kind, sentence in {_NUMBER.sub("#", one): one for one in sentences}.items():
            first.setdefault(kind, (time, sentence))
            counts[kind] = counts.get(kind, 0) + 1
    return tuple(
        f"in {counts[kind]} of {n_slices} slices, the first at {time:g}: {sentence}"
        for kind, (time, sentence) in first.items()
    )
