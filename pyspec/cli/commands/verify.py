"""``pyspec verify FILE``: whether archives of fits are as they were saved."""

from __future__ import annotations

from argparse import Namespace

from pyspec.io import verify_archive


def run(given: Namespace) -> int:
    """Prints what is whole and what is damaged in each archive. Returns 0 if all are whole, else
    1."""
    intact, given.facts["archives"] = True, []
    for path in given.archives:
        found = verify_archive(path)
        print(found)
        intact = intact and found.intact
        one = {"path": path, "intact": found.intact, "says": str(found)}
        given.facts["archives"].append(one)
    return 0 if intact else 1
