"""``pyspec verify FILE``: whether archives of fits are as they were saved."""

from __future__ import annotations

from argparse import Namespace

from pyspec.io import verify_archive


def run(args: Namespace) -> int:
    """Prints what is whole and what is damaged in each archive. Returns 0 if all are whole, else
    1."""
    intact, args.facts["archives"] = True, []
    for path in args.archives:
        report = verify_archive(path)
        print(report)
        intact = intact and report.intact
        entry = {"path": path, "intact": report.intact, "says": str(report)}
        args.facts["archives"].append(entry)
    return 0 if intact else 1
