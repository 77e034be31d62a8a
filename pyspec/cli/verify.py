"""``pyspec verify FILE``: whether archives of fits are as they were saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspec.cli.facts import Facts
from pyspec.io import verify_archive


def verify(paths: Sequence[Path], facts: Facts) -> int:
    """Prints what is whole and what is damaged in each; 0 where all are whole, else 1."""
    intact, facts["archives"] = True, []
    for path in paths:
        found = verify_archive(path)
        print(found)
        intact = intact and found.intact
        one = {"path": path, "intact": found.intact, "says": str(found)}
        facts["archives"].append(one)
    return 0 if intact else 1
