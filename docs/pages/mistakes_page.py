"""The page of mistakes, from the table that its test runs."""

from __future__ import annotations

import textwrap

from tests.mistakes.table import LISTS, parsed

LEAD = """
With a message at hand, search this page for the words of it that are not names or numbers of your
own. A test makes each of these mistakes and compares the answer word by word. The call is shown
where it is one line; all calls, and the model files, are in `tests/mistakes/mistakes.yaml`. Lists
of all functions are cut here.
"""

#: A longer call says no more than the title does.
MAX_CALL = 90


def pages() -> dict[str, str]:
    """mistakes.md."""
    sections = parsed()["sections"]
    links = [f"- [{part['section']}](#{_anchor(part['section'])})" for part in sections]
    parts = ["# Mistakes and their answers", LEAD.strip(), "\n".join(links)]
    for part in sections:
        rows = "\n".join(_row(row) for row in part["mistakes"])
        parts += [f"## {part['section']}", rows]
    return {"mistakes.md": "\n\n".join(parts)}


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _row(row: dict[str, str]) -> str:
    """A list entry: the mistake, its call and the answer; the place it points at is a block."""
    call, answer = row.get("call", "").strip(), f"{row['error']}: {row['says'].rstrip()}"
    for names in LISTS.values():
        answer = answer.replace(names, ", ".join(names.split(", ")[:2]) + ", …")
    shown = f" ({_code(call)})" if call and "\n" not in call and len(call) <= MAX_CALL else ""
    first, _, place = answer.partition("\n")
    entry = f"- **{row['title']}**{shown}: {_code(first)}"
    if not place:
        return entry
    return entry + textwrap.indent(f"\n```text\n{textwrap.dedent(place)}\n```", "  ")


def _code(text: str) -> str:
    """Text between back quotes, of which it may hold some."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
