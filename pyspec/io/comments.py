"""Names of columns in the comments above a table of text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspec.io.cells import number
from pyspec.io.text import Table
from pyspec.io.units import guess_kind


def names_in_comments(table: Table, width: int) -> list[str]:
    """Column names in the last comment line above the numbers, or in the line "#L" of SPEC."""
    if not table.comments:
        return []
    if spec := _spec_names(table.comments):
        names = [name for k, name in enumerate(spec) if k not in table.left_out]
        return names if len(names) == width else []
    line = table.comments[-1]
    words = line.split(table.separator) if table.separator else line.split()
    words = [word.strip() for word in words]
    if table.left_out and len(words) == width + len(table.left_out):
        words = [word for k, word in enumerate(words) if k not in table.left_out]
    if _says_a_value(words[:width], table.separator, may_be_two=len(words) != width or width == 2):
        return []
    if len(words) == width or (len(words) > width > 1 and guess_kind(words[0]) is not None):
        return words[:width]
    return []


def _spec_names(comments: Sequence[str]) -> list[str]:
    """The names of the columns of a scan of SPEC, which stand two spaces apart in the line "#L"."""
    is_spec = any(re.match(r"S \d+\s", line) for line in comments)
    lines = [line for line in comments if re.match(r"L\s", line)]
    return re.split(r"\s{2,}|\t", lines[-1][1:].strip()) if is_spec and lines else []


def _says_a_value(names: list[str], separator: str | None, *, may_be_two: bool) -> bool:
    """Whether a comment says what was measured: "delay = 5 ps", or "delay 5" above two columns."""
    first = names[0] if names and separator else " ".join(names)
    if re.search("[=:]", first):
        return True
    values = [number(word) for word in [*first.split(), *names[1:]]]
    return may_be_two and any(value is not None and value == value for value in values)
