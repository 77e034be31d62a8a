"""The tutorial notebooks: docs/tutorials/NAME.ipynb from NAME.py.

A script is cut at lines ``# %%`` (code) and ``# %% [markdown]`` (text, in comments). Notebooks
are committed without outputs, so that they can be opened from the repository; the site and a test
run them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

#: One script for each tutorial.
SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "tutorials").glob("*.py"))

MARK = re.compile(r"^# %%(.*)\n", re.M)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def cells(text: str) -> list[dict[str, object]]:
    """The cells of a script, in the form of nbformat 4.5."""
    head, *parts = MARK.split(text)
    if head.strip():
        raise ValueError("a tutorial begins with a line # %%")
    found: list[dict[str, object]] = []
    for number, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        source = body.strip("\n")
        cell: dict[str, object] = {"id": f"cell-{number:02}", "metadata": {}}
        if kind.strip() == "[markdown]":
            source = re.sub(r"^# ?", "", source, flags=re.M)
            cell |= {"cell_type": "markdown"}
        else:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        found.append(cell | {"source": source.splitlines(keepends=True)})
    return found


def notebook(text: str) -> str:
    """The notebook of a script, as JSON without outputs."""
    book = {"cells": cells(text), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True)


def pages() -> dict[str, str]:
    """Every notebook by its path in docs/."""
    return {
        f"tutorials/{script.stem}.ipynb": notebook(script.read_text(encoding="utf-8"))
        for script in SCRIPTS
    }
