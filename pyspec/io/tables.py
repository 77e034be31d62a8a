"""Several tables below each other in one text, each with a heading and names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspec.errors import DataError, several, suggest
from pyspec.io.cells import number
from pyspec.io.lines import cells
from pyspec.io.text import Table, is_comment, lines_of, style_of

#: A table has so many rows at least.
_LEAST_ROWS = 3


@dataclass
class Part:
    """One of the tables of a text: `title` is the first line of its heading, the table goes from
    the line `begin` on, before `end`, and has `n_rows` rows of numbers."""

    title: str
    begin: int
    end: int
    n_rows: int

    @property
    def names(self) -> tuple[str, str]:
        """The title, and its last part: "C 1s" of "Cycle 0:Sample A:C 1s"."""
        return self.title, self.title.rpartition(":")[2].strip()


def parts_of(path: Path, text: str, separator: str | None, decimal: str | None) -> list[Part]:
    """The tables of a text, or an empty list where it holds one, or rows with wrong words."""
    lines = lines_of(text)
    try:
        kept = [line for line in lines if not is_comment(line)]
        sep, sign, *_ = style_of(path, kept, separator, decimal)
    except DataError:
        return []
    parts: list[Part] = []
    head: list[tuple[int, list[str]]] = []
    width = 0
    for at, line in enumerate(lines):
        row = cells(line, sep, sign)
        if is_comment(line) or not any(row):
            continue
        if number(row[0]) is None or not row[0]:
            head.append((at, row))
            continue
        if head:
            # Only below names of its columns a row of numbers begins another table.
            if not any(_names(words, len(row)) for _, words in head):
                return []
            if parts and not _is_heading(head[0][1], width, sep):
                return []
            title = " ".join(filter(None, head[0][1]))
            parts.append(Part(title, head[0][0], at, 0))
            head, width = [], len(row)
        if not parts or len(row) != width:
            return []
        parts[-1].end, parts[-1].n_rows = at + 1, parts[-1].n_rows + 1
    if len(parts) < 2 or min(part.n_rows for part in parts) < _LEAST_ROWS:
        return []
    parts[-1].end = len(lines)  # what stands below the last one is judged where it is read
    return parts


def has_rows_above(table: Table) -> bool:
    """Whether rows of numbers alone stand above a table, as many as make another one."""
    rows = [row for _, row in table.header if all(number(cell) is not None for cell in row)]
    return len(rows) >= _LEAST_ROWS


def _is_heading(row: Sequence[str], width: int, separator: str | None) -> bool:
    """Whether a line below a table goes with the next one: "28O.5, 120" is a row of numbers with a
    wrong sign in it, but "Region 2" between white space is a name."""
    is_row = len(row) == width and all(cell and number(cell) is not None for cell in row[1:])
    return not is_row or (separator is None and row[0][:1].isalpha())


def _names(row: Sequence[str], width: int) -> bool:
    """Whether these are names of columns: "ERR, ERR" and "----, ----" stand for missing values."""
    words = {cell for cell in row if cell}
    is_text = all(number(cell) is None for cell in words) and any(map(str.isalpha, "".join(words)))
    return len(row) == width and is_text and (len(words) > 1 or width == 1)


def alone(text: str, part: Part) -> str:
    """The text of one table alone, on the lines where it stands in the file."""
    return "\n" * part.begin + "\n".join(text.splitlines()[part.begin : part.end])


def choose(path: Path, parts: Sequence[Part], block: int | str | None) -> Part:
    """The table that is asked for.

    `block` is its number or a name. Raises :class:`DataError` with a list of the tables for another
    one, and where none was chosen.
    """
    listed = several([f"{k}: {p.title[:60]} ({p.n_rows} rows)" for k, p in enumerate(parts)])
    if block is None:
        raise DataError(
            f"{path}: holds {len(parts)} tables, one below the other; choose one with block=: "
            f"{listed}"
        )
    found = [p for k, p in enumerate(parts) if block == k or block in p.names]
    if len(found) != 1 or isinstance(block, bool):
        says = f"{len(found)} tables are called {block!r}" if found else f"no block {block!r}"
        near = suggest(str(block), [name for part in parts for name in part.names])
        raise DataError(f"{path}: {says}; it has {listed}{near if not found else ''}")
    return found[0]
