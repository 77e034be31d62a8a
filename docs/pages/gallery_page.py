"""The page of the gallery: every script of docs/gallery with its picture."""

from __future__ import annotations

import ast
from pathlib import Path

#: One script for one picture, docs/images/<name>.png.
SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "gallery").glob("*.py"))

LEAD = """
Each script draws one picture, mostly of a fit to data that it simulates, and runs as it stands:
`python docs/gallery/tied_doublet.py`. With a folder as argument the picture goes there.
"""


def pages() -> dict[str, str]:
    """gallery.md."""
    parts = ["# Gallery", LEAD.strip()]
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        doc = ast.get_docstring(ast.parse(text)) or script.stem
        title, _, lead = doc.partition("\n\n")
        body = text.split('"""', 2)[2].strip()
        parts += [f"## {title.rstrip('.')}", " ".join(lead.split())]
        parts += [f"![{title.rstrip('.')}](images/{script.stem}.png)"]
        parts += [f"`docs/gallery/{script.name}`", f"```python\n{body}\n```"]
    return {"gallery.md": "\n\n".join(part for part in parts if part)}
