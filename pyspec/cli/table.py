"""A table of words for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

#: Words of the last column are cut to so many letters.
WIDEST = 80


#: So many rows are shown, of more the first.
ROWS = 20


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their words; how many rows more there are."""
    lines = [head, *rows[:ROWS]]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head) - 1)]
    shown = []
    for line in lines:
        last = line[-1] if len(line[-1]) <= WIDEST else line[-1][: WIDEST - 1] + "…"
        cells = [f"{word:{width}}" for word, width in zip(line[:-1], widths, strict=True)]
        shown.append("  ".join([*cells, last]).rstrip())
    shown.insert(1, "  ".join("─" * width for width in [*widths, len(head[-1])]))
    if len(rows) > ROWS:
        shown.append(f"… and {len(rows) - ROWS} more")
    return "\n".join(shown)
