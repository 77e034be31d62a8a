"""``pyspec new`` over several files, or the windows of a survey: a job for each."""

from __future__ import annotations

import copy
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pyspec.cli.commands.new_files import command_of, write_folder
from pyspec.cli.commands.new_from_data import Begun, begin
from pyspec.cli.commands.new_summary import seen_facts
from pyspec.cli.dispatch import FAILED, OK
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.shell import word
from pyspec.cli.table import table
from pyspec.errors import PyspecError


def files_of(paths: Sequence[str]) -> list[Path]:
    """The files that these paths name, those of a folder in alphabetical order."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.is_file())
            found += [one for one in inside if not one.name.startswith(".")]
        else:
            found.append(path)
    if not found:
        raise FlagError(f"{paths[0]}: holds no file; name a file, or a folder with some")
    return found


def names_of(files: Sequence[Path]) -> list[str]:
    """A name for each file, no two alike."""
    stems = [path.stem for path in files]
    names = [
        stem if stems.count(stem) == 1 else path.name.replace(".", "_")
        for stem, path in zip(stems, files, strict=True)
    ]
    return [name if names.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(names, 1)]


def run_many(given: Namespace, files: Sequence[Path]) -> int:
    """A job for each file, in a folder of its name, and one table of what was seen."""
    rows: list[Sequence[str]] = []
    found: list[dict[str, object]] = []
    model = ""
    for path, name in zip(files, names_of(files), strict=True):
        own = copy.copy(given)
        own.folder, own.data_path = given.folder / name, str(path)
        try:
            begun = begin(own, command_of(own))
            texts = dict(begun.texts)
            if given.one:
                if not model:
                    model = texts["models.yaml"]
                    write_folder(given.folder, {"models.yaml": model}, given.force)
                texts["job.yaml"] = texts["job.yaml"].replace(
                    "models: models.yaml", "models: ../models.yaml"
                )
                del texts["models.yaml"]
            write_folder(own.folder, texts, given.force)
        except PyspecError as error:
            rows.append((path.name, "failed", str(error).splitlines()[0]))
            found.append({"source": path, "error": str(error)})
            continue
        rows.append((path.name, begun.first.kind, "; ".join(begun.first.seen)))
        found.append({"source": path, "folder": own.folder, **seen_facts(begun)})
    return _finish(given, rows, found)


def run_survey(given: Namespace) -> int:
    """A job for each window of a survey."""
    whole = begin(given, command_of(given))
    if not whole.first.windows:
        raise FlagError(f"{given.data_path}: is no survey ({whole.first.kind}); leave --survey out")
    rows: list[Sequence[str]] = []
    found: list[dict[str, object]] = []
    for window in whole.first.windows:
        own = copy.copy(given)
        own.folder = given.folder / f"at_{window.lines[0]:.0f}"
        own.select = [*given.select, f"energy={window.low:g}:{window.high:g}"]
        own.kind = given.kind if given.kind != "survey" else None
        begun: Begun = begin(own, command_of(own))
        write_folder(own.folder, begun.texts, given.force)
        ends = f"{window.low:g} to {window.high:g}"
        rows.append((ends, begun.first.kind, "; ".join(begun.first.seen)))
        found.append({"window": ends, "folder": own.folder, **seen_facts(begun)})
    return _finish(given, rows, found)


def _finish(given: Namespace, rows: Sequence[Sequence[str]], found: list[dict[str, object]]) -> int:
    """Prints the table and what to do next."""
    failed = sum(row[1] == "failed" for row in rows)
    given.facts.update(folder=given.folder, files=found, failed=failed)
    print(table(("data", "kind", "seen"), sorted(rows, key=lambda row: row[1] != "failed")))
    if failed == len(rows):
        return FAILED
    print(f"\nWritten to {given.folder}: a folder with a job for each of {len(rows) - failed}")
    if failed:
        print(f"{failed} failed, as the table says; 'pyspec show FILE' looks at one")
    print(f"Next:\n\n  pyspec fit {word(given.folder)}\n      fit all; one page, one table")
    return FAILED if failed else OK
