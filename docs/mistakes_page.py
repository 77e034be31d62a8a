"""The page of mistakes, from the table that its test runs."""

from __future__ import annotations

from tests.mistakes.table import parsed

LEAD = """
What may go wrong, and the answer that pyspec gives: what, where, what to do next. A test makes
each of these mistakes and compares the answer word by word.

`models.yaml` is the text shown; for a call alone it is the file at the end of this page.
`energy` has 101 points from 80 to 90, `time` 26 from -5 to 20, `data` the shape (26, 101); `file`
is a `File` of these with the model `peak` loaded, `model` that model on both axes, `result` the fit
`file.fit_2d("peak")`.
"""


def pages() -> dict[str, str]:
    """mistakes.md."""
    table = parsed()
    parts = ["# Mistakes and their answers", LEAD.strip()]
    links = [f"- [{part['section']}](#{_anchor(part['section'])})" for part in table["sections"]]
    parts.append("\n".join(links))
    for part in table["sections"]:
        parts.append(f"## {part['section']}")
        for row in part["mistakes"]:
            parts += _row(row)
    parts += ["## The file that calls alone refer to", f"```yaml\n{table['standard'].strip()}\n```"]
    return {"mistakes.md": "\n\n".join(parts)}


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _row(row: dict[str, str]) -> list[str]:
    parts = [f"**{row['title']}**"]
    model = row.get("model")
    if model is not None:
        shown = "".join(c if c in "\n" or c.isprintable() else _escape(c) for c in model)
        parts.append(f"```text\n{shown.rstrip() or '(nothing)'}\n```")
    if "call" in row:
        parts.append(f"```python\n{row['call'].strip()}\n```")
    parts.append(f"```text\n{row['error']}: {row['says'].rstrip()}\n```")
    return parts


def _escape(char: str) -> str:
    return "→   " if char == "\t" else f"\\x{ord(char):02x}"
