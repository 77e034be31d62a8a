"""Pieces of pages in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, whose cells may hold upright lines."""
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([shown[0], "|" + "---|" * len(head), *shown[1:]])


def block(text: str) -> str:
    """Text as it stands."""
    return f"```text\n{text.rstrip()}\n```"
